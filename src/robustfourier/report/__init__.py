"""One self-contained page about one fit: figures, words, tables; no outside address.

The figures are SVG, so the page works without JavaScript and prints well; where JavaScript runs,
the wide ones become interactive (uPlot, in `vendor/` with its licence).
"""

from robustfourier.report.notebook import notebook
from robustfourier.report.page import render

__all__ = ["notebook", "render"]
