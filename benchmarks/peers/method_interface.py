"""What every method in `methods/` takes and gives.

The runner measures seconds and peak memory around the call of `Method.fit`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Hints:
    """What a method may be given about the data beyond the samples.

    Attributes
    ----------
    periods : ndarray of shape (n_components,)
        The true (or, for real series, the known) periods; only for methods that say so in `hints`.
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


@dataclass(frozen=True)
class Method:
    """A method and what it needs.

    Attributes
    ----------
    name : str
        In tables and figures.
    packages : tuple of str
        Distributions whose versions are printed; all must be installed.
    fit : callable
        ``fit(t, y, hints) -> Fit``; `hints` may be read only as far as the next field says.
    hints : str
        What it must be given; empty if nothing.
    even_only : bool
        Whether it needs evenly spaced samples.
    budget : {"all", "subset", "own"}
        Runs on all problems; on some, as networks do; on more seeds, as our own do.
    warm_up : callable or None
        Imports and compiles, in less time than fitting a cosine takes.
    """

    name: str
    packages: tuple[str, ...]
    fit: Callable[[FloatArray, FloatArray, Hints], Fit]
    hints: str = ""
    even_only: bool = False
    budget: str = "all"
    warm_up: Callable[[], object] | None = None


class NotApplicableError(Exception):
    """Raised by a method on data it is not meant for; its message goes into the table."""
