"""Readers of files that are no text, each the one home of the library that opens them.

Feather by pyarrow, FITS and VOTable by astropy, netCDF by xarray with h5netcdf or scipy, MATLAB
(.mat, to version 7) and WAV by scipy.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from robustfourier.errors import DataError
from robustfourier.samples.columns import speaks_of_time
from robustfourier.samples.objects import dataset_frame, frame_of
from robustfourier.samples.read_options import ReadOptions
from robustfourier.samples.typed_tables import Frame, at_rate

Path = str | os.PathLike[str]

# What a sampling rate is called, the clearest first.
_RATES = ("sampling_rate", "samplingrate", "sample_rate", "samplerate", "srate", "fs", "sr")


def read_feather(path: Path, name: str, options: ReadOptions) -> Frame:
    """All columns of a Feather file."""
    del name, options
    from pyarrow import feather

    table = feather.read_table(path)
    return Frame(table.to_pandas(ignore_metadata=True))


def read_netcdf(path: Path, name: str, options: ReadOptions) -> Frame:
    """The variables of a netCDF file along its time; other dimensions tell series apart."""
    import xarray

    with open(path, "rb") as file:
        engine = "scipy" if file.read(3) == b"CDF" else "h5netcdf"
    with xarray.open_dataset(path, engine=engine) as data:
        return dataset_frame(data.load(), name, options.time, options.value)


def read_fits(path: Path, name: str, options: ReadOptions) -> Frame:
    """The table of a FITS file; where it has several, ``--sheet`` names the extension."""
    from astropy.io import fits
    from astropy.table import Table

    with _quietly(), fits.open(path) as units:
        tables = {
            str(i): unit.name or f"extension {i}"
            for i, unit in enumerate(units)
            if isinstance(unit, (fits.BinTableHDU, fits.TableHDU))
        }
        chosen = _chosen_table(tables, name, options.sheet)
        table = Table.read(units[int(chosen)], format="fits")
    return _astropy_frame(table, tables, chosen)


def read_votable(path: Path, name: str, options: ReadOptions) -> Frame:
    """The table of a VOTable file; where it has several, ``--sheet`` chooses by number."""
    from astropy.io import votable

    with _quietly():
        found = list(votable.parse(str(path)).iter_tables())
        tables = {str(i): each.name or f"table {i}" for i, each in enumerate(found, start=1)}
        chosen = _chosen_table(tables, name, options.sheet)
        table = found[int(chosen) - 1].to_table(use_names_over_ids=True)
    return _astropy_frame(table, tables, chosen)


@contextmanager
def _quietly() -> Iterator[None]:
    """Without warnings of deviations from the standards, which are many."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _chosen_table(tables: dict[str, str], name: str, sheet: str | None) -> str:
    """Number of the table that is meant."""
    listed = ", ".join(f"{number} ({title})" for number, title in tables.items())
    if not tables:
        raise DataError(f"{name}: holds no table; a picture has no times")
    if sheet is None:
        return next(iter(tables))
    wanted = sheet.strip().lower()
    found = [n for n, title in tables.items() if wanted in (n, title.lower())]
    if len(found) != 1:
        raise DataError(f"{name}: no table {sheet!r} (--sheet); there are {listed}")
    return found[0]


def _astropy_frame(table: Any, tables: dict[str, str], chosen: str) -> Frame:
    frame = frame_of(table)
    assert frame is not None  # a table of astropy is known
    several = f"table {tables[chosen]!r}, one of {len(tables)} (see --sheet)"
    return frame if len(tables) == 1 else replace(frame, notes=(*frame.notes, several))


def read_wav(path: Path, name: str, options: ReadOptions) -> Frame:
    """The channels of a WAV file, at its sampling rate."""
    del name
    from scipy.io import wavfile

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wavfile.WavFileWarning)  # of chunks that hold no sound
        rate, sound = wavfile.read(path)
    channels = np.atleast_2d(sound.T)
    names = ["signal"] if len(channels) == 1 else [f"channel {i + 1}" for i in range(len(channels))]
    frame = pd.DataFrame({n: c.astype(np.float64) for n, c in zip(names, channels, strict=True)})
    return at_rate(Frame(frame), options.rate or float(rate))


def read_matlab(path: Path, name: str, options: ReadOptions) -> Frame:
    """The longest variables of a MATLAB file, at its sampling rate where it tells one."""
    from scipy.io import loadmat

    with open(path, "rb") as file:
        if file.read(10) == b"MATLAB 7.3":
            raise DataError(
                f"{name}: is a MATLAB file of version 7.3; save it with save(…, '-v7'), or as CSV"
            )
    content = loadmat(path, squeeze_me=True, struct_as_record=False)
    arrays: dict[str, Any] = {}
    numbers: dict[str, float] = {}
    for key, value in _flat({k: v for k, v in content.items() if not k.startswith("__")}):
        array = np.asarray(value)
        if array.dtype.kind in "iuf" and array.ndim == 0:
            numbers[key.rpartition(".")[2].lower()] = float(array)
        elif array.dtype.kind in "iuf" and array.ndim in (1, 2) and array.size > 1:
            arrays |= _columns(key, array)
    if not arrays:
        raise DataError(f"{name}: holds no arrays of numbers; save the signal with save(…, '-v7')")
    length = max(map(len, arrays.values()))
    frame = Frame(pd.DataFrame({k: a for k, a in arrays.items() if len(a) == length}))
    rate = options.rate or next(
        (numbers[word] for word in _RATES if numbers.get(word, 0) > 0), None
    )
    if rate is not None:
        return at_rate(frame, rate)
    if not any(speaks_of_time(str(key)) for key in frame.frame) and options.time is None:
        raise DataError(
            f"{name}: holds neither times nor a sampling rate; give --rate, such as --rate 20000"
        )
    return frame


def _flat(content: dict[str, Any], within: str = "") -> Iterator[tuple[str, Any]]:
    """Variables, and the fields of structures with their names joined by a point."""
    for key, value in content.items():
        fields = getattr(value, "_fieldnames", None)
        if fields is None:
            yield within + key, value
        else:
            yield from _flat({f: getattr(value, f) for f in fields}, f"{within}{key}.")


def _columns(key: str, array: Any) -> dict[str, Any]:
    """An array as columns; the longer side of a matrix is time."""
    values = array.astype(np.float64)
    if values.ndim == 1:
        return {key: values}
    values = values if values.shape[0] >= values.shape[1] else values.T
    return {f"{key} {i + 1}": column for i, column in enumerate(values.T)}
