"""`save` and `load`: a fitted estimator to one file and back, bit for bit.

A model is its class's name, its constructor's parameters and its fitted attributes. Only the
package's own estimators and records can be named in a file; see `container` and `codec` for how
they are written and checked. Loading a model that needs no torch imports no torch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from importlib import import_module, metadata
from inspect import signature
from os import PathLike
from typing import Any

from robustfourier.errors import InputError, ModelFormatError
from robustfourier.persistence.codec import decode, encode
from robustfourier.persistence.container import FORMAT_VERSION, read_container, write_container

__all__ = ["describe", "load", "save"]

#: Estimators that a file may hold, and where they live.
_MODELS = {
    "PeriodicMixture": "robustfourier.estimators.mixture",
    "FourierNetworkRegressor": "robustfourier.estimators.network",
}
#: Modules, or packages, whose frozen dataclasses may be parts of a model.
_RECORD_HOMES = re.compile(
    r"robustfourier\.(domain|modes|(mixture|spectral|network|training|estimators)(\.[a-z_]+)?)"
)
_ATTRIBUTE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")


def save(model: Any, path: str | PathLike[str]) -> None:
    """Save a fitted estimator; an existing file is replaced in one step, or not at all.

    Parameters
    ----------
    model : PeriodicMixture or FourierNetworkRegressor
        The estimator.
    path : str or path
        Where; the usual ending is ``.rfm``.

    Raises
    ------
    InputError
        If it is no estimator of this package, or holds something a file cannot keep.
    OutputError
        If the file cannot be written.
    """
    name = type(model).__name__
    if name not in _MODELS or type(model).__module__ != _MODELS[name]:
        raise InputError(
            f"model is a {type(model).__name__}; only {' and '.join(_MODELS)} can be saved"
        )
    params = _plain_params(model.get_params(deep=False))
    fitted = {key: value for key, value in vars(model).items() if key not in params}
    arrays: list[Any] = []
    try:
        tree = {
            "model": name,
            "package": metadata.version("robustfourier"),
            "params": encode(params, arrays, _Names(), "parameters"),
            "fitted": encode(fitted, arrays, _Names(), "model"),
        }
    except TypeError as error:
        raise InputError(f"model cannot be saved: {error}") from None
    write_container(path, tree, arrays)


def load(path: str | PathLike[str]) -> Any:
    """Load an estimator that `save` wrote; it predicts the very same numbers.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    PeriodicMixture or FourierNetworkRegressor

    Raises
    ------
    ModelFormatError
        If the file is damaged, foreign, or from a newer version. Nothing of it is ever executed.
    """
    tree, arrays = read_container(path)
    try:
        model = _rebuild(tree, arrays)
    except ModelFormatError as error:
        raise ModelFormatError(f"{str(path)!r}: {error}") from None
    return model


def describe(path: str | PathLike[str]) -> dict[str, Any]:
    """Return what a model file says of itself: estimator, versions, size of its arrays."""
    tree, arrays = read_container(path)
    if not isinstance(tree, dict):
        raise ModelFormatError(f"{str(path)!r}: not what we write")
    return {
        "model": tree.get("model"),
        "package": tree.get("package"),
        "format": FORMAT_VERSION,
        "arrays": len(arrays),
        "bytes": sum(array.nbytes for array in arrays),
    }


def _plain_params(params: dict[str, Any]) -> dict[str, Any]:
    """Parameters as a file keeps them: a random generator is of no use after the fit."""
    seed = params.get("random_state")
    if seed is not None and not isinstance(seed, int):
        params = {**params, "random_state": None}
    return params


def _rebuild(tree: Any, arrays: list[Any]) -> Any:
    if not isinstance(tree, dict) or not {"model", "params", "fitted"} <= set(tree):
        raise ModelFormatError("it lacks the parts of a model")
    if tree["model"] not in _MODELS:
        raise ModelFormatError(f"it holds a {tree['model']!r}, which is no estimator we know")
    cls = getattr(import_module(_MODELS[tree["model"]]), tree["model"])
    params = decode(tree["params"], arrays, _Classes())
    fitted = decode(tree["fitted"], arrays, _Classes())
    if not isinstance(params, dict) or not isinstance(fitted, dict):
        raise ModelFormatError("its parameters are not what we write")
    if unknown := set(params) - set(signature(cls).parameters):
        raise ModelFormatError(f"{tree['model']} has no parameters {sorted(map(str, unknown))}")
    model = cls(**params)
    for name, value in fitted.items():
        if not isinstance(name, str) or not _ATTRIBUTE.fullmatch(name) or hasattr(cls, name):
            raise ModelFormatError(f"{name!r} is no fitted attribute")
        setattr(model, name, value)
    return model


class _Names(Mapping[type, str]):
    """Names of the records that may be saved: ``module:Class``, within `_RECORD_HOMES`."""

    def __getitem__(self, cls: type) -> str:
        if not is_dataclass(cls) or not _RECORD_HOMES.fullmatch(cls.__module__):
            raise KeyError(cls)
        return f"{cls.__module__}:{cls.__name__}"

    def __iter__(self) -> Iterator[type]:
        return iter(())

    def __len__(self) -> int:
        return 0


class _Classes(Mapping[str, type]):
    """The same names back to classes; nothing but frozen dataclasses at those places."""

    def __getitem__(self, name: str) -> type:
        module, _, cls_name = name.partition(":") if isinstance(name, str) else ("", "", "")
        if not _RECORD_HOMES.fullmatch(module) or not _ATTRIBUTE.fullmatch(cls_name):
            raise KeyError(name)
        try:
            cls = getattr(import_module(module), cls_name, None)
        except ImportError:
            raise KeyError(name) from None
        if not (isinstance(cls, type) and is_dataclass(cls) and cls.__module__ == module):
            raise KeyError(name)
        return cls

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0
