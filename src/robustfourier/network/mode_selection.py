"""Selection of modes after the training, by the extended Bayesian information criterion.

Training leaves small weights on features that carry nothing, and they carry noise. Modes are tried
in the order of their strength in the network. A mode's sine and cosine (and, where units are
rectified, their absolute values) stay if the data demand them: if they lower the residual sum of
squares S of a least-squares fit by more than the extended Bayesian information criterion charges
for d columns out of P candidates,

    n·log(S_without / S_with) > d·(log n + 2·log P).

The charge grows with the number of samples and of candidates, so there is no threshold to choose.
What the diagonal ranked low is tried as well, so a weak mode that training has not yet raised is
not lost.

Whether to select at all is the data's decision, too. Modes between whole numbers, trends and slow
noise spread over many features, each too weak to be kept and together too strong to be dropped;
there the many small weights of the trained network are the better fit. So the dropped features are
tested together, all of them and those beside kept ones: `evident` returns None if they lower the
residual sum of squares by more than noise does in 99 of 100 cases (F test), and then nothing
should be dropped.

A network without dense layers is linear in what is kept and is refitted exactly by `refitted`. With
dense layers the rest is set to zero by `without`, where it stays in further training: a rectified
unit of weight zero has no gradient, and neither have the weights behind it.

When it fails: functions of several columns that are no sums over columns leave no evidence in the
columns apart; do not select there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.stats import f as f_distribution

from robustfourier.arrays import BoolArray, FloatArray, IndexArray
from robustfourier.network.architecture import DIAGONAL, OUTPUT, Architecture
from robustfourier.network.embedding import mode_pair
from robustfourier.network.weights import Weights

_BLOCK = 32  # modes tried at once, so that their columns stay a small part of memory
_SINGULAR = 1e-6  # a column with a smaller share outside the kept ones is one of them again
_EXACT = 1e-20  # of the sum of squares: what is left is rounding, and nothing more can be found
_TESTED = 100  # dropped modes that are tested together, the strongest: bounds the cost
_NEIGHBOURS = 2  # modes on each side of a kept one that leakage reaches first
_LEVEL = 0.01  # chance that noise alone keeps a network as it is
_ROWS_PER_COLUMN = 4  # the criterion counts on many more samples than columns


@dataclass(frozen=True)
class Kept:
    """The columns that the data demand."""

    linear: BoolArray  # modes of each input column whose sine and cosine stay, (d, m)
    absolute: BoolArray  # modes whose |sine| and |cosine| stay, (d, m)

    @property
    def modes(self) -> BoolArray:
        """Modes that stay in either form, shape (d, m)."""
        return self.linear | self.absolute


class _Fit:
    """A growing least-squares fit: an orthonormal basis of its columns and the residual."""

    def __init__(self, y: FloatArray, weight: FloatArray) -> None:
        self.root = np.sqrt(weight)[:, None]
        target = self.root * y
        self.basis = self.root / np.linalg.norm(self.root)  # the constant is always in
        self.rest = target - self.basis @ (self.basis.T @ target)
        self.enough = _EXACT * (target**2).sum(axis=0)

    def evidence(self, pairs: FloatArray) -> FloatArray:
        """Return n·log(S_without/S_with) of each pair of columns, shape (k,), for (n, 2k)."""
        free = self.outside(pairs).reshape(len(pairs), -1, 2)
        gram = np.einsum("nki,nkj->kij", free, free)
        reach = np.einsum("nki,nq->kiq", free, self.rest)
        whole = np.einsum("nki,nki->k", *2 * (pairs.reshape(free.shape),)) * _SINGULAR**2
        usable = np.linalg.eigvalsh(gram)[:, 0] > whole
        gram[~usable] = np.eye(2)
        gain = np.einsum("kiq,kiq->kq", reach, np.linalg.solve(gram, reach))
        before = (self.rest**2).sum(axis=0)
        alive = before > self.enough
        share = np.clip(gain[:, alive] / before[alive], 0.0, 1.0 - 1e-15)
        best = -len(pairs) * np.log1p(-share).min(axis=1, initial=0.0)
        return np.where(usable, best, 0.0)

    def outside(self, columns: FloatArray) -> FloatArray:
        """Return the weighted columns without what the fit already holds."""
        weighted = self.root * columns
        return weighted - self.basis @ (self.basis.T @ weighted)

    def add(self, pair: FloatArray) -> None:
        """Take a pair of columns in."""
        new, _ = np.linalg.qr(self.outside(self.outside(pair) / self.root))
        self.basis = np.hstack([self.basis, new])
        self.rest = self.rest - new @ (new.T @ self.rest)


def evident(
    theta: FloatArray,
    y: FloatArray,
    weight: FloatArray,
    strengths: FloatArray,
    *,
    absolute: bool = True,
) -> Kept | None:
    """Return the columns that the data demand, tried in the order of the modes' strengths.

    `strengths` (d, m) are those of `active_modes`; with `absolute`, |sine| and |cosine| are
    candidates, too. `theta`, `y`, `weight` (n, d), (n, q), (n,): the samples.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> theta = rng.uniform(-1, 1, (500, 1))
    >>> y = np.cos(np.pi * 7 * theta) + 0.5 * rng.normal(size=(500, 1))
    >>> kept = evident(theta, y, np.ones(500), np.ones((1, 20)))
    >>> np.flatnonzero(kept.modes) + 1
    array([7])
    """
    n, forms = len(theta), (False, True) if absolute else (False,)
    charge = 2.0 * (np.log(n) + 2.0 * np.log(len(forms) * strengths.size * y.shape[1]))
    fit, kept = _Fit(y, weight), np.zeros((2, *strengths.shape), dtype=bool)
    order = np.argsort(-strengths, axis=None, kind="stable")
    grown = True
    while grown:
        grown = False
        for form, column, modes in _blocks(order, strengths.shape, forms):
            modes = modes[~kept[int(form), column, modes]]
            pairs = _pairs(theta[:, column], modes + 1, form)
            for i in np.flatnonzero(fit.evidence(pairs) > charge):
                pair = pairs[:, 2 * i : 2 * i + 2]
                room = fit.basis.shape[1] + 2 <= n // _ROWS_PER_COLUMN
                if room and fit.evidence(pair)[0] > charge:
                    fit.add(pair)
                    kept[int(form), column, modes[i]] = grown = True
    chances = [_chance(fit, theta, dropped) for dropped in _dropped(order, kept[0])]
    return None if len(chances) * min(chances) < _LEVEL else Kept(kept[0], kept[1])


def _dropped(order: IndexArray, kept: BoolArray) -> Iterator[list[tuple[int, int]]]:
    """Yield the dropped modes as (column, mode): the strongest, and the neighbours of kept ones.

    A mode between two whole numbers leaks into its neighbours first.
    """
    columns, modes = (index.tolist() for index in np.unravel_index(order, kept.shape))
    places = [place for place in zip(columns, modes, strict=True) if not kept[place]]
    yield places[:_TESTED]
    reach = range(-_NEIGHBOURS, _NEIGHBOURS + 1)
    near = {(column, mode + step) for column, mode in np.argwhere(kept) for step in reach}
    yield [place for place in places if place in near][:_TESTED]


def _chance(fit: _Fit, theta: FloatArray, dropped: list[tuple[int, int]]) -> float:
    """Probability that noise alone gives the dropped modes as much to explain (F test)."""
    n, held = fit.basis.shape
    dropped = dropped[: (n - held) // 4]  # pairs, so that half of the freedom is left
    if not dropped:
        return 1.0
    free = fit.outside(np.hstack([mode_pair(theta[:, c], mode + 1) for c, mode in dropped]))
    values, vectors = np.linalg.eigh(free.T @ free)
    real = values > _SINGULAR**2 * values[-1]
    gain = ((vectors[:, real].T @ (free.T @ fit.rest)) ** 2 / values[real, None]).sum(axis=0)
    before = (fit.rest**2).sum(axis=0)
    alive, size, left = before > fit.enough, int(real.sum()), n - held - int(real.sum())
    ratio = (gain[alive] / size) / ((before - gain)[alive] / left)
    chances = f_distribution.sf(ratio, size, left)
    return float(chances.min(initial=1.0) * len(chances))


def _blocks(
    order: IndexArray, shape: tuple[int, ...], forms: tuple[bool, ...]
) -> Iterator[tuple[bool, int, IndexArray]]:
    """Yield (absolute or not, column, modes), strongest first, a block of modes at a time."""
    for start in range(0, len(order), _BLOCK):
        column, mode = np.unravel_index(order[start : start + _BLOCK], shape)
        for form in forms:
            for each in np.unique(column):
                yield form, int(each), mode[column == each]


def _pairs(theta: FloatArray, modes: IndexArray, absolute: bool) -> FloatArray:
    pairs = np.hstack([np.empty((len(theta), 0)), *(mode_pair(theta, int(k)) for k in modes)])
    return np.abs(pairs) if absolute else pairs


def without(weights: Weights, kept: BoolArray) -> Weights:
    """Return a diagonal network with the units of all modes but those in `kept` (d, m) zero."""
    layout, arrays = weights.architecture.layout(), dict(weights.arrays)
    stays = (layout.mode == 0) | kept[layout.column, layout.mode - 1]
    for name in (DIAGONAL, weights.architecture.reader):
        arrays[name] = np.where(stays, arrays[name], np.zeros((), weights.dtype))
    return Weights(weights.architecture, arrays)


def refitted(
    architecture: Architecture, theta: FloatArray, y: FloatArray, weight: FloatArray, kept: Kept
) -> Weights:
    """Return the network without dense layers that fits best with the kept columns only.

    For a pair of rectified units, c₀σ(wφ) + c₁σ(−wφ) = A φ + C |φ| with c₀ = (A + C)/w and
    c₁ = (C − A)/w; w = √‖(A, C)‖ shares the size between diagonal and output.
    """
    m, q = architecture.n_modes, y.shape[1]
    columns, places = [np.ones((len(theta), 1))], [np.array([0])]
    for form, chosen in enumerate((kept.linear, kept.absolute)):
        for column, mode in np.argwhere(chosen):
            columns.append(_pairs(theta[:, column], np.array([mode + 1]), bool(form)))
            first = column * (2 * m + 1) + 2 * mode + 1
            places.append(form * architecture.n_features + np.array([first, first + 1]))
    root = np.sqrt(weight)[:, None]
    solved, *_ = np.linalg.lstsq(root * np.hstack(columns), root * y, rcond=None)
    coefficients = np.zeros((2 * architecture.n_features, q))
    coefficients[np.concatenate(places)] = solved
    return _as_pairs(architecture, *np.split(coefficients, 2))


def _as_pairs(architecture: Architecture, odd: FloatArray, even: FloatArray) -> Weights:
    """Weights of the network Σ odd φ + even |φ|, both of shape (F, q)."""
    layout = architecture.layout()
    size = np.sqrt(np.sqrt((odd**2 + even**2).sum(axis=1)))
    w = size[layout.feature]
    both = odd[layout.feature] * layout.sign[:, None] + even[layout.feature]
    if architecture.activation == "identity":
        # both units of a pair are always on, and each does half
        both = both * np.where(layout.mirror >= 0, 0.5, 1.0)[:, None]
    c = np.divide(both, w[:, None], out=np.zeros_like(both), where=w[:, None] > 0)
    return Weights(architecture, {DIAGONAL: w, OUTPUT: np.ascontiguousarray(c.T)})
