"""Training whose start, rate, length and number of modes follow from the data.

Diagonal networks without dense layers only; `calibration` has the closed form. The training grows
at one rate until its time is over, the band of modes widens while the residual asks for modes
beyond it, and a last stretch at falling rates lets the scatter of the batches die out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.errors import DivergenceError, InputError
from robustfourier.network.architecture import DIAGONAL, OUTPUT, Architecture
from robustfourier.network.weights import Weights
from robustfourier.training.batches import FixedSample
from robustfourier.training.calibration import (
    FALSE_ALARM,
    Growth,
    largest_curvature,
    noise_gradient,
    rate_for_passes,
    stable_rate,
)
from robustfourier.training.engine_fused import TABLE_BYTES, feature_rows, fitted_values
from robustfourier.training.history import joined
from robustfourier.training.loop import Training
from robustfourier.training.losses import Loss
from robustfourier.training.schedule import InverseDecay
from robustfourier.training.sgd import train_jointly
from robustfourier.weighted_rows import effective_rows

_FIRST_BAND = 100  # modes to begin with; the paper's number
_ANNEALED = 0.3  # of the time; at falling rates, when what is awake is awake
_FALL = 50.0  # of the rate at the end: scatter of 0.2 % of the noise's share is left
_SETTLED = 1.02  # time that is longer than this factor is taken
_STRETCHES = 20  # of growth at most; four are usual
_MOST_STEPS = 1e9  # hours; beyond, a number was given that no training can follow
_ROBUST = 1.4826  # standard deviation of a normal variable over its median size
_TRIES = 8  # trainings that may diverge, each at half the rate of the one before

Start = Callable[[Architecture, float], Weights]
"""Draws the start of an architecture, given the factor on its size, 1 for Glorot's."""


@dataclass(frozen=True)
class Calibrated:
    """A training that chose its own numbers.

    `noise`: standard deviation of the residual, in the unit of the training's y. `level`: amplitude
    above which a mode is active, in the same unit. `time`: sum of all learning rates.
    """

    training: Training
    noise: float
    level: float
    time: float


def train_calibrated(
    sample: FixedSample,
    architecture: Architecture,
    start: Start,
    *,
    loss: Loss,
    init_scale: float | None = None,
    learning_rate: float | None = None,
    grow_band: bool = False,
    **options: Any,
) -> Calibrated:
    """Train a diagonal network without dense layers for the time that the noise of the data gives.

    y has standard deviation about 1. ``start(architecture, init_scale)`` gives weights with a
    diagonal of size init_scale/√D; without `init_scale` it follows from the noise of a coefficient,
    without `learning_rate` that from the curvature. With `grow_band` the architecture's modes are
    where the band begins, and higher ones are taken in while the residual asks for them. `options`
    are those of `train_jointly`.
    """
    rate, rng = learning_rate, np.random.default_rng(options.pop("random_state", None))
    diverged = 0
    while True:
        run = _Run(sample, architecture, start, loss, init_scale, rate, options, rng)
        try:
            if not run.grow():
                return run.result()
            wider = run.wanted_modes() if grow_band else architecture.n_modes
            if wider <= architecture.n_modes:
                return run.annealed()
            architecture = replace(architecture, n_modes=wider)
        except DivergenceError:
            diverged += 1
            if diverged == _TRIES:
                raise
            rate = run.rate / 2.0


def first_band(sample: FixedSample) -> int:
    """Return the modes to begin with: the paper's 100, or what the samples can tell apart."""
    return min(_FIRST_BAND, _resolvable(sample))


def _resolvable(sample: FixedSample) -> int:
    """Most modes of a column: half its distinct places, and no more than the memory holds."""
    distinct = max(len(np.unique(column)) for column in sample.theta.T)
    fitting = TABLE_BYTES // (16 * sample.theta.size)
    return max(1, min((distinct - 1) // 2, fitting))


class _Run:
    """One training of one architecture."""

    def __init__(
        self,
        sample: FixedSample,
        architecture: Architecture,
        start: Start,
        loss: Loss,
        init_scale: float | None,
        rate: float | None,
        options: dict[str, Any],
        rng: np.random.Generator,
    ) -> None:
        self.sample, self.architecture, self.loss = sample, architecture, loss
        self.options, self.rng = options, rng
        self.growth = Growth.of(architecture, loss)
        self.n_modes = architecture.n_modes * architecture.n_columns + architecture.n_mixed
        self.n_rows, self.noise = effective_rows(sample.weight), self._spread(sample.y)
        self.size = float(np.sqrt(np.mean(sample.y**2)))
        root = np.sqrt(architecture.embedding_size)
        derived = root * self.growth.start_below(self._gradient() or 1.0, self.n_modes)
        scale = derived if init_scale is None else init_scale
        self.a = scale / root
        self.weights = start(architecture, scale)
        self.rate = self._rate() if rate is None else InverseDecay(rate).initial
        self.training: Training | None = None
        self.elapsed = 0.0
        # held, so that all stretches find the same table of features
        self._held = feature_rows(sample, architecture, self.weights.dtype)

    def grow(self) -> bool:
        """Train until the time is over; return False if an observer ended it."""
        for _ in range(_STRETCHES):
            missing = (1.0 - _ANNEALED) * self._time() - self.elapsed
            if missing <= (_SETTLED - 1.0) * self.elapsed:
                break
            n_steps = self._whole(missing / self.rate)
            if not self._stretch(n_steps, InverseDecay(self.rate, 0.0)):
                return False
        return True

    def annealed(self) -> Calibrated:
        """Return the training after its last stretch, in which active modes have both phases."""
        if self.architecture.activation == "identity":
            self.weights = with_both_phases(self.weights, self._level())
        missing = max(self._time() - self.elapsed, _ANNEALED * self.elapsed)
        n_steps = self._whole(missing * _FALL / (self.rate * np.log1p(_FALL)))
        self._stretch(n_steps, InverseDecay(self.rate, _FALL, n_steps))
        return self.result()

    def result(self) -> Calibrated:
        assert self.training is not None
        return Calibrated(self.training, self.noise, self._level(), self.elapsed)

    def wanted_modes(self) -> int:
        """Return the highest mode at which the residual is more than noise."""
        m, highest = self.architecture.n_modes, _resolvable(self.sample)
        residual = self._residual() * self.sample.weight[:, None]
        level = noise_gradient(self.noise, self.n_rows, highest, FALSE_ALARM)
        wanted = m
        for column in self.sample.theta.T if highest > m else ():
            size = np.abs(_gradients(column, residual, m + 1, highest)).max(axis=1)
            over = np.flatnonzero(size > level)
            wanted = max(wanted, m + 1 + int(over[-1]) if len(over) else m)
        return wanted

    def _whole(self, steps: float) -> int:
        """Return a number of steps, at least one, or refuse one that no training takes."""
        if not steps <= _MOST_STEPS:
            scale = self.a * np.sqrt(self.architecture.embedding_size)
            raise InputError(
                f"learning_rate={self.rate:.3g} with init_scale={scale:.3g} asks for {steps:.3g} "
                'steps; leave both at "auto", or give larger ones'
            )
        return max(1, int(np.ceil(steps)))

    def _stretch(self, n_steps: int, schedule: InverseDecay) -> bool:
        further = train_jointly(
            self.weights,
            self.sample,
            n_steps=n_steps,
            schedule=schedule,
            loss=self.loss,
            random_state=self.rng,
            **self.options,
        )
        if self.training is not None:
            history = joined(self.training.history, further.history, "joint")
            further = replace(further, history=history, start=self.training.start)
        self.training, self.weights = further, further.weights
        self.elapsed += float(schedule.rates(0, n_steps).sum())
        self.noise = self._spread(self._residual())
        if not np.isfinite(self.noise):
            raise DivergenceError(
                f"training diverged at step {further.history.n_steps}: residuals are no "
                "longer finite; use a smaller learning_rate",
                step=further.history.n_steps,
                last_good=dict(further.start.arrays),
            )
        return further.completed

    def _level(self) -> float:
        return 2.0 * noise_gradient(self.noise, self.n_rows, self.n_modes, FALSE_ALARM)

    def _gradient(self) -> float:
        return noise_gradient(self.noise, self.n_rows, self.n_modes)

    def _time(self) -> float:
        x = self._gradient()
        return self.growth.time_to(x, x, self.a)

    def _rate(self) -> float:
        batch = min(self.options.get("batch_size", len(self.sample)), len(self.sample))
        shape = self.architecture
        curvature = largest_curvature(self.sample, shape.n_modes, shape.mixed_modes)
        stable = stable_rate(self.growth, curvature, self.size or 1.0)
        # a constant y has no noise, and so no time and no passes
        return min(stable, rate_for_passes(self._time(), len(self.sample), batch)) or stable

    def _residual(self) -> FloatArray:
        return self.sample.y - fitted_values(self.weights, self._held)

    def _spread(self, residual: FloatArray) -> float:
        robust = _ROBUST * np.median(np.abs(residual)) if self.loss.name == "huber" else 0.0
        if robust > 0:  # else most of y is one number, and the spread is that of the rest
            return float(robust)
        squares = np.average(residual**2, axis=0, weights=self.sample.weight)
        return float(np.sqrt(squares.mean()))


def with_both_phases(weights: Weights, level: float) -> Weights:
    r"""Return the same function, with one diagonal weight for cosine and sine of an active mode.

    Where the origin of time lies is arbitrary, and cos π(kθ − φ) has a cosine and a sine; the
    smaller of the two would stay asleep if it is weaker than noise, a bias of up to x. A mode that
    is awake is one complex number: |w| of its features becomes the largest of them, and c shrinks
    so that each product w·c stays what it is.

    `weights`: of a network without dense layers and without activation. `level`: amplitude above
    which a mode is active.
    """
    layout, w = weights.architecture.layout(), weights.arrays[DIAGONAL]
    c = weights.arrays[OUTPUT]
    columns = weights.architecture.n_columns + 1
    mode = layout.mode * columns + layout.column + 1  # one number for each mode of each column
    size, power = np.zeros(mode.max() + 1), np.zeros(mode.max() + 1)
    np.maximum.at(size, mode, np.abs(w))
    for output in c:
        product = np.bincount(layout.feature, layout.sign * w * output)
        first = np.unique(layout.feature, return_index=True)[1]
        amplitude = np.bincount(mode[first], product**2, minlength=len(power))
        power = np.maximum(power, amplitude)
    awake = (power[mode] > level**2) & (layout.mode > 0) & (w != 0)
    larger = np.where(awake, np.copysign(size[mode], w), w)
    shrunk = c * np.divide(w, larger, out=np.ones_like(w), where=larger != 0)
    return Weights(weights.architecture, {**weights.arrays, DIAGONAL: larger, OUTPUT: shrunk})


def _gradients(theta: FloatArray, residual: FloatArray, first: int, last: int) -> Any:
    """Return E[r e^{iπkθ}] for k = first … last, shape (last − first + 1, q)."""
    turn = np.exp(1j * np.pi * theta)
    wave = np.exp(1j * np.pi * first * theta)
    found = np.empty((last - first + 1, residual.shape[1]), dtype=complex)
    for i in range(len(found)):
        found[i] = wave @ residual
        wave *= turn
    return found / len(residual)
