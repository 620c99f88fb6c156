"""A training that stopped, on disk, so that it can go on as if it had not.

The file is a checked container of plain values and arrays, see `robustfourier.persistence`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from errno import ENOENT
from os import PathLike, strerror
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustfourier.errors import CheckpointError, ModelFormatError
from robustfourier.persistence.archive import read_archive, write_archive
from robustfourier.persistence.codec import decode, encode


@dataclass(frozen=True)
class Checkpoint:
    """Everything that a training needs to go on.

    Attributes
    ----------
    step : int
        Steps taken.
    training : dict
        What was trained and how (JSON values); a training resumes only with the same.
    state : dict
        Generator state and other values (JSON).
    arrays : dict of str to ndarray
        Parameters, history and the rest of the current pass, by name.
    """

    step: int
    training: dict[str, Any]
    state: dict[str, Any]
    arrays: dict[str, NDArray[Any]]

    def group(self, name: str) -> dict[str, NDArray[Any]]:
        """Return the arrays called ``name/…``, without the prefix."""
        prefix = f"{name}/"
        return {k.removeprefix(prefix): v for k, v in self.arrays.items() if k.startswith(prefix)}

    def require_same(self, training: Mapping[str, Any]) -> None:
        """Raise `CheckpointError` unless `training` is what the checkpoint was made from."""
        for key in sorted({*map(str, self.training), *training}):
            before, now = self.training.get(key), training.get(key)
            if repr(before) != repr(now):  # which no value of a foreign kind can make fail
                raise CheckpointError(
                    f"the checkpoint belongs to another training: {key} was {before!r} and is now "
                    f"{now!r}; resume with the same arguments and data"
                )


def save_checkpoint(path: str | PathLike[str], checkpoint: Checkpoint) -> None:
    """Write a checkpoint as a whole or not at all.

    Parameters
    ----------
    path : path
        Where to; an existing file is replaced.
    checkpoint : Checkpoint
    """
    arrays: list[NDArray[Any]] = []
    write_archive(path, encode(checkpoint, arrays, "checkpoint"), arrays)


def load_checkpoint(path: str | PathLike[str]) -> Checkpoint:
    """Read what `save_checkpoint` wrote.

    Raises
    ------
    CheckpointError
        If the file is damaged, foreign or of a newer version.
    FileNotFoundError
        If there is none.
    """
    if not Path(path).exists():
        raise FileNotFoundError(ENOENT, strerror(ENOENT), str(path))
    try:
        tree, arrays = read_archive(path)
        checkpoint = decode(tree, arrays)
        if not isinstance(checkpoint, Checkpoint):
            raise ModelFormatError("it holds no checkpoint")
        if not all(isinstance(array, np.ndarray) for array in checkpoint.arrays.values()):
            raise ModelFormatError("its arrays are not numbers")
    except ModelFormatError as error:
        raise CheckpointError(
            f"path={str(path)!r} is not a readable checkpoint ({error}); start the training anew"
        ) from None
    return checkpoint
