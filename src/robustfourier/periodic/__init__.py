"""Periodic models: Fourier sums, least squares, Gaussian processes, the diagonal layer, priors."""
