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
from robustfourier.cosinor import answers
from robustfourier.cosinor.clock import Clock
from robustfourier.cosinor.design import Terms, TimeBase, require_determined
from robustfourier.cosinor.groups import compare
from robustfourier.cosinor.noise import first_prior, learned_prior
from robustfourier.cosinor.population import population_mean
from robustfourier.cosinor.series_fits import Estimates, Factorisations
from robustfourier.errors import InputError, require_choice, require_count

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
        Told how many series are done, and of how many.

    Returns
    -------
    Rhythms

    Notes
    -----
    Given the correlation of the noise, the F-test is exact for Gaussian noise. With noise="auto"
    its p-value is averaged over what the data leave open about the correlation. Many series tell
    each other how correlated their noise is, and the level holds whatever it is. A series alone
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
    survey = _Survey(clock, terms, noise, coverage, _Rows.of(clock.times, groups, subjects))
    with one_blas_thread():
        return survey.of(matrix, labels, observe)


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows of each group and of each subject in it.

    Parameters
    ----------
    groups : list of pairs of str and list of pairs
        Name of a group; name and rows of its subjects, one without a name where there are none.
    """

    times: FloatArray
    groups: list[tuple[str, list[IndexArray]]]
    by_subject: bool

    @classmethod
    def of(cls, times: FloatArray, groups: Any, subjects: Any) -> _Rows:
        group, subject = (_labels(given, len(times), name) for given, name in
                          ((groups, "groups"), (subjects, "subjects")))  # fmt: skip
        found = []
        for name in np.unique(group):
            own = np.flatnonzero(group == name)
            parts = [own[subject[own] == who] for who in np.unique(subject[own])]
            if subjects is not None and len(parts) < _FEWEST:
                where = f" in group {name!r}" if groups is not None else ""
                raise InputError(
                    f"subjects: {len(parts)}{where}; a population needs at least {_FEWEST}. Leave "
                    "subjects out to test these alone"
                )
            found.append((str(name), parts))
        return cls(times, found, subjects is not None)


@dataclass(frozen=True, eq=False)
class _Survey:
    """What is asked of all series."""

    clock: Clock
    terms: Terms
    noise: str
    coverage: float
    rows: _Rows

    def of(
        self, matrix: Any, labels: Sequence[str], observe: Callable[[int, int], Any] | None
    ) -> Rhythms:
        """Fit all series, chunk by chunk."""
        fits = self._factorisations()
        m = matrix.shape[1]
        prior = self._prior(fits, matrix)
        tables, differences = [], []
        for chunk in _chunks(m, len(self.rows.times)):
            values = _read(matrix, chunk)
            found = {name: self._estimates(parts, values, prior) for name, parts in fits.items()}
            tables += [self._table(each, name, chunk) for name, each in found.items()]
            differences += list(self._differences(found, chunk))
            if observe is not None:
                observe(chunk.stop, m)
        table = _in_order(tables, labels, [] if len(fits) == 1 else ["group"])
        with_q(table, "p", "q", ["period"] + (["group"] if "group" in table else []))
        compared = self._compared(differences, labels)
        return Rhythms(table, compared, self.clock, self.coverage, assumed(self.noise, m))

    def _factorisations(self) -> dict[str, list[tuple[IndexArray, Factorisations]]]:
        """Those of each group, one for each of its subjects."""
        found = {}
        for name, parts in self.rows.groups:
            for rows in parts:
                require_determined(self.terms, self.rows.times[rows])
            found[name] = [
                (rows, Factorisations(TimeBase.of(self.rows.times[rows]), self.terms, self.noise))
                for rows in parts
            ]
            base = found[name][0][1].base
            if self.noise == "replicates" and not base.replicated.max() + 1 < len(base.times):
                raise InputError(
                    'noise="replicates" needs times that occur more than once; use "auto"'
                )
        return found

    def _prior(self, fits: dict[str, list[tuple[IndexArray, Factorisations]]], matrix: Any) -> Any:
        """Prior of the noise's correlation, learned from some of the series."""
        if self.noise != "auto":
            return first_prior()
        m = matrix.shape[1]
        step = -(-m // _LEARNED)
        found = []
        for chunk in _chunks(m, len(self.rows.times), step):
            values = _read(matrix, chunk)
            found += [e.evidence(values[rows]) for parts in fits.values() for rows, e in parts]
        return learned_prior(np.concatenate(found, axis=1))

    def _estimates(
        self, parts: list[tuple[IndexArray, Factorisations]], values: FloatArray, prior: FloatArray
    ) -> Estimates:
        found = [each.estimates(values[rows], prior) for rows, each in parts]
        return population_mean(found, self.terms) if self.rows.by_subject else found[0]

    def _table(self, found: Estimates, group: str, chunk: slice) -> pd.DataFrame:
        """Rows of a chunk of series, one for each period."""
        parts = []
        for k in range(len(self.terms.periods)):
            columns: dict[str, Any] = {"at": np.arange(chunk.start, chunk.stop), "order": k}
            columns |= {
                "group": group,
                "period": self.terms.periods[k],
                "rows": found.rows.astype(np.int64),
            }
            columns |= answers.mesor(found, self.coverage).columns("mesor")
            for order in range(1, self.terms.harmonics + 1):
                columns |= self._wave(found, k, order)
            columns |= {"p": found.p[:, k], "noise": found.noise}
            columns |= {"correlation": found.correlation, "lack_of_fit": found.lack_of_fit}
            if self.rows.by_subject:
                columns["between"] = found.between
            parts.append(pd.DataFrame(columns))
        return pd.concat(parts, ignore_index=True) if len(parts) > 1 else parts[0]

    def _wave(self, found: Estimates, k: int, order: int) -> dict[str, FloatArray]:
        wave = answers.Wave.of(found, self.terms, k, order)
        cycle, origin = self.clock.cycle(k, order)
        tail = "" if order == 1 else f"_{order}"
        height = answers.amplitude(wave, found.freedom, self.coverage)
        peak = answers.acrophase(wave, found.freedom, self.coverage, cycle, origin)
        return height.columns(f"amplitude{tail}") | peak.columns(f"acrophase{tail}")

    def _differences(self, found: dict[str, Estimates], chunk: slice) -> Iterator[pd.DataFrame]:
        for first, second in combinations(found, 2):
            for k in range(len(self.terms.periods)):
                columns = compare(
                    *(found[first], found[second], self.terms, k),
                    self.clock.cycle(k)[0],
                    self.coverage,
                )
                head = {"at": np.arange(chunk.start, chunk.stop), "order": k}
                pair = {"first": first, "second": second, "period": self.terms.periods[k]}
                yield pd.DataFrame(head | pair | columns)

    @staticmethod
    def _compared(parts: list[pd.DataFrame], labels: Sequence[str]) -> pd.DataFrame | None:
        if not parts:
            return None
        table = _in_order(parts, labels, ["first", "second"])
        for name in ("mesor", "amplitude", "acrophase", "rhythm"):
            what = f"{name}_difference"
            with_q(table, f"p_{what}", f"q_{what}", ["first", "second", "period"])
        return table


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
        "over both: one series says little about its own noise. If that is known to be white, "
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
    table = pd.concat(parts, ignore_index=True) if len(parts) > 1 else parts[0]
    if len(parts) > 1:
        table = table.sort_values(["at", *tags, "order"], kind="stable", ignore_index=True)
    table.insert(0, "id", np.asarray(labels, object)[table["at"].to_numpy()])
    unused = [] if tags or "group" not in table else ["group"]
    return table.drop(columns=["at", "order", *unused])


def _chunks(m: int, n: int, step: int = 1) -> Iterator[slice]:
    """Slices of series whose values fit into memory; every `step`-th series only."""
    size = max(_BYTES // (8 * n), 1) * step
    for start in range(0, m, size):
        yield slice(start, min(start + size, m), step)


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
