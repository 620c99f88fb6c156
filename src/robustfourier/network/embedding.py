"""The two Fourier embeddings of the paper, as numpy functions.

Both are made of the features φ(θ) = [1, sin πθ, cos πθ, …, sin mπθ, cos mπθ] and their mirror
images −φ; they differ in the order only:

* ``"signed"`` (section 5): Φ = [φ; −φ], 2(2m+1) entries;
* ``"symmetrised"`` (section 2.1): indices −2m…2m, x_{−j} = −x_j, order 1, cos πθ, sin πθ, …,
  4m+1 entries, the constant once.

`EmbeddingLayout` says, entry by entry, which feature with which sign: x = sign ⊙ φ[feature].
Several input columns are embedded one after the other and joined (an additive model). Behind
them may stand *mixed modes*, sin and cos of π(k·θ) for whole vectors k with two or more entries
that are not zero, |k_j| ≤ K: products of waves of several columns, and plane waves across them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from robustfourier.arrays import BoolArray, FloatArray, IndexArray
from robustfourier.errors import require_choice, require_count
from robustfourier.memory_limits import require_bytes

EmbeddingKind: TypeAlias = Literal["signed", "symmetrised"]
EMBEDDINGS: tuple[str, ...] = get_args(EmbeddingKind)

_LAYOUT_BYTES = 80  # per entry: the layout's five arrays, what they are made from, two weights


@dataclass(frozen=True)
class EmbeddingLayout:
    """Which feature of φ stands at each entry of an embedding, and with which sign.

    Attributes
    ----------
    feature : ndarray of int, shape (D,)
        Index into the features φ of all columns joined, 0 … n_columns·(2m+1) − 1.
    sign : ndarray of float, shape (D,)
        +1 or −1: the entry is ``sign * φ[feature]``.
    column : ndarray of int, shape (D,)
        The input column that the entry belongs to; −1 for mixed modes.
    mode : ndarray of int, shape (D,)
        Its mode k, 0 for the constant; for mixed modes their row in `lattice_modes`, from 1.
    is_sine : ndarray of bool, shape (D,)
        True for sin(πkθ), False for cos(πkθ) and the constant.
    """

    feature: IndexArray
    sign: FloatArray
    column: IndexArray
    mode: IndexArray
    is_sine: BoolArray

    def __len__(self) -> int:
        return len(self.feature)

    @property
    def mirror(self) -> IndexArray:
        """Position of each entry's mirror image −x, shape (D,); −1 if it has none.

        Only the constant of the symmetrised embedding has none.
        """
        position = {(f, s): i for i, (f, s) in enumerate(zip(self.feature, self.sign, strict=True))}
        return np.array(
            [position.get((f, -s), -1) for f, s in zip(self.feature, self.sign, strict=True)],
            dtype=np.intp,
        )

    def per_feature(self, values: FloatArray) -> FloatArray:
        """Return the sums over the entries of each feature, shape (F, …), of values (…, D)."""
        total = np.zeros((self.feature.max() + 1, *values.shape[:-1]))
        np.add.at(total, self.feature, values.T.astype(np.float64))
        return total


def fourier_features(theta: ArrayLike, n_modes: int) -> FloatArray:
    """Return φ(θ) = [1, sin πθ, cos πθ, …, sin mπθ, cos mπθ].

    θ is reduced to [−1, 1) first, so times one period apart embed identically, and the phase kθ
    is reduced again, so that high modes keep their digits.

    `theta` (...): any real numbers; the features have period 2. `n_modes`: the highest mode m.
    Returns shape (..., 2m+1).

    Examples
    --------
    >>> fourier_features(0.5, 2)
    array([ 1.,  1.,  0.,  0., -1.])
    """
    theta = np.asarray(theta, dtype=np.float64)
    require_count("n_modes", n_modes)
    width = 2 * n_modes + 1
    require_bytes(
        theta.size * (width + 2 * n_modes) * 8,
        what=f"the embedding of {theta.size} values with n_modes={n_modes}",
        remedy="use fewer modes or fewer samples",
    )
    cycles = _wrap(_wrap(theta)[..., None] * np.arange(1, n_modes + 1))
    features = np.empty((*theta.shape, width))
    features[..., 0] = 1.0
    features[..., 1::2] = _sine(cycles)
    features[..., 2::2] = _cosine(cycles)
    return features


def mode_pair(theta: ArrayLike, mode: int) -> FloatArray:
    """Return sin(πkθ) and cos(πkθ) of one mode k, shape (..., 2), as `fourier_features` has them.

    Examples
    --------
    >>> mode_pair([0.0, 0.5], 2)
    array([[ 0.,  1.],
           [ 0., -1.]])
    """
    cycles = _wrap(_wrap(np.asarray(theta, dtype=np.float64)) * mode)
    return np.stack([_sine(cycles), _cosine(cycles)], axis=-1)


def lattice_modes(n_columns: int, highest: int) -> FloatArray:
    """Return the mixed modes: whole vectors k of two or more entries that are not zero.

    k and −k are one mode, of which the first entry that is not zero is positive.

    `n_columns`: d, entries of each vector. `highest`: K, the largest |k_j|; 0 gives none. Returns
    shape (L, d).

    Examples
    --------
    >>> lattice_modes(2, 1)
    array([[ 1., -1.],
           [ 1.,  1.]])
    """
    highest = require_count("mixed_modes", highest, at_least=0)
    count = (2 * highest + 1) ** n_columns
    require_bytes(8 * n_columns * count, what=f"mixed_modes={highest}", remedy="use fewer")
    steps = np.arange(-highest, highest + 1.0)
    rows = np.stack(np.meshgrid(*[steps] * n_columns, indexing="ij"), axis=-1)
    rows = rows.reshape(-1, n_columns)[count // 2 + 1 :]  # behind zero: one of k and −k
    return rows[(rows != 0).sum(axis=1) > 1]


def highest_mixed_mode(n_columns: int, most: int) -> int:
    """Return the largest K of which there are at most `most` mixed modes.

    Examples
    --------
    >>> [highest_mixed_mode(d, 500) for d in (1, 2, 3, 4)]
    [0, 15, 4, 2]
    """

    def count(highest: int) -> float:
        along = (2.0 * highest + 1.0) ** n_columns - 1.0
        return along / 2.0 - n_columns * highest

    highest = 0
    while n_columns > 1 and count(highest + 1) <= most:
        highest += 1
    return highest


def mixed_features(theta: FloatArray, rows: FloatArray) -> FloatArray:
    """Return sin, cos of π(k·θ) for each row k, shape (n, 2L), for θ of shape (n, d)."""
    cycles = _wrap(_wrap(theta) @ rows.T)
    features = np.empty((len(theta), 2 * len(rows)))
    features[:, ::2], features[:, 1::2] = _sine(cycles), _cosine(cycles)
    return features


def all_features(theta: FloatArray, n_modes: int, mixed_modes: int = 0) -> FloatArray:
    """Return φ of all columns and the mixed features, shape (n, d(2m+1) + 2L), for θ (n, d)."""
    features = fourier_features(theta, n_modes).reshape(len(theta), -1)
    if not mixed_modes:
        return features
    rows = lattice_modes(theta.shape[1], mixed_modes)
    return np.hstack([features, mixed_features(theta, rows)])


def embed(
    theta: ArrayLike, n_modes: int, kind: EmbeddingKind = "signed", mixed_modes: int = 0
) -> FloatArray:
    """Return the embedding of each column of `theta`, joined.

    Parameters
    ----------
    theta : array_like, shape (..., d)
    n_modes : int
    kind : {"signed", "symmetrised"}
        Φ = [φ, −φ] of section 5, or the theory's order of section 2.1, where the entry with the
        paper's index j stands at position j + 2m:
        [−sin πmθ, −cos πmθ, …, −cos πθ, 1, cos πθ, sin πθ, …, cos πmθ, sin πmθ].
    mixed_modes : int, default 0
        Highest |k_j| of the mixed modes behind the columns' own; see `lattice_modes`.

    Returns
    -------
    ndarray, shape (..., embedding_size(n_modes, kind, d, mixed_modes))

    Examples
    --------
    >>> embed([0.0], 1)
    array([ 1.,  0.,  1., -1., -0., -1.])
    >>> embed([0.0], 1, "symmetrised")
    array([-0., -1.,  1.,  1.,  0.])
    """
    theta = np.asarray(theta, dtype=np.float64)
    layout = embedding_layout(n_modes, kind, theta.shape[-1], mixed_modes)
    flat = theta.reshape(-1, theta.shape[-1])
    embedded = all_features(flat, n_modes, mixed_modes)[:, layout.feature] * layout.sign
    return embedded.reshape(*theta.shape[:-1], -1)


def embedding_size(
    n_modes: int, kind: EmbeddingKind = "signed", n_columns: int = 1, mixed_modes: int = 0
) -> int:
    """Return the number of entries D: 4m+2 (signed) or 4m+1 (symmetrised) for each column.

    Each mixed mode has four more.

    Examples
    --------
    >>> embedding_size(100), embedding_size(100, "symmetrised")
    (402, 401)
    """
    require_count("n_modes", n_modes)
    require_choice("embedding", kind, EMBEDDINGS)
    per_column = 4 * n_modes + (2 if kind == "signed" else 1)
    mixed = 4 * len(lattice_modes(n_columns, mixed_modes)) if mixed_modes else 0
    return n_columns * per_column + mixed


def embedding_layout(
    n_modes: int, kind: EmbeddingKind = "signed", n_columns: int = 1, mixed_modes: int = 0
) -> EmbeddingLayout:
    """Return which feature of φ stands at each entry of the embedding.

    Examples
    --------
    >>> layout = embedding_layout(1, "symmetrised")
    >>> layout.mode * layout.sign
    array([-1., -1.,  0.,  1.,  1.])
    """
    require_bytes(
        _LAYOUT_BYTES * embedding_size(n_modes, kind, n_columns, mixed_modes),
        what=f"a network with n_modes={n_modes} and {n_columns} input column(s)",
        remedy="use fewer modes",
    )
    width = 2 * n_modes + 1
    if kind == "signed":
        feature = np.tile(np.arange(width), 2)
        sign = np.repeat([1.0, -1.0], width)
    else:
        # φ has sin before cos, the symmetrised order has cos before sin
        pairs = np.arange(1, width).reshape(-1, 2)[:, ::-1].ravel()
        feature = np.concatenate([pairs[::-1], [0], pairs])
        sign = np.repeat([-1.0, 1.0], [2 * n_modes, width])
    column = np.repeat(np.arange(n_columns), len(feature))
    one, sign = np.tile(feature, n_columns), np.tile(sign, n_columns)
    mixed = np.arange(2 * len(lattice_modes(n_columns, mixed_modes)) if mixed_modes else 0)
    both = np.tile(mixed, 2)
    return EmbeddingLayout(
        feature=np.concatenate([one + column * width, n_columns * width + both]),
        sign=np.concatenate([sign, np.repeat([1.0, -1.0], len(mixed))]),
        column=np.concatenate([column, np.full(len(both), -1)]),
        mode=np.concatenate([(one + 1) // 2, both // 2 + 1]),
        is_sine=np.concatenate([one % 2 == 1, both % 2 == 0]),
    )


def axis_modes(n_modes: int, n_columns: int = 1) -> FloatArray:
    """Return modes 1 … m of each column as rows, shape (d·m, d): the waves along the axes.

    Examples
    --------
    >>> axis_modes(2, 2)
    array([[1., 0.],
           [2., 0.],
           [0., 1.],
           [0., 2.]])
    """
    require_count("n_modes", n_modes)
    modes = np.arange(1.0, n_modes + 1)
    return np.kron(np.eye(n_columns), modes[:, None])


# sin π is 1e-16 and not zero; the exact quarter turns are set so that 0.0 means 0.0
def _sine(cycles: FloatArray) -> FloatArray:
    return np.where(np.abs(cycles) == 1.0, 0.0, np.sin(np.pi * cycles))


def _cosine(cycles: FloatArray) -> FloatArray:
    return np.where(np.abs(cycles) == 0.5, 0.0, np.cos(np.pi * cycles))


def _wrap(x: FloatArray) -> FloatArray:
    """Reduce to [−1, 1): the same point of a circle of circumference 2."""
    return x - 2.0 * np.floor((x + 1.0) / 2.0)
