"""Cosinor analysis: known periods tested in many series on one time base.

`design` (columns and time base), `noise` (white or AR(1) by evidence), `series_fits` (one
factorisation for all series), `population` (subjects), `answers` (mesor, amplitude, acrophase, and
their differences between groups), `clock` (times and origins), `survey` (the door). To search for
unknown periods, use `PeriodicMixture`.
"""

from robustfourier.cosinor.survey import Rhythms, rhythm

__all__ = ["Rhythms", "rhythm"]
