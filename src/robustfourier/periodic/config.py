"""Settings: what the user may ask of a fit, in modes, checked once."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.errors import InputError, require_choice
from robustfourier.periodic.basis import TREND_RUNGS


@dataclass(frozen=True)
class Settings:
    """What the user may set, in modes.

    Parameters
    ----------
    level : float
        Largest false-alarm probability of a line.
    frequencies : {"real", "integer"}
        "integer" for data known to be periodic over the span.
    loss : {"auto", "squared", "huber"}
        "auto" pulls outliers in when that lowers the variance of the estimates.
    trend : {"auto", "level", "slope", "smooth"}
        The richest trend allowed; "auto" is "smooth", or "level" for integer modes.
    modes : ndarray of shape (F,)
        Modes known to be there: kept as given, whatever their strength.
    max_mode : float, optional
        Highest mode to search. Default: `highest_mode`.
    min_mode : float, optional
        Lowest mode to search. Default: 1.5, or 1 for integer modes.
    without : ndarray of shape (G,)
        Modes at which, and up to two modes beside which, no line is taken.
    split : ndarray of shape (S,)
        Fundamentals of families that are to be taken apart; see `components/constraints`.
    merge : ndarray of shape (P, 2)
        Pairs of fundamentals that are to be one family.
    calendar : ndarray of shape (C,)
        Modes of hour, day, week, month and year, for dated records: a line there needs no search.
    max_lines : int, optional
        Largest number of lines. Default: one per nine samples, at most 500.
    """

    level: float = 0.01
    frequencies: str = "real"
    loss: str = "auto"
    trend: str = "auto"
    modes: FloatArray = field(default_factory=lambda: np.zeros(0))
    max_mode: float | None = None
    min_mode: float | None = None
    without: FloatArray = field(default_factory=lambda: np.zeros(0))
    split: FloatArray = field(default_factory=lambda: np.zeros(0))
    merge: FloatArray = field(default_factory=lambda: np.zeros((0, 2)))
    calendar: FloatArray = field(default_factory=lambda: np.zeros(0))
    max_lines: int | None = None

    def __post_init__(self) -> None:
        if not 0.0 < self.level < 1.0:
            raise InputError(f"level={self.level!r} must lie between 0 and 1; the default is 0.01")
        for name, choices in (
            ("frequencies", ("real", "integer")),
            ("loss", ("auto", "squared", "huber")),
            ("trend", ("auto", "level", "slope", "smooth")),
        ):
            require_choice(name, getattr(self, name), choices)

    @property
    def integer(self) -> bool:
        """Whether modes are the integers."""
        return self.frequencies == "integer"

    @property
    def rungs(self) -> tuple[int, ...]:
        """Trends to choose from, as numbers of columns; periodic data has a level alone."""
        auto = "level" if self.integer else "smooth"
        richest = auto if self.trend == "auto" else self.trend
        return TREND_RUNGS[: {"level": 1, "slope": 2, "smooth": len(TREND_RUNGS)}[richest]]
