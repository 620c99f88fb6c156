"""Section 5 and the theorems of *Robust Fourier Neural Networks* (Jeong and Han), run again.

``python -m paper`` runs what is missing and writes the page of results; see ``paper/README.md``.
"""
