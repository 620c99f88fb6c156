"""Tables: whatever the bytes and the options, samples that are sound, or an error of ours."""

from __future__ import annotations

import gzip
import random
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.faults.cases import CHANGES, Case, changed_bytes, changed_cells
from benchmarks.faults.fuzz import Wrong
from robustfourier import PeriodicMixture
from robustfourier.errors import RobustFourierError
from robustfourier.samples import read_samples

FITTED = 1 / 400  # of the tables that were read; a fit costs as much as a few hundred readings
_ROWS = [(i, (7 * i) % 5 + 0.5) for i in range(8)]
_DAYS = [f"2024-01-{i + 1:02}" for i in range(8)]


def _table(
    times: list[Any], head: str = "time,value\n", mark: str = ",", decimal: str = "."
) -> str:
    values = [f"{v}".replace(".", decimal) for _, v in _ROWS]
    return head + "".join(f"{t}{mark}{v}\n" for t, v in zip(times, values, strict=True))


_NUMBERS = list(range(8))
_SEEDS: list[str | bytes] = [
    _table(_NUMBERS),
    _table(_NUMBERS, "", ";", ","),
    _table(_NUMBERS, "t\tv\n", "\t"),
    _table(_NUMBERS, "# a comment\n\nt v\n", " "),
    _table(_NUMBERS, "x|y\n", "|"),
    _table(_DAYS, "date,level\n"),
    _table([f"{d} 12:30" for d in _DAYS], '"when","how much"\n'),
    _table([f"{d}T00:00:00Z" for d in _DAYS]),
    _table([f"{i + 1:02}.03.2024" for i in _NUMBERS], "Datum;Wert\n", ";", ","),
    _table([f"{i + 1:02}/25/2024" if i < 12 else "12/31/2024" for i in _NUMBERS]),
    _table([20240101 + i for i in _NUMBERS], "day,v\n"),
    _table([2024010100 + i for i in _NUMBERS]),
    _table([1600000000 + 3600 * i for i in _NUMBERS], "unix,v\n"),
    _table([2460000.5 + i for i in _NUMBERS], "jd,mag\n"),
    "date,clock,v\n" + "".join(f"{d},{i:02}:15,{i % 7}\n" for i, d in enumerate(_DAYS)),
    "t,v,err\n" + "".join(f"{i},{v},0.1\n" for i, v in _ROWS),
    "time,sensor,value\n" + "".join(f"{i},{s},{v}\n" for i, v in _ROWS for s in "AB"),
    "time,value\n(s),(mm)\n" + "".join(f"{i},{v}\n" for i, v in _ROWS),
    '"a, b";"say ""x"""\n' + "".join(f'"{i}";"{v}"\n' for i, v in _ROWS),
    gzip.compress(_table(_NUMBERS).encode()),
    _table(_NUMBERS).encode("utf-16"),
    b"\xef\xbb\xbf" + _table(_DAYS).encode(),
    "".join(f"{v}\n" for _, v in _ROWS),
]
_OPTIONS: dict[str, tuple[Any, ...]] = {
    "time": ("time", "1", "2", "0", "-1", "\u00b2", "99999999999", "", "nowhere"),
    "value": ("value", "2", "1", "\u0664", "x" * 200),
    "error": ("err", "3", "value"),
    "delimiter": (",", ";", "\t", "|", " "),
    "decimal": (".", ","),
    "skip": (0, 1, 3, 10**9),
    "na": (("-999",), ("", " "), ("1",)),
    "missing": ("drop", "error"),
    "duplicates": ("mean", "first", "last", "keep", "error"),
    "by": (("sensor=A",), ("sensor",), ("=",), ("sensor=\0",)),
    "time_format": ("number", "julian", "iso", "epoch-s", "epoch-ns", "%Y", "%Y%Y", "%", "%d.%m"),
    "timezone": ("UTC", "Europe/Berlin", "Nowhere/City", "../../etc/passwd", ""),
    "unit": ("day", "h", "parsec", "\u202e"),
}  # fmt: skip


class Tables:
    """CSV and its relatives, through `read_samples`."""

    name = "tables"

    def __init__(self) -> None:
        PeriodicMixture().fit(np.arange(20.0), np.arange(20.0) % 3)  # what it loads takes seconds

    def seeds(self) -> list[Case]:
        """Small tables of every kind that we read."""
        return [Case(s.encode() if isinstance(s, str) else s) for s in _SEEDS]

    def change(self, rng: random.Random, case: Case, other: Case) -> Case:
        """Change bytes, cells, the encoding or an option."""
        for _ in range(rng.choice(CHANGES)):
            case = self._changed(rng, case, other)
        return case

    def _changed(self, rng: random.Random, case: Case, other: Case) -> Case:
        content, options = case.content, dict(case.options)
        way = rng.random()
        if way < 0.15:
            name = rng.choice(list(_OPTIONS))
            if options.pop(name, None) is None:
                options[name] = rng.choice(_OPTIONS[name])
        elif way < 0.18:
            content = rng.choice((gzip.compress, _utf16, _mac))(content)
        elif way < 0.45:
            content = changed_bytes(rng, content, other.content)
        else:
            content = changed_cells(rng, content)
        return Case(content, options)

    def run(self, case: Case, place: Path) -> bool:
        """Read; now and then fit what was read."""
        path = place / "fuzz.csv"
        path.write_bytes(case.content)
        options = {k: tuple(v) if isinstance(v, list) else v for k, v in case.options.items()}
        try:
            samples = read_samples(path, **options)
            _require_sound(samples, options)
            if len(samples) <= 60 and random.Random(case.content).random() < FITTED:
                model = PeriodicMixture().fit(samples.axis, samples.values)
                if not np.isfinite(model.predict(samples.axis)).all():
                    raise Wrong("a fit of finite samples predicts what is not finite")
        except RobustFourierError:
            return False
        return True


def _require_sound(samples: Any, options: dict[str, Any]) -> None:
    times, values = samples.times, samples.values
    known = ~np.isnat(times) if samples.dates else np.isfinite(times)
    steps = np.diff(times)
    twice = options.get("duplicates") == "keep"
    rising = steps.astype(np.float64) >= (0.0 if twice else np.finfo(float).tiny)
    if not (known.all() and np.isfinite(values).all() and rising.all()):
        raise Wrong("samples are not finite, or not in order")
    if not samples.counts.used == len(samples) >= 1:
        raise Wrong("samples are not counted right")


def _utf16(content: bytes) -> bytes:
    return content.decode("utf-8", "replace").encode("utf-16")


def _mac(content: bytes) -> bytes:
    return content.replace(b"\n", b"\r")
