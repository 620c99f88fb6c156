"""The joint fit of all families with shrunk harmonics: penalised least squares on tied modes.

One Gauss-Newton iteration moves everything at once: trend, coefficients (with their prior
precisions), the shifts of components that are in phase, and the bases. The posterior covariance of
that linearised model gives the bands. All it needs of the data are the moments of
E = [P, C, S, θC, θS]; see `robustfourier.periodic.gram_matrices`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from robustfourier.arrays import BoolArray, FloatArray, IntArray
from robustfourier.mixture.components.waveform_prior import Prior
from robustfourier.periodic.gram_matrices import Moments
from robustfourier.periodic.semidefinite import root, solve_positive
from robustfourier.periodic.uncertainty import mode_tangents
from robustfourier.periodic.variable_projection import LARGEST_STEP

ITERATIONS = 4  # of Gauss and Newton, from a fit of all significant lines
UPHILL = 0.01  # part of the objective by which a step may be wrong: more, and it is not taken


@dataclass(frozen=True)
class Penalised:
    """Result of `penalised_fit`.

    Parameters
    ----------
    bases : ndarray of shape (F,)
    base_covariance : ndarray of shape (F, F)
    coefficients : ndarray of shape (p + 2K, q)
        Trend, cosine and sine coefficients.
    shift : ndarray of shape (K,)
        Shift of each line's component, NaN if it is not in phase.
    noise_variance : ndarray of shape (q,)
        Residual sum of squares over (total weight − effective parameters).
    factor : ndarray of shape (q, p + 4K, r)
        See `robustfourier.periodic.uncertainty`.
    """

    bases: FloatArray
    base_covariance: FloatArray
    coefficients: FloatArray
    shift: FloatArray
    noise_variance: FloatArray
    factor: FloatArray


def penalised_fit(
    moments_at: Callable[[FloatArray], Moments],
    harmonics: IntArray,
    bases: FloatArray,
    free: BoolArray,
    prior: Prior,
    noise: FloatArray,
    *,
    squares: FloatArray,
    total: float,
) -> Penalised:
    """Fit trend, coefficients, shifts and bases together.

    Parameters
    ----------
    moments_at : callable
        ``modes -> Moments`` of the data.
    harmonics : ndarray of int of shape (K, F)
        ``modes = harmonics @ bases``.
    bases : ndarray of shape (F,)
        Where to start: modes from a fit of the significant lines.
    free : ndarray of bool of shape (F,)
        Bases to refine.
    prior : Prior
    noise : ndarray of shape (q,)
        Noise variance to weigh the prior against.
    squares : ndarray of shape (q,)
        Σ w y², for the residual.
    total : float
        Total weight.
    """
    model = _Model(moments_at, harmonics, free, prior, noise, squares)
    state = model.start(bases)
    rounding = 1e-9 * float(squares.sum())
    for _ in range(ITERATIONS):
        system = model.system(state)
        step, errors = system.solved()
        base_step = np.zeros(len(bases))
        base_step[free] = step[system.linear :]
        ahead = model.moved(state, step, base_step)
        # With coloured noise the step minimises a somewhat different sum.
        if ahead.height > state.height + UPHILL * max(state.height, rounding):
            break
        state = ahead
        if np.all(np.abs(base_step[free]) <= 1e-3 * errors):
            break
    return model.result(state, total)


@dataclass(frozen=True, eq=False)
class _State:
    bases: FloatArray
    values: FloatArray  # (P, q), see `_Model`
    shift: FloatArray  # (K,)
    moments: Moments
    coefficients: FloatArray  # (p + 2K, q): of trend, cosines and sines
    rss: FloatArray  # (q,)
    height: float  # the objective: sums of squares plus penalty, over the least noise


@dataclass(frozen=True, eq=False)
class _System:
    """Normal equations of the linearised model.

    Parameters are ordered output by output (the P values of each, then the shifts), bases last.
    """

    tangents: list[FloatArray]  # per output: E tangent = change of the model, (p + 4K, ·)
    information: FloatArray  # without the prior
    normal: FloatArray
    gradient: FloatArray
    linear: int  # all but the bases

    def solved(self) -> tuple[FloatArray, FloatArray]:
        """Return the step to the minimum, and the standard errors of the bases."""
        ends = np.eye(len(self.normal))[:, self.linear :]
        solved = np.linalg.solve(self.normal, np.column_stack([self.gradient, ends]))
        # Of a base that the data hardly tell, rounding may leave a variance below zero.
        variance = np.maximum(np.diag(solved[self.linear :, 1:]), 0.0)
        return np.asarray(solved[:, 0], np.float64), np.sqrt(variance)


class _Model:
    """What the fit minimises.

    The P values of an output are the trend's coefficients, cosines and sines of lines that are not
    in phase, and one signed amplitude of each that is, along the direction that its shift gives.
    """

    def __init__(
        self,
        moments_at: Callable[[FloatArray], Moments],
        harmonics: IntArray,
        free: BoolArray,
        prior: Prior,
        noise: FloatArray,
        squares: FloatArray,
    ) -> None:
        self.moments_at, self.harmonics, self.free = moments_at, harmonics, free
        self.prior, self.noise, self.squares = prior, noise, squares
        self.others, self.locked = np.flatnonzero(~prior.locked), np.flatnonzero(prior.locked)
        #: The shift that each line in phase turns with, as a matrix of zeros and ones.
        member = prior.component[self.locked]
        self.turns = (member[:, None] == np.unique(member)).astype(np.float64)

    def start(self, bases: FloatArray) -> _State:
        """Ridge coefficients; those of components in phase are projected on their shift."""
        moments, count = self.moments_at(self.harmonics @ bases), len(self.harmonics)
        self.p = len(moments.gram) - 4 * count
        linear, shift = self.p + 2 * count, self.prior.shift
        coefficients = np.zeros((linear, len(self.noise)))
        for o, noise in enumerate(self.noise):
            ridge = np.tile(noise * np.diag(self.prior.precision[o]), 2)
            gram = moments.gram[:linear, :linear] + np.diag(np.append(np.zeros(self.p), ridge))
            coefficients[:, o] = solve_positive(gram, moments.cross[:linear, o])
        self.penalties = [self._penalty(given) for given in self.prior.precision]
        # Directions are orthonormal: transposed, they project.
        return self._at(bases, self._directions(shift)[:linear].T @ coefficients, shift, moments)

    def _penalty(self, given: FloatArray) -> FloatArray:
        """Prior precision of the values of one output, from that of its lines, shape (P, P)."""
        lines = np.concatenate([self.others, self.others, self.locked])
        kind = np.repeat([0, 1, 2], [len(self.others), len(self.others), len(self.locked)])
        penalty = np.zeros((self.p + len(lines),) * 2)
        penalty[self.p :, self.p :] = given[np.ix_(lines, lines)] * (kind[:, None] == kind)
        return penalty

    def _directions(self, shift: FloatArray) -> FloatArray:
        """Columns by which values make coefficients, shape (p + 4K, P)."""
        count, p = len(self.harmonics), self.p
        identity = np.eye(p + 4 * count, p + 2 * count)
        if not len(self.locked):
            return identity
        angle = self.prior.order[self.locked] * shift[self.locked]
        cosine, sine = identity[:, p + self.locked], identity[:, p + count + self.locked]
        keep = np.concatenate([np.arange(p), p + self.others, p + count + self.others])
        return np.hstack([identity[:, keep], cosine * np.cos(angle) + sine * np.sin(angle)])

    def _at(
        self,
        bases: FloatArray,
        values: FloatArray,
        shift: FloatArray,
        moments: Moments | None = None,
    ) -> _State:
        """Return the state of some values, with its objective."""
        moments = moments or self.moments_at(self.harmonics @ bases)
        linear = self.p + 2 * len(self.harmonics)
        given = self._directions(shift)[:linear] @ values
        gram, cross = moments.gram[:linear, :linear], moments.cross[:linear]
        rss = self.squares - np.sum(given * (2.0 * cross - gram @ given), axis=0)
        least = float(self.noise.min())
        height = float(np.sum(rss * least / np.maximum(self.noise, np.finfo(float).tiny)))
        pairs = zip(values.T, self.penalties, strict=True)
        height += least * sum(float(one @ penalty @ one) for one, penalty in pairs)
        return _State(bases, values, shift, moments, given, rss, height)

    def _tangent(self, state: _State, output: int) -> FloatArray:
        """Columns of values and shifts of one output, shape (p + 4K, P + shifts)."""
        directions, count = self._directions(state.shift), len(self.harmonics)
        if not len(self.locked):
            return directions
        along = directions[:, -len(self.locked) :]
        across = np.zeros_like(along)  # a quarter of a turn ahead
        across[self.p : self.p + count] = -along[self.p + count : self.p + 2 * count]
        across[self.p + count : self.p + 2 * count] = along[self.p : self.p + count]
        amplitude = state.values[-len(self.locked) :, output]
        turning = across * (self.prior.order[self.locked] * amplitude)
        return np.hstack([directions, turning @ self.turns])

    def system(self, state: _State) -> _System:
        """Return the normal equations at a state."""
        count, moments = len(self.harmonics), state.moments
        fixed, n_outputs = state.coefficients.shape
        root = np.sqrt(np.concatenate([np.ones(self.p), np.tile(self.prior.colour, 4)]))
        gram = moments.gram / np.outer(root, root)
        own = [self._tangent(state, o) for o in range(n_outputs)]
        width, n_values = own[0].shape[1], len(state.values)
        linear = width * n_outputs
        size = linear + int(self.free.sum())
        information, precision = np.zeros((size, size)), np.zeros((size, size))
        gradient, tangents = np.zeros(size), []
        cosine, sine = state.coefficients[self.p : fixed - count], state.coefficients[-count:]
        moving = mode_tangents(cosine, sine, self.harmonics[:, self.free], self.p)
        left = moments.cross - moments.gram[:, :fixed] @ state.coefficients
        for o, noise in enumerate(self.noise):
            tangent = np.zeros((len(gram), size))
            block = slice(o * width, (o + 1) * width)
            tangent[:, block] = own[o]
            tangent[:, linear:] = moving[o]
            # Coefficients have no part in [θC, θS], and bases have none in the rest of E.
            here, there = own[o][:fixed], moving[o][fixed:]
            across = here.T @ gram[:fixed] if len(self.locked) else gram[:fixed]
            known = across[:, :fixed] @ here if len(self.locked) else across[:, :fixed]
            information[block, block] += known / noise
            information[block, linear:] += across[:, fixed:] @ there / noise
            information[linear:, linear:] += there.T @ gram[fixed:, fixed:] @ there / noise
            values = slice(o * width, o * width + n_values)
            precision[values, values] = self.penalties[o]
            gradient += tangent.T @ (left[:, o] / root**2) / noise
            gradient[values] -= self.penalties[o] @ state.values[:, o]
            tangents.append(tangent)
        information[linear:, :linear] = information[:linear, linear:].T
        normal = information + precision
        # Directions the data say nothing about stay put: a sine that vanishes at every sample, or
        # the frequency of a line at the Nyquist mode itself, which is then known to one mode.
        told = np.diag(normal)
        normal = normal + np.diag(np.where(told > np.finfo(float).tiny, 1e-12 * told, 1.0))
        return _System(tangents, information, normal, gradient, linear)

    def moved(self, state: _State, step: FloatArray, base_step: FloatArray) -> _State:
        """Take one step, shortened where a mode, or a shift in radians, would move too far."""
        n_outputs = state.values.shape[1]
        linear = step[: len(step) - int(self.free.sum())].reshape(n_outputs, -1).T
        turn = np.zeros(len(self.harmonics))
        turn[self.locked] = self.turns @ linear[len(state.values) :, 0]
        largest = max(
            np.max(np.abs(self.harmonics @ base_step), initial=0.0),
            np.max(np.abs(turn * self.prior.order * self.prior.kept), initial=0.0),
            np.finfo(float).tiny,
        )
        scale = min(1.0, LARGEST_STEP / largest)
        values = state.values + scale * linear[: len(state.values)]
        return self._at(state.bases + scale * base_step, values, state.shift + scale * turn)

    def result(self, state: _State, total: float) -> Penalised:
        """Posterior covariance, and the noise with the effective number of parameters."""
        system, n_outputs = self.system(state), len(self.noise)
        covariance = np.asarray(np.linalg.inv(system.normal), np.float64)
        spent = float(np.sum(covariance * system.information)) / n_outputs
        base = np.zeros((len(self.free),) * 2)
        base[np.ix_(self.free, self.free)] = covariance[system.linear :, system.linear :]
        spread = root(0.5 * (covariance + covariance.T))
        # What is unknown because the prior is; nothing where no line is in phase.
        unknown = self.prior.spread[np.ix_(self.locked, self.locked)]
        along = self._directions(state.shift)[:, len(state.values) - len(self.locked) :]
        between = along @ root(0.5 * (unknown + unknown.T))
        return Penalised(
            bases=state.bases,
            base_covariance=base,
            coefficients=state.coefficients,
            shift=state.shift,
            noise_variance=np.maximum(state.rss, 0.0) / max(total - spent, 1.0),
            factor=np.stack(
                [np.hstack([tangent @ spread, between]) for tangent in system.tangents]
            ),
        )
