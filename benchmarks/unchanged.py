"""Whether a change to the code changes any answer: ``python -m benchmarks.unchanged``.

``--save before.npz`` fits about 150 series and keeps modes, errors, false alarms, components,
waveforms and predictions; ``--against before.npz`` fits them again and prints every number that
differs in a single bit. Run it before and after moving code. With ``--errors`` a difference is
given in units of the number's own standard error, for changes that may round differently.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.catalogue import catalogue
from robustfourier import PeriodicMixture
from robustfourier.datasets import load_double_mode_cepheid, load_electricity_demand

Answer = dict[str, NDArray[Any]]
Case = tuple[str, Callable[[], Answer]]

LARGEST = 6000  # rows; the paper's examples have 10,001, of which every second is taken
PEERS = 5  # seeds of each of the peers' problems
DRAWN = 6  # seeds of each kind of input below


def answer(model: PeriodicMixture, times: Any) -> Answer:
    """Everything that a user can read off a fitted model, as arrays."""
    frame = model.modes_.to_frame()
    kept = {f"modes.{name}": frame[name].to_numpy() for name in frame}
    phase = np.linspace(0.0, 1.0, 33)
    for i, part in enumerate(model.components_):
        wave, error = part.waveform(phase, return_std=True)
        numbers = [part.period, part.period_error, part.phase, *np.atleast_1d(part.share)]
        kept |= {
            f"component {i}.numbers": np.array(numbers),
            f"component {i}.harmonics": np.array(part.harmonics),
            f"component {i}.waveform": wave,
            f"component {i}.waveform_error": error,
        }
    kept["predict"], kept["predict_error"] = model.predict(times, return_std=True)
    kept["decompose"] = model.decompose(times).components
    kept["noise"] = np.atleast_1d(model.noise_)
    kept["notes"] = np.array(model.notes_, dtype=str)
    return {name: a.astype(str) if a.dtype == object else a for name, a in kept.items()}


def peer(draw: Callable[[int], Any], seed: int) -> Answer:
    """One of the problems on which the mixture is compared with others."""
    task = draw(seed)
    step = -(-len(task.t) // LARGEST)
    model = PeriodicMixture(random_state=seed).fit(task.t[::step], task.y[::step])
    return answer(model, task.t_test[:200])


def tones(seed: int, n: int = 500, outputs: int = 1) -> tuple[Any, Any, np.random.Generator]:
    """Two tones, one with harmonics, at irregular times."""
    rng = np.random.default_rng(seed)
    t = np.sort(rng.uniform(0.0, 50.0, n))
    periods = rng.uniform(1.5, 9.0, 2)
    wave = np.exp(np.cos(2 * np.pi * t / periods[0])) + np.sin(2 * np.pi * t / periods[1] + seed)
    y = np.outer(wave, rng.uniform(0.5, 2.0, outputs)) + 0.5 * rng.normal(size=(n, outputs))
    return t, y[:, 0] if outputs == 1 else y, rng


def outputs(seed: int) -> Answer:
    """Three outputs that share their modes."""
    t, y, _ = tones(seed, outputs=3)
    return answer(PeriodicMixture().fit(t, y), t[:50])


def columns(seed: int) -> Answer:
    """Two input columns that add up."""
    t, y, rng = tones(seed)
    other = rng.uniform(0.0, 30.0, len(t))
    X = np.column_stack([t, other])
    y = y + np.cos(2 * np.pi * other / 4.0)
    return answer(PeriodicMixture(unit="h").fit(X, y), X[:50])


def weights(seed: int) -> Answer:
    """Rows with weights and error bars."""
    t, y, rng = tones(seed)
    weight, error = rng.integers(0, 4, len(t)), rng.uniform(0.5, 2.0, len(t))
    return answer(PeriodicMixture().fit(t, y, sample_weight=weight, y_err=error), t[:50])


def integers(seed: int) -> Answer:
    """Whole modes on an even grid that leaves its end out."""
    rng = np.random.default_rng(seed)
    t = np.arange(720) / 24.0
    y = np.cos(2 * np.pi * t) ** 3 + 0.5 * np.sin(2 * np.pi * t / 6) + 0.5 * rng.normal(size=720)
    model = PeriodicMixture(frequencies="integer", endpoint="excluded").fit(t, y)
    return answer(model, t[:50])


def known(seed: int) -> Answer:
    """A period that is known, outliers, a trend, and dates."""
    t, y, rng = tones(seed)
    y = y + 0.05 * t + np.where(rng.random(len(t)) < 0.05, 15.0, 0.0)
    dates = np.datetime64("2024-01-01") + (t * 86400e9).astype("timedelta64[ns]")
    return answer(PeriodicMixture(periods=[3.0]).fit(dates, y), dates[:50])


def bundled(data: Any, part: slice, **settings: Any) -> Answer:
    """A real series as it is, its error bars with it."""
    t, y = data.times[part], data.values[part]
    error = None if data.errors is None else data.errors[part]
    return answer(PeriodicMixture(**settings).fit(t, y, y_err=error), t[:50])


def cases(data: Path | None) -> Iterator[Case]:
    """Yield every fit by name; fits of one kind do not follow each other in blocks of a minute."""
    for entry in catalogue(data):
        if entry.size is None or entry.size <= LARGEST:
            seeds = 1 if entry.name.startswith(("electricity", "tide")) else PEERS
            for seed in range(seeds):
                yield f"{entry.name}, seed {seed}", partial(peer, entry.draw, seed)
    for kind in (outputs, columns, weights, integers, known):
        for seed in range(DRAWN):
            yield f"{kind.__name__}, seed {seed}", partial(kind, seed)
    cepheid, load = load_double_mode_cepheid(), load_electricity_demand()
    yield "cepheid with errors", partial(bundled, cepheid, slice(None))
    yield "cepheid, level 0.1", partial(bundled, cepheid, slice(None), false_alarm=0.1)
    yield "electricity, ten days", partial(bundled, load, slice(0, 480))
    yield "electricity, squared", partial(bundled, load, slice(480, 1200), loss="squared")


def differences(name: str, before: Answer, now: Answer, in_errors: bool) -> list[str]:
    """Say what differs between two answers of one case."""
    if before.keys() != now.keys():
        names = sorted(before.keys() ^ now.keys())
        return [f"{name}: {', '.join(names[:4])} only in one of the two"]
    found = []
    for key, old in before.items():
        new = now[key]
        if old.shape != new.shape or old.dtype.kind != new.dtype.kind:
            found.append(f"{name}: {key} was {old.shape} {old.dtype}, is {new.shape} {new.dtype}")
        elif old.dtype.kind == "U" or not in_errors:
            if not np.array_equal(old, new, equal_nan=old.dtype.kind == "f"):
                found.append(f"{name}: {key} {_size(old, new)}")
        elif (worst := _in_errors(key, before, now)) > 0.01:
            found.append(f"{name}: {key} by {worst:.2g} standard errors")
    return found


def _size(old: NDArray[Any], new: NDArray[Any]) -> str:
    if old.dtype.kind not in "fi":
        return f"was {old[old != new][:1]}, is {new[old != new][:1]}"
    scale = float(np.nanmax(np.abs(old), initial=1e-300))
    return f"differs by {np.nanmax(np.abs(new - old)) / scale:.2g} of its largest"


def _in_errors(key: str, before: Answer, now: Answer) -> float:
    """Largest change of an estimate in its standard errors; 0 where it has none."""
    error = before.get(f"{key}_error")
    if error is None or not error.size:
        return 0.0
    return float(np.nanmax(np.abs(now[key] - before[key]) / np.maximum(error, 1e-300)))


def main(arguments: list[str] | None = None) -> int:
    """Save the answers, or compare them with saved ones; 1 if any differs."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.unchanged", description=__doc__)
    parser.add_argument("--save", type=Path, help="keep the answers in this file")
    parser.add_argument("--against", type=Path, help="compare with the answers in this file")
    parser.add_argument("--errors", action="store_true", help="give changes in standard errors")
    parser.add_argument("--data", type=Path, help="folder with the series that are not shipped")
    parser.add_argument("--only", default="", help="cases whose names hold this text")
    options = parser.parse_args(arguments)
    kept = None if options.against is None else np.load(options.against, allow_pickle=False)
    new: Answer = {}
    count, changed, start = 0, 0, time.process_time()
    for name, solve in cases(options.data):
        if options.only not in name:
            continue
        count, solved = count + 1, solve()
        new |= {f"{name}|{key}": value for key, value in solved.items()}
        if kept is not None:
            before = {k.split("|")[1]: kept[k] for k in kept.files if k.split("|")[0] == name}
            lines = differences(name, before, solved, options.errors)
            changed += bool(lines)
            print("\n".join(lines), end="\n" if lines else "", flush=True)
    if options.save is not None:
        np.savez_compressed(options.save, **new)
    seconds = time.process_time() - start
    print(f"{count} fits in {seconds:.0f} s of the processor" + f", {changed} differ" * bool(kept))
    return int(changed > 0)


if __name__ == "__main__":
    sys.exit(main())
