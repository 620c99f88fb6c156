"""The catalogue of problems: what is drawn, in which group, and who runs on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.peers.problems import (
    Task,
    draw_example,
    draw_example_4,
    draw_held_out,
    draw_mixture,
    draw_noise,
    read_star,
    read_tide,
)
from robustfourier.datasets import (
    load_double_mode_cepheid,
    load_electricity_demand,
    load_sunspots,
)

PAPER = "the paper's four"
MIXTURES = "mixtures of sinusoids"
LINKED = "mixtures with links"
HARD = "coloured noise, outliers, trend"
NOISE = "noise curve"
NOTHING = "pure noise"
REAL = "real series"
SIZE = "size curve"

NOISE_LEVELS = (0.1, 0.25, 0.5, 1.0, 1.5, 2.0)
SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)

# The networks take seconds per fit: all their seeds run on these, one seed on `NETWORK_GLIMPSES`.
NETWORK_PROBLEMS = frozenset({
    "example 1", "example 3", "example 4 (electricity)", "3 tones, even", "5 tones, gappy",
    "2 links, even",
})  # fmt: skip

_SHAPED = {"links": ("relu", "tanh", "exp"), "n_samples": 3000, "max_mode": 40.0}

# name, group, components, sampling, noise as a multiple of the signal, whatever else
_MIXTURES: list[tuple[str, str, int, str, float, dict[str, Any]]] = [
    ("3 tones, even, whole modes", MIXTURES, 3, "even", 0.5, {"integer_modes": True}),
    ("3 tones, even", MIXTURES, 3, "even", 0.5, {}),
    ("5 tones, irregular, whole modes", MIXTURES, 5, "irregular", 0.5, {"integer_modes": True}),
    ("5 tones, irregular", MIXTURES, 5, "irregular", 0.5, {}),
    ("2 tones, gappy", MIXTURES, 2, "gappy", 1.0, {}),
    ("5 tones, gappy", MIXTURES, 5, "gappy", 0.5, {}),
    ("8 tones, gappy", MIXTURES, 8, "gappy", 0.7, {"n_samples": 2000}),
    ("12 tones, gappy", MIXTURES, 12, "gappy", 0.5, {"n_samples": 2000, "max_mode": 80.0}),
    # Noise of 0.5 beside tones of 0.3 to 1: the dense ones of `benchmarks.dense_tones`.
    ("12 dense tones, gappy", MIXTURES, 12, "gappy", 0.3, {"n_samples": 1500, "max_mode": 60.0}),
    ("20 dense tones, gappy", MIXTURES, 20, "gappy", 0.23, {"n_samples": 1500, "max_mode": 100.0}),
    ("2 links, even", LINKED, 2, "even", 0.5, _SHAPED),
    ("3 links, irregular", LINKED, 3, "irregular", 0.5, _SHAPED),
    ("3 links, gappy", LINKED, 3, "gappy", 0.5, _SHAPED),
    ("4 links, even, loud noise", LINKED, 4, "even", 1.0, _SHAPED),
    ("4 tones, even, AR(1)", HARD, 4, "even", 0.5, {"noise_kind": "ar1"}),
    ("4 tones, gappy, AR(1)", HARD, 4, "gappy", 0.5, {"noise_kind": "ar1"}),
    ("4 tones, irregular, outliers", HARD, 4, "irregular", 0.5, {"noise_kind": "outliers"}),
    ("4 tones, irregular, heavy tails", HARD, 4, "irregular", 1.0, {"noise_kind": "heavy-tailed"}),
    ("3 tones and a trend, even", HARD, 3, "even", 0.5, {"trend": 2.0}),
    ("3 links and a trend, gappy", HARD, 3, "gappy", 0.5, {"trend": 2.0, **_SHAPED}),
]  # fmt: skip

NETWORK_GLIMPSES = frozenset({"example 2", *(name for name, *_ in _MIXTURES)}) - NETWORK_PROBLEMS


@dataclass(frozen=True)
class Entry:
    """A line of the catalogue: `draw(seed)` gives the task."""

    name: str
    group: str
    draw: Callable[[int], Task]
    noise: float | None = None  # on the noise curve
    size: int | None = None  # on the size curve


def catalogue(data: Path | None = None) -> list[Entry]:
    """Return every problem; `data` is a folder with the real series that are not shipped."""
    return [*_paper(), *_mixtures(), *_curves(), *_nothing(), *_real(data)]


def _paper() -> Iterator[Entry]:
    for number in (1, 2, 3):
        yield Entry(f"example {number}", PAPER, partial(draw_example, number=number))
    yield Entry("example 4 (electricity)", PAPER, draw_example_4)


def _mixtures() -> Iterator[Entry]:
    for name, group, n_components, sampling, ratio, options in _MIXTURES:
        draw = partial(
            draw_mixture,
            key=name,
            ratio=ratio,
            n_components=n_components,
            sampling=sampling,
            **{"integer_modes": False, **options},
        )
        yield Entry(name, group, draw)


def _curves() -> Iterator[Entry]:
    tones = partial(draw_mixture, integer_modes=False)
    noisy = partial(tones, key=NOISE, n_components=5, sampling="gappy", n_samples=1500)
    for level in NOISE_LEVELS:
        yield Entry(f"noise × {level:g}", NOISE, partial(noisy, ratio=level), noise=level)
    large = partial(tones, key=SIZE, n_components=3, sampling="irregular", ratio=0.5)
    for size in SIZES:
        yield Entry(f"n = {size}", SIZE, partial(large, n_samples=size), size=size)


def _nothing() -> Iterator[Entry]:
    for sampling, kind in (("irregular", "white"), ("even", "ar1"), ("irregular", "heavy-tailed")):
        draw = partial(draw_noise, sampling=sampling, noise_kind=kind)
        yield Entry(f"{kind} noise, {sampling}", NOTHING, draw)


def _real(data: Path | None) -> Iterator[Entry]:
    def entry(name: str, **options: Any) -> Entry:
        return Entry(name, REAL, partial(draw_held_out, **options))

    yield entry("electricity demand", load=load_electricity_demand, block=1.0, highest_mode=600.0)
    cepheid = load_double_mode_cepheid
    yield entry("double-mode Cepheid", load=cepheid, block=1.0, highest_mode=1200.0)
    yield entry("sunspots", load=load_sunspots, block=4.0, highest_mode=120.0)
    if data is not None and (data / "star_1924").is_dir():
        star = partial(read_star, data)
        yield entry("variable star", load=star, block=6.0, highest_mode=150.0)
    if data is not None and (data / "tide_honolulu_2010").is_dir():
        tide = partial(read_tide, data)
        yield entry(
            "tide at Honolulu",
            load=tide,
            block=1.0,
            highest_mode=1000.0,
            latitude=21.3,
            epoch="2010-01-01",
        )
