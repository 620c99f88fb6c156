"""The diagonal flow on Fourier sums."""
