"""The paper's laboratory: two networks trained side by side while somebody watches.

Each network trains in a thread of its own and stops at a gate every so many steps. The gate opens
when both have arrived, so that their curves can be compared; it also knows pause, one step and
speed. What is shown comes from `training`, `network` and `theory`.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from robustfourier.app.progress_frames import numbers
from robustfourier.arrays import FloatArray
from robustfourier.concurrency import one_blas_thread
from robustfourier.datasets import load_electricity_demand
from robustfourier.errors import DivergenceError
from robustfourier.network.active_modes import active_modes, diagonal_sizes, mode_strengths
from robustfourier.network.architecture import OUTPUT, Architecture
from robustfourier.network.embedding import embed
from robustfourier.network.initial_weights import Init, draw_weights
from robustfourier.network.weights import GridError, Weights
from robustfourier.periodic.diagonal_flow import START
from robustfourier.synthetic import Component, Mixture, noisy_series, paper_example, paper_grid
from robustfourier.theory import grown_amplitude, predicted_diagonal, stopping_time
from robustfourier.training import InverseDecay, train_jointly, train_layerwise
from robustfourier.training.calibration import noise_gradient
from robustfourier.training.callbacks import Progress

Send = Callable[[dict[str, Any]], None]

_FRAMES = 150  # of one training, at least; each is a picture
_GAP = 0.04  # seconds between two pictures
_WINDOW = 0.15  # half-width in θ of the fitted function that is drawn: every wiggle can be seen
_SEEN = 400  # points of it
_POINTS = 1000  # on which the error is taken: 16 for each cycle of the paper's fastest mode
_DTYPE = "float32"  # as in the paper's experiments
_LEVELS = np.geomspace(1e-4, 0.5, 38)  # false-alarm levels that can be chosen
_USUAL = 0.01  # the level that the start is made for
_GROWING = 16  # modes whose growth is drawn
_NO_DECAY = 1e-9  # λ of Theorem 1 where there is none: (1 − (1 − ηλ)^T)/λ is then ηT


def run_laboratory(
    settings: dict[str, Any], commands: queue.SimpleQueue[dict[str, Any]], send: Send
) -> None:
    """Train two networks and send what they look like on the way.

    `settings` are those of `robustfourier.app.request_checks.checked_laboratory`; `commands` are
    pause, go, step and speed.
    """
    data = _data(settings)
    inside = np.abs(data.theta) <= _WINDOW
    keep = np.flatnonzero(inside)[:: max(1, int(inside.sum()) // _SEEN)]
    send(
        {
            **{"t": "problem", "title": data.title, "targets": list(data.targets)},
            **{"theta": numbers(data.theta[keep]), "truth": numbers(data.truth[keep])},
            "y": numbers(data.y[keep]),
        }
    )
    send(_growth(data, settings["networks"][0]["modes"]))
    gate = _Gate(commands, 2)
    every = max(10, settings["steps"] // _FRAMES)
    trainings = [
        _Training(i, one, settings, data, keep, every) for i, one in enumerate(settings["networks"])
    ]
    errors: list[Exception] = []

    def train(training: _Training) -> None:
        try:
            training.train(gate, send)
        except Exception as error:  # reported by the main thread
            errors.append(error)
        finally:
            gate.leave()

    with one_blas_thread():
        threads = [threading.Thread(target=train, args=(training,)) for training in trainings]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for error in errors:
        raise error
    send({"t": "result", "errors": [training.error for training in trainings]})


class _Data(NamedTuple):
    """What both networks train on, and the modes that are known to be there."""

    theta: FloatArray
    y: FloatArray
    truth: FloatArray
    targets: tuple[int, ...]
    title: str


_TITLES = {
    "1": "Example 1: three sinusoids",
    "2": "Example 2: three sinusoids with shifted phases",
    "3": "Example 3: nonlinear links",
}
_WEEKDAYS = 16  # of the paper's example 4, whose series is not public


def _data(settings: dict[str, Any]) -> _Data:
    seed, noise, example = settings["seed"], settings["noise"], settings["example"]
    if example in _TITLES:
        shown = paper_example(int(example), noise=noise, random_state=seed)
        targets = tuple(int(mode) for mode in shown.modes)
        return _Data(shown.theta, shown.y, shown.truth, targets, _TITLES[example])
    if example == "4":
        series = load_electricity_demand(weekdays=_WEEKDAYS)
        rows = noisy_series(series.times, series.values, noise=noise, random_state=seed)
        title = f"Example 4: electricity demand on {_WEEKDAYS} weekdays (real series, noise added)"
        return _Data(*rows, (_WEEKDAYS,), title)
    parts = tuple(Component(**one) for one in settings["components"])
    theta = paper_grid()
    truth = Mixture(parts)(theta)
    y = truth + noise * np.random.default_rng(seed).standard_normal(len(theta))
    return _Data(theta, y, truth, tuple(round(one.mode) for one in parts), "Your own mixture")


def _growth(data: _Data, n_modes: int) -> dict[str, Any]:
    """The diagonal layer in the limit of exact gradients: how modes awake, and when to stop.

    The noise is that of the median mode: |b|² of noise is exponential with the mean σ²/n.
    """
    modes = np.arange(1.0, n_modes + 1.0)
    gradient = np.abs(np.exp(-1j * np.pi * np.outer(modes, data.theta)) @ data.y) / len(data.y)
    sigma = float(np.median(gradient) * np.sqrt(len(data.y) / np.log(2.0)))
    noise = np.array([noise_gradient(sigma, len(data.y), n_modes, p) for p in _LEVELS])
    start = START * noise_gradient(sigma, len(data.y), n_modes, _USUAL)
    stop = stopping_time(noise, start)
    time = np.geomspace(0.005 * stop.min(), 1.05 * stop.max(), _SEEN)
    shown = np.argsort(-gradient)[:_GROWING]
    size = grown_amplitude(gradient[shown, None], time, start)
    return {
        **{"t": "growth", "levels": numbers(_LEVELS), "stop": numbers(stop)},
        **{"noise": numbers(noise), "time": numbers(time), "modes": (shown + 1).tolist()},
        "size": [numbers(one) for one in size],
    }


class _Training:
    """One network and its pictures."""

    def __init__(
        self,
        index: int,
        network: dict[str, Any],
        settings: dict[str, Any],
        data: _Data,
        keep: Any,
        every: int,
    ) -> None:
        self.index, self.network, self.settings, self.data = index, network, settings, data
        self.every, self.error = every, float("nan")
        thin = slice(None, None, max(1, len(data.theta) // _POINTS))
        self.follow = GridError(data.theta[thin], data.truth[thin], network["modes"], _DTYPE)
        self.seen = GridError(data.theta[keep], data.truth[keep], network["modes"], _DTYPE)
        seeds = np.random.SeedSequence([settings["seed"], 1]).spawn(2)
        self.rng, self.batches = (np.random.default_rng(seed) for seed in seeds)

    def train(self, gate: _Gate, send: Send) -> None:
        """Train to the end, with a picture at every gate."""
        network, layerwise = self.network, self.network["training"] == "layerwise"
        architecture = Architecture(
            network["modes"],
            hidden_layer_sizes=(network["width"],) * network["layers"],
            diagonal=network["diagonal"],
        )
        init: Init = network["init"]
        start = draw_weights(architecture, init, random_state=self.rng, dtype=_DTYPE)
        send(
            {
                **self._picture(start, 0, "start"),
                "name": ("*" if layerwise else "") + architecture.name,
            }
        )

        def observe(progress: Progress) -> None:
            send(self._picture(progress.weights(), progress.step, progress.phase, start))
            gate.wait()

        options: dict[str, Any] = {
            "batch_size": network["batch"],
            "schedule": InverseDecay(network["rate"]),
            "ridge": network["ridge"],
            "random_state": self.batches,
            "observers": [observe],
            "observe_every": self.every,
            "record_every": self.settings["steps"],
        }
        rows, steps = (self.data.theta, self.data.y), self.settings["steps"]
        try:
            if layerwise:
                train_layerwise(start, rows, n_steps=steps // 2, loss="half_squared", **options)
            else:
                train_jointly(start, rows, n_steps=steps, **options)
        except DivergenceError:
            send({"t": "diverged", "network": self.index})

    def _picture(
        self, weights: Weights, step: int, phase: str, start: Weights | None = None
    ) -> dict[str, Any]:
        self.error = self.follow(weights)
        strengths = mode_strengths(weights)[0]
        w, modes = weights.diagonal, self.network["modes"]
        frame = {
            **{"t": "picture", "network": self.index, "step": step, "phase": phase},
            "error": float(f"{self.error:.6g}"),
            "weights": numbers(strengths if w is None else diagonal_sizes(w, modes)),
            "active": [int(mode) for mode in np.flatnonzero(active_modes(strengths)) + 1],
            "fitted": numbers(self.seen.predict(weights)),
        }
        predicted = None if start is None else self._predicted(start, step, phase)
        return frame if predicted is None else frame | {"predicted": numbers(predicted)}

    def _predicted(self, start: Weights, step: int, phase: str) -> FloatArray | None:
        """What Theorem 1 says of the diagonal, where it speaks: while it is trained alone."""
        if self.network["training"] != "layerwise":
            return None
        n_steps = step if phase == "diagonal" else self.settings["steps"] // 2
        if n_steps == 0:
            return diagonal_sizes(np.zeros_like(self.alpha), self.network["modes"])
        weights = predicted_diagonal(
            self.alpha,
            start.arrays[OUTPUT][0],
            decay=max(self.network["ridge"], _NO_DECAY),
            step_size=InverseDecay(self.network["rate"]).rates(0, n_steps),
            n_steps=n_steps,
        )
        return diagonal_sizes(weights, self.network["modes"])

    @cached_property
    def alpha(self) -> FloatArray:
        """α_j = E[f x_j] over the samples' points."""
        x = embed(self.data.theta[:, None], self.network["modes"], "signed")
        return np.asarray(self.data.truth @ x / len(x))


class _Gate:
    """Where the networks wait for each other, and for the user."""

    def __init__(self, commands: queue.SimpleQueue[dict[str, Any]], count: int) -> None:
        self.commands = commands
        self.paused, self.steps, self.gap = False, 0, _GAP
        self.barrier = threading.Barrier(count, action=self._hold)

    def wait(self) -> None:
        """Wait until all have come and the user lets them go on."""
        try:
            self.barrier.wait()
        except threading.BrokenBarrierError:  # one has left
            self._hold()

    def leave(self) -> None:
        """Go for good; the other waits no longer for this one."""
        self.barrier.abort()

    def _hold(self) -> None:
        """Let time pass by the speed, and for as long as there is a pause."""
        end = time.monotonic() + self.gap
        while True:
            left = end - time.monotonic()
            with suppress(queue.Empty):
                self._obey(self.commands.get(timeout=None if self.paused else max(left, 0.0)))
            if self.paused and self.steps:
                self.steps -= 1
                return
            if not self.paused and time.monotonic() >= end:
                return

    def _obey(self, command: dict[str, Any]) -> None:
        name = command["command"]
        if name in ("pause", "go"):
            self.paused, self.steps = name == "pause", 0
        elif name == "step":
            self.paused, self.steps = True, self.steps + 1
        elif name == "speed":  # pictures a second
            self.gap = 1.0 / min(max(command["value"], 0.5), 60.0)
