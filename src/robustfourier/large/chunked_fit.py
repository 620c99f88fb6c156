"""`fit_large`: one series that does not fit into memory, by passes over its rows.

The rows are condensed to some hundred thousand (`condense`), which `PeriodicMixture` fits as it
fits any rows. Squared loss takes two passes: the range, the sums. Robust loss takes one more for
each reweighting: residuals around the fit are pulled in and added up, and the fit is repeated,
until it moves by less than a hundredth of its standard errors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.polynomial import Polynomial

from robustfourier.arrays import FloatArray
from robustfourier.atomic_files import plain
from robustfourier.domain import Domain
from robustfourier.errors import CheckpointError, DataError, InputError
from robustfourier.estimators.mixture import PeriodicMixture
from robustfourier.estimators.times import known_periods
from robustfourier.large.condense import Nodes, bins_for
from robustfourier.large.passes import Added, AddUp, Facts, Pull, Scan, total
from robustfourier.memory_limits import give_back
from robustfourier.mixture.model import ColumnModel, shares
from robustfourier.mixture.search.robust import (
    FAR,
    HUBER,
    Contaminated,
    huber_pays,
    outliers_pay,
    pays,
    robust_scale,
)
from robustfourier.periodic.frequency_limits import MODES_AT_MOST
from robustfourier.periodic.residual_process import robust_weights
from robustfourier.samples import Counts, ReadOptions, Samples
from robustfourier.samples.partitions import Layout, Part, parts_of
from robustfourier.training.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from robustfourier.weighted_rows import weighted_median

_REWEIGHTINGS = 8  # each brings the fit about five times closer to its fixed point
_SETTLED = 0.01  # standard errors
_PROBES = 500  # places at which two fits are compared


@dataclass(frozen=True, eq=False)
class LargeFit:
    """The result of `fit_large`.

    Parameters
    ----------
    model : PeriodicMixture
        Fitted; its `notes_` describe the passes.
    samples : Samples
        The condensed rows, with errors: what a report shows of the record.
    rows, used : int
        Rows of the record, and those that lack nothing.
    passes : int
        How often the rows were read.
    """

    model: PeriodicMixture
    samples: Samples
    rows: int
    used: int
    passes: int


def fit_large(
    source: Any,
    *,
    time: str | None = None,
    value: str | None = None,
    error: str | None = None,
    reading: dict[str, Any] | None = None,
    engine: str = "threads",
    jobs: int | None = None,
    address: Any = None,
    checkpoint: str | Path | None = None,
    observe: Callable[[str], Any] | None = None,
    **parameters: Any,
) -> LargeFit:
    """Fit a series of any length in bounded memory.

    Parameters
    ----------
    source : path, list of paths, table, or pair of Dask arrays
        A Parquet data set, a folder of CSV parts, a Dask table; or times and values as Dask arrays
        with equal chunks. The rows may come in any order.
    time, value, error : str, optional
        Columns; found by themselves where their names speak.
    reading : dict, optional
        Further options of `read_samples`, such as ``time_format``.
    engine : {"threads", "serial", "dask"}
        Who adds up.
    jobs : int, optional
        Threads; all cores if not given.
    address : str or dask Client, optional
        For ``engine="dask"``.
    checkpoint : path, optional
        A file that is written after each pass; if it is there, and of the same data and
        parameters, the fit goes on from it. One of other data is refused: parts are known by
        digests of what they hold. It is removed at the end.
    observe : callable, optional
        Given words for each pass as it begins.
    **parameters
        Of `PeriodicMixture`. With ``scale="auto"`` values are taken as they are.

    Notes
    -----
    The fit is that of all rows in memory within a hundredth of a standard error. Modes are searched
    up to 50,000 unless `max_frequency` says otherwise.
    """
    options = {**(reading or {}), "time": time, "error": error}
    options = {k: v for k, v in options.items() if v is not None}
    parts = parts_of(source)
    layout = Layout.of(parts[0], ReadOptions(**options), None if value is None else [value], None)
    adder = _Adder(parts, engine, jobs, address, observe or (lambda _: None))
    held = [] if checkpoint is None else [[part.name, part.content()] for part in parts]
    identity = plain({"parts": held, "layout": vars(layout)})
    before = [part.version() for part in parts]
    fit = _Fit(layout, adder, parameters, identity, checkpoint).run()
    for part, version in zip(parts, before, strict=True):
        if part.version() != version:
            raise DataError(f"{part.name}: has changed while it was read; run the fit again")
    return fit


@dataclass
class _Adder:
    """Passes over the rows, counted."""

    parts: list[Part]
    engine: str
    jobs: int | None
    client: Any
    observe: Callable[[str], Any]
    passes: int = 0

    def __call__(self, work: Callable[[Part], Any], what: str) -> Any:
        self.passes += 1
        self.observe(f"pass {self.passes}: {what}")
        added = total(self.parts, work, self.engine, self.jobs, self.client)
        give_back()
        return added


@dataclass(frozen=True, eq=False)
class _Line:
    """A fitted function of the θ of the passes, whose range is that of all rows."""

    model: ColumnModel
    ends: FloatArray

    def __call__(self, theta: FloatArray) -> FloatArray:
        low, high = self.ends
        return self.model.evaluate(low + 0.5 * (theta + 1.0) * (high - low))[:, 0]


class _Fit:
    """One fit; its state is what a checkpoint holds."""

    def __init__(
        self,
        layout: Layout,
        adder: _Adder,
        parameters: dict[str, Any],
        identity: dict[str, Any],
        checkpoint: str | Path | None,
    ) -> None:
        self.layout, self.add, self.path = layout, adder, checkpoint
        self.loss = parameters.get("loss", "auto")
        self.log = parameters.get("scale", "auto") == "log"
        scale = "log" if self.log else "linear"
        self.parameters = {**parameters, "loss": "squared", "scale": scale}
        self.identity = {**identity, "parameters": plain(parameters)}

    def run(self) -> LargeFit:
        """All passes, and the fits between them."""
        held = self._held()
        if held is None:
            self.facts = self.add(Scan(self.layout), "the range of the times")
            self._prepare()
            added, values, start = self._first_sums()
            self._keep(added, values, start is not None)
        else:
            added, values, start = held
        nodes = added.sums.nodes()
        model = self._fitted(nodes, values)
        for _ in range(_REWEIGHTINGS if self.loss != "squared" else 0):
            pull = self._pull(model)
            try_out = self.add(self._work(pull), "outliers around the fit are pulled in")
            squares = np.array([try_out.sums.squares / try_out.slope**2])
            worth = pull.outliers is not None or pays(np.array([try_out.raw]), squares)
            if self.loss == "auto" and not worth:
                if start is not None:
                    added = self.add(self._work(None), "the sums of the values as they are")
                    values = added.sums.nodes().values
                    model = self._fitted(nodes, values)
                break
            added = try_out
            values = pull.centre(nodes.theta) + added.sums.nodes().values / added.slope
            self._keep(added, values, True)
            before, model = model, self._fitted(nodes, values)
            if self._moved(before, model) < _SETTLED:
                break
        if self.path is not None:
            Path(self.path).unlink(missing_ok=True)
        return self._result(model, nodes, values, added)

    # -- the passes --------------------------------------------------------------------------

    def _prepare(self) -> None:
        """All that follows from the first pass."""
        facts = self.facts
        if not facts.used or facts.first == facts.last:
            raise DataError("the record holds no two different times with values; nothing to fit")
        self.unit = self.layout.unit or None
        self.domain = Domain.from_times(np.array([facts.first, facts.last]), unit=self.unit)
        times, values, errors = columns = facts.columns()
        self.facts = replace(facts, sample=(tuple(columns),))
        if self.log and not values.min() > 0:
            raise InputError(f'scale="log" needs positive values, but one is {values.min():.6g}')
        self.sample = self.domain.to_theta(times), np.log(values) if self.log else values
        self.unit_error = float(np.median(errors))
        highest = self.parameters.get("max_frequency")
        known = self.domain.span / known_periods(self.parameters.get("periods"), self.domain)
        limit = MODES_AT_MOST if highest is None else float(highest) * self.domain.span
        self.bins = bins_for(max([limit, *known]))

    def _work(self, pull: Pull | None) -> AddUp:
        return AddUp(self.layout, self.domain, self.bins, self.unit_error, self.log, pull)

    def _first_sums(self) -> tuple[Added, FloatArray, Pull | None]:
        """Sums of the values; where there are huge outliers, pulled in around the median."""
        values = self.sample[1]
        weights = np.ones(len(values))
        median = weighted_median(values, weights)
        left = (values - median)[:, None]
        start = None
        if self.loss == "huber" or (self.loss == "auto" and huber_pays(left, weights, FAR)):
            scale = float(robust_scale(left, weights)[0])
            start = Pull(Polynomial([median]), scale, FAR) if scale > 0 else None
        added = self.add(self._work(start), "the sums")
        values = added.sums.nodes().values
        return added, values if start is None else median + values / added.slope, start

    def _pull(self, model: PeriodicMixture) -> Pull:
        """Around a fit; with the rule that a fit in memory has, see `mixture.fit`."""
        line = self._line(model)
        left = (self.sample[1] - line(self.sample[0]))[:, None]
        equal = np.ones(len(left))
        scale = float(robust_scale(left, equal)[0])
        if not scale > 0:
            scale = float(np.abs(left).max()) or 1.0
        smoothed = bool(np.isnan(model.models_[0].false_alarm).any())
        found = len(model.modes_) > 0
        if not found or smoothed or not outliers_pay(left, equal):
            return Pull(line, scale, HUBER if found else FAR)
        return Pull(line, scale, HUBER, Contaminated.of(np.abs(left[:, 0]) / scale, equal))

    # -- the fits ----------------------------------------------------------------------------

    def _times(self, theta: FloatArray) -> Any:
        times = self.domain.from_theta(theta)
        zone = self.layout.options.timezone or self.layout.zone
        if self.domain.dates and zone is not None:
            return pd.DatetimeIndex(times).tz_localize("UTC").tz_convert(zone)
        return times

    def _fitted(self, nodes: Nodes, values: FloatArray) -> PeriodicMixture:
        """The fit of the condensed rows."""
        self.add.observe(f"fitting {len(nodes.theta):,} rows that stand for {self.facts.used:,}")
        give_back()
        shown = np.exp(values) if self.log else values
        errors = nodes.weights**-0.5 * (shown if self.log else 1.0)
        model = PeriodicMixture(unit=self.unit, **self.parameters)
        return model.fit(self._times(nodes.theta), shown, y_err=errors)

    def _line(self, model: PeriodicMixture) -> _Line:
        ends = model.domains_[0].to_theta(self._times(np.array([-1.0, 1.0])))
        return _Line(model.models_[0], ends)

    def _moved(self, before: PeriodicMixture, after: PeriodicMixture) -> float:
        """How far the function moved, in its standard errors."""
        theta = np.linspace(-1.0, 1.0, _PROBES + 1)[:-1] + 1.0 / _PROBES
        line = self._line(after)
        std = line.model.errors_at(theta)[:, 0]
        apart = np.abs(line(theta) - self._line(before)(theta))
        return float(np.max(apart / np.maximum(std, np.finfo(float).tiny)))

    def _result(
        self, model: PeriodicMixture, nodes: Nodes, values: FloatArray, added: Added
    ) -> LargeFit:
        facts, passes = self.facts, self.add.passes
        left = values - self._line(model)(nodes.theta)
        # Squares that averaging within the bins has hidden, and those that are left between them.
        inner = self._inner(added)
        noise = np.sqrt((float(nodes.weights @ left**2) + inner) / added.sums.total)
        hidden = inner / added.sums.total
        if added.slope < 1.0:  # shares are those of the values as given, without their outliers
            hidden += self._mean_square(model) - noise**2
        column = self._whole(model.models_[0], hidden)
        model.models_ = (replace(column, noise=np.array([noise])),)
        model.noise_ = float(noise)
        model.components_ = type(model.components_)(column.components(shares([column])[0], 0, 0))
        condensed = (
            f"{facts.used:,} rows read {passes} times and condensed to {len(nodes.theta):,} rows "
            "with the same Fourier sums",
        )
        model.notes_ = (*condensed, *model.notes_)
        stamps = self.domain.from_theta(nodes.theta)
        shown = np.exp(values) if self.log else values
        spread = nodes.weights**-0.5 * self.unit_error
        samples = Samples(
            times=np.asarray(stamps),
            values=shown,
            errors=spread * shown if self.log else spread,
            counts=Counts(facts.rows, facts.used, missing=facts.rows - facts.used),
            time_name=self.layout.time,
            value_name=self.layout.values[0],
            error_name=self.layout.error or "condensed",
            unit=self.layout.unit,
            timezone=self.layout.options.timezone or self.layout.zone,
            source=self.add.parts[0].name,
            notes=condensed,
        )
        return LargeFit(model, samples, facts.rows, facts.used, passes)

    def _inner(self, added: Added) -> float:
        """Squares within the bins: those of the rows less those of the nodes."""
        own = added.sums.nodes()
        squares = added.sums.squares - float(own.weights @ own.values**2)
        return max(squares, 0.0) / added.slope**2

    def _mean_square(self, model: PeriodicMixture) -> float:
        """Of the residuals of the sample that are no outliers, as in `ColumnModel.explaining`."""
        left = self.sample[1] - self._line(model)(self.sample[0])
        weights = (self.unit_error / self.facts.columns()[2]) ** 2
        weights *= robust_weights(left, weights) >= 1.0
        return float(np.average(left**2, weights=weights))

    @staticmethod
    def _whole(column: ColumnModel, hidden: float) -> ColumnModel:
        """The same model, whose shares are of all variation, that within the bins included."""
        variation = column.variation
        if variation is None or column.evidence is None:
            return column
        return replace(column, variation=variation + hidden / column.evidence.scale**2)

    # -- checkpoints -------------------------------------------------------------------------

    def _keep(self, added: Added, values: FloatArray, robust: bool) -> None:
        """Write all that the next step needs."""
        if self.path is not None:
            state = {"facts": self.facts, "added": added, "values": values, "robust": robust}
            save_checkpoint(self.path, Checkpoint(self.add.passes, self.identity, state, {}))

    def _require_same_data(self, before: Any) -> None:
        """Refuse a checkpoint of other data, by the first part that is another one."""
        now = self.identity["parts"]
        before = plain(before) if isinstance(before, list) else []
        if before == now:
            return
        pairs = zip_longest(before, now)
        was, other = next((pair for pair in pairs if pair[0] != pair[1]), (None, None))
        what = "is gone" if other is None else "has changed" if was else "is new"
        name = next((part[0] for part in (other, was) if part), "it")
        raise CheckpointError(
            f"{self.path}: the checkpoint belongs to other data: {name!r} {what} "
            "since it was written; remove it to begin anew, or give another checkpoint"
        )

    def _held(self) -> tuple[Added, FloatArray, Any] | None:
        """What an earlier run has left, if it was of the same source and parameters."""
        if self.path is None or not Path(self.path).exists():
            return None
        held = load_checkpoint(self.path)
        self._require_same_data(held.training.get("parts"))
        try:
            held.require_same(self.identity)
        except CheckpointError:
            return None
        try:
            return self._taken_up(held)
        except Exception as error:  # whatever foreign values lead to
            raise CheckpointError(
                f"{str(self.path)!r} is no checkpoint of this fit "
                f"({type(error).__name__}: {error}); remove it to begin anew"
            ) from None

    def _taken_up(self, held: Checkpoint) -> tuple[Added, FloatArray, Any]:
        """The state of an earlier run; its parts must fit together."""
        self.facts, added, values = (held.state[name] for name in ("facts", "added", "values"))
        if not (isinstance(self.facts, Facts) and isinstance(added, Added)):
            raise TypeError("it holds no sums")
        self._prepare()
        self.add.passes = held.step
        sums, (times, sample, errors) = added.sums, self.facts.columns()
        arrays = (sums.weight, sums.value, values, sample, errors)
        sound = [one.dtype == np.float64 and np.isfinite(one).all() for one in arrays]
        sound += [times.shape == sample.shape == errors.shape, (errors > 0).all()]
        sound += [np.isfinite([sums.total, sums.squares, added.raw, added.inside]).all()]
        sound += [sums.total > 0, sums.bins == self.bins, len(sums.value) == len(sums.weight)]
        sound += [0 <= sums.first <= self.bins - len(sums.weight)]
        if not (all(sound) and len(sums.nodes().theta) == len(values)):
            raise ValueError("its parts do not fit together")
        return added, values, True if held.state["robust"] else None
