"""Settings: what the user may ask of a fit, in modes, checked once."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.errors import InputError, require_choice
from robustfourier.periodic.basis import TREND_SIZES


@dataclass(frozen=True)
class Settings:
    """What the user may set, in modes."""

    level: float = 0.01  # largest false-alarm probability of a line
    #: {"real", "integer"}: "integer" for data known to be periodic over the span
    frequencies: str = "real"
    #: {"auto", "squared", "huber"}: "auto" pulls outliers in when that lowers the variance of the
    #: estimates
    loss: str = "auto"
    #: {"auto", "level", "slope", "smooth"}: the richest trend allowed; "auto" is "smooth", or
    #: "level" for integer modes
    trend: str = "auto"
    #: (F,): modes known to be there: kept as given, whatever their strength
    modes: FloatArray = field(default_factory=lambda: np.zeros(0))
    max_mode: float | None = None  # highest mode to search. Default: `highest_mode`.
    min_mode: float | None = None  # lowest mode to search. Default: 1.5, or 1 for integer modes.
    #: (G,): modes at which, and up to two modes beside which, no line is taken
    without: FloatArray = field(default_factory=lambda: np.zeros(0))
    #: (S,): fundamentals of families that are to be taken apart; see `components/constraints`
    split: FloatArray = field(default_factory=lambda: np.zeros(0))
    #: (P, 2): pairs of fundamentals that are to be one family
    merge: FloatArray = field(default_factory=lambda: np.zeros((0, 2)))
    #: (C,): modes of hour, day, week, month and year, for dated records: a line there needs no
    #: search
    calendar: FloatArray = field(default_factory=lambda: np.zeros(0))
    #: largest number of lines. Default: one per nine samples, at most 500.
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
    def trend_sizes(self) -> tuple[int, ...]:
        """Trends to choose from, as numbers of columns; periodic data has a level alone."""
        auto = "level" if self.integer else "smooth"
        richest = auto if self.trend == "auto" else self.trend
        return TREND_SIZES[: {"level": 1, "slope": 2, "smooth": len(TREND_SIZES)}[richest]]
