"""Fourier sums at any times, the normal operator they define, and the diagonal flow on them."""
