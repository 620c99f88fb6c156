"""What a file holds, read as if anybody could have written it.

Records, manifests and orders are small JSON documents in folders and requests that others reach.
One reader takes them: regular files alone (opening a pipe would wait for ever), so many bytes, so
many values, so deep, only numbers that a float can hold and only text that UTF-8 can. Whoever has
to know whether data are still the same asks for their digest, not for their name.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import stat
from typing import Any, BinaryIO, NoReturn

from robustfourier.errors import InputError

_BYTES = 1 << 24  # of a document, unless its reader expects more
_VALUES = 1_000_000  # in a document; each takes up to about 80 bytes of memory
_DEPTH = 64  # ours are nested six deep; far below what recursion over them may take
_DIGITS = 300  # of a whole number: a float holds up to 308


def open_regular(path: str | os.PathLike[str], *, follow: bool = True) -> BinaryIO:
    """Open a regular file for reading; pipes, devices and folders are an OSError, at once.

    A symbolic link may lead to it if `follow`.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    flags |= 0 if follow else getattr(os, "O_NOFOLLOW", 0)
    file = os.fdopen(os.open(path, flags), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(None, "it is no regular file")
    return file


def file_digest(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a file's bytes, as 64 hexadecimal digits.

    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "empty"
    >>> path.touch()
    >>> file_digest(path)[:16]
    'e3b0c44298fc1c14'
    """
    with open_regular(path) as file:
        return stream_digest(file)


def stream_digest(file: BinaryIO, n_bytes: float = math.inf) -> str:
    """SHA-256 of what a stream has left, or of so many bytes of it."""
    digest = hashlib.sha256()
    while block := file.read(int(min(n_bytes, 1 << 20))):
        digest.update(block)
        n_bytes -= len(block)
    return digest.hexdigest()


def parse_json(content: bytes, *, n_bytes: int = _BYTES, n_values: int = _VALUES) -> Any:
    """Values of a JSON document of anybody; `InputError` unless they are few and plain.

    >>> parse_json(b'{"period": 7.5}')
    {'period': 7.5}
    >>> parse_json(b"[NaN]")
    Traceback (most recent call last):
    robustfourier.errors.InputError: no JSON: NaN is no number here
    """
    if too_large := excess(content, n_bytes=n_bytes, n_values=n_values):
        raise InputError(f"no JSON: {too_large}")
    try:
        value = json.loads(
            content.decode("utf-8"), parse_constant=_refuse, parse_float=_real, parse_int=_whole
        )
        if b"\\u" in content:  # half of a surrogate pair can be written, and nowhere be stored
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except InputError:
        raise
    except RecursionError:
        raise InputError("no JSON: nested too deeply") from None
    except ValueError as error:  # UnicodeError among them
        raise InputError(f"no JSON: {error}") from None
    if content.count(b"[") + content.count(b"{") > _DEPTH:
        _require_shallow(value)
    return value


def excess(content: bytes, *, n_bytes: int = _BYTES, n_values: int = _VALUES) -> str:
    """Why a JSON document is too large for `parse_json`; empty if it is not."""
    if len(content) > n_bytes:
        return f"longer than {n_bytes:,} bytes"
    values = sum(content.count(mark) for mark in b",[{")
    return f"more than {n_values:,} values" if values > n_values else ""


def read_json(
    path: str | os.PathLike[str], *, n_bytes: int = _BYTES, n_values: int = _VALUES
) -> dict[str, Any] | None:
    """The JSON object that a file of ours holds; None if there is none, whatever is there instead.

    Symbolic links are not followed: we write none.
    """
    try:
        with open_regular(path, follow=False) as file:
            content = file.read(n_bytes + 1)
        value = parse_json(content, n_bytes=n_bytes, n_values=n_values)
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def _refuse(text: str) -> NoReturn:
    raise InputError(f"no JSON: {text} is no number here")


def _real(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _refuse(f"{text[:20]}…")


def _whole(text: str) -> int:
    return int(text) if len(text) <= _DIGITS else _refuse(f"{text[:20]}…")


def _require_shallow(value: Any) -> None:
    level = [value]
    for _ in range(_DEPTH):
        parts = (part.values() if isinstance(part, dict) else part for part in level)
        level = [each for part in parts for each in part if isinstance(each, (dict, list))]
        if not level:
            return
    raise InputError("no JSON: nested too deeply")
