"""Periodic models: Fourier sums at any times, least squares on trend and lines, their errors."""
