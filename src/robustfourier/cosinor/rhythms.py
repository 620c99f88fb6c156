"""`rhythm`: known periods tested in many series at once, groups of rows compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import false_discovery_control

from robustfourier.arrays import FloatArray, IndexArray
from robustfourier.concurrency import one_blas_thread
from robustfourier.cosinor.ar1_noise import first_prior, learned_prior
from robustfourier.cosinor.clock import Clock
from robustfourier.cosinor.design_matrix import Terms, TimeBase, require_determined
from robustfourier.cosinor.population import population_mean
from robustfourier.cosinor.rhythm_parameters import (
    Wave,
    difference_columns,
    mesor_columns,
    wave_columns,
)
from robustfourier.cosinor.series_fits import Estimates, Factorisations
from robustfourier.errors import InputError, require_choice, require_count
from robustfourier.formatting import number, probability, with_error

_BYTES = 1 << 26  # of the values of one chunk; a few copies of them and what is fitted come on top
_LEARNED = 4096  # series from which the prior of the noise is learned: its error is a few per cent
_FEWEST = 3  # subjects for a population mean: two more than none

Noise = Literal["auto", "white", "replicates"]


@dataclass(frozen=True, eq=False)
class Rhythms:
    """The result of `rhythm`.

    Parameters
    ----------
    table : DataFrame
        One row for each series, group and period: id, group (if there are groups), period, rows;
        mesor, amplitude and acrophase, each with _error, _low and _high; p and q of zero amplitude;
        noise (standard deviation) and correlation of neighbours; lack_of_fit, the p-value of the
        shape against replicates; with subjects, between, their standard deviation. Orders beyond
        the first have columns amplitude_2, acrophase_2 and so on.
    differences : DataFrame or None
        One row for each series, period and pair of groups: differences with p and q.
    clock : Clock
        What acrophases count from, and in which unit.
    coverage : float
        Of the intervals.
    assumed : str
        What p-values assume about the noise, in a sentence.
    """

    table: pd.DataFrame
    differences: pd.DataFrame | None
    clock: Clock
    coverage: float
    assumed: str = ""

    def significant(self, q: float = 0.05) -> pd.DataFrame:
        """Rows up to a false-discovery rate, the most certain first."""
        return self.table[self.table["q"] <= q].sort_values("p")

    def in_words(self, most: int) -> list[dict[str, str]]:
        """The most certain rows as a screen or a page shows them, a number with its error.

        id, group (empty without groups), period, mesor, amplitude, acrophase, p, q and, with
        subjects, between.
        """
        periods = {period: self.clock.words(k) for k, period in enumerate(self.clock.periods)}
        shown = []
        for row in self.table.sort_values("p", kind="stable").head(most).to_dict("records"):
            cells = {"id": str(row["id"]), "group": str(row.get("group", ""))}
            cells["period"] = periods[row["period"]]
            for name in ("mesor", "amplitude", "acrophase"):
                cells[name] = with_error(float(row[name]), float(row[f"{name}_error"]))
            cells |= {name: probability(float(row[name])) for name in ("p", "q")}
            if "between" in row:
                cells["between"] = number(float(row["between"]), 3)
            shown.append(cells)
        return shown

    def headline(self, q: float = 0.05) -> str:
        """How many series repeat up to a false-discovery rate, in a sentence."""
        words = []
        for k, period in enumerate(self.clock.periods):
            own = self.table[self.table["period"] == period]
            parts: Any = own.groupby("group") if "group" in own else [("", own)]
            counts = [
                f"{int((rows['q'] <= q).sum()):,} of {len(rows):,} series"
                + (f" in {name!s}" if name else "")
                for name, rows in parts
            ]
            words.append(f"{', '.join(counts)} repeat every {self.clock.words(k)}")
        return f"{'; '.join(words)} (q ≤ {q:g})"


def rhythm(
    times: Any,
    values: Any,
    periods: Any,
    *,
    harmonics: int = 1,
    trend: int = 0,
    subjects: Any = None,
    groups: Any = None,
    names: Sequence[str] | None = None,
    noise: Noise = "auto",
    coverage: float = 0.95,
    unit: str | None = None,
    observe: Callable[[int, int], Any] | None = None,
) -> Rhythms:
    """Test known periods in many series that share their times (cosinor analysis).

    Parameters
    ----------
    times : array-like of shape (n,)
        Numbers or dates, in any order. Equal times are replicates, which are kept.
    values : array-like of shape (n,) or (n, m)
        A column for each series; NaN where a value is missing. Anything that is sliced like an
        array, such as a `numpy.memmap`, is read in chunks of series.
    periods : float, str, timedelta, or list of them
        Known periods, such as 24.0 or "24h".
    harmonics : int
        Orders of each period that are fitted and tested together.
    trend : int
        Degree of a polynomial that is fitted beside the level.
    subjects : array-like of shape (n,), optional
        Who each row is of. Subjects are fitted one by one, and p-values and errors are those of the
        population that they are drawn from (population-mean cosinor).
    groups : array-like of shape (n,), optional
        Which group each row belongs to. Each is fitted alone, and all pairs are compared.
    names : sequence of str, optional
        Of the series; those of a table's columns if not given.
    noise : {"auto", "white", "replicates"}
        "auto" weighs white noise and AR(1) by their evidence, which the series of a survey share.
        "white" is the plain F-test. "replicates" takes the noise from replicates alone, which stays
        right where the shape is not that of the harmonics.
    coverage : float
        Of the intervals.
    unit : str, optional
        Of numeric times, such as "hour"; for dates, that in which periods are given.
    observe : callable, optional
        Called with the number of series that are done, and that of all.

    Returns
    -------
    Rhythms

    Notes
    -----
    Given the correlation of the noise, the F-test is exact for Gaussian noise. With noise="auto"
    its p-value is averaged over what the data leave open about the correlation. Many series
    show together how correlated their noise is, and the level holds whatever it is. A series alone
    has equal odds of white and AR(1) noise, and the level holds on average over these: of twelve
    samples, p < 0.05 in 3 % of draws of white noise and in 8 % of AR(1) noise of correlation 0.6;
    a test that held its level for every correlation would have half the power. A period that
    nobody asked for is not looked for: use `PeriodicMixture` to search.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> hours = np.arange(0.0, 48.0, 4.0)
    >>> genes = rng.normal(size=(12, 3))
    >>> genes[:, 0] += 3 * np.cos(2 * np.pi * (hours - 14) / 24)
    >>> found = rhythm(hours, genes, 24.0, noise="white", unit="hour")
    >>> found.table[["id", "acrophase", "q"]].round(2)
      id  acrophase     q
    0  0      12.89  0.00
    1  1       1.96  0.79
    2  2       1.00  0.49
    """
    clock = Clock.of(times, periods, unit)
    matrix, labels = _matrix(values, names, len(clock.times))
    require_choice("noise", noise, ("auto", "white", "replicates"))
    if not 0.0 < coverage < 1.0:
        raise InputError(f"coverage={coverage!r} must lie between 0 and 1, such as 0.95")
    terms = Terms(
        clock.periods, require_count("harmonics", harmonics), require_count("trend", trend, 0)
    )
    parts = _rows(len(clock.times), groups, subjects)
    survey = _Survey(clock, terms, noise, coverage, parts, subjects is not None)
    with one_blas_thread():
        return survey.of(matrix, labels, observe)


def _rows(n: int, groups: Any, subjects: Any) -> dict[str, list[IndexArray]]:
    """Rows of each subject of each group; all are one where there are none."""
    group, subject = _labels(groups, n, "groups"), _labels(subjects, n, "subjects")
    found = {}
    for name in np.unique(group):
        own = np.flatnonzero(group == name)
        parts = [own[subject[own] == who] for who in np.unique(subject[own])]
        if subjects is not None and len(parts) < _FEWEST:
            where = f" in group {name!r}" if groups is not None else ""
            raise InputError(
                f"subjects: {len(parts)}{where}; a population needs at least {_FEWEST}. Leave "
                "subjects out to test these alone"
            )
        found[str(name)] = parts
    return found


_Parts = list[tuple[IndexArray, Factorisations]]


@dataclass(frozen=True, eq=False)
class _Survey:
    """What is tested in all series, and how."""

    clock: Clock
    terms: Terms
    noise: str
    coverage: float
    rows: dict[str, list[IndexArray]]  # of each subject of each group
    by_subject: bool

    def of(
        self, matrix: Any, labels: Sequence[str], observe: Callable[[int, int], Any] | None
    ) -> Rhythms:
        """Fit all series, chunk by chunk."""
        fits = {name: self._factorisations(parts) for name, parts in self.rows.items()}
        m = matrix.shape[1]
        prior = self._prior(fits, matrix)
        tables, differences = [], []
        for chunk in self._chunks(m):
            values = _read(matrix, chunk)
            found = {name: self._estimates(parts, values, prior) for name, parts in fits.items()}
            tables += [self._table(each, name, chunk) for name, each in found.items()]
            differences += list(self._differences(found, chunk))
            if observe is not None:
                observe(chunk.stop, m)
        grouped = ["group"] if len(fits) > 1 else []
        table = _in_order(tables, labels, grouped)
        with_q(table, "p", "q", ["period", *grouped])
        compared = None
        if differences:
            compared = _in_order(differences, labels, ["first", "second"])
            for name in ("mesor", "amplitude", "acrophase", "rhythm"):
                what = f"{name}_difference"
                with_q(compared, f"p_{what}", f"q_{what}", ["first", "second", "period"])
        return Rhythms(table, compared, self.clock, self.coverage, assumed(self.noise, m))

    def _factorisations(self, parts: list[IndexArray]) -> _Parts:
        """Those of a group, one for each of its subjects."""
        bases = [TimeBase.of(self.clock.times[rows]) for rows in parts]
        for base in bases:
            require_determined(self.terms, base.times)
        if self.noise == "replicates" and not bases[0].chains.any():
            raise InputError('noise="replicates" needs times that occur more than once; use "auto"')
        made = [Factorisations(base, self.terms, self.noise) for base in bases]
        return list(zip(parts, made, strict=True))

    def _prior(self, fits: dict[str, _Parts], matrix: Any) -> FloatArray:
        """Prior of the noise's correlation, learned from some of the series."""
        if self.noise != "auto":
            return first_prior()
        m = matrix.shape[1]
        found = []
        for chunk in self._chunks(m, -(-m // _LEARNED)):
            values = _read(matrix, chunk)
            found += [e.evidence(values[rows]) for parts in fits.values() for rows, e in parts]
        return learned_prior(np.concatenate(found, axis=1))

    def _chunks(self, m: int, step: int = 1) -> Iterator[slice]:
        """Slices of series whose values fit into memory; every `step`-th series only."""
        size = max(_BYTES // (8 * len(self.clock.times)), 1) * step
        for start in range(0, m, size):
            yield slice(start, min(start + size, m), step)

    def _estimates(self, parts: _Parts, values: FloatArray, prior: FloatArray) -> Estimates:
        found = [each.estimates(values[rows], prior) for rows, each in parts]
        return population_mean(found, self.terms) if self.by_subject else found[0]

    def _table(self, found: Estimates, group: str, chunk: slice) -> pd.DataFrame:
        """Rows of a chunk of series, one for each period."""
        parts = []
        for k, period in enumerate(self.terms.periods):
            columns: dict[str, Any] = {"at": np.arange(chunk.start, chunk.stop), "order": k}
            columns |= {"group": group, "period": period, "rows": found.rows.astype(np.int64)}
            columns |= mesor_columns(found, self.coverage)
            for order in range(1, self.terms.harmonics + 1):
                wave, tail = Wave.of(found, self.terms, k, order), f"_{order}" if order > 1 else ""
                how = (self.coverage, *self.clock.cycle(k, order), tail)
                columns |= wave_columns(wave, found.freedom, *how)
            columns |= {"p": found.p[:, k], "noise": found.noise}
            columns |= {"correlation": found.correlation, "lack_of_fit": found.lack_of_fit}
            if self.by_subject:
                columns["between"] = found.between
            parts.append(pd.DataFrame(columns))
        return pd.concat(parts, ignore_index=True) if len(parts) > 1 else parts[0]

    def _differences(self, found: dict[str, Estimates], chunk: slice) -> Iterator[pd.DataFrame]:
        for first, second in combinations(found, 2):
            pair = [found[first], found[second]]
            for k, period in enumerate(self.terms.periods):
                head: dict[str, Any] = {"at": np.arange(chunk.start, chunk.stop), "order": k}
                head |= {"first": first, "second": second, "period": period}
                cycle = self.clock.cycle(k)[0]
                compared = difference_columns(pair, self.terms, k, cycle, self.coverage)
                yield pd.DataFrame(head | compared)


def assumed(noise: str, series: int) -> str:
    """What p-values assume about the noise, in a sentence."""
    if noise != "auto":
        words = {"white": "white", "replicates": "white, with the variance of replicates"}
        return f"The noise was taken to be {words[noise]}."
    if series > 1:
        return (
            "White or AR(1) noise by evidence: how often it is correlated was learned from all "
            f"{series:,} series, to which equal odds count as one more."
        )
    return (
        "White and AR(1) noise were equally likely beforehand, and p holds its level on average "
        "over both: one series shows little of its own noise. If that is known to be white, "
        "noise white has more power."
    )


def with_q(table: pd.DataFrame, p: str, q: str, within: list[str]) -> None:
    """Add q-values (Benjamini and Hochberg) beside p-values, over the series of each test."""
    found = np.full(len(table), np.nan)
    values = table[p].to_numpy()
    for rows in table.groupby(within, sort=False).indices.values():
        known = rows[np.isfinite(values[rows])]
        if len(known):
            found[known] = false_discovery_control(np.clip(values[known], 0.0, 1.0))
    table.insert(list(table.columns).index(p) + 1, q, found)


def _in_order(parts: list[pd.DataFrame], labels: Sequence[str], tags: list[str]) -> pd.DataFrame:
    """One table, sorted by series, group and period, with the names of the series."""
    table = parts[0]
    if len(parts) > 1:
        table = pd.concat(parts, ignore_index=True)
        table = table.sort_values(["at", *tags, "order"], kind="stable", ignore_index=True)
    table.insert(0, "id", np.asarray(labels, object)[table["at"].to_numpy()])
    unused = [] if tags or "group" not in table else ["group"]
    return table.drop(columns=["at", "order", *unused])


def _read(matrix: Any, series: slice) -> FloatArray:
    """Values of some series as float64; what is infinite is missing."""
    values = np.asarray(matrix[:, series], np.float64)
    return values if np.isfinite(values).all() else np.where(np.isfinite(values), values, np.nan)


def _matrix(values: Any, names: Sequence[str] | None, n: int) -> tuple[Any, Sequence[str]]:
    """Values as something of shape (n, m), and the names of the series."""
    if isinstance(values, pd.Series):
        values = values.to_frame(values.name if values.name is not None else 0)
    if isinstance(values, pd.DataFrame):
        names = [str(name) for name in values.columns] if names is None else names
        values = values.to_numpy(np.float64)
    if not hasattr(values, "shape") or not hasattr(values, "__getitem__"):
        values = np.asarray(values, np.float64)
    if len(values.shape) == 1:
        values = np.asarray(values, np.float64)[:, None]
    if len(values.shape) != 2 or values.shape[0] != n:
        raise InputError(
            f"values has shape {tuple(values.shape)}; give a row for each of the {n} times and a "
            "column for each series"
        )
    if not values.shape[1]:
        raise InputError("values has no series; give at least one column")
    if names is None:
        names = [str(i) for i in range(values.shape[1])]
    if len(names) != values.shape[1]:
        raise InputError(f"names has {len(names)} entries for {values.shape[1]} series")
    return values, names


def _labels(given: Any, n: int, name: str) -> NDArray[Any]:
    if given is None:
        return np.zeros(n, "U1")
    labels = np.asarray(pd.Series(np.asarray(given, object)).map(str), str)
    if labels.shape != (n,):
        raise InputError(f"{name} has shape {labels.shape}; give one label for each of {n} times")
    return labels
