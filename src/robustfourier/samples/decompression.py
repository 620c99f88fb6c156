"""Packed files, undone on the way: gzip, bzip2, xz, and a zip archive of one table.

Whatever unpacks may make `TIMES` bytes of each byte of the file, and `FREE` bytes in any case.
Tables shrink 3 to 50 times; a single byte repeated shrinks 1030 times by gzip, a column of one
value a hundred thousand times in Parquet. Reading takes up to a third of a microsecond for each
byte of text that comes out, so that a file of 100 kB cannot take more than five seconds.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import lzma
import zipfile
import zlib
from pathlib import PurePosixPath
from typing import Any, BinaryIO

from robustfourier.errors import DataError

TIMES = 100
FREE = 1 << 20
#: What the libraries raise where packed data end or break.
BROKEN = (EOFError, gzip.BadGzipFile, lzma.LZMAError, zipfile.BadZipFile, zlib.error)

_PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"PK\x03\x04": "zip"}


def require_proportion(made: int, read: int, name: str, what: str, remedy: str) -> None:
    """Raise `DataError` if more bytes are made of those that were read than any table needs."""
    if made > TIMES * read + FREE:
        raise DataError(
            f"{name}: {what} unpack to more than {TIMES} times their size, as no table does; if "
            f"this is right, {remedy}"
        )


class Reader(io.RawIOBase):
    """Reads until its buffer is full or the source ends, whatever a pipe delivers at once."""

    def __init__(self, source: BinaryIO) -> None:
        self.hash = hashlib.sha256()
        self.size = 0
        self._source = source

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer as far as there are bytes."""
        filled = 0
        while filled < len(buffer) and (block := self._source.read(len(buffer) - filled)):
            buffer[filled : filled + len(block)] = block
            filled += len(block)
        self.size += filled
        self._passed(buffer[:filled])
        return filled

    def _passed(self, block: bytes) -> None:
        self.hash.update(block)


class Unpacked(Reader):
    """What is unpacked, unless it is out of all proportion; the digest is that of the file."""

    def __init__(self, packed: Reader, stream: BinaryIO, name: str, kind: str) -> None:
        super().__init__(stream)
        self._packed, self._name, self._kind = packed, name, kind

    def _passed(self, block: bytes) -> None:
        del block
        what, remedy = f"the {self._kind} data", "unpack the file first"
        require_proportion(self.size, self._packed.size, self._name, what, remedy)


def packing(head: bytes) -> str:
    """How a file is packed, by its first bytes; empty if it is not."""
    return next((kind for magic, kind in _PACKED.items() if head.startswith(magic)), "")


def unpacked(raw: Reader, stream: Any, name: str, kind: str) -> Unpacked:
    """What a packed stream holds, to be read as it is unpacked."""
    inner: Any
    if kind == "gzip":
        inner = gzip.GzipFile(fileobj=stream, mode="rb")
    elif kind == "bzip2":
        import bz2

        inner = bz2.BZ2File(stream)
    elif kind == "xz":
        inner = lzma.LZMAFile(stream)  # noqa: SIM115 - closed with the stream
    else:
        inner = _only_member(stream, name)
    return Unpacked(raw, inner, name, kind)


def workbook_size(content: bytes) -> int:
    """Bytes that a workbook of Excel unpacks to; 0 for any other zip archive."""
    try:
        members = zipfile.ZipFile(io.BytesIO(content)).infolist()
    except BROKEN:
        return 0
    if not any(info.filename == "xl/workbook.xml" for info in members):
        return 0
    return sum(info.file_size for info in members)


def _only_member(stream: Any, name: str) -> Any:
    """The one file of a zip archive."""
    archive = zipfile.ZipFile(io.BytesIO(stream.read()))
    members = [i for i in archive.infolist() if not i.is_dir() and not _is_clutter(i.filename)]
    if any(info.flag_bits & 1 for info in members):
        raise DataError(f"{name}: the zip archive is locked by a password; unpack it first")
    if len(members) != 1:
        listed = ", ".join(repr(PurePosixPath(info.filename).name) for info in members[:5])
        raise DataError(
            f"{name}: the zip archive holds {len(members)} files ({listed or 'none'}); unpack it, "
            "and give the one that you mean"
        )
    return archive.open(members[0])


def _is_clutter(name: str) -> bool:
    """Whether a member is what systems put beside the files of a user."""
    return name.startswith("__MACOSX/") or PurePosixPath(name).name.startswith(".")
