"""Bytes of a file or of standard input to checked lines of text.

Undoes gzip, finds the encoding (byte order marks, UTF-16, UTF-8 with a fall-back to Latin-1),
refuses what is no text table, and keeps memory bounded: no line longer than `MAX_LINE`
characters is ever held. The digest of the raw bytes is taken on the way.
"""

from __future__ import annotations

import codecs
import gzip
import hashlib
import io
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from robustfourier.errors import DataError

__all__ = ["MAX_LINE", "STDIN", "TextSource", "display_name", "open_text", "quoted"]

#: Characters that one line may have.
MAX_LINE = 1_000_000
#: The name that stands for standard input.
STDIN = "-"

_HEAD = 65_536

# First bytes of files that people hand over by mistake, and what to do about them.
_FOREIGN: dict[bytes, str] = {
    b"PK\x03\x04": "a zip or Excel file; save the sheet as CSV",
    b"\xd0\xcf\x11\xe0": "an old Excel or Word file; save the sheet as CSV",
    b"PAR1": "a Parquet file; give it the ending .parquet",
    b"BZh": "a bzip2 file; unpack it first",
    b"\xfd7zXZ": "an xz file; unpack it first",
    b"\x28\xb5\x2f\xfd": "a zstd file; unpack it first",
    b"\x89PNG": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"%PDF": "a PDF file",
    b"\x89HDF": "an HDF5 file; export the table as CSV",
    b"SQLite format 3": "an SQLite file; export the table as CSV",
    b"SIMPLE  =": "a FITS file; export the table as CSV",
    b"\x80\x04\x95": "a pickle, which is never loaded",
    b"\x80\x05\x95": "a pickle, which is never loaded",
}

_BOMS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def _as_latin1(error: UnicodeError) -> tuple[str, int]:
    """Read bytes that are no UTF-8 as Latin-1, one by one: old instruments write °C so."""
    assert isinstance(error, UnicodeDecodeError)
    return error.object[error.start : error.end].decode("latin-1"), error.end


codecs.register_error("robustfourier.latin1", _as_latin1)


@dataclass
class TextSource:
    """An open text: its lines, and after them the digest of the raw bytes."""

    name: str
    encoding: str
    compressed: bool
    _text: io.TextIOWrapper
    _raw: _Raw

    def lines(self) -> Iterator[str]:
        """Lines with their ends, each checked for length and NUL characters."""
        number = 0
        try:
            while line := self._text.readline(MAX_LINE + 1):
                number += 1
                if len(line) > MAX_LINE:
                    raise DataError(
                        f"{self.name}, line {number}: longer than {MAX_LINE:,} characters; "
                        "this is no table with one sample per line"
                    )
                if "\0" in line:
                    raise DataError(
                        f"{self.name}, line {number}: holds NUL characters; this is a binary or "
                        "damaged file, export the table as CSV (UTF-8)"
                    )
                yield line
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise DataError(
                f"{self.name}: the gzip data end or break after line {number} ({error}); "
                "fetch the file again"
            ) from None
        except UnicodeError:
            raise DataError(
                f"{self.name}, after line {number}: not valid {self.encoding}; "
                "save the file as UTF-8"
            ) from None
        except OSError as error:
            raise DataError(f"{self.name}: cannot be read ({error.strerror or error})") from None

    def digest(self) -> str:
        """SHA-256 of all raw bytes, reading what is left of them."""
        while self._raw.read(1 << 20):
            pass
        return self._raw.hash.hexdigest()


class _Raw(io.RawIOBase):
    """A reader that hashes what passes and can be given back its first bytes."""

    def __init__(self, source: BinaryIO) -> None:
        self.hash = hashlib.sha256()
        self._source = source
        self._pushed = b""

    def readable(self) -> bool:
        return True

    def push(self, data: bytes) -> None:
        self._pushed = data + self._pushed

    def readinto(self, buffer: Any) -> int:
        if self._pushed:
            block = self._pushed[: len(buffer)]
            self._pushed = self._pushed[len(block) :]
        else:
            block = self._source.read(len(buffer)) or b""
            self.hash.update(block)
        buffer[: len(block)] = block
        return len(block)


class _Plain(_Raw):
    """The same after decompression, where nothing is hashed twice."""

    def readinto(self, buffer: Any) -> int:
        block = self._pushed[: len(buffer)] if self._pushed else self._source.read(len(buffer))
        self._pushed = self._pushed[len(block) :]
        buffer[: len(block)] = block
        return len(block)


def quoted(text: str, limit: int = 60) -> str:
    """User text for a message: in quotes, escaped, and no longer than `limit`."""
    return repr(text if len(text) <= limit else text[: limit - 1] + "…")


def display_name(path: str | os.PathLike[str]) -> str:
    """Name of a source for messages and reports, without its folder or control characters."""
    if str(path) == STDIN:
        return "standard input"
    name = "".join(c if c.isprintable() else "�" for c in Path(path).name)
    return name if len(name) <= 120 else name[:119] + "…"


@contextmanager
def open_text(path: str | os.PathLike[str]) -> Iterator[TextSource]:
    """Open a text file, a gzip file or standard input ("-") as checked text.

    Parameters
    ----------
    path : str or path
        The file, or "-".

    Yields
    ------
    TextSource

    Raises
    ------
    DataError
        If it cannot be opened or is no text.
    """
    name = display_name(path)
    with _open_bytes(path, name) as file:
        raw = _Raw(file)
        head = _read_head(raw, name)
        compressed = head.startswith(b"\x1f\x8b")
        plain: _Raw = raw
        if compressed:
            plain = _Plain(gzip.GzipFile(fileobj=io.BufferedReader(raw), mode="rb"))  # type: ignore[arg-type]
            head = _read_head(plain, name)
        _refuse_foreign(head, name)
        encoding = _encoding(head)
        errors = "robustfourier.latin1" if encoding.startswith("utf-8") else "strict"
        text = io.TextIOWrapper(io.BufferedReader(plain, 1 << 18), encoding, errors, newline=None)
        yield TextSource(name, encoding, compressed, text, raw)


@contextmanager
def _open_bytes(path: str | os.PathLike[str], name: str) -> Iterator[BinaryIO]:
    if str(path) == STDIN:
        yield sys.stdin.buffer
        return
    try:
        if Path(path).is_dir():
            raise DataError(f"{name}: is a folder; give the file with the samples")
        file = open(path, "rb")  # noqa: SIM115 - closed below, opening errors told apart
    except FileNotFoundError:
        raise DataError(f"{str(path)!r}: no such file; check the name and folder") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"{str(path)!r}: cannot be opened ({reason})") from None
    with file:
        yield file


def _read_head(stream: _Raw, name: str) -> bytes:
    """Return the first bytes, which stay in the stream."""
    head = b""
    try:
        while len(head) < _HEAD and (block := stream.read(_HEAD - len(head))):
            head += block
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"{name}: damaged gzip data ({error}); fetch the file again") from None
    except OSError as error:
        raise DataError(f"{name}: cannot be read ({error.strerror or error})") from None
    stream.push(head)
    if not head:
        raise DataError(f"{name}: is empty; a table with a time and a value column is needed")
    return head


def _refuse_foreign(head: bytes, name: str) -> None:
    for magic, what in _FOREIGN.items():
        if head.startswith(magic):
            raise DataError(f"{name}: is {what}")
    start = head[:512].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith((b"<!doctype", b"<html", b"<?xml")):
        raise DataError(f"{name}: is a web page or XML, not a table; download the CSV itself")
    if start.startswith((b"{", b"[{")):
        raise DataError(f"{name}: is JSON, not a table; export it as CSV")


def _encoding(head: bytes) -> str:
    for mark, encoding in _BOMS:
        if head.startswith(mark):
            return encoding
    # UTF-16 without a mark: every other byte of plain digits is zero.
    even, odd = head[0:2000:2], head[1:2000:2]
    if odd and odd.count(0) > 0.6 * len(odd) and even.count(0) < 0.1 * len(even):
        return "utf-16-le"
    if even and even.count(0) > 0.6 * len(even) and odd.count(0) < 0.1 * len(odd):
        return "utf-16-be"
    return "utf-8"
