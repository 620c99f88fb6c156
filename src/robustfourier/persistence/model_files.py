"""`save` and `load`: a fitted estimator to one file and back, bit for bit.

A model is its class's name, its constructor's parameters and its fitted attributes. Only the
package's own estimators and records can be named in a file; see `archive` and `codec` for how
they are written and checked. Loading a model that needs no torch imports no torch.
"""

from __future__ import annotations

import re
import warnings
from importlib import metadata
from inspect import signature
from os import PathLike
from typing import Any

import numpy as np

from robustfourier.errors import InputError, ModelFormatError
from robustfourier.persistence.archive import FORMAT_VERSION, Content, read_archive, write_archive
from robustfourier.persistence.codec import decode, encode
from robustfourier.persistence.registry import MODELS, class_of, tag_of

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
        If it is no fitted estimator of this package, or holds something a file cannot keep.
    OutputError
        If the file cannot be written.
    """
    tag = tag_of(type(model))
    if tag not in MODELS:
        raise InputError(
            f"model is a {type(model).__name__}; only {' and '.join(MODELS)} can be saved"
        )
    if not hasattr(model, "domains_"):
        raise InputError("model is not fitted; call model.fit first")
    params = model.get_params(deep=False)
    if not isinstance(params.get("random_state"), int | None):
        params["random_state"] = None  # a generator is of no use after the fit
    left_out = {*params, "_seen"}  # the data that `plot` shows
    fitted = {key: value for key, value in vars(model).items() if key not in left_out}
    arrays: list[Any] = []
    try:
        tree = {
            "model": tag,
            "package": metadata.version("robustfourier"),
            "params": encode(params, arrays, "parameters"),
            "fitted": encode(fitted, arrays, "model"),
        }
    except TypeError as error:
        raise InputError(f"model cannot be saved: {error}") from None
    write_archive(path, tree, arrays)


def load(path: str | PathLike[str]) -> Any:
    """Load an estimator that `save` wrote; it predicts the very same numbers.

    Raises
    ------
    ModelFormatError
        If the file is damaged, foreign, or from a newer version. Nothing of it is ever executed.
    """
    content = read_archive(path)
    try:
        return _rebuild(content)
    except ModelFormatError as error:
        raise ModelFormatError(f"{str(path)!r}: {error}") from None


def describe(path: str | PathLike[str]) -> dict[str, Any]:
    """Return what a model file says of itself: estimator, versions, size of its arrays."""
    tree, arrays = read_archive(path)
    if not isinstance(tree, dict):
        raise ModelFormatError(f"{str(path)!r}: is no model file of robustfourier")
    return {
        "model": tree.get("model"),
        "package": tree.get("package"),
        "format": FORMAT_VERSION,
        "arrays": len(arrays),
        "bytes": sum(array.nbytes for array in arrays),
    }


def _rebuild(content: Content) -> Any:
    tree, arrays = content
    if not isinstance(tree, dict) or not {"model", "params", "fitted"} <= set(tree):
        raise ModelFormatError("it lacks the parts of a model")
    if tree["model"] not in MODELS:
        raise ModelFormatError(
            f"it holds a {tree['model']!r}, an estimator that this version does not have"
        )
    cls = class_of(tree["model"])
    params, fitted = decode([tree["params"], tree["fitted"]], arrays)
    if not isinstance(params, dict) or not isinstance(fitted, dict):
        raise ModelFormatError("its parameters are not a table of names and values")
    if unknown := set(params) - set(signature(cls).parameters):
        raise ModelFormatError(f"{tree['model']} has no parameters {sorted(map(str, unknown))}")
    model = cls(**params)
    for name, value in fitted.items():
        if not isinstance(name, str) or not _ATTRIBUTE.fullmatch(name) or hasattr(cls, name):
            raise ModelFormatError(f"{name!r} is no fitted attribute")
        setattr(model, name, value)
    _try_out(model)
    if hasattr(model, "_restored"):
        model._restored()
    return model


def _try_out(model: Any) -> None:
    """Use a model once in every way, so that what does not fit is an error here and not later."""
    from pandas import DataFrame

    try:
        if getattr(model, "regressors_", None) is not None:
            model.regressors_.to_frame()
            model = model.without_regressors()
        names = getattr(model, "feature_names_in_", range(len(model.domains_)))
        times = [domain.from_theta([-0.5, 0.5]) for domain in model.domains_]
        options = {"return_std": True} if hasattr(model, "components_") else {}
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = DataFrame(dict(zip(names, times, strict=True)))
            values = model.predict(table, **options)
            if not {np.shape(v)[:1] for v in (values if options else [values])} == {(2,)}:
                raise ValueError("two times give another number of values")
            _try_parts(model)
            for use in ("summary", "__repr__"):
                if hasattr(model, use):
                    str(getattr(model, use)())
            if hasattr(model, "components_"):
                model.decompose(table)
            if hasattr(model, "forecast") and len(times) == 1:
                model.forecast(times=times[0])
    except RecursionError:
        raise
    except Exception as error:  # whatever foreign values lead to
        raise ModelFormatError(f"its parts do not fit together ({error})") from error


def _try_parts(model: Any) -> None:
    components = list(getattr(model, "components_", ()))
    for part, tag in [(model.modes_, "ModeTable"), *((one, "Component") for one in components)]:
        if not isinstance(part, class_of(tag)):
            raise TypeError(f"a {type(part).__name__} is no {tag}")
        repr(part)
    for one in components:
        times = one.domain.from_theta([-0.5, 0.5])
        numbers = (one.share, one.waveform(np.array([0.0, 0.3])), one.amplitude_at(times))
        for values in (*numbers, one.phase_at(times)):
            np.asarray(values, np.float64)
        str(one.wandering)
