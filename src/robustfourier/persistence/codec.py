"""Values of a model to JSON and arrays, and back, for a closed list of types.

What is not in the list cannot be written, and a file cannot name anything outside of it. Records
(frozen dataclasses) are stored field by field under their tag, see `registry`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from robustfourier.errors import ModelFormatError
from robustfourier.persistence.registry import class_of, tag_of

Array = NDArray[Any]

_TAG = "$"  # a dict with this key is one of our markers


def encode(value: Any, arrays: list[Array], where: str) -> Any:
    """Turn a value into JSON; arrays are appended to `arrays` and referred to by their index.

    Can be None, truth value, number, str, list, tuple, dict, array, or a record of a known class;
    for anything else there is a TypeError that names `where` it is.
    """
    if value is None or type(value) in (bool, str, int):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {_TAG: "float", "value": repr(value)}
    if isinstance(value, (np.generic, np.ndarray)):
        return _encode_array(np.asarray(value), arrays, isinstance(value, np.generic))
    if type(value) in (list, tuple) or (isinstance(value, tuple) and tag_of(type(value))):
        items = [encode(item, arrays, f"{where}[{i}]") for i, item in enumerate(value)]
        name = {} if type(value) is tuple else {"name": tag_of(type(value))}
        return items if type(value) is list else {_TAG: "tuple", "items": items, **name}
    if isinstance(value, dict):
        pairs = [
            [encode(k, arrays, where), encode(v, arrays, f"{where}[{k!r}]")]
            for k, v in value.items()
        ]
        return {_TAG: "dict", "items": pairs}
    tag = tag_of(type(value))
    if tag is not None and is_dataclass(value):
        values = {field.name: getattr(value, field.name) for field in fields(value)}
        _check_fields(type(value), values)
        content = {k: encode(v, arrays, f"{where}.{k}") for k, v in values.items()}
        return {_TAG: "record", "name": tag, "fields": content}
    raise TypeError(f"{where} is a {type(value).__name__}, which a model file cannot hold")


def _encode_array(array: Array, arrays: list[Array], scalar: bool) -> Any:
    if array.dtype.kind != "O":
        arrays.append(array)
        return {_TAG: "array", "index": len(arrays) - 1, "scalar": scalar}
    items = array.ravel().tolist()
    if not all(item is None or isinstance(item, str) for item in items):
        raise TypeError("arrays of objects cannot be saved")
    return {_TAG: "object", "shape": list(array.shape), "items": items, "scalar": scalar}


def decode(tree: Any, arrays: list[Array]) -> Any:
    """Turn JSON back into what `encode` was given; `ModelFormatError` if it never was."""
    try:
        return _Decoder(arrays).value(tree)
    except RecursionError:
        raise ModelFormatError("its values are nested too deeply") from None


class _Decoder:
    def __init__(self, arrays: list[Array]) -> None:
        self.arrays: dict[Any, Array] = dict(enumerate(arrays))
        self.kinds: dict[str, Callable[[Any], Any]] = {
            "array": self.array,
            "object": self.objects,
            "dict": self.dict,
            "record": self.record,
            "tuple": self.tuple,
            "float": lambda tree: float(tree["value"]),
        }

    def value(self, tree: Any) -> Any:
        if tree is None or isinstance(tree, (bool, str, int, float)):
            return tree
        if isinstance(tree, list):
            return [self.value(item) for item in tree]
        kind = tree.get(_TAG)
        if not isinstance(kind, str) or kind not in self.kinds:
            raise ModelFormatError(f"it holds an unknown kind of value {kind!r}")
        try:
            return self.kinds[kind](tree)
        except (ModelFormatError, RecursionError):
            raise
        except Exception as error:  # whatever a foreign value does to our classes
            raise ModelFormatError(f"it holds a {kind} that cannot be rebuilt ({error})") from error

    def array(self, tree: Any) -> Any:
        if tree["index"] not in self.arrays:
            raise ModelFormatError(f"it refers to an array {tree['index']!r} twice, or has none")
        array = self.arrays.pop(tree["index"])
        return array[()] if tree["scalar"] else array

    def objects(self, tree: Any) -> Any:
        array = np.array(tree["items"], dtype=object).reshape(tree["shape"])
        return array[()] if tree["scalar"] else array

    def dict(self, tree: Any) -> Any:
        return {self.value(key): self.value(value) for key, value in tree["items"]}

    def tuple(self, tree: Any) -> Any:
        cls = class_of(tree["name"]) if "name" in tree else tuple
        if not issubclass(cls, tuple):
            raise ModelFormatError(f"a {tree['name']} is no tuple")
        return cls(self.value(item) for item in tree["items"])

    def record(self, tree: Any) -> Any:
        cls: Any = class_of(tree["name"])
        values = {key: self.value(item) for key, item in tree["fields"].items()}
        known = {field.name: field for field in fields(cls)}
        if unknown := set(values) - set(known):
            raise ModelFormatError(
                f"its {tree['name']} has unknown fields {sorted(unknown)}; if a newer version "
                "wrote it, upgrade with: pip install --upgrade robustfourier"
            )
        _check_fields(cls, values)
        record = cls(**{key: value for key, value in values.items() if known[key].init})
        for key, value in values.items():
            if not known[key].init:  # what __post_init__ derives comes back bit for bit
                object.__setattr__(record, key, value)
        return record


#: What may stand where a field declares a type.
_SAME: dict[Any, Any] = {
    bool: (bool, np.bool_),
    int: (int, np.integer),
    float: (float, int, np.floating, np.integer),
    tuple: (tuple, list),
    Literal: str,
    Any: object,
}
_hints = cache(get_type_hints)


def _check_fields(cls: type, values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        hint = _hints(cls)[name]
        if not any(isinstance(value, kind) for kind in _kinds(hint)):
            raise TypeError(f"{name} of a {cls.__name__} is a {type(value).__name__}")
        if isinstance(value, np.ndarray) and value.dtype.kind not in _dtype_kinds(hint):
            raise TypeError(f"{name} of a {cls.__name__} is an array of {value.dtype}")


@cache
def _dtype_kinds(hint: Any) -> str:
    """Return the kinds of dtype that may stand where arrays of a scalar type are declared.

    >>> _dtype_kinds(NDArray[np.float64])
    'bfiu'
    """
    declared = {np.dtype(name).kind for name in re.findall(r"dtype\[numpy\.(\w+)\]", str(hint))}
    if not declared:  # of any type
        return "fiubcUSOMm"
    return "".join(sorted({*"fiub", *declared} if declared & set("fiubc") else declared))


def _kinds(hint: Any) -> Iterator[Any]:
    """Return what `isinstance` takes for a declared type, choice by choice.

    An alias stands for its value: ``NDArray`` of numpy from 2.5 on is one (PEP 695).
    """
    origin = get_origin(hint) or hint
    if hasattr(origin, "__value__"):
        yield from _kinds(origin.__value__)
    elif origin in (Union, UnionType):
        for choice in get_args(hint):
            yield from _kinds(choice)
    else:
        yield _SAME.get(origin, origin)
