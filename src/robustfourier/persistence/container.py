r"""The model file: a header of JSON and raw arrays behind it, each with its checksum.

::

    8 bytes   magic \x89RFMODEL
    4 bytes   version of the format, little-endian
    8 bytes   length of the header, little-endian
    32 bytes  SHA-256 of all before and of the header
    …         header: JSON with the tree of values and, for each array, its dtype, shape,
              offset behind the header and SHA-256
    …         the arrays, little-endian, C order, back to back

Nothing in it is ever executed. Every length is checked against the size of the file before memory
is taken, so a reader needs at most about as much memory as the file is long.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import struct
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from robustfourier.errors import ModelFormatError, OutputError

__all__ = ["FORMAT_VERSION", "MAGIC", "read_container", "write_container"]

MAGIC = b"\x89RFMODEL"
FORMAT_VERSION = 1

_PREFIX = struct.Struct("<8sIQ")
_DIGEST = 32
_MAX_HEADER = 64 * 1024 * 1024
_MAX_DEPTH = 64
_MAX_ARRAYS = 100_000
_DTYPES = frozenset(
    ["|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f4", "<f8", "<c8", "<c16"]
    + [f"<{kind}8[{unit}]" for kind in "Mm" for unit in ("s", "ms", "us", "ns")]
)

Array = NDArray[Any]


def write_container(path: str | os.PathLike[str], tree: Any, arrays: Sequence[Array]) -> None:
    """Write a model file, so that at any moment the old file or the new one is there, whole.

    Parameters
    ----------
    path : str or path
        Where; an existing file is replaced at the very end.
    tree : JSON-able
        Values, which refer to arrays by their index.
    arrays : sequence of ndarray
        Arrays of numbers, truth values or dates.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    target = Path(path)
    parts, table, offset = [], [], 0
    for array in arrays:
        data = _little_endian(array)
        raw = data.tobytes()
        table.append(
            {
                "dtype": data.dtype.str,
                "shape": list(array.shape),
                "offset": offset,
                "sha256": hashlib.sha256(raw).hexdigest(),
            }
        )
        parts.append(raw)
        offset += len(raw)
    header = json.dumps(
        {"arrays": table, "tree": tree}, allow_nan=False, ensure_ascii=True, separators=(",", ":")
    ).encode()
    prefix = _PREFIX.pack(MAGIC, FORMAT_VERSION, len(header))
    digest = hashlib.sha256(prefix + header).digest()
    try:
        _write_atomically(target, [prefix, digest, header, *parts])
    except OSError as error:
        raise OutputError(
            f"cannot write the model to {str(target)!r} ({error.strerror or error}); "
            "choose another place"
        ) from None


def read_container(path: str | os.PathLike[str]) -> tuple[Any, list[Array]]:
    """Read a model file after checking all of it.

    Returns
    -------
    tree : JSON value
        As it was written.
    arrays : list of ndarray
        Read-only.

    Raises
    ------
    ModelFormatError
        If the file is not a whole, undamaged model file of a version we know.
    """
    name = str(path)
    try:
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise ModelFormatError(f"{name!r} is no regular file; give a saved model")
            return _read(file, status.st_size, name)
    except FileNotFoundError:
        raise ModelFormatError(f"{name!r}: no such file; check the name and folder") from None
    except (OSError, ValueError) as error:
        if isinstance(error, ModelFormatError):
            raise
        reason = getattr(error, "strerror", None) or error
        raise ModelFormatError(f"{name!r} cannot be read ({reason})") from None


def _read(file: BinaryIO, size: int, name: str) -> tuple[Any, list[Array]]:
    prefix = file.read(_PREFIX.size)
    _check_magic(prefix, name)
    if len(prefix) < _PREFIX.size or size < _PREFIX.size + _DIGEST:
        raise _damaged(name, "it is cut off within its first bytes")
    _, version, length = _PREFIX.unpack(prefix)
    if version > FORMAT_VERSION:
        raise ModelFormatError(
            f"{name!r} has format version {version}, but this robustfourier reads up to "
            f"{FORMAT_VERSION}; upgrade with: pip install --upgrade robustfourier"
        )
    start = _PREFIX.size + _DIGEST + length
    if version < 1 or length > _MAX_HEADER or start > size:
        raise _damaged(name, f"its header would be {length:,} bytes long")
    digest, header = file.read(_DIGEST), file.read(length)
    if hashlib.sha256(prefix + header).digest() != digest:
        raise _damaged(name, "the checksum of its header is wrong")
    entries, tree = _parse_header(header, name)
    _check_layout(entries, size - start, name)
    return tree, [_read_array(file, entry, i, name) for i, entry in enumerate(entries)]


def _check_magic(prefix: bytes, name: str) -> None:
    if prefix.startswith(MAGIC):
        return
    if MAGIC.startswith(prefix[:8]):
        raise _damaged(name, "it is cut off within its first bytes")
    known = {
        b"PK": "a zip archive (perhaps a torch or numpy file)",
        b"\x80": "a pickle, which is never loaded because it could run code",
        b"\x1f\x8b": "a gzip file",
        b"\x93NUMPY": "a numpy file",
    }
    what = next((words for magic, words in known.items() if prefix.startswith(magic)), None)
    raise ModelFormatError(
        f"{name!r} is no robustfourier model{'' if what is None else ' but ' + what}; "
        "give a file written by model.save"
    )


def _parse_header(header: bytes, name: str) -> tuple[list[dict[str, Any]], Any]:
    try:
        _check_depth(header, name)
        content = json.loads(header.decode("ascii"), parse_constant=_no_constant)
        entries, tree = content["arrays"], content["tree"]
    except ModelFormatError:
        raise
    except (ValueError, KeyError, TypeError, RecursionError):
        raise _damaged(name, "its header is not what we write") from None
    if not isinstance(entries, list) or len(entries) > _MAX_ARRAYS:
        raise _damaged(name, "its table of arrays is not what we write")
    return entries, tree


def _check_depth(header: bytes, name: str) -> None:
    """Refuse nesting that would exhaust a parser's stack."""
    data = np.frombuffer(header, np.uint8)
    opens = (data == ord("[")) | (data == ord("{"))
    closes = (data == ord("]")) | (data == ord("}"))
    # Brackets within strings count too, so this errs on the strict side by a margin we allow for.
    if np.cumsum(opens.astype(np.int32) - closes).max(initial=0) > _MAX_DEPTH * 4:
        raise _damaged(name, "its header is nested too deeply")


def _no_constant(word: str) -> Any:
    raise ValueError(f"{word} is no JSON")


def _check_layout(entries: list[dict[str, Any]], room: int, name: str) -> None:
    """The arrays must fill the rest of the file exactly, one behind the other."""
    offset = 0
    for i, entry in enumerate(entries):
        if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "offset", "sha256"}:
            raise _damaged(name, f"array {i} is not described as we do")
        shape = entry["shape"]
        sane = isinstance(shape, list) and len(shape) <= 8
        sane = sane and all(type(n) is int and 0 <= n <= room + 1 for n in shape)
        if entry["dtype"] not in _DTYPES or not sane:
            raise _damaged(name, f"array {i} has dtype {entry['dtype']!r} and shape {shape!r}")
        if entry["offset"] != offset or not isinstance(entry["sha256"], str):
            raise _damaged(name, f"array {i} is out of place")
        offset += prod(shape) * np.dtype(entry["dtype"]).itemsize
        if offset > room:
            raise _damaged(name, f"array {i} reaches {offset - room:,} bytes beyond its end")
    if offset != room:
        raise _damaged(name, f"{room - offset:,} bytes follow its last array")


def _read_array(file: BinaryIO, entry: dict[str, Any], i: int, name: str) -> Array:
    dtype = np.dtype(entry["dtype"])
    raw = file.read(prod(entry["shape"]) * dtype.itemsize)
    if hashlib.sha256(raw).hexdigest() != entry["sha256"]:
        raise _damaged(name, f"the checksum of array {i} is wrong")
    array = np.frombuffer(raw, dtype).reshape(entry["shape"])
    return array.astype(dtype.newbyteorder("="), copy=False)


def _little_endian(array: Array) -> Array:
    data = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    if data.dtype.str not in _DTYPES:
        raise TypeError(f"arrays of dtype {array.dtype} cannot be saved")
    return data


def _damaged(name: str, how: str) -> ModelFormatError:
    return ModelFormatError(f"{name!r} is damaged: {how}; fetch or save it again")


def _write_atomically(target: Path, parts: Sequence[bytes]) -> None:
    """Write beside the target, force it to the disk, then rename: the rename is one step."""
    handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, _new_file_mode(target))
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_folder(target.parent)


def _new_file_mode(target: Path) -> int:
    """The mode of the file that is replaced, or what the user's umask gives a new one."""
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):  # not every system lets one open a folder
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
