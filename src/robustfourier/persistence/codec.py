"""Values of a model to JSON and arrays, and back, for a closed list of types.

What is not in the list cannot be written, and a file cannot name anything outside of it. Records
(frozen dataclasses) are stored field by field under their class's name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustfourier.errors import ModelFormatError

__all__ = ["decode", "encode"]

Array = NDArray[Any]

_TAG = "$"  # a dict with this key is one of our markers


def encode(value: Any, arrays: list[Array], names: Mapping[type, str], where: str) -> Any:
    """Turn a value into JSON; arrays are appended to `arrays` and referred to by their index.

    Parameters
    ----------
    value : object
        None, truth value, number, str, list, tuple, dict, array, or a record of a known class.
    arrays : list of ndarray
        Collects arrays.
    names : mapping of type to str
        Records that may be saved.
    where : str
        Name of the value, for errors.

    Raises
    ------
    TypeError
        If the value is of another type.
    """
    if value is None or (isinstance(value, (bool, str)) and type(value) in (bool, str)):
        return value
    if type(value) is int:
        return value if -(2**63) <= value < 2**63 else {_TAG: "int", "value": str(value)}
    if type(value) is float:
        return value if math.isfinite(value) else {_TAG: "float", "value": repr(value)}
    if isinstance(value, (np.generic, np.ndarray)):
        return _encode_array(np.asarray(value), arrays, isinstance(value, np.generic))
    if type(value) in (list, tuple):
        items = [encode(item, arrays, names, f"{where}[{i}]") for i, item in enumerate(value)]
        return items if type(value) is list else {_TAG: "tuple", "items": items}
    if isinstance(value, dict):
        pairs = [
            [encode(k, arrays, names, where), encode(v, arrays, names, f"{where}[{k!r}]")]
            for k, v in value.items()
        ]
        return {_TAG: "dict", "items": pairs}
    if is_dataclass(value) and _is_known(type(value), names):
        content = {
            field.name: encode(getattr(value, field.name), arrays, names, f"{where}.{field.name}")
            for field in fields(value)
        }
        return {_TAG: "record", "name": names[type(value)], "fields": content}
    raise TypeError(f"{where} is a {type(value).__name__}, which a model file cannot hold")


def _is_known(cls: type, names: Mapping[type, str]) -> bool:
    try:
        return bool(names[cls])
    except KeyError:
        return False


def _encode_array(array: Array, arrays: list[Array], scalar: bool) -> Any:
    if array.dtype.kind in "UO":
        flat = [None if item is None else str(item) for item in array.ravel().tolist()]
        kind = "text" if array.dtype.kind == "U" else "object"
        if kind == "object" and not all(
            item is None or isinstance(item, str) for item in array.ravel().tolist()
        ):
            raise TypeError("arrays of objects cannot be saved")
        return {_TAG: kind, "shape": list(array.shape), "items": flat, "scalar": scalar}
    arrays.append(array)
    return {_TAG: "array", "index": len(arrays) - 1, "scalar": scalar}


def decode(tree: Any, arrays: list[Array], classes: Mapping[str, type]) -> Any:
    """Turn JSON back into the value that `encode` was given.

    Raises
    ------
    ModelFormatError
        If the tree is not one that `encode` makes.
    """
    return _Decoder(arrays, classes).value(tree)


class _Decoder:
    def __init__(self, arrays: list[Array], classes: Mapping[str, type]) -> None:
        self.arrays, self.classes = arrays, classes
        self.kinds: dict[str, Callable[[Any], Any]] = {
            "array": self.array,
            "text": self.text,
            "object": self.text,
            "dict": self.dict,
            "record": self.record,
            "tuple": lambda tree: tuple(self.value(item) for item in tree["items"]),
            "int": lambda tree: int(tree["value"]),
            "float": lambda tree: float(tree["value"]),
        }

    def value(self, tree: Any) -> Any:
        if tree is None or isinstance(tree, (bool, str, int, float)):
            return tree
        if isinstance(tree, list):
            return [self.value(item) for item in tree]
        kind = tree.get(_TAG)
        if not isinstance(kind, str) or kind not in self.kinds:
            raise ModelFormatError(f"the model file holds an unknown kind of value {kind!r}")
        try:
            return self.kinds[kind](tree)
        except (KeyError, IndexError, AttributeError, TypeError, ValueError, ArithmeticError) as e:
            if isinstance(e, ModelFormatError):
                raise
            raise ModelFormatError(
                f"the model file holds a {kind} that cannot be rebuilt ({e})"
            ) from None

    def array(self, tree: Any) -> Any:
        index = tree["index"]
        if type(index) is not int or not 0 <= index < len(self.arrays):
            raise ModelFormatError(f"the model file has no array {index!r}, but refers to it")
        array = self.arrays[index]
        return array[()] if tree["scalar"] else array.copy()

    def text(self, tree: Any) -> Any:
        dtype = object if tree[_TAG] == "object" else np.str_
        flat = np.array(tree["items"], dtype=dtype) if tree["items"] else np.empty(0, "U1")
        array = flat.reshape(tree["shape"])
        return array[()] if tree["scalar"] else array

    def dict(self, tree: Any) -> Any:
        return {self.value(key): self.value(value) for key, value in tree["items"]}

    def record(self, tree: Any) -> Any:
        name = tree["name"]
        try:
            cls = self.classes[name]
        except KeyError:
            raise ModelFormatError(
                f"the model file holds a record {name!r} we do not know"
            ) from None
        values = {key: self.value(item) for key, item in tree["fields"].items()}
        known = {field.name: field for field in fields(cls)}
        if unknown := set(values) - set(known):
            raise ModelFormatError(f"{name} in the model file has unknown fields {sorted(unknown)}")
        record = cls(**{key: value for key, value in values.items() if known[key].init})
        for key, value in values.items():
            if not known[key].init:  # what __post_init__ derives comes back bit for bit
                object.__setattr__(record, key, value)
        return record
