r"""One archive of JSON and numpy arrays, as ``numpy.savez`` writes them, with one checksum.

A zip file, not compressed: ``tree.json`` holds the values and the version of the format, ``0.npy``,
``1.npy``, … hold the arrays, and the archive's comment, its last 64 bytes, is the SHA-256 of all
bytes before. `numpy.load` opens the arrays. Checked beyond what numpy and zipfile check: the digest
(a zip has bytes that no checksum covers), and every length against the size of the file before
memory is taken. Nothing in it is ever executed.
"""

from __future__ import annotations

import json
import os
import re
import zipfile
from collections.abc import Sequence
from math import prod
from typing import Any, BinaryIO, NamedTuple, NoReturn

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from robustfourier.atomic_files import replacing
from robustfourier.errors import InputError, ModelFormatError
from robustfourier.untrusted_files import excess, open_regular, parse_json, stream_digest

FORMAT_VERSION = 3
_DIGEST = 64  # hexadecimal digits
_DTYPE = re.compile(r"\|[biu]1|<[iu][248]|<f[48]|<c(8|16)|<[mM]8\[(s|ms|us|ns)\]|<U[0-9]{1,6}")
_FOREIGN = {
    b"PK": "another zip archive (perhaps a torch or numpy file), or a damaged model",
    b"\x80": "a pickle, which is never loaded because it could run code",
    b"\x1f\x8b": "a gzip file",
    b"\x93NUMPY": "a numpy file",
}

Array = NDArray[Any]


class Content(NamedTuple):
    """What a file holds: the tree as it was written, and the arrays."""

    tree: Any
    arrays: list[Array]


def write_archive(path: str | os.PathLike[str], tree: Any, arrays: Sequence[Array]) -> None:
    """Write a file: JSON values that refer to arrays by their index, and the arrays.

    `InputError` if an array holds anything but numbers, truth values, dates or texts, or the tree
    is too large.
    """
    stored = [_little_endian(array) for array in arrays]
    content = {"format": FORMAT_VERSION, "tree": tree}
    text = json.dumps(content, allow_nan=False, separators=(",", ":")).encode()
    if too_large := excess(text):
        raise InputError(f"the values are too many for a file: {too_large} beside arrays")
    with replacing(path) as file:
        with zipfile.ZipFile(file, "w") as archive:
            archive.comment = b"0" * _DIGEST
            archive.writestr(zipfile.ZipInfo("tree.json"), text)
            for i, array in enumerate(stored):
                with archive.open(zipfile.ZipInfo(f"{i}.npy"), "w", force_zip64=True) as member:
                    npy.write_array(member, array, version=(1, 0), allow_pickle=False)
        digest = _digest(file)
        file.seek(-_DIGEST, os.SEEK_END)
        file.write(digest)


def read_archive(path: str | os.PathLike[str]) -> Content:
    """Read a file after checking all of it; `ModelFormatError` if it is not ours, or damaged."""
    name = str(path)
    try:
        with open_regular(path) as file:
            return _read(file, name)
    except ModelFormatError:
        raise
    except FileNotFoundError:
        raise ModelFormatError(f"{name!r}: no such file; check the name and folder") from None
    except RecursionError:
        _damaged(name, "its values are nested too deeply")
    except (OSError, ValueError) as error:
        what = getattr(error, "strerror", None) or error
        raise ModelFormatError(f"{name!r} cannot be read ({what})") from None
    except Exception as error:  # zipfile raises many kinds for what is forged
        _damaged(name, str(error) or type(error).__name__)


def _read(file: BinaryIO, name: str) -> Content:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(size - _DIGEST, 0))
    if size < _DIGEST or file.read() != _digest(file):
        _refuse(file, name)
    archive = zipfile.ZipFile(file)
    members = archive.infolist()
    names = ["tree.json", *(f"{i}.npy" for i in range(len(members) - 1))]
    if [member.filename for member in members] != names:
        _damaged(name, "its members are not those of a model")
    if any(m.compress_type or m.file_size != m.compress_size for m in members):
        _damaged(name, "its members are compressed, which those of a model never are")
    if sum(member.file_size for member in members) > size:
        _damaged(name, "its members overlap")
    content = _values(archive.read("tree.json"), name)
    return Content(content, [_array(archive, m, name) for m in members[1:]])


def _values(text: bytes, name: str) -> Any:
    content = parse_json(text)
    if not isinstance(content, dict) or set(content) != {"format", "tree"}:
        _damaged(name, "its values are not those of a model")
    if content["format"] != FORMAT_VERSION:
        raise ModelFormatError(
            f"{name!r} has format version {content['format']!r}, but this robustfourier reads "
            f"{FORMAT_VERSION}; upgrade with: pip install --upgrade robustfourier"
        )
    return content["tree"]


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str) -> Array:
    """An array whose description says what its bytes can hold."""
    with archive.open(member) as file:
        if npy.read_magic(file) != (1, 0):
            _damaged(name, f"{member.filename} is of another version")
        shape, in_columns, dtype = npy.read_array_header_1_0(file)
        raw = bytearray(file.read())
    if not _DTYPE.fullmatch(dtype.str) or len(shape) > 8:
        _damaged(name, f"{member.filename} has dtype {dtype.str!r} and shape {shape!r}")
    if in_columns or prod(shape) * dtype.itemsize != len(raw) or not all(n >= 0 for n in shape):
        _damaged(name, f"{member.filename} of shape {shape!r} has {len(raw):,} bytes")
    if dtype.kind == "U" and np.frombuffer(raw, "<u4").max(initial=0) > 0x10FFFF:
        _damaged(name, f"{member.filename} holds what is no text")
    array = np.ndarray(shape, dtype, buffer=raw)
    return array.astype(dtype.newbyteorder("="), copy=False)


def _refuse(file: BinaryIO, name: str) -> NoReturn:
    file.seek(0)
    head = file.read(8)
    if not head:
        _damaged(name, "it is cut off within its first bytes")
    what = next((f" but {words}" for m, words in _FOREIGN.items() if head.startswith(m)), "")
    raise ModelFormatError(
        f"{name!r} is no robustfourier model{what}; give a file written by model.save"
    )


def _digest(file: BinaryIO) -> bytes:
    """SHA-256 of all but the last bytes, as hexadecimal digits."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    return stream_digest(file, max(size - _DIGEST, 0)).encode()


def _little_endian(array: Array) -> Array:
    data = np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")
    if not _DTYPE.fullmatch(data.dtype.str):
        raise InputError(f"arrays of dtype {array.dtype} cannot be saved")
    return data


def _damaged(name: str, how: str) -> NoReturn:
    raise ModelFormatError(f"{name!r} is damaged: {how}; fetch or save it again")
