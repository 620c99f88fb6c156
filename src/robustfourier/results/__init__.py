"""All that a figure, table or page shows of one fit, as arrays and words.

`summarise` takes samples and a fitted model and computes it once; plots, the report, the command
line and the CSV files draw and print, and compute nothing.
"""

from robustfourier.results.axis import TimeAxis
from robustfourier.results.record import Pattern, Result
from robustfourier.results.spectrum import Spectrum
from robustfourier.results.summary import Brief, Outline, briefly, outline, result_of, summarise

__all__ = [
    "Brief",
    "Outline",
    "Pattern",
    "Result",
    "Spectrum",
    "TimeAxis",
    "briefly",
    "outline",
    "result_of",
    "summarise",
]
