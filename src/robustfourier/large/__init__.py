"""One series larger than memory: passes over chunks, condensed rows, the same fit."""

from robustfourier.large.chunked_fit import LargeFit, fit_large

__all__ = ["LargeFit", "fit_large"]
