"""Files that are no text: which format a file has, and the reader that opens it.

Each reader is a few lines that hand the file to a library of its own, which is loaded when such a
file is met, and return a `Frame`. Formats are known by the first bytes of a file, whatever its
name.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from robustfourier.errors import DataError, MissingDependencyError, RobustFourierError
from robustfourier.samples.text_streams import STDIN, display_name, quoted

if TYPE_CHECKING:
    from robustfourier.samples.data_frames import Frame
    from robustfourier.samples.text_tables import ReadOptions

_MAGIC = {
    b"PAR1": "parquet",
    b"ARROW1": "feather",
    b"SIMPLE  =": "fits",
    b"CDF\x01": "netcdf",
    b"CDF\x02": "netcdf",
    b"CDF\x05": "netcdf",
    b"\x89HDF": "netcdf",
    b"MATLAB 5.0": "matlab",
    b"MATLAB 7.3": "matlab 7.3",
}
#: Words for each format in messages, and the extra of this package that reads it.
FORMATS = {
    "feather": ("Feather", "arrow"),
    "fits": ("FITS", "astropy"),
    "votable": ("VOTable", "astropy"),
    "netcdf": ("netCDF", "xarray"),
    "matlab": ("MATLAB", ""),
    "wav": ("WAV", ""),
}

_HOME = {
    "feather": "feather",
    "fits": "fits_votable",
    "votable": "fits_votable",
    "netcdf": "netcdf",
    "matlab": "matlab_wav",
    "wav": "matlab_wav",
}


def format_of(path: str | os.PathLike[str]) -> str:
    """Name of the format of a file that is no text; empty for text, pipes and what is not there.

    Parquet is known by its name too.
    """
    low = str(path).lower()
    if low.endswith((".parquet", ".pq")):
        return "parquet"
    if str(path) == STDIN or not os.path.isfile(path):
        return ""
    if low.endswith((".fits.gz", ".fit.gz")):
        return "fits"
    try:
        with Path(path).open("rb") as file:
            head = file.read(512)
    except OSError:
        return ""
    if head[:4] == b"RIFF" and head[8:12] == b"WAVE":
        return "wav"
    if b"<VOTABLE" in head:
        return "votable"
    return next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), "")


def read_frame(path: str | os.PathLike[str], kind: str, asked: ReadOptions) -> Frame:
    """Read a file of a format of `FORMATS`; what is wrong with it is a `DataError`."""
    name = display_name(path)
    if kind == "matlab 7.3":
        raise DataError(
            f"{name}: is a MATLAB file of version 7.3; save it with save(…, '-v7'), or as CSV"
        )
    words, extra = FORMATS[kind]
    module = import_module(f"robustfourier.samples.readers.{_HOME[kind]}")
    reader: Callable[..., Frame] = getattr(module, f"read_{kind}")
    try:
        return reader(path, name, asked)
    except RobustFourierError:
        raise
    except ImportError as error:
        raise MissingDependencyError(
            f"{name}: is a {words} file, which needs {error.name or extra}; install it with: "
            f"pip install robustfourier[{extra}]"
        ) from None
    except Exception as error:  # the libraries raise many kinds for a damaged file
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(
            f"{name}: cannot be read as {words} ({quoted(first, 120)}); fetch or export it again"
        ) from None
