"""Bytes of a file or of standard input to checked lines of text.

Unpacks what is packed, finds the encoding (byte order marks, UTF-16, UTF-8 with a fall-back to
Latin-1), refuses what is no text table, and keeps memory bounded: no line longer than about
`MAX_LINE` characters is ever held. The digest of the raw bytes is taken on the way.
"""

from __future__ import annotations

import codecs
import io
import itertools
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from robustfourier.errors import DataError
from robustfourier.samples.decompression import BROKEN, Reader, packing, unpacked, workbook_size
from robustfourier.samples.json_excel import Source, is_json, records_as_lines

#: Characters that one line may have.
MAX_LINE = 1_000_000
#: The name that stands for standard input.
STDIN = "-"

_HEAD = 65_536  # bytes that decide on the encoding
_BLOCK = 1 << 18  # characters read at once

# First bytes of files that people hand over by mistake, and what to do about them.
_FOREIGN: dict[bytes, str] = {
    b"\xd0\xcf\x11\xe0": "an old Excel or Word file; save the sheet as CSV",
    b"PAR1": "a Parquet file; give it the ending .parquet",
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
    _text: io.TextIOWrapper
    _raw: Reader
    _packing: str = ""
    #: How the columns are separated, where that is known.
    delimiter: str | None = None
    #: Added to the number of a line to give that of the file.
    shift: int = 0
    notes: tuple[str, ...] = ()

    def lines(self) -> Iterator[str]:
        """Lines with their ends."""
        # Whole blocks are checked, so that no line costs a step of Python.
        return itertools.chain.from_iterable(map(io.StringIO, self._blocks()))

    def _blocks(self) -> Iterator[str]:
        """Blocks of whole lines, checked for the length of lines and NUL characters."""
        number, rest = 0, ""
        try:
            while block := self._text.read(_BLOCK):
                if "\0" in block:
                    line = number + (rest + block).split("\0")[0].count("\n") + 1
                    raise DataError(
                        f"{self.name}, line {line}: holds NUL characters; this is a binary or "
                        "damaged file, export the table as CSV (UTF-8)"
                    )
                whole, end, rest = (rest + block).rpartition("\n")
                number += whole.count("\n") + len(end)
                if len(rest) > MAX_LINE:
                    raise DataError(
                        f"{self.name}, line {number + 1}: longer than {MAX_LINE:,} characters; "
                        "this is no table with one sample per line"
                    )
                yield whole + end
            yield rest
        except BROKEN as error:
            raise DataError(
                f"{self.name}: the {self._packing} data end or break after line {number} "
                f"({error}); fetch the file again"
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
def open_text(path: str | os.PathLike[str], sheet: str | None = None) -> Iterator[Source]:
    """Open a text file, packed or not, a workbook or standard input ("-") as lines of text."""
    name = display_name(path)
    with _open_bytes(path, name) as file:
        raw = Reader(file)
        stream = io.BufferedReader(raw, _HEAD)
        head = _head(stream, name)
        kind = packing(head)
        if kind == "zip":
            with _one_error(name, kind):
                content = stream.read()
            if size := workbook_size(content):
                from robustfourier.samples.json_excel import sheet_as_lines

                yield sheet_as_lines(content, size, name, sheet, raw.hash.hexdigest)
                return
            stream = io.BufferedReader(io.BytesIO(content))  # type: ignore[arg-type]
        if sheet is not None:
            raise DataError(f"{name}: --sheet {sheet!r} is for Excel files, and this is none")
        if kind:
            with _one_error(name, kind):
                stream = io.BufferedReader(unpacked(raw, stream, name, kind), _HEAD)
            head = _head(stream, name, kind)
        _refuse_foreign(head, name)
        encoding = _encoding(head)
        errors = "robustfourier.latin1" if encoding.startswith("utf-8") else "strict"
        text = io.TextIOWrapper(stream, encoding, errors, newline=None)
        source = TextSource(name, encoding, text, raw, kind)
        yield records_as_lines(source) if is_json(head) else source


@contextmanager
def _open_bytes(path: str | os.PathLike[str], name: str) -> Iterator[BinaryIO]:
    if str(path) == STDIN:
        if sys.stdin is None:
            raise DataError("standard input is closed; give a file, or pipe the table in")
        yield sys.stdin.buffer
        return
    try:
        if Path(path).is_dir():
            raise DataError(f"{name}: is a folder; give the file with the samples")
        file = open(path, "rb")  # noqa: SIM115 - closed below, opening errors have messages of their own
    except FileNotFoundError:
        raise DataError(f"{str(path)!r}: no such file; check the name and folder") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"{str(path)!r}: cannot be opened ({reason})") from None
    with file:
        yield file


@contextmanager
def _one_error(name: str, kind: str = "") -> Iterator[None]:
    """Whatever is wrong with the bytes is an error that names the file."""
    try:
        yield
    except (*BROKEN, NotImplementedError) as error:
        raise DataError(f"{name}: damaged {kind} data ({error}); fetch the file again") from None
    except OSError as error:
        raise DataError(f"{name}: cannot be read ({error.strerror or error})") from None


def _head(stream: io.BufferedReader[Any], name: str, kind: str = "") -> bytes:
    """Return the first bytes, which stay in the stream."""
    with _one_error(name, kind):
        head = stream.peek(_HEAD)
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
