"""MultibandMixture: one period in several bands, each with its own times, level and noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from robustfourier.arrays import FloatArray
from robustfourier.bands.band_rows import Rows
from robustfourier.bands.band_shapes import HARMONICS, BandMoments, fitted_shape
from robustfourier.bands.joint_periodogram import joint_periodogram
from robustfourier.concurrency import one_blas_thread
from robustfourier.domain import Domain
from robustfourier.errors import InputError
from robustfourier.estimators.times import first_column, known_periods
from robustfourier.fit_config import FitConfig
from robustfourier.formatting import probability

_CANDIDATES = 200  # peaks of each sum of the search whose evidence is compared
_AROUND = np.linspace(-0.5, 0.5, 9)  # modes around a peak: a harmonic of order 6 moves by a third
_REFINED = 16  # of them, the best, that are compared at the tops of their peaks
_AT_ONCE = 256  # frequencies whose moments are held together
_NATS = 5.0  # below the best: what is less likely by e⁵ = 148 is not reported as an alternative
_PHASES = 200  # of a waveform, to find its height


class MultibandMixture(RegressorMixin, BaseEstimator):
    """One period shared by several bands.

    Rows are (time, value, band[, error]): filters of a telescope, sensors with clocks of their own.
    Each band has its own level, amplitude and noise; the shape is shared or each band's own,
    whichever has the larger evidence.

    Parameters
    ----------
    periods : float, str or timedelta, optional
        The period, where it is known; nothing is searched then.
    max_frequency : float, optional
        Highest frequency to search, in cycles per unit of time; by a rule that `notes_` states if
        not given.
    false_alarm : float, default 0.01
        Probability that noise alone shows a period.
    unit : str, optional
        For dates one of second, minute, hour, day (default), week, month, year; for numbers a
        label.

    Attributes
    ----------
    period_, period_error_ : float
        In the unit of time; NaN if there is none.
    false_alarm_ : float
        How often noise alone shows as much anywhere in the range searched; NaN for a known period.
    shape_ : {"shared", "own", "none"}
    bands_ : DataFrame
        One row for each band: band, rows, level, amplitude (half of the height of its waveform),
        noise.
    alternatives_ : DataFrame
        Other periods that are nearly as likely: period, probability.
    notes_ : tuple of str

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> t, band = rng.uniform(0, 50, 120), rng.choice(["g", "r"], 120)
    >>> height = np.where(band == "g", 2.0, 1.0)
    >>> y = 15 + height * np.cos(2 * np.pi * t / 0.61) + 0.2 * rng.normal(size=120)
    >>> model = MultibandMixture(unit="day").fit(t, y, band=band)
    >>> round(model.period_, 3)
    0.61
    """

    def __init__(
        self,
        *,
        periods: Any = None,
        max_frequency: float | None = None,
        false_alarm: float = 0.01,
        unit: str | None = None,
    ) -> None:
        self.periods = periods
        self.max_frequency = max_frequency
        self.false_alarm = false_alarm
        self.unit = unit

    def fit(self, X: Any, y: Any, band: Any = None, y_err: Any = None) -> MultibandMixture:
        """Find the period and the shape of each band.

        Parameters
        ----------
        X : array-like of shape (n,)
            Times: numbers or dates, in any order.
        y : array-like of shape (n,)
            Values.
        band : array-like of shape (n,)
            Which band each row belongs to.
        y_err : array-like of shape (n,), optional
            Standard errors, up to a factor for each band.
        """
        if band is None:
            raise InputError("band is missing; give the band of each row, or use PeriodicMixture")
        FitConfig(self.false_alarm, options=False)
        self.domain_ = Domain.from_times(first_column(X), unit=self.unit)
        times = np.asarray(self.domain_.offsets(first_column(X)), np.float64)
        self.rows_ = Rows.of(times, y, band, y_err)
        with one_blas_thread():
            self._search()
        self._describe()
        return self

    def _search(self) -> None:
        """Decide the frequency; zero where there is none."""
        known = known_periods(self.periods, self.domain_)
        if len(known) > 1:
            raise InputError(f"periods={self.periods!r}: give one; bands share one period")
        self.alternatives_ = pd.DataFrame({"period": [], "probability": []})
        if len(known):
            self.frequency_, self.false_alarm_ = 1.0 / float(known[0]), float("nan")
            self.notes_: tuple[str, ...] = ("the period was given; nothing was searched",)
            return
        searched = joint_periodogram(self.rows_, self.max_frequency)
        self.false_alarm_ = searched.false_alarm
        low, high = searched.frequency[[0, -1]]
        self.notes_ = (f"searched periods from {1 / high:.4g} to {1 / low:.4g}; {searched.rule}",)
        self.frequency_ = 0.0
        if self.false_alarm_ <= self.false_alarm:
            peaks = searched.peaks(_CANDIDATES)
            grid = np.sort((peaks[:, None] + _AROUND / np.ptp(self.rows_.times)).ravel())
            self._decide(grid[grid > 0])

    def _decide(self, grid: FloatArray) -> None:
        """Choose the frequency of the largest evidence, and report those nearly as likely."""
        step = 1.0 / float(np.ptp(self.rows_.times))
        found, evidence = self._refined(_apart(grid, self._evidence(grid), step), step)
        order = np.argsort(-evidence)
        likely = order[evidence[order] >= evidence[order[0]] - _NATS]
        found, evidence = found[likely], evidence[likely]
        self.frequency_ = float(found[0])
        share = np.exp(evidence - evidence[0])
        share /= share.sum()
        self.alternatives_ = pd.DataFrame({"period": 1.0 / found[1:], "probability": share[1:]})

    def _refined(self, frequency: FloatArray, step: float) -> tuple[FloatArray, FloatArray]:
        """Frequencies at the tops of their peaks, far sharper than the grid, and their evidence."""
        around, rows = np.linspace(-1.0, 1.0, 21), np.arange(len(frequency))
        for width in (0.1, 0.01):  # modes
            fine = frequency[:, None] + width * step * around
            evidence = self._evidence(fine.ravel()).reshape(fine.shape)
            top = np.argmax(evidence, axis=1)
            frequency = fine[rows, top]
        return frequency, evidence[rows, top]

    def _evidence(self, frequency: FloatArray) -> FloatArray:
        """Log evidence of a shared shape and of own ones together, equally likely before."""
        found = []
        for part in np.array_split(frequency, max(len(frequency) // _AT_ONCE, 1)):
            moments = BandMoments.of(self.rows_, part)
            shared, own = (fitted_shape(moments, how).evidence for how in (True, False))
            found.append(np.logaddexp(shared, own) - np.log(2.0))
        return np.concatenate(found)

    def _describe(self) -> None:
        """Fit shape, levels and noises at the frequency, and the error of the period."""
        rows = self.rows_
        self.period_ = 1.0 / self.frequency_ if self.frequency_ else float("nan")
        self.period_error_, self.shape_ = float("nan"), "none"
        self.fitted_: Any = None
        self.coefficients_: Any = None  # of each band's columns in the unit of y, shape (B, 2H)
        level, noise, amplitude = rows.level, rows.deviation, np.zeros(len(rows.names))
        if self.frequency_:
            moments = BandMoments.of(rows, np.array([self.frequency_]))
            shared, own = (fitted_shape(moments, how) for how in (True, False))
            self.shape_ = "shared" if shared.evidence[0] >= own.evidence[0] else "own"
            self.fitted_ = shared if self.shape_ == "shared" else own
            self.coefficients_ = self.fitted_.amplitude[0][:, None] * self.fitted_.shape[0]
            means = zip(moments.means[0], self.coefficients_, strict=True)
            level = rows.level - np.array([mean @ own for mean, own in means])
            noise = self.fitted_.noise[0]
            self.period_error_ = self._frequency_error() / self.frequency_**2
            waves = self._columns(np.arange(_PHASES) / _PHASES / self.frequency_)
            amplitude = 0.5 * np.array([np.ptp(waves @ own) for own in self.coefficients_])
        self.bands_ = pd.DataFrame(
            {"band": rows.names, "rows": rows.counts, "level": level}
            | {"amplitude": amplitude, "noise": noise}
        )
        if few := [rows.names[b] for b in range(len(rows.names)) if b not in rows.searched]:
            self.notes_ += (
                f"{', '.join(few)}: too few rows to be searched; level and amplitude "
                "lean on the other bands",
            )
        if rows.constant:
            self.notes_ += (f"{', '.join(rows.constant)}: left out, the value never changes",)

    def _columns(self, times: FloatArray) -> FloatArray:
        """Cosines and sines at times since the mean time, shape (n, 2H)."""
        orders = np.arange(1, HARMONICS + 1)
        angle = 2.0 * np.pi * self.frequency_ * times[:, None] * orders
        return np.concatenate([np.cos(angle), np.sin(angle)], axis=1)

    def _frequency_error(self) -> float:
        """Standard error by the curvature of the likelihood, shape and level fitted beside."""
        rows = self.rows_
        since = rows.times - rows.times.mean()
        orders = np.tile(np.arange(1, HARMONICS + 1), 2)
        columns = self._columns(since)
        turned = np.concatenate([-columns[:, HARMONICS:], columns[:, :HARMONICS]], axis=1)
        information = 0.0
        for b in range(len(rows.names)):
            at = rows.of_band(b)
            w = rows.weights[at] / self.fitted_.noise[0, b] ** 2
            slope = (turned[at] * orders) @ self.coefficients_[b] * 2.0 * np.pi * since[at]
            design = np.column_stack([np.ones(int(at.sum())), columns[at]])
            root = np.sqrt(w)[:, None]
            scale = float(self.fitted_.amplitude[0, b]) or 1.0
            prior = np.diag([0.0, *(orders.astype(np.float64) ** 2 / scale**2)])
            inner = (root * design).T @ (root * design) + prior
            cross = (w[:, None] * design).T @ slope
            information += float(w @ slope**2 - cross @ np.linalg.solve(inner, cross))
        return information**-0.5 if information > 0 else float("inf")

    def predict(self, X: Any, band: Any) -> FloatArray:
        """Return the function at times of bands, shape (n,).

        Parameters
        ----------
        X : array-like of shape (n,)
        band : str, or array-like of shape (n,)
            One of the bands that were fitted.
        """
        check_is_fitted(self)
        times = np.asarray(self.domain_.offsets(first_column(X)), np.float64)
        labels = np.broadcast_to(np.asarray(band, object), times.shape)
        index = {name: b for b, name in enumerate(self.rows_.names)}
        if unknown := sorted({str(label) for label in labels} - set(index)):
            raise InputError(f"band {unknown[0]!r} was not fitted; there are {', '.join(index)}")
        codes = np.array([index[str(label)] for label in labels], np.intp)
        values = self.bands_["level"].to_numpy()[codes].astype(np.float64)
        if self.fitted_ is not None:
            waves = self._columns(times - self.rows_.times.mean())
            values = values + np.einsum("nc,nc->n", waves, self.coefficients_[codes])
        return np.asarray(values)

    def waveform(self, phase: Any, band: str) -> FloatArray:
        """Return one band's function at phases of the cycle; phase 0 is the first time.

        Parameters
        ----------
        phase : array-like of shape (n,)
            In cycles.
        band : str
        """
        check_is_fitted(self)
        b = self.rows_.names.index(band)
        times = np.asarray(phase, np.float64) / self.frequency_
        waves = self._columns(times - self.rows_.times.mean())
        return np.asarray(float(self.bands_["level"][b]) + waves @ self.coefficients_[b])

    def summary(self) -> str:
        """Return what was found, in words and a table."""
        check_is_fitted(self)
        names = ", ".join(self.rows_.names)
        if not self.frequency_:
            chance = probability(self.false_alarm_)
            head = f"No period common to {names} (false alarm {chance})."
        else:
            words = self.domain_.period_words(self.period_, self.period_error_, spread=True)
            shape = "one shape" if self.shape_ == "shared" else "a shape of its own for each band"
            head = f"{names} repeat every {words}, with {shape}"
            chance = "" if np.isnan(self.false_alarm_) else probability(self.false_alarm_)
            head += f" (false alarm {chance})." if chance else "."
        lines = [head, "", self.bands_.to_string(index=False, float_format="%.4g")]
        for row in self.alternatives_.head(5).to_dict("records"):
            lines.append(f"or {row['period']:.8g}, with probability {row['probability']:.2g}")
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes_)])


def _apart(grid: FloatArray, evidence: FloatArray, step: float) -> FloatArray:
    """The best frequencies of a grid, each more than a step from all better ones."""
    found: list[float] = []
    for f in grid[np.argsort(-evidence)]:
        if len(found) == _REFINED:
            break
        if all(abs(f - other) > step for other in found):
            found.append(float(f))
    return np.array(found)
