"""Files that are no text: which format a file has, and the reader that opens it.

Each reader is a few lines that hand the file to a library of its own, which is loaded when such a
file is met, and return a `Frame`. Formats are known by the first bytes of a file, whatever its
name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from robustfourier.errors import DataError, MissingDependencyError, RobustFourierError
from robustfourier.formatting import quoted
from robustfourier.samples.text_streams import STDIN, display_name

if TYPE_CHECKING:
    from robustfourier.samples.read_options import ReadOptions
    from robustfourier.samples.typed_tables import Frame


@dataclass(frozen=True)
class Format:
    """A file format that is no text."""

    words: str  # its name in messages
    magic: bytes  # regular expression of the first bytes of such a file
    #: where the function lives that reads it, as ``module:function``. It is given the path, a name
    #: for messages and `ReadOptions`, and returns a `Frame`.
    reader: str
    #: the extra of this package that installs the library it needs; empty if none does
    extra: str = ""
    #: endings of names that stand for the format, whatever the first bytes are
    endings: tuple[str, ...] = ()


_HEAD = 512  # bytes that tell a format
_READERS = "robustfourier.samples.binary_files"
FORMATS = {
    "parquet": Format("Parquet", rb"PAR1", "", "arrow", (".parquet", ".pq")),
    "feather": Format("Feather", rb"ARROW1", f"{_READERS}:read_feather", "arrow"),
    "fits": Format(
        "FITS", rb"SIMPLE  =", f"{_READERS}:read_fits", "astropy", (".fits.gz", ".fit.gz")
    ),
    "votable": Format("VOTable", rb".*<VOTABLE", f"{_READERS}:read_votable", "astropy"),
    "netcdf": Format("netCDF", rb"CDF[\x01\x02\x05]|\x89HDF", f"{_READERS}:read_netcdf", "xarray"),
    "matlab": Format("MATLAB", rb"MATLAB (5\.0|7\.3)", f"{_READERS}:read_matlab"),
    "wav": Format("WAV", rb"RIFF.{4}WAVE", f"{_READERS}:read_wav"),
}


def format_of(path: str | os.PathLike[str]) -> str:
    """Name of the format of a file that is no text; empty for text, pipes and what is not there.

    Parquet is known by its name too.
    """
    low = str(path).lower()
    named = next((kind for kind, form in FORMATS.items() if low.endswith(form.endings)), "")
    there = str(path) != STDIN and os.path.isfile(path)
    if named and (there or named == "parquet"):
        return named
    if not there:
        return ""
    try:
        with open(path, "rb") as file:
            return format_within(file.read(_HEAD))
    except OSError:
        return ""


def format_within(head: bytes) -> str:
    """Name of the format that begins with some bytes; empty for text."""
    kinds = FORMATS.items()
    return next((k for k, form in kinds if re.match(form.magic, head[:_HEAD], re.DOTALL)), "")


def read_frame(path: str | os.PathLike[str], kind: str, options: ReadOptions) -> Frame:
    """Read a file of a format of `FORMATS`; what is wrong with it is a `DataError`."""
    module, _, function = FORMATS[kind].reader.partition(":")
    reader: Callable[..., Frame] = getattr(import_module(module), function)
    with one_error(path, kind):
        return reader(path, display_name(path), options)


@contextmanager
def one_error(path: str | os.PathLike[str], kind: str) -> Iterator[None]:
    """Whatever is wrong with a file of a format is an error that names it."""
    name, form = display_name(path), FORMATS[kind]
    try:
        yield
    except FileNotFoundError:
        raise DataError(f"{str(path)!r}: no such file; check the name and folder") from None
    except RobustFourierError:
        raise
    except ImportError as error:
        raise MissingDependencyError(
            f"{name}: is a {form.words} file, which needs {error.name or form.extra}; install it "
            f"with: pip install robustfourier[{form.extra}]"
        ) from None
    except Exception as error:  # the libraries raise many kinds for a damaged file
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(
            f"{name}: cannot be read as {form.words} ({quoted(first, 120)}); fetch or export it "
            "again"
        ) from None
