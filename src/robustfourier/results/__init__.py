"""All that a figure, table or page shows of one fit, as arrays and words.

`summarise` takes samples and a fitted model; plots, the report, the command line and the CSV files
draw and print what its `Result` holds, and compute nothing.
"""

from robustfourier.results.figure_axes import TimeAxis
from robustfourier.results.patterns import Curve, Pattern
from robustfourier.results.result import Outline, Result, outline, result_of, summarise
from robustfourier.results.spectrum import Spectrum

__all__ = [
    "Curve",
    "Outline",
    "Pattern",
    "Result",
    "Spectrum",
    "TimeAxis",
    "outline",
    "result_of",
    "summarise",
]
