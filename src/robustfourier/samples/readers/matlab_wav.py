"""Signals at a known rate: MATLAB (.mat, to version 7) and WAV, by scipy."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from robustfourier.errors import DataError
from robustfourier.samples.columns import speaks_of_time
from robustfourier.samples.data_frames import Frame, at_rate

if TYPE_CHECKING:
    from robustfourier.samples.text_tables import ReadOptions

# What a sampling rate is called, the clearest first.
_RATES = ("sampling_rate", "samplingrate", "sample_rate", "samplerate", "srate", "fs", "sr")


def read_wav(path: str | os.PathLike[str], name: str, options: ReadOptions) -> Frame:
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


def read_matlab(path: str | os.PathLike[str], name: str, options: ReadOptions) -> Frame:
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
            f"{name}: tells neither times nor a sampling rate; say --rate, such as --rate 20000"
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
