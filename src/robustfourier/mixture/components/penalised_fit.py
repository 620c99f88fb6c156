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
HALVINGS = 4  # of a step that leads uphill
UPHILL = 0.01  # part of the objective by which a step may be wrong


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
    moments = moments_at(harmonics @ bases)
    state = _start(moments, harmonics, bases, prior, noise)
    penalties = _penalties(prior, len(state.coefficients) - 2 * len(prior.order))
    height = _objective(state, moments, prior, penalties, noise, squares)
    rounding = 1e-9 * float(squares.sum())
    for _ in range(ITERATIONS):
        system = _System.at(state, moments, harmonics, free, prior, penalties, noise)
        step, errors = system.solved()
        base_step = np.zeros(len(bases))
        base_step[free] = step[system.linear :]
        for halving in range(HALVINGS + 1):
            part = 0.5**halving
            ahead = _moved(state, system, part * step, part * base_step, harmonics, prior)
            there = moments_at(harmonics @ ahead.bases)
            height_there = _objective(ahead, there, prior, penalties, noise, squares)
            # With coloured noise the step minimises a somewhat different sum.
            if height_there <= height + UPHILL * max(height, rounding):
                break
        else:
            break
        state, moments, height = ahead, there, height_there
        if np.all(np.abs(base_step[free]) <= 1e-3 * errors):
            break
    system = _System.at(state, moments, harmonics, free, prior, penalties, noise)
    return _result(state, system, moments, free, prior, squares, total)


def _objective(
    state: _State,
    moments: Moments,
    prior: Prior,
    penalties: list[FloatArray],
    noise: FloatArray,
    squares: FloatArray,
) -> float:
    """Residual sum of squares plus penalty, in units of the output with the least noise."""
    p = len(state.coefficients) - 2 * len(prior.order)
    least = float(noise.min())
    share = least / np.maximum(noise, np.finfo(float).tiny)
    height = float(np.sum((squares - _explained(state, moments)) * share))
    for o in range(len(noise)):
        value = _values(state, prior, p, o)
        height += float(value @ (least * penalties[o]) @ value)
    return height


@dataclass(frozen=True)
class _State:
    bases: FloatArray
    coefficients: FloatArray  # (p + 2K, q)
    shift: FloatArray  # (K,)


def _explained(state: _State, moments: Moments) -> FloatArray:
    """Sum of squares that trend and lines explain of each output, shape (q,)."""
    given, linear = state.coefficients, len(state.coefficients)
    gram, cross = moments.gram[:linear, :linear], moments.cross[:linear]
    return np.asarray(np.sum(given * (2.0 * cross - gram @ given), axis=0))


def _start(
    moments: Moments, harmonics: IntArray, bases: FloatArray, prior: Prior, noise: FloatArray
) -> _State:
    """Ridge coefficients; those of components in phase are projected on their shift."""
    count = len(harmonics)
    p = len(moments.gram) - 4 * count
    linear = p + 2 * count
    coefficients = np.zeros((linear, len(noise)))
    for o in range(len(noise)):
        ridge = np.tile(noise[o] * np.diag(prior.precision[o]), 2)
        gram = moments.gram[:linear, :linear] + np.diag(np.concatenate([np.zeros(p), ridge]))
        coefficients[:, o] = solve_positive(gram, moments.cross[:linear, o])
    cosine, sine = coefficients[p : p + count], coefficients[p + count :]
    along = _along(cosine, sine, prior.order * prior.shift)
    locked, direction = prior.locked[:, None], (prior.order * prior.shift)[:, None]
    cosine = np.where(locked, along * np.cos(direction), cosine)
    sine = np.where(locked, along * np.sin(direction), sine)
    return _State(bases, np.vstack([coefficients[:p], cosine, sine]), prior.shift)


def _along(cosine: FloatArray, sine: FloatArray, angle: FloatArray) -> FloatArray:
    return cosine * np.cos(angle)[:, None] + sine * np.sin(angle)[:, None]


@dataclass(frozen=True)
class _System:
    """Normal equations of the linearised model.

    Parameters are ordered output by output (trend, then each line's own), bases last.
    """

    tangents: list[FloatArray]  # per output: E tangent = change of the model, (p + 4K, P + F)
    information: FloatArray  # without the prior
    normal: FloatArray
    gradient: FloatArray
    linear: int

    @classmethod
    def at(
        cls,
        state: _State,
        moments: Moments,
        harmonics: IntArray,
        free: BoolArray,
        prior: Prior,
        penalties: list[FloatArray],
        noise: FloatArray,
    ) -> _System:
        count, (fixed, n_outputs) = len(harmonics), state.coefficients.shape
        p, locked = fixed - 2 * count, bool(prior.locked.any())  # else a parameter is a column of E
        root = np.sqrt(np.concatenate([np.ones(p), np.tile(prior.colour, 4)]))
        gram = moments.gram / np.outer(root, root)
        own = [_own_tangent(state, prior, p, o) for o in range(n_outputs)]
        width = own[0].shape[1]
        linear = width * n_outputs
        size = linear + int(free.sum())
        information, precision = np.zeros((size, size)), np.zeros((size, size))
        gradient, tangents = np.zeros(size), []
        cosine, sine = state.coefficients[p : p + count], state.coefficients[p + count :]
        moving = mode_tangents(cosine, sine, harmonics[:, free], p)
        left = moments.cross - moments.gram[:, :fixed] @ state.coefficients
        for o in range(n_outputs):
            tangent = np.zeros((len(gram), size))
            block = slice(o * width, (o + 1) * width)
            tangent[:, block] = own[o]
            tangent[:, linear:] = moving[o]
            # Coefficients have no part in [θC, θS], and bases have none in the rest of E.
            here, there = own[o][:fixed], moving[o][fixed:]
            across = here.T @ gram[:fixed] if locked else gram[:fixed]
            known = across[:, :fixed] @ here if locked else across[:, :fixed]
            information[block, block] += known / noise[o]
            information[block, linear:] += across[:, fixed:] @ there / noise[o]
            information[linear:, linear:] += there.T @ gram[fixed:, fixed:] @ there / noise[o]
            gradient += tangent.T @ (left[:, o] / root**2) / noise[o]
            precision[block, block] = penalties[o]
            gradient[block] -= penalties[o] @ _values(state, prior, p, o)
            tangents.append(tangent)
        information[linear:, :linear] = information[:linear, linear:].T
        normal = information + precision
        # Directions the data say nothing about stay put: a sine that vanishes at every sample, or
        # the frequency of a line at the Nyquist mode itself, which is then known to one mode.
        told = np.diag(normal)
        normal = normal + np.diag(np.where(told > np.finfo(float).tiny, 1e-12 * told, 1.0))
        return cls(tangents, information, normal, gradient, linear)

    def solved(self) -> tuple[FloatArray, FloatArray]:
        """Return the step to the minimum, and the standard errors of the bases."""
        ends = np.eye(len(self.normal))[:, self.linear :]
        solved = np.linalg.solve(self.normal, np.column_stack([self.gradient, ends]))
        # Of a base that the data hardly tell, rounding may leave a variance below zero.
        variance = np.maximum(np.diag(solved[self.linear :, 1:]), 0.0)
        return np.asarray(solved[:, 0], np.float64), np.sqrt(variance)


def _own_tangent(state: _State, prior: Prior, p: int, output: int) -> FloatArray:
    """Columns of trend, coefficients and shifts of one output, shape (p + 4K, P).

    A free line has two columns, a line in phase one along its direction; each component in phase
    has one more, the derivative with respect to its shift.
    """
    count = len(prior.order)
    identity = np.eye(p + 4 * count, p + 2 * count)
    locked = np.flatnonzero(prior.locked)
    if not locked.size:
        return identity
    angle = prior.order[locked] * state.shift[locked]
    cosine, sine = identity[:, p + locked], identity[:, p + count + locked]
    along = cosine * np.cos(angle) + sine * np.sin(angle)
    across = sine * np.cos(angle) - cosine * np.sin(angle)
    amplitude = _amplitudes(state, prior, p, output)[locked]
    turning = across * (prior.order[locked] * amplitude)
    member = prior.component[locked]
    shifts = np.stack([turning[:, member == c].sum(1) for c in np.unique(member)], axis=1)
    others = np.flatnonzero(~prior.locked)
    keep = np.concatenate([np.arange(p), p + others, p + count + others])
    return np.hstack([identity[:, keep], along, shifts])


def _amplitudes(state: _State, prior: Prior, p: int, output: int) -> FloatArray:
    """Signed amplitude of each line along its direction (components in phase only)."""
    count = len(prior.order)
    values = state.coefficients[:, [output]]
    return _along(values[p : p + count], values[p + count :], prior.order * state.shift)[:, 0]


def _penalties(prior: Prior, p: int) -> list[FloatArray]:
    """Prior precision of the parameters of each output, shape (P, P)."""
    others, locked = np.flatnonzero(~prior.locked), np.flatnonzero(prior.locked)
    n_shifts = len(np.unique(prior.component[locked]))
    size = p + 2 * len(others) + len(locked) + n_shifts
    penalties = []
    for given in prior.precision:
        precision, start = np.zeros((size, size)), p
        for lines in (others, others, locked):
            block = slice(start, start + len(lines))
            precision[block, block] = given[np.ix_(lines, lines)]
            start += len(lines)
        penalties.append(precision)
    return penalties


def _values(state: _State, prior: Prior, p: int, output: int) -> FloatArray:
    """Present value of each parameter of one output, shape (P,); that of a shift counts as zero."""
    count, values = len(prior.order), state.coefficients[:, output]
    others, locked = np.flatnonzero(~prior.locked), np.flatnonzero(prior.locked)
    along = _amplitudes(state, prior, p, output)[locked]
    free = values[np.concatenate([np.arange(p), p + others, p + count + others])]
    return np.concatenate([free, along, np.zeros(len(np.unique(prior.component[locked])))])


def _moved(
    state: _State,
    system: _System,
    step: FloatArray,
    base_step: FloatArray,
    harmonics: IntArray,
    prior: Prior,
) -> _State:
    """Take one step, shortened where a mode, or a shift in radians, would move too far."""
    count, n_outputs = len(harmonics), state.coefficients.shape[1]
    p = len(state.coefficients) - 2 * count
    width = system.linear // n_outputs
    locked = np.flatnonzero(prior.locked)
    members = np.unique(prior.component[locked])
    keep = width - len(members)  # of each output; what follows are the shifts
    turns = step[keep:width]
    turn = np.zeros(count)
    for component, value in zip(members, turns, strict=True):
        turn[prior.component == component] = value
    largest = max(
        np.max(np.abs(harmonics @ base_step), initial=0.0),
        np.max(np.abs(turn * prior.order * prior.kept), initial=0.0),
        np.finfo(float).tiny,
    )
    scale = min(1.0, LARGEST_STEP / largest)
    coefficients = np.empty_like(state.coefficients)
    shift = state.shift + scale * turn
    for o in range(n_outputs):
        own = slice(o * width, o * width + keep)
        linear_step = system.tangents[o][: p + 2 * count, own]
        coefficients[:, o] = state.coefficients[:, o] + linear_step @ (scale * step[own])
    if locked.size:  # turn the signed amplitudes to the new shift
        signed = _amplitudes(_State(state.bases, coefficients, state.shift), prior, p, 0)[locked]
        coefficients[p + locked, 0] = signed * np.cos(prior.order[locked] * shift[locked])
        coefficients[p + count + locked, 0] = signed * np.sin(prior.order[locked] * shift[locked])
    return _State(state.bases + scale * base_step, coefficients, shift)


def _result(
    state: _State,
    system: _System,
    moments: Moments,
    free: BoolArray,
    prior: Prior,
    squares: FloatArray,
    total: float,
) -> Penalised:
    """Posterior covariance, and the noise with the effective number of parameters."""
    covariance = np.asarray(np.linalg.inv(system.normal), np.float64)
    n_outputs = state.coefficients.shape[1]
    spent = float(np.sum(covariance * system.information)) / n_outputs
    rss = squares - _explained(state, moments)
    noise = np.maximum(rss, 0.0) / max(total - spent, 1.0)
    spread, between = root(0.5 * (covariance + covariance.T)), _between(state, prior)
    base = np.zeros((len(free), len(free)))
    base[np.ix_(free, free)] = covariance[system.linear :, system.linear :]
    return Penalised(
        bases=state.bases,
        base_covariance=base,
        coefficients=state.coefficients,
        shift=state.shift,
        noise_variance=noise,
        factor=np.stack([np.hstack([tangent @ spread, between]) for tangent in system.tangents]),
    )


def _between(state: _State, prior: Prior) -> FloatArray:
    """Columns for what is unknown because the prior is; none where nothing is in phase."""
    count = len(prior.order)
    p = len(state.coefficients) - 2 * count
    locked = np.flatnonzero(prior.locked)
    angle = prior.order[locked] * state.shift[locked]
    along = np.zeros((p + 4 * count, len(locked)))
    along[p + locked, np.arange(len(locked))] = np.cos(angle)
    along[p + count + locked, np.arange(len(locked))] = np.sin(angle)
    unknown = prior.spread[np.ix_(locked, locked)]
    return np.asarray(along @ root(0.5 * (unknown + unknown.T)))
