"""Small networks for the links of a few fundamentals, widened while the data ask for it.

All links start as plain sinusoids. Then units are added one at a time, where the residual, folded
with the period of a fundamental, asks most for one, and all parameters of all links are fitted
together by Levenberg-Marquardt. A unit stays if it lowers the residual sum of squares S by more
than the Bayesian information criterion charges for its 3 + q numbers,

    n·log(S_without / S_with) > (3 + q)·log n,

so that linear links stay linear and a network has the width that its link needs. What is too weak
for a unit is left to the diagonal network, which is trained on the residual afterwards.

When it fails: a fundamental so weak that only its harmonics are active is taken for several.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import least_squares

from robustfourier.arrays import FloatArray
from robustfourier.network.embedding import mode_pair
from robustfourier.network.link_networks import LinkNetwork, Links, unit_values
from robustfourier.training.batches import FixedSample

_BINS = 256  # of the folded residual: ten for the steepest candidate
_ANGLES = 16  # directions of a candidate unit
_STEEP = (1.0, 3.0, 9.0)  # steepness of candidate units that saturate
_BIASES = (-0.6, 0.0, 0.6)  # where candidates bend, in units of the cosine
_EVALUATIONS = 30  # of Levenberg-Marquardt after each new unit
_MOST_UNITS = 8  # of one link


def train_links(sample: FixedSample, modes: list[int]) -> Links:
    """Fit one small network for each fundamental mode, together.

    Parameters
    ----------
    sample : FixedSample
        Of one input column.
    modes : list of int
        Fundamental modes.
    """
    fit = _Links(sample, modes)
    refused: set[int] = set()
    while len(refused) < len(modes):
        best = fit.strongest_candidate(refused)
        if best is None:
            break
        link, unit, rectified = best
        wider = fit.with_unit(link, unit, rectified)
        if wider.evidence_over(fit) > wider.charge and len(wider.owner) <= _MOST_UNITS * len(modes):
            fit, refused = wider, set()
        else:
            refused.add(link)
    return fit.links()


class _Links:
    """Links with their present parameters, fitted."""

    def __init__(
        self,
        sample: FixedSample,
        modes: list[int],
        inner: FloatArray | None = None,
        rectified: Any = (),
        owner: tuple[int, ...] = (),
    ) -> None:
        self.sample, self.modes, self.owner = sample, modes, owner
        self.inner = np.empty((0, 3)) if inner is None else inner
        self.rectified = np.array(rectified, dtype=bool)
        self.root = np.sqrt(sample.weight)[:, None]
        self.pairs = [mode_pair(sample.theta[:, 0], mode) for mode in modes]
        self.n, self.q = sample.y.shape
        self.charge = (3 + self.q) * np.log(self.n)
        if owner:
            self._optimise()
        self.outer, self.residual = self._outer(self.inner)

    def _design(self, inner: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Columns that enter linearly, (n, 1 + 2K + U), and the slopes of the units, (n, U)."""
        values, slopes = np.empty((self.n, len(inner))), np.empty((self.n, len(inner)))
        for u, link in enumerate(self.owner):
            one = slice(u, u + 1)
            values[:, one], slopes[:, one] = unit_values(
                self.pairs[link], inner[one], self.rectified[one]
            )
        return np.hstack([np.ones((self.n, 1)), *self.pairs, values]), slopes

    def _outer(self, inner: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Best weights of the linear columns, and the residual of all rows."""
        design, _ = self._design(inner)
        found, *_ = np.linalg.lstsq(self.root * design, self.root * self.sample.y, rcond=None)
        solved: FloatArray = np.asarray(found, dtype=np.float64)
        return solved, self.sample.y - design @ solved

    def _optimise(self) -> None:
        """Variable projection: only what is inside the units is searched for."""
        cache: dict[bytes, Any] = {}

        def state(flat: FloatArray) -> Any:
            key = flat.tobytes()
            if key not in cache:
                cache.clear()
                design, slopes = self._design(flat.reshape(-1, 3))
                basis, triangle = np.linalg.qr(self.root * design)
                target = basis.T @ (self.root * self.sample.y)
                solved, *_ = np.linalg.lstsq(triangle, target, rcond=None)
                residual = self.root * (self.sample.y - design @ solved)
                cache[key] = basis, slopes, solved, residual
            return cache[key]

        def jacobian(flat: FloatArray) -> FloatArray:
            basis, slopes, solved, _ = state(flat)
            first = 1 + 2 * len(self.modes)
            columns = np.empty((self.n, 3 * len(self.owner)))
            moved = np.empty((self.q, self.n, 3 * len(self.owner)))
            for u, link in enumerate(self.owner):
                sides = np.hstack([self.pairs[link], np.ones((self.n, 1))])
                columns[:, 3 * u : 3 * u + 3] = self.root * slopes[:, [u]] * sides
            columns -= basis @ (basis.T @ columns)  # Kaufman's form
            for o in range(self.q):
                moved[o] = -columns * np.repeat(solved[first:, o], 3)
            return moved.transpose(1, 0, 2).reshape(self.n * self.q, -1)

        def residuals(flat: FloatArray) -> FloatArray:
            return np.asarray(state(flat)[3].ravel())

        found = least_squares(
            residuals,
            self.inner.ravel(),
            jac=jacobian,
            method="lm",
            max_nfev=_EVALUATIONS,
        )
        self.inner = found.x.reshape(-1, 3)

    def evidence_over(self, other: _Links) -> float:
        """Return n·log(S_other / S_self), the output that gains most."""
        before, after = (
            (fit.sample.weight[:, None] * fit.residual**2).sum(axis=0) for fit in (other, self)
        )
        floor = 1e-20 * (self.sample.weight[:, None] * self.sample.y**2).sum(axis=0)
        return float(self.n * np.log((before + floor) / (after + floor)).max(initial=0.0))

    def strongest_candidate(self, refused: set[int]) -> tuple[int, FloatArray, bool] | None:
        """Return link, inner weights and kind of the unit that would explain most, if any."""
        best, found = 0.0, None
        units, rectified = _candidates()
        for link in range(len(self.modes)):
            if link in refused:
                continue
            gains = self._gains(link, units, rectified)
            place = int(np.argmax(gains))
            if gains[place] > best:
                best, found = gains[place], (link, units[place], bool(rectified[place]))
        return found

    def _gains(self, link: int, units: FloatArray, rectified: Any) -> FloatArray:
        """Sum of squares that each candidate takes from the residual folded at one fundamental."""
        phase = np.mod(self.modes[link] * (self.sample.theta[:, 0] + 1.0) / 2.0, 1.0)
        cell = np.minimum((phase * _BINS).astype(int), _BINS - 1)
        weight = np.bincount(cell, self.sample.weight, _BINS)
        rows = self.sample.weight[:, None] * self.residual
        folded = np.stack([np.bincount(cell, row, _BINS) for row in rows.T], axis=1)
        alive = weight > 0
        middle = 2.0 * (np.arange(_BINS) + 0.5) / _BINS / self.modes[link] - 1.0
        pair = mode_pair(middle, self.modes[link])[alive]
        root = np.sqrt(weight[alive])[:, None]
        own = [u for u, owner in enumerate(self.owner) if owner == link]
        held = unit_values(pair, self.inner[own], self.rectified[own])[0]
        basis, _ = np.linalg.qr(root * np.hstack([np.ones((len(pair), 1)), pair, held]))
        columns = root * unit_values(pair, units, rectified)[0]
        sizes = (columns**2).sum(axis=0)
        columns = columns - basis @ (basis.T @ columns)
        free = (columns**2).sum(axis=0)
        reach = ((columns.T @ (folded[alive] / root)) ** 2).max(axis=1)
        return np.where(free > 1e-6 * sizes, reach / np.maximum(free, 1e-300), 0.0)

    def with_unit(self, link: int, unit: FloatArray, rectified: bool) -> _Links:
        """Return the links with one unit more, all fitted again."""
        return _Links(
            self.sample,
            self.modes,
            np.vstack([self.inner, unit]),
            [*self.rectified, rectified],
            (*self.owner, link),
        )

    def links(self) -> Links:
        """Return the fitted links."""
        first, made = 1 + 2 * len(self.modes), []
        for link, mode in enumerate(self.modes):
            own = [u for u, owner in enumerate(self.owner) if owner == link]
            made.append(
                LinkNetwork(
                    mode,
                    self.outer[1 + 2 * link : 3 + 2 * link],
                    self.inner[own],
                    self.rectified[own],
                    self.outer[first:][own],
                )
            )
        return Links(self.outer[0], tuple(made))


def _candidates() -> tuple[FloatArray, Any]:
    """Inner weights of the units that are tried, shape (C, 3), and whether they rectify."""
    angle = 2.0 * np.pi * np.arange(_ANGLES) / _ANGLES
    units, rectified = [], []
    for steep in (*_STEEP, None):
        for bias in _BIASES:
            size = 1.0 if steep is None else steep
            sides = size * np.stack([np.sin(angle), np.cos(angle)], axis=1)
            units.append(np.hstack([sides, np.full((_ANGLES, 1), -size * bias)]))
            rectified += [steep is None] * _ANGLES
    return np.vstack(units), np.array(rectified)
