"""Model files and checkpoints: damaged ones are refused, crafted ones refused or harmless."""

from __future__ import annotations

import hashlib
import json
import random
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from benchmarks.faults.cases import CHANGES, Case, changed_bytes
from benchmarks.faults.fuzz import Wrong
from robustfourier import FourierNetworkRegressor, PeriodicMixture
from robustfourier.errors import CheckpointError, ModelFormatError, RobustFourierError
from robustfourier.persistence import describe, load
from robustfourier.persistence.archive import read_archive, write_archive

if TYPE_CHECKING:
    from robustfourier.training import Training

DAMAGED = 0.93  # of the cases; crafted ones take twenty times as long
_VALUES: list[Any] = [
    None, True, -1, 0, 3, 10**40, 1e308, -1e-308, "", "x", "nan", "\x1b[2J", [], [1], ["a"], [[]],
    {}, {"$": "tuple", "items": []}, {"$": "float", "value": "nan"}, {"$": "float", "value": []},
    {"$": "nothing"},
    {"$": "array", "index": 0, "scalar": False}, {"$": "array", "index": 1, "scalar": True},
    {"$": "dict", "items": []}, {"$": "dict", "items": [[[], 1]]},
    {"$": "object", "items": [None], "shape": [1], "scalar": False},
    {"$": "object", "items": ["a"], "shape": [-1, 10**9], "scalar": True},
    {"$": "record", "name": "Domain", "fields": {"start": 0, "span": 1.0}},
    {"$": "record", "name": "PeriodicMixture", "fields": {}},
    {"$": "record", "name": "os:system", "fields": {"command": "true"}},
]  # fmt: skip


def damaged(rng: random.Random, content: bytes, other: bytes) -> bytes:
    """Damage a file as disks and transfers do; never the file itself, nor another whole one."""
    while True:
        hurt = changed_bytes(rng, content, other)
        if rng.random() < 0.2 and len(content) > 600:  # a lost or doubled block
            at = 512 * rng.randrange(len(content) // 512)
            hurt = content[:at] + bytes(512) + content[at + 512 :]
        if hurt not in (content, other) and not _is_whole(hurt):
            return hurt


def _is_whole(content: bytes) -> bool:
    """Whether bytes end in their own digest: what was damaged twice may be mended by that."""
    return hashlib.sha256(content[:-64]).hexdigest().encode() == content[-64:]


def changed_tree(rng: random.Random, content: bytes) -> bytes:
    """Change values or arrays, with right checksums; the same bytes if it holds none."""
    with tempfile.TemporaryDirectory(dir=_memory()) as folder:
        path = Path(folder) / "file"
        path.write_bytes(content)
        try:
            tree, arrays = read_archive(path)
        except RobustFourierError:
            return content
        for _ in range(rng.choice(CHANGES)):
            _change_one(rng, tree, arrays)
        try:
            write_archive(path, tree, arrays)
        except (RobustFourierError, RecursionError):
            return content
        return path.read_bytes()


def _change_one(rng: random.Random, tree: Any, arrays: list[Any]) -> None:
    places = list(_places(tree)) if isinstance(tree, (dict, list)) else []
    if arrays and (rng.random() < 0.3 or not places):
        at = rng.randrange(len(arrays))
        arrays[at] = _misshaped(rng, arrays[at])
    elif places:
        (holder, key), (twin, other) = rng.choice(places), rng.choice(places)
        way = rng.random()
        if way < 0.1:
            del holder[key]
        else:  # a value from elsewhere
            value = twin[other] if way < 0.25 else rng.choice(_VALUES)
            holder[key] = json.loads(json.dumps(value))


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Every part of a tree as the thing it is in and its key there."""
    for key, part in list(tree.items() if isinstance(tree, dict) else enumerate(tree)):
        yield tree, key
        if isinstance(part, (dict, list)):
            yield from _places(part)


def _misshaped(rng: random.Random, array: Any) -> Any:
    ways = [
        lambda a: a.reshape(-1)[: a.size // 2],
        lambda a: a[None],
        lambda a: np.zeros((0, a.size)),
        lambda a: np.full(a.shape, "x"),
        lambda a: np.full(a.shape, rng.choice([np.nan, np.inf, 1e300, -1.0])),
        lambda a: np.full(a.shape, rng.choice([-1, 2**40, 7])),
        lambda a: np.full(a.shape, "2024-01-01", "<M8[s]"),
        lambda a: a.astype("<f4") if a.dtype.kind in "fiu" else a,
    ]
    with np.errstate(all="ignore"):
        return rng.choice(ways)(array)


@cache
def _memory() -> str | None:
    """A file system in memory, where there is one."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


class _Containers:
    """What the two kinds of file share: most cases are damaged files, the others crafted."""

    def change(self, rng: random.Random, case: Case, other: Case) -> Case:
        """Damage a whole file, or craft one with right checksums."""
        if case.options or rng.random() < DAMAGED:
            return Case(damaged(rng, case.content, other.content), {"damaged": True})
        return Case(changed_tree(rng, case.content))


def dated_model() -> PeriodicMixture:
    """Two components over dates with a zone."""
    hours = np.sort(np.random.default_rng(0).uniform(0.0, 120.0, 150))
    values = np.cos(2.0 * np.pi * hours / 12.4) + np.cos(2.0 * np.pi * hours / 5.1)
    dates = pd.Timestamp("2024-03-01", tz="Europe/Berlin") + pd.to_timedelta(hours, unit="h")
    noise = np.random.default_rng(1).normal(0.0, 0.1, len(hours))
    return PeriodicMixture(unit="hour").fit(pd.DatetimeIndex(dates), values + noise)


def _two_columns() -> PeriodicMixture:
    X = np.random.default_rng(2).uniform(0.0, 1.0, (120, 2))
    waves = np.cos(2.0 * np.pi * X * [7.3, 11.9])
    return PeriodicMixture().fit(X, np.column_stack([waves.sum(axis=1), waves[:, 0]]))


def _network() -> FourierNetworkRegressor:
    times = np.linspace(0.0, 1.0, 60)[:, None]
    model = FourierNetworkRegressor(n_modes=4, n_steps=20, engine="fused", random_state=0)
    return model.fit(times, np.cos(4.0 * np.pi * times[:, 0]))


def saved(model: Any) -> bytes:
    """The model's file."""
    with tempfile.TemporaryDirectory(dir=_memory()) as folder:
        model.save(Path(folder) / "model")
        return (Path(folder) / "model").read_bytes()


class Models(_Containers):
    """Model files, through `load` and `describe`, and all uses of what was loaded."""

    name = "model files"

    def __init__(self) -> None:
        self.files = [saved(dated_model()), saved(_two_columns()), saved(_network())]

    def seeds(self) -> list[Case]:
        """Two components over dates, two columns with two outputs, and a network."""
        return [Case(content) for content in self.files]

    def run(self, case: Case, place: Path) -> bool:
        """Load, or refuse."""
        path = place / "fuzz.rfm"
        path.write_bytes(case.content)
        try:
            model = load(path)
            describe(path)
        except ModelFormatError:
            return False
        if case.options:
            raise Wrong("a damaged file was loaded")
        with suppress(RobustFourierError):
            _use(model, place)
        return True


def _use(model: Any, place: Path) -> None:
    """All that a model is for, at times within and beyond its record."""
    times = model.domains_[0].from_theta(np.linspace(-1.0, 1.2, 7))
    repr(model), repr(model.modes_), model.save(place / "again.rfm")
    if not hasattr(model, "components_"):
        return
    model.summary()
    for component in model.components_:
        repr(component), component.waveform(np.linspace(0.0, 1.0, 5)), component.wandering
        component.amplitude_at(times), component.phase_at(times)
    if len(model.domains_) == 1:
        model.predict(times, return_std=True), model.decompose(times), model.forecast(times=times)


class Checkpoints(_Containers):
    """Checkpoints, through `load_checkpoint` and the training that resumes from them."""

    name = "checkpoints"

    def seeds(self) -> list[Case]:
        """The checkpoints of two small trainings."""
        from robustfourier.training import save_checkpoint

        with tempfile.TemporaryDirectory(dir=_memory()) as folder:
            path, cases = Path(folder) / "checkpoint", []
            for stop in (3, 5):
                save_checkpoint(path, train_shortly(n_steps=stop).checkpoint)
                cases.append(Case(path.read_bytes()))
        return cases

    def run(self, case: Case, place: Path) -> bool:
        """Load and go on, or refuse."""
        from robustfourier.training import load_checkpoint

        path = place / "fuzz.checkpoint"
        path.write_bytes(case.content)
        try:
            checkpoint = load_checkpoint(path)
        except CheckpointError:
            return False
        if case.options:
            raise Wrong("a damaged checkpoint was loaded")
        try:
            train_shortly(n_steps=6, resume=checkpoint)
        except RobustFourierError:
            return False
        return True


def train_shortly(**options: Any) -> Training:
    """A training of a few steps on twelve rows."""
    from robustfourier.network.architecture import Architecture
    from robustfourier.network.initial_weights import draw_weights
    from robustfourier.training import train_jointly

    theta = np.linspace(-1.0, 1.0, 12)
    start = draw_weights(Architecture(2), random_state=0)
    return train_jointly(
        start, (theta, np.cos(np.pi * theta)), batch_size=5, random_state=0, engine="fused",
        record_every=2, **options,
    )  # fmt: skip
