"""What every method in `methods/` takes and gives.

A method is a module with the constants of `Method` and one function
``fit(t, y, hints) -> Fit``. The runner measures seconds and peak memory around that call.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Hints:
    """What a method may be given about the data beyond the samples.

    Attributes
    ----------
    periods : ndarray of shape (n_components,)
        The true (or, for real series, the known) periods; only for methods that say so in `HINTS`.
    highest_mode : float
        Band worth searching, in cycles over the record; for methods with a dictionary.
    periodic : bool
        Whether the data repeats over `span` exactly, so that modes are whole numbers.
    latitude : float or None
        Of the tide gauge.
    epoch : str
        Date of time zero, for methods that need the calendar.
    harmonics : int
        Number of harmonics worth giving to each given period.
    span : float or None
        Over which the data repeats, where it does.
    lines : ndarray of shape (n_lines,) or None
        Every true period, harmonics included; for the yardstick alone.
    effort : float
        Share of its steps that a network takes; less than one in a quick run.
    """

    periods: FloatArray
    highest_mode: float
    periodic: bool = False
    latitude: float | None = None
    epoch: str = ""
    harmonics: int = 1
    span: float | None = None
    lines: FloatArray | None = None
    effort: float = 1.0


@dataclass(frozen=True)
class Fit:
    """What a method says about the data.

    Attributes
    ----------
    predict : callable
        Times of shape (n,) to values of shape (n,).
    periods : ndarray of shape (n_lines,) or None
        Every period the method reports; None if it reports none by design.
    fundamentals : ndarray of shape (n_components,) or None
        Periods of the repeating components, where the method groups harmonics.
    period_errors : ndarray of shape (n_lines,) or None
        The method's own standard errors of `periods`.
    note : str
        A word for the table.
    function : callable or None
        The function behind the noise, where `predict` also says what neighbours say of the noise.
    """

    predict: Callable[[FloatArray], FloatArray]
    periods: FloatArray | None = None
    fundamentals: FloatArray | None = None
    period_errors: FloatArray | None = None
    note: str = ""
    function: Callable[[FloatArray], FloatArray] | None = None


class Method(Protocol):
    """The constants and the function of a module in `methods/`."""

    NAME: str  # in tables and figures
    PACKAGES: tuple[str, ...]  # distributions whose versions are printed; all must be installed
    HINTS: str  # what it must be given, "" if nothing; this and the next two have defaults
    EVEN_ONLY: bool  # whether it needs evenly spaced samples
    BUDGET: str  # "all", "subset" for networks, "own" for our own, on more seeds

    @staticmethod
    def fit(t: FloatArray, y: FloatArray, hints: Hints) -> Fit:
        """Fit the samples; `hints` may be read only as far as `HINTS` says."""
        ...


class NotApplicableError(Exception):
    """Raised by a method on data it is not meant for; its message goes into the table."""
