"""One budget of time and memory for every reader, in terms of the bytes that are read.

Whoever unpacks something may make `TIMES` bytes of each byte of the file, and `FREE` bytes in any
case. Tables shrink 3 to 50 times; a single byte repeated shrinks 1030 times by gzip, a column of
one value a hundred thousand times in Parquet. Reading takes up to a third of a microsecond for each
byte of text that comes out, so that a file of 100 kB cannot take more than five seconds.
"""

from __future__ import annotations

from robustfourier.errors import DataError

TIMES = 100
FREE = 1 << 20


def require_proportion(made: int, read: int, name: str, what: str, remedy: str) -> None:
    """Raise `DataError` if more is made of the bytes that were read than any table needs.

    Parameters
    ----------
    made, read : int
        Bytes.
    name, what, remedy : str
        For the message: the file, what unpacks, and what to do.

    Examples
    --------
    >>> require_proportion(5_000_000, 100_000, "a.csv.gz", "the gzip data", "unpack it first")
    """
    if made > TIMES * read + FREE:
        raise DataError(
            f"{name}: {what} unpack to more than {TIMES} times their size, as no table does; if "
            f"this is right, {remedy}"
        )
