"""What each stage earns: switch it off, and let the truth set say what is lost and what is gained.

``python -m benchmarks.ablation`` fits the truth set as it is and once for each switch, on the same
fresh seeds. A fit that is right only with the stage is what it earns; one that is right only
without it is what it costs. A switch whose stage never ran is told as such: it cannot act, and its
zeros mean nothing.

A stage is named in `SWITCHES` with one line: a function and what stands in for it (`off`), a
constant and another value (`valued`), an entry of a list or a table (`without`), or all entries of
it, one by one (`each_without`). Functions are replaced in every module of the package that
imported them; what is compiled into another compiled function cannot be switched.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib import import_module
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.ordinary.catalogue import drawn_kinds, every_kind, new_kinds, old_kinds
from benchmarks.ordinary.rows import Row
from benchmarks.ordinary.runner import run
from benchmarks.verdicts import fresh_start, markdown

ROOM = "robustfourier"


@dataclass(frozen=True)
class Switch:
    """A stage that can be switched off.

    Parameters
    ----------
    name : str
        What it is called in the table.
    module : str
        Where it lives, without the package.
    attribute : str
        The function, constant, list or table; ``class.method`` for a method.
    changed : callable
        From what stands there to what stands in for it.
    """

    name: str
    module: str
    attribute: str
    changed: Callable[[Any], Any]

    @property
    def home(self) -> ModuleType:
        """The module in which it lives."""
        return import_module(f"{ROOM}.{self.module}")


def off(name: str, place: str, instead: Callable[..., Any]) -> Switch:
    """Let `instead` stand in for the function at ``module:function`` or ``module:class.method``."""
    module, attribute = place.split(":")
    return Switch(name, module, attribute, lambda _: instead)


def valued(name: str, place: str, value: Any) -> Switch:
    """Give the constant at ``module:constant`` another value."""
    module, attribute = place.split(":")
    return Switch(name, module, attribute, lambda _: value)


def without(place: str, key: str) -> Switch:
    """Leave one entry out of the tuple, list or table at ``module:list``.

    Entries of a tuple or list are known by their ``__name__`` or their attribute ``name``.
    """
    module, attribute = place.split(":")

    def less(whole: Any) -> Any:
        names = list(whole) if isinstance(whole, dict) else [_name(entry) for entry in whole]
        if key not in names:
            raise KeyError(f"{place} has no entry {key!r}; it has {', '.join(names)}")
        if isinstance(whole, dict):
            return {name: entry for name, entry in whole.items() if name != key}
        return type(whole)(entry for entry in whole if _name(entry) != key)

    return Switch(f"{attribute.lower()}: {key}", module, attribute, less)


def each_without(place: str) -> tuple[Switch, ...]:
    """Return one switch for each entry of the list or table at ``module:list``."""
    module, attribute = place.split(":")
    whole = getattr(import_module(f"{ROOM}.{module}"), attribute)
    names = list(whole) if isinstance(whole, dict) else [_name(entry) for entry in whole]
    return tuple(without(place, name) for name in names)


def _name(entry: Any) -> str:
    return str(getattr(entry, "__name__", getattr(entry, "name", entry)))


def _first(value: Any, *_: Any, **__: Any) -> Any:
    return value


def _second(_: Any, value: Any, *__: Any, **___: Any) -> Any:
    return value


def _false(*_: Any, **__: Any) -> bool:
    return False


def _none(*_: Any, **__: Any) -> tuple[()]:
    return ()


def _anywhere(mode: Any, _: Any, highest: float) -> Any:
    return 1.0 / (mode * np.log(max(highest, 3.0) / 1.5))


def _every_line_alone(grouping: Any, *_: Any) -> tuple[Any, Any, Any]:
    rows = np.array(grouping.rows, dtype=np.int64)
    return grouping.component, grouping.order, rows.reshape(-1, len(grouping.bases))


SWITCHES: tuple[Switch, ...] = (
    off("diagonal layer proposes", "mixture.search.moves:Search._proposed",
        lambda *_: np.zeros(0)),
    off("many lines at once", "mixture.search.moves:Search._with_many", _second),
    off("lines out of coloured noise", "mixture.search.moves:Search._with_more", _second),
    off("calendar periods", "mixture.search.moves:Search._with_calendar", _second),
    off("weak lines dropped", "mixture.search.moves:Search._without_weak", _second),
    off("a resonance in the place of a line", "mixture.search.moves:Search._ringing",
        lambda *_: None),
    off("wings of lines", "mixture.search.moves:Search._with_wings", _second),
    off("degree of the trend", "mixture.search.moves:Search._with_trend", _second),
    off("start with a trend", "mixture.search.moves:Search._bent", lambda *_: None),
    off("quasi-periodic lines", "mixture.search.moves:Search._with_quasi_periodic", _second),
    valued("price of red noise", "periodic.priors:RED_NOISE", 1e9),
    valued("price of a resonance", "periodic.priors:RESONANCE", 1e9),
    off("move to an alias", "mixture.search.alias_relocation:relocate", lambda _, fit: fit),
    off("breakpoints", "mixture.search.moves:Search._with_breaks", _second),
    valued("changes of slope", "periodic.priors:SLOPE_CHANGE_WIDTH", 1e-9),
    off("values as given", "mixture.search.moves:Search._or_as_given", _second),
    off("outliers pulled in", "mixture.search.robust:huber_pays", _false),
    off("outliers that keep a phase", "mixture.search.robust:keeps_phase", _false),
    off("degenerate frequencies", "mixture.search.degenerate_frequencies:fringes_of", _none),
    off("search beyond bursts", "mixture.search.degenerate_frequencies:fits_better_beyond", _false),
    off("noise around each line", "mixture.line_wings:wing_ratio",
        lambda _, __, modes, *___: np.ones(len(modes))),
    off("spectrum at each line", "mixture.line_wings:local_noise",
        lambda _, __, modes, *___: np.ones(len(modes))),
    off("weak harmonics", "mixture.components.compose:_with_weak_harmonics",
        lambda _, grouping, __, alarm: (grouping, alarm)),
    off("smooth waveforms", "mixture.components.waveform_prior:waveform_rows",
        lambda grouping, *_: np.zeros((0, len(grouping.bases)), np.int64)),
    valued("families", "periodic.harmonic_families:FAMILY", 1e9),
    valued("combination tones", "periodic.harmonic_families:COMBINATION", 1e9),
    off("lines where lines are", "periodic.harmonic_families:density", _anywhere),
    valued("places within one mode", "periodic.harmonic_families:_CELL", 0.0),
    off("side lines", "mixture.components.side_lines:with_side_lines", _every_line_alone),
    off("noise at lines that are not orthogonal",
        "mixture.components.fit_context:FitContext.noise_gram", lambda *_: None),
    off("errors of doubtful ties", "mixture.posterior:with_tie_errors", _first),
    off("errors of modulated patterns", "mixture.posterior:_with_modulation_errors", _first),
    off("errors of sharp edges", "mixture.posterior:with_sandwich_errors", _first),
    off("errors of long gaps", "mixture.posterior:with_degenerate_errors", _first),
    off("unknown periods left out", "mixture.posterior:unknown_period",
        lambda _: np.zeros(0)),
    off("residual Gaussian process", "mixture.posterior:_residual_process", lambda *_: None),
    off("quasi-periodic patterns", "mixture.posterior:_with_quasi_periodic", _first),
    off("patterns that processes explain", "mixture.posterior:_explained_by",
        lambda _, model, *__: np.zeros(len(model.lines), bool)),
    valued("lines near a pattern", "periodic.quasi_periodic:_REACH", 0.0),
    valued("shortest coherence", "periodic.quasi_periodic:_SHORTEST", 1.0),
    valued("quality from which on noise is a line", "periodic.priors:FORGETFUL", 1e9),
    valued("odds that it is", "periodic.priors:STEADIER", 0.0),
    off("trend that goes on", "mixture.posterior:_extrapolated", _first),
    off("back-test inflation", "mixture.posterior:_backtested", _first),
    off("logarithms", "mixture.transform:may_multiply", _false),
)  # fmt: skip


@contextmanager
def switched(switch: Switch | None) -> Iterator[Counter[str]]:
    """Switch a stage off inside; counts how often what stands in for it was called.

    Constants and lists are read, not called: what is counted there is the modules that hold them.
    """
    calls: Counter[str] = Counter()
    if switch is None:
        yield calls
        return
    *owner, attribute = switch.attribute.split(".")
    home = getattr(switch.home, owner[0]) if owner else switch.home
    original = getattr(home, attribute)
    instead = switch.changed(original)
    if callable(original):
        stand_in = instead

        def instead(*values: Any, **named: Any) -> Any:
            calls["calls"] += 1
            return stand_in(*values, **named)

    homes: list[Any] = [
        module
        for name, module in list(sys.modules.items())
        if name.split(".")[0] == ROOM and getattr(module, attribute, None) is original
    ]
    homes = [home] if owner else homes  # a method has one home, its class
    if not callable(original):
        calls["homes"] = len(homes)
    for place in homes:
        setattr(place, attribute, instead)
    try:
        yield calls
    finally:
        for place in homes:
            setattr(place, attribute, original)


@dataclass(frozen=True)
class Outcome:
    """What came out with one stage off.

    Parameters
    ----------
    name : str
    right, fits : int
        Fits that are right, of how many.
    earns, costs : tuple of str
        Fits that are right only with the stage, and only without it, as ``kind seed``.
    acted : bool
        Whether the stage would have run at all.
    seconds : float
        Of the processor, with the stage off.
    """

    name: str
    right: int
    fits: int
    earns: tuple[str, ...]
    costs: tuple[str, ...]
    acted: bool
    seconds: float


Task = tuple[str, int]


def fitted(tasks: Sequence[Task], switch: Switch | None) -> tuple[list[Row], bool]:
    """Return the rows of all fits with one stage off, and whether that made a difference at all."""
    with switched(switch) as calls:
        return list(run(tasks)), sum(calls.values()) > 0


def _by_name(tasks: Sequence[Task], name: str) -> tuple[list[Row], bool]:
    return fitted(tasks, next(switch for switch in SWITCHES if switch.name == name))


def outcome(name: str, before: Sequence[Row], after: Sequence[Row], acted: bool) -> Outcome:
    """Compare the fits with a stage to those without it."""
    pairs = list(zip(before, after, strict=True))
    return Outcome(
        name,
        sum(row.right for row in after),
        len(after),
        tuple(f"{was.kind} {was.seed}" for was, now in pairs if was.right and not now.right),
        tuple(f"{was.kind} {was.seed}" for was, now in pairs if now.right and not was.right),
        acted,
        sum(row.seconds for row in after),
    )


def table(outcomes: Sequence[Outcome], base: Sequence[Row]) -> str:
    """One line per switch, what earns most first; kinds with the number of their fits."""

    def kinds(names: Sequence[str]) -> str:
        counts = Counter(name.rsplit(" ", 1)[0] for name in names)
        return ", ".join(f"{kind} {count}" for kind, count in counts.most_common(6))

    seconds = sum(row.seconds for row in base)
    lines = [
        (
            one.name,
            f"{len(one.earns) - len(one.costs):+d}" if one.acted else "never ran",
            len(one.earns),
            len(one.costs),
            f"{seconds - one.seconds:+.1f}",
            kinds(one.earns),
            kinds(one.costs),
        )
        for one in sorted(outcomes, key=lambda one: len(one.costs) - len(one.earns))
    ]
    head = ("stage", "worth", "earns", "costs", "seconds", "earns on", "costs on")
    return markdown(head, lines)


def main(arguments: list[str] | None = None) -> int:
    """Switch every stage off in turn and print what each earns."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ablation", description=__doc__)
    parser.add_argument("--kinds", default="all", help="new, old, all, or names by commas")
    parser.add_argument("--seeds", type=int, default=1, help="draws of each kind (default: 1)")
    parser.add_argument("--start", type=int, help="first seed (default: a fresh one)")
    parser.add_argument("--switches", default="", help="names by semicolons; default: all")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default: 1)")
    parser.add_argument("--json", type=Path, help="file for one JSON object per stage and line")
    parser.add_argument("--list", action="store_true", help="print the switches and end")
    options = parser.parse_args(arguments)
    names = [switch.name for switch in SWITCHES]
    if options.list:
        print("\n".join(f"{s.name}: {s.module}.{s.attribute}" for s in SWITCHES))
        return 0
    chosen = [name for name in options.switches.split(";") if name] or names
    if unknown := sorted(set(chosen) - set(names)):
        parser.error(f"unknown switches {', '.join(unknown)}; --list prints them")
    groups = {"new": new_kinds(), "old": old_kinds(), "all": every_kind()}
    kinds = [name for part in options.kinds.split(",") for name in groups.get(part, (part,))]
    if unknown := sorted(set(kinds) - set(every_kind())):
        parser.error(f"unknown kinds {', '.join(unknown)}")
    start = fresh_start() if options.start is None else options.start
    seeds, drawn = range(start, start + options.seeds), drawn_kinds()
    tasks = [(kind, seed) for kind in kinds for seed in (seeds if kind in drawn else seeds[:1])]
    fitted(tasks[:1], None)  # loads what is compiled, so that seconds compare
    base, _ = fitted(tasks, None)
    print(f"seeds from {start}: {sum(row.right for row in base)} of {len(base)} right as it is",
          flush=True)  # fmt: skip
    outcomes = []
    for name, (rows, acted) in zip(chosen, _each(tasks, chosen, options.jobs), strict=True):
        outcomes.append(outcome(name, base, rows, acted))
        one = outcomes[-1]
        print(f"{name}: earns {len(one.earns)}, costs {len(one.costs)}", flush=True)
        if options.json:
            first = {"name": "as it is", "start": start, "fits": len(base),
                     "right": sum(row.right for row in base),
                     "seconds": sum(row.seconds for row in base)}  # fmt: skip
            records = [first, *(asdict(each) for each in outcomes)]
            lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in records)
            options.json.write_text("".join(lines), encoding="utf-8")
    print("\n" + table(outcomes, base))
    return 0


def _each(
    tasks: Sequence[Task], names: Sequence[str], jobs: int
) -> Iterator[tuple[list[Row], bool]]:
    if jobs == 1:
        yield from (_by_name(tasks, name) for name in names)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        yield from pool.map(_by_name, repeat(tasks), names)


if __name__ == "__main__":
    # The module as others import it: switches and records are then the same in all processes.
    sys.exit(import_module("benchmarks.ablation").main())
