"""The model of periodic data: Gaussian processes and spectra."""
