"""A network's numbers as numpy arrays, and its forward pass without torch.

`Weights` is what training starts from and returns, what a model file holds and what predicts.
The arrays carry the names of the torch module's `state_dict`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robustfourier.arrays import FloatArray
from robustfourier.errors import InputError
from robustfourier.network.architecture import DIAGONAL, OUTPUT, Architecture
from robustfourier.network.embedding import EmbeddingLayout, embed
from robustfourier.synthetic import relative_error

_CHUNK_BYTES = 64_000_000  # embedded rows held at once while predicting
_CACHED_ROWS = 1024  # rows whose intermediate arrays stay in the cache


@dataclass(frozen=True)
class Weights:
    """An architecture and its parameters.

    `arrays`: one array for each name of ``architecture.parameter_shapes()``, float32 or float64.

    Examples
    --------
    >>> import numpy as np
    >>> shape = Architecture(n_modes=1)
    >>> pair = np.array([0.0, 0, 1, 0, 0, 1])           # cos πθ and its mirror image
    >>> net = Weights(shape, {"diagonal.weight": pair,  # c·σ(w x): x = σ(x) − σ(−x)
    ...                       "output.weight": np.array([[0.0, 0, 1, 0, 0, -1]])})
    >>> net.predict([0.0, 0.5, 1.0]).ravel()
    array([ 1.,  0., -1.])
    """

    architecture: Architecture
    arrays: Mapping[str, NDArray[Any]]

    def __post_init__(self) -> None:
        shapes = self.architecture.parameter_shapes()
        if set(shapes) != set(self.arrays):
            raise InputError(
                f"arrays has the names {sorted(self.arrays)}; {self.architecture.name} needs "
                f"{sorted(shapes)}"
            )
        for name, shape in shapes.items():
            if self.arrays[name].shape != shape:
                raise InputError(
                    f"arrays[{name!r}] has shape {self.arrays[name].shape}; it must be {shape}"
                )
        # one memory order: matrix products of another order round in other bits
        ordered = {name: np.ascontiguousarray(self.arrays[name]) for name in shapes}
        object.__setattr__(self, "arrays", ordered)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The floating type of the parameters."""
        return self.arrays[OUTPUT].dtype

    @property
    def diagonal(self) -> NDArray[Any] | None:
        """The diagonal weights w, shape (D,), or None without a diagonal layer."""
        return self.arrays.get(DIAGONAL)

    def astype(self, dtype: str) -> Weights:
        """Return a copy with all parameters in `dtype`."""
        return Weights(self.architecture, {k: v.astype(dtype) for k, v in self.arrays.items()})

    def widened(self, n_modes: int) -> Weights:
        """Return the same function as a network of at least `n_modes` modes, the new ones zero.

        Examples
        --------
        >>> import numpy as np
        >>> ones = {"diagonal.weight": np.ones(6), "output.weight": np.arange(6.0)[None]}
        >>> Weights(Architecture(1), ones).widened(2).arrays["output.weight"]
        array([[0., 1., 2., 0., 0., 3., 4., 5., 0., 0.]])
        """
        if n_modes <= self.architecture.n_modes:
            return self
        wide = replace(self.architecture, n_modes=n_modes)

        def names(layout: EmbeddingLayout) -> list[tuple[float, ...]]:
            parts = (layout.column, layout.mode, layout.is_sine, layout.sign)
            return list(zip(*parts, strict=True))

        places = {name: place for place, name in enumerate(names(wide.layout()))}
        places_of_old = np.array([places[name] for name in names(self.architecture.layout())])
        arrays = dict(self.arrays)
        for name in {DIAGONAL, self.architecture.reader} & set(arrays):
            shape = (*arrays[name].shape[:-1], wide.embedding_size)
            moved = np.zeros(shape, self.dtype)
            moved[..., places_of_old] = arrays[name]
            arrays[name] = moved
        return Weights(wide, arrays)

    def predict(self, theta: ArrayLike) -> FloatArray:
        """Return the network's values.

        Parameters
        ----------
        theta : array_like, shape (n,) or (n, d)
            Inputs; one dimension is read as one column.

        Returns
        -------
        ndarray, shape (n, q)
        """
        theta = np.asarray(theta, dtype=np.float64)
        theta = theta[:, None] if theta.ndim == 1 else theta
        shape = self.architecture
        rows = max(1, _CHUNK_BYTES // (8 * shape.embedding_size))
        values = np.empty((len(theta), self.architecture.n_outputs))
        for start in range(0, len(theta), rows):
            part = theta[start : start + rows]
            x = embed(part, shape.n_modes, shape.embedding, shape.mixed_modes)
            values[start : start + rows] = self.forward(x)
        return values

    def forward(self, x: NDArray[Any]) -> NDArray[Any]:
        """Return the network's values, shape (n, q), for rows that are embedded already, (n, D)."""
        relu = self.architecture.activation == "relu"
        if self.architecture.diagonal:
            x = _activate(x * self.arrays[DIAGONAL], relu)
        for i in range(len(self.architecture.hidden_layer_sizes)):
            x = x @ self.arrays[f"dense.{i}.weight"].T + self.arrays[f"dense.{i}.bias"]
            x = _activate(x, relu)
        y = x @ self.arrays[OUTPUT].T
        return y + self.arrays["output.bias"] if "output.bias" in self.arrays else y


class GridError:
    """Relative L² error of a network on fixed points, quick enough to be followed in training.

    The same as ``relative_error(weights.predict(theta)[:, 0], truth)``, with the embedding kept.

    `theta`, `truth` (n,). `dtype`: precision of the evaluation, that of the training.
    """

    def __init__(self, theta: FloatArray, truth: FloatArray, n_modes: int, dtype: str) -> None:
        self.truth = truth
        self.rows = embed(theta[:, None], n_modes).astype(dtype)

    def predict(self, weights: Weights) -> FloatArray:
        """Return the network's values at the points, shape (n,)."""
        chunks = range(0, len(self.rows), _CACHED_ROWS)
        values = [weights.forward(self.rows[i : i + _CACHED_ROWS])[:, 0] for i in chunks]
        return np.concatenate(values).astype(np.float64)

    def __call__(self, weights: Weights) -> float:
        """Return the relative error."""
        return relative_error(self.predict(weights), self.truth)


def _activate(x: NDArray[Any], relu: bool) -> NDArray[Any]:
    return np.maximum(x, 0.0) if relu else x
