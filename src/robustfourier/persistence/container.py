r"""One file of JSON and arrays, each with its checksum; models and checkpoints are kept in it.

::

    8 bytes   magic \x89RFMODEL
    4 bytes   version of the format, little-endian
    8 bytes   length of the header, little-endian
    32 bytes  SHA-256 of all before and of the header
    …         header: JSON with the tree of values and, for each array, its dtype, shape,
              offset behind the header and SHA-256
    …         the arrays, little-endian, C order, back to back

Nothing in it is ever executed. Every length is checked against the size of the file before memory
is taken: the arrays take as much as they do in the file, the tree at most about 100 MB.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import struct
from collections.abc import Sequence
from math import prod
from typing import Any, BinaryIO, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from robustfourier.atomic_files import replacing
from robustfourier.errors import InputError, ModelFormatError

MAGIC = b"\x89RFMODEL"
#: 1 named classes by their module, 2 names them by tags and keeps texts among the arrays.
FORMAT_VERSION = 2

_PREFIX = struct.Struct("<8sIQ")
_DIGEST = 32
_MAX_HEADER = 16 * 1024 * 1024
_MAX_VALUES = 1_000_000  # in the header's JSON; each takes up to about 80 bytes of memory
_DTYPE = re.compile(r"\|[biu]1|<[iu][248]|<f[48]|<c(8|16)|<[mM]8\[(s|ms|us|ns)\]|<U[1-9][0-9]{0,5}")
_FOREIGN = {
    b"PK": "a zip archive (perhaps a torch or numpy file)",
    b"\x80": "a pickle, which is never loaded because it could run code",
    b"\x1f\x8b": "a gzip file",
    b"\x93NUMPY": "a numpy file",
}

Array = NDArray[Any]


class Content(NamedTuple):
    """What a file holds: the tree as it was written, the arrays, the version of the format."""

    tree: Any
    arrays: list[Array]
    version: int


def write_container(path: str | os.PathLike[str], tree: Any, arrays: Sequence[Array]) -> None:
    """Write a file: JSON values that refer to arrays by their index, and the arrays.

    Raises
    ------
    InputError
        If an array holds anything but numbers, truth values, dates or texts, or the tree is too
        large.
    OutputError
        If the file cannot be written.
    """
    table, parts, offset = [], [], 0
    for array in map(_little_endian, arrays):
        raw = array.reshape(-1).view(np.uint8).data
        entry = {"dtype": array.dtype.str, "shape": list(array.shape), "offset": offset}
        table.append({**entry, "sha256": hashlib.sha256(raw).hexdigest()})
        parts.append(raw)
        offset += raw.nbytes
    header = json.dumps(
        {"arrays": table, "tree": tree}, allow_nan=False, ensure_ascii=True, separators=(",", ":")
    ).encode()
    if _is_too_large(header):
        raise InputError(
            f"the values are too many for a file ({len(header):,} bytes beside arrays)"
        )
    prefix = _PREFIX.pack(MAGIC, FORMAT_VERSION, len(header))
    with replacing(path) as file:
        file.write(prefix + hashlib.sha256(prefix + header).digest() + header)
        file.writelines(parts)


def read_container(path: str | os.PathLike[str]) -> Content:
    """Read a file after checking all of it.

    Raises
    ------
    ModelFormatError
        If it is not a whole, undamaged file of a version we know.
    """
    name = str(path)
    try:
        # Opening a pipe would otherwise wait for a writer.
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        with os.fdopen(os.open(path, flags), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise ModelFormatError(f"{name!r} is no regular file; give a saved model")
            return _read(file, status.st_size, name)
    except ModelFormatError:
        raise
    except FileNotFoundError:
        raise ModelFormatError(f"{name!r}: no such file; check the name and folder") from None
    except (OSError, ValueError) as error:
        what = getattr(error, "strerror", None) or error
        raise ModelFormatError(f"{name!r} cannot be read ({what})") from None


def _read(file: BinaryIO, size: int, name: str) -> Content:
    prefix = file.read(_PREFIX.size)
    _check_magic(prefix, name)
    if len(prefix) < _PREFIX.size or size < _PREFIX.size + _DIGEST:
        _damaged(name, "it is cut off within its first bytes")
    _, version, length = _PREFIX.unpack(prefix)
    if version > FORMAT_VERSION:
        raise ModelFormatError(
            f"{name!r} has format version {version}, but this robustfourier reads up to "
            f"{FORMAT_VERSION}; upgrade with: pip install --upgrade robustfourier"
        )
    start = _PREFIX.size + _DIGEST + length
    if version < 1 or length > _MAX_HEADER or start > size:
        _damaged(name, f"its header would be {length:,} bytes long")
    digest, header = file.read(_DIGEST), file.read(length)
    if hashlib.sha256(prefix + header).digest() != digest:
        _damaged(name, "the checksum of its header is wrong")
    entries, tree = _parse_header(header, name)
    _check_layout(entries, size - start, name)
    arrays = [_read_array(file, entry, i, name) for i, entry in enumerate(entries)]
    return Content(tree, arrays, version)


def _check_magic(prefix: bytes, name: str) -> None:
    if prefix.startswith(MAGIC):
        return
    if MAGIC.startswith(prefix[:8]):
        _damaged(name, "it is cut off within its first bytes")
    what = next((f" but {words}" for m, words in _FOREIGN.items() if prefix.startswith(m)), "")
    raise ModelFormatError(
        f"{name!r} is no robustfourier model{what}; give a file written by model.save"
    )


def _is_too_large(header: bytes) -> bool:
    values = sum(header.count(mark) for mark in (b",", b"[", b"{"))
    return len(header) > _MAX_HEADER or values > _MAX_VALUES


def _parse_header(header: bytes, name: str) -> tuple[list[Any], Any]:
    if _is_too_large(header):
        _damaged(name, "its header holds too many values")
    try:
        content = json.loads(header.decode("ascii"))
        entries, tree = content["arrays"], content["tree"]
    except RecursionError:
        _damaged(name, "its header is nested too deeply")
    except (ValueError, KeyError, TypeError):
        _damaged(name, "its header is not what we write")
    if not isinstance(entries, list):
        _damaged(name, "its table of arrays is not what we write")
    return entries, tree


def _check_layout(entries: list[Any], room: int, name: str) -> None:
    """The arrays must fill the rest of the file exactly, one behind the other."""
    offset = 0
    for i, entry in enumerate(entries):
        if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "offset", "sha256"}:
            _damaged(name, f"array {i} is not described as we do")
        dtype, shape = entry["dtype"], entry["shape"]
        sane = isinstance(shape, list) and len(shape) <= 8
        sane = sane and all(type(n) is int and 0 <= n <= room + 1 for n in shape)
        if not (sane and isinstance(dtype, str) and _DTYPE.fullmatch(dtype)):
            _damaged(name, f"array {i} has dtype {dtype!r} and shape {shape!r}")
        if entry["offset"] != offset or not isinstance(entry["sha256"], str):
            _damaged(name, f"array {i} is out of place")
        offset += prod(shape) * np.dtype(dtype).itemsize
        if offset > room:
            _damaged(name, f"array {i} reaches {offset - room:,} bytes beyond its end")
    if offset != room:
        _damaged(name, f"{room - offset:,} bytes follow its last array")


def _read_array(file: BinaryIO, entry: dict[str, Any], i: int, name: str) -> Array:
    dtype = np.dtype(entry["dtype"])
    raw = np.empty(prod(entry["shape"]) * dtype.itemsize, np.uint8)
    file.readinto(raw.data)  # type: ignore[attr-defined]
    if hashlib.sha256(raw.data).hexdigest() != entry["sha256"]:
        _damaged(name, f"the checksum of array {i} is wrong")
    if dtype.kind == "U" and raw.view("<u4").max(initial=0) > 0x10FFFF:
        _damaged(name, f"array {i} holds what is no text")
    return raw.view(dtype).reshape(entry["shape"]).astype(dtype.newbyteorder("="), copy=False)


def _little_endian(array: Array) -> Array:
    data = np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")
    if not _DTYPE.fullmatch(data.dtype.str):
        raise InputError(f"arrays of dtype {array.dtype} cannot be saved")
    return data


def _damaged(name: str, how: str) -> NoReturn:
    raise ModelFormatError(f"{name!r} is damaged: {how}; fetch or save it again")
