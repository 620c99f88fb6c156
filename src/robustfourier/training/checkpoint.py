"""A training that stopped, on disk, so that it can go on as if it had not.

One ``.npz`` file of plain arrays with a JSON text among them; nothing is pickled. It is written
beside its place and moved there, so a crash leaves the old file or the new one, never half.
"""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustfourier.errors import CheckpointError, OutputError

__all__ = ["Checkpoint", "load_checkpoint", "save_checkpoint"]

_FORMAT = "robustfourier-checkpoint"
_VERSION = 1
_META = "meta.json"


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
        mine, given = _plain(self.training), _plain(training)
        for key in sorted(set(mine) | set(given)):
            if mine.get(key) != given.get(key):
                raise CheckpointError(
                    f"the checkpoint belongs to another training: {key} was {mine.get(key)!r} "
                    f"and is now {given.get(key)!r}; resume with the same arguments and data"
                )


def save_checkpoint(path: str | PathLike[str], checkpoint: Checkpoint) -> None:
    """Write a checkpoint as a whole or not at all.

    Parameters
    ----------
    path : path
        Where to; an existing file is replaced.
    checkpoint : Checkpoint
    """
    meta = {
        "format": _FORMAT,
        "version": _VERSION,
        "step": checkpoint.step,
        "training": checkpoint.training,
        "state": checkpoint.state,
    }
    text = json.dumps(meta, default=_jsonable).encode()
    target = Path(path)
    try:
        _replace(target, {_META: np.frombuffer(text, np.uint8), **checkpoint.arrays})
    except OSError as error:
        raise OutputError(f"path={str(target)!r}: the checkpoint cannot be written: {error}") from (
            error
        )


def load_checkpoint(path: str | PathLike[str]) -> Checkpoint:
    """Read what `save_checkpoint` wrote.

    Raises
    ------
    CheckpointError
        If the file is damaged, foreign or of a newer version.
    FileNotFoundError
        If there is none.
    """
    try:
        # opened here, because numpy leaves a damaged file open
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        meta = json.loads(arrays.pop(_META).tobytes())
    except FileNotFoundError:
        raise
    except (ValueError, KeyError, EOFError, OSError, zipfile.BadZipFile) as error:
        raise CheckpointError(
            f"path={str(path)!r} is not a readable checkpoint ({error}); start the training anew"
        ) from error
    if not isinstance(meta, dict) or meta.get("format") != _FORMAT:
        raise CheckpointError(f"path={str(path)!r} is not a checkpoint of this package")
    if meta["version"] > _VERSION:
        raise CheckpointError(
            f"path={str(path)!r} has format version {meta['version']}, this package reads up to "
            f"{_VERSION}; update robustfourier"
        )
    return Checkpoint(meta["step"], meta["training"], meta["state"], arrays)


def _replace(target: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, **dict(arrays))  # type: ignore[arg-type]
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """What JSON makes of the values: tuples become lists, so that both sides compare."""
    return json.loads(json.dumps(dict(values), default=_jsonable))


def _jsonable(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot be written to a checkpoint")
