"""Bytes of a file or of standard input to checked lines of text.

Unpacks what is packed, finds the encoding (byte order marks, UTF-16, UTF-8 with a fall-back to
Latin-1), refuses what is no text table, and keeps memory bounded: no line longer than about
`MAX_LINE` characters is ever held. The digest of the raw bytes is taken on the way.

Whatever unpacks may make `TIMES` bytes of each byte of the file, and `FREE` bytes in any case.
Tables shrink 3 to 50 times; a single byte repeated shrinks 1030 times by gzip, a column of one
value a hundred thousand times in Parquet. Reading takes up to a third of a microsecond for each
byte of text that comes out, so that a file of 100 kB cannot take more than five seconds.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import hashlib
import io
import itertools
import lzma
import os
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from robustfourier.errors import DataError

#: Characters that one line may have.
MAX_LINE = 1_000_000
#: The name that stands for standard input.
STDIN = "-"
TIMES = 100
FREE = 1 << 20
#: Rows of cells, each with its line in the file.
Rows = list[tuple[int, list[str]]]

_HEAD = 65_536  # bytes that decide on the encoding
_BLOCK = 1 << 18  # characters read at once
#: What the libraries raise where packed data end or break.
_BROKEN = (EOFError, gzip.BadGzipFile, lzma.LZMAError, zipfile.BadZipFile, zlib.error)
_PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"PK\x03\x04": "zip"}

# First bytes of files that people hand over by mistake, and what to do about them.
_FOREIGN: dict[bytes, str] = {
    b"\xd0\xcf\x11\xe0": "an old Excel or Word file; save the sheet as CSV",
    b"\x28\xb5\x2f\xfd": "a zstd file; unpack it first",
    b"\x89PNG": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"%PDF": "a PDF file",
    b"SQLite format 3": "an SQLite file; export the table as CSV",
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
class TextLines:
    """The lines of a table."""

    name: str  # for messages
    lines: Iterator[str]  # with their ends
    digest: Callable[[], str]  # SHA-256 of all bytes of the file, reading what is left of them
    encoding: str = "utf-8"
    delimiter: str | None = None  # how the columns are separated, where that is known
    shift: int = 0  # added to the number of a line to give that of the file
    notes: tuple[str, ...] = ()  # what was taken


def display_name(path: str | os.PathLike[str]) -> str:
    """Name of a source for messages and reports, without its folder or control characters."""
    if str(path) == STDIN:
        return "standard input"
    name = "".join(c if c.isprintable() else "�" for c in Path(path).name)
    return name if len(name) <= 120 else name[:119] + "…"


@contextmanager
def open_text(path: str | os.PathLike[str], sheet: str | None = None) -> Iterator[TextLines]:
    """Open a text file, packed or not, a workbook or standard input ("-") as lines of text."""
    from robustfourier.samples.json_excel import is_json, records_as_lines, sheet_as_lines

    name = display_name(path)
    with _open_bytes(path, name) as file:
        raw = _Reader(file)
        stream = io.BufferedReader(raw, _HEAD)
        head = _head(stream, name)
        kind = next((kind for magic, kind in _PACKED.items() if head.startswith(magic)), "")
        if kind == "zip":
            with _one_error(name, kind):
                content = stream.read()
            if size := _workbook_size(content):
                yield sheet_as_lines(content, size, name, sheet, raw.digest)
                return
            stream = io.BufferedReader(io.BytesIO(content))  # type: ignore[arg-type]
        if sheet is not None:
            raise DataError(f"{name}: --sheet {sheet!r} is for Excel files, and this is none")
        if kind:
            with _one_error(name, kind):
                stream = io.BufferedReader(_Unpacked(raw, stream, name, kind), _HEAD)
            head = _head(stream, name, kind)
        _refuse_foreign(head, name)
        encoding = _encoding(head)
        errors = "robustfourier.latin1" if encoding.startswith("utf-8") else "strict"
        text = io.TextIOWrapper(stream, encoding, errors, newline=None)
        # Whole blocks are checked, so that no line costs a step of Python.
        blocks = _checked_blocks(text, name, kind)
        lines = itertools.chain.from_iterable(map(io.StringIO, blocks))
        source = TextLines(name, lines, raw.digest, encoding)
        yield records_as_lines(source) if is_json(head) else source


def _checked_blocks(text: io.TextIOWrapper, name: str, packing: str) -> Iterator[str]:
    """Blocks of whole lines, checked for the length of lines and NUL characters."""
    number, rest = 0, ""
    try:
        while block := text.read(_BLOCK):
            if "\0" in block:
                line = number + (rest + block).split("\0")[0].count("\n") + 1
                raise DataError(
                    f"{name}, line {line}: holds NUL characters; this is a binary or damaged file, "
                    "export the table as CSV (UTF-8)"
                )
            whole, end, rest = (rest + block).rpartition("\n")
            number += whole.count("\n") + len(end)
            if len(rest) > MAX_LINE:
                raise DataError(
                    f"{name}, line {number + 1}: longer than {MAX_LINE:,} characters; "
                    "this is no table with one sample per line"
                )
            yield whole + end
        yield rest
    except _BROKEN as error:
        raise DataError(
            f"{name}: the {packing} data end or break after line {number} "
            f"({error}); fetch the file again"
        ) from None
    except UnicodeError:
        raise DataError(
            f"{name}, after line {number}: not valid {text.encoding}; save the file as UTF-8"
        ) from None
    except OSError as error:
        raise DataError(f"{name}: cannot be read ({error.strerror or error})") from None


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
    except (*_BROKEN, NotImplementedError) as error:
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
    from robustfourier.samples.file_formats import FORMATS, format_within

    if kind := format_within(head):
        raise DataError(
            f"{name}: is a {FORMATS[kind].words} file, which is read neither from a pipe nor "
            "packed; give the file itself"
        )
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


def require_proportion(made: int, read: int, name: str, what: str, remedy: str) -> None:
    """Raise `DataError` if more bytes are made of those that were read than any table needs."""
    if made > TIMES * read + FREE:
        raise DataError(
            f"{name}: {what} unpack to more than {TIMES} times their size, as no table does; if "
            f"this is right, {remedy}"
        )


class _Reader(io.RawIOBase):
    """Reads until its buffer is full or the source ends, whatever a pipe delivers at once."""

    def __init__(self, source: BinaryIO) -> None:
        self.hash = hashlib.sha256()
        self.size = 0
        self.source = source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        filled = 0
        while filled < len(buffer) and (block := self.source.read(len(buffer) - filled)):
            buffer[filled : filled + len(block)] = block
            filled += len(block)
        self.size += filled
        self.check(buffer[:filled])
        return filled

    def check(self, block: bytes) -> None:
        self.hash.update(block)

    def digest(self) -> str:
        """SHA-256 of all bytes, reading what is left of them."""
        while self.read(1 << 20):
            pass
        return self.hash.hexdigest()


class _Unpacked(_Reader):
    """What a packed stream holds, unless that is out of all proportion."""

    def __init__(self, packed: _Reader, stream: Any, name: str, kind: str) -> None:
        unpack: dict[str, Callable[[Any], Any]] = {
            "gzip": lambda stream: gzip.GzipFile(fileobj=stream, mode="rb"),
            "bzip2": bz2.BZ2File,
            "xz": lzma.LZMAFile,
            "zip": lambda stream: _only_member(stream, name),
        }
        super().__init__(unpack[kind](stream))
        self.packed, self.name, self.kind = packed, name, kind

    def check(self, block: bytes) -> None:
        del block
        what, remedy = f"the {self.kind} data", "unpack the file first"
        require_proportion(self.size, self.packed.size, self.name, what, remedy)


def _workbook_size(content: bytes) -> int:
    """Bytes that a workbook of Excel unpacks to; 0 for any other zip archive."""
    try:
        members = zipfile.ZipFile(io.BytesIO(content)).infolist()
    except _BROKEN:
        return 0
    if not any(info.filename == "xl/workbook.xml" for info in members):
        return 0
    return sum(info.file_size for info in members)


def _only_member(stream: Any, name: str) -> Any:
    """The one file of a zip archive, but for what systems put beside the files of a user."""
    archive = zipfile.ZipFile(io.BytesIO(stream.read()))
    members = [
        info
        for info in archive.infolist()
        if not info.is_dir()
        and not info.filename.startswith("__MACOSX/")
        and not PurePosixPath(info.filename).name.startswith(".")
    ]
    if any(info.flag_bits & 1 for info in members):
        raise DataError(f"{name}: the zip archive is locked by a password; unpack it first")
    if len(members) != 1:
        listed = ", ".join(repr(PurePosixPath(info.filename).name) for info in members[:5])
        raise DataError(
            f"{name}: the zip archive holds {len(members)} files ({listed or 'none'}); unpack it, "
            "and give the one that you mean"
        )
    return archive.open(members[0])
