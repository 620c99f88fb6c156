"""One piece of a fuzz run: a few thousand cases for one target, in one process.

Cases are made by changing cases kept before. Some are run under a trace; those that reach lines of
the package that no case reached before are kept and changed further (coverage-guided).
"""

from __future__ import annotations

import hashlib
import random
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

import robustfourier
from benchmarks.faults.cases import Case

LIMIT = 5.0  # seconds of processor time that a case may take
PATIENCE = 60.0  # seconds that it may wait for: machines are shared
TRACED = 0.02  # of the cases; a trace makes a case a few times slower
KEPT = 500  # cases that a target keeps
_PACKAGE = str(Path(robustfourier.__file__).parent)


class Hang(BaseException):
    """A case took longer than the limit; no handler of the package catches it."""


class Wrong(Exception):  # noqa: N818 - a verdict, not an error
    """A reader took what it should have refused, or gave what is not sound."""


class Target(Protocol):
    """Something that reads what others have written."""

    name: str

    def seeds(self) -> list[Case]:
        """Sound and unsound cases to start from."""

    def change(self, rng: random.Random, case: Case, other: Case) -> Case:
        """Return a case changed in one place or a few."""

    def run(self, case: Case, place: Path) -> bool:
        """Return whether a case was read; False if it was refused by an error of ours."""


@dataclass
class Count:
    """What came out of some cases of one target."""

    target: str
    cases: int = 0
    read: int = 0
    refused: int = 0
    foreign: int = 0
    hangs: int = 0
    wrong: int = 0
    slowest: float = 0.0
    lines: int = 0
    found: list[str] = field(default_factory=list)

    def record(self) -> dict[str, Any]:
        """Return the figures as JSON values."""
        return asdict(self)


def attempt(target: Target, case: Case, place: Path) -> tuple[str, str]:
    """Run one case; return what came of it, and where from if that is bad."""
    try:
        with _limited(LIMIT), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ("read" if target.run(case, place) else "refused"), ""
    except Hang as stop:
        return "hangs", _origin(stop)
    except Wrong as wrong:
        return "wrong", str(wrong)
    except Exception as error:  # what the campaign looks for
        return "foreign", f"{type(error).__name__}: {str(error)[:200]} at {_origin(error)}"


def run_piece(target: Target, seed: str, cases: int, place: Path, kept: Path, found: Path) -> Count:
    """Run cases; keep those that reach new lines in `kept`, and what is bad in `found`."""
    rng, count = random.Random(seed), Count(target.name)
    given = target.seeds()
    pool = given + [Case.load(path)[1] for path in sorted(kept.glob("*.json"))]
    reached = kept / "reached"  # lines, by earlier pieces
    seen = _read_lines(reached)
    place.mkdir(exist_ok=True)
    for case in (given[0], given[-1]):  # what is loaded at first takes seconds, and no case's
        with suppress(Exception):
            target.run(case, place)
    for case in [] if seen else given:
        with _traced(seen):
            _note(count, target, case, place, found)
    while count.cases < cases:
        case = rng.choice(pool[-30:]) if rng.random() < 0.3 else rng.choice(pool)
        case = target.change(rng, case, rng.choice(pool))
        before, traced = len(seen), rng.random() < TRACED
        with _traced(seen) if traced else nullcontext():
            _note(count, target, case, place, found)
        if len(seen) > before and len(pool) < KEPT:
            pool.append(case)
            name = hashlib.sha256(repr(case).encode()).hexdigest()[:16]
            case.save(kept / f"{name}.json", target.name, f"{len(seen) - before} new lines")
    count.lines = len(seen)
    kept.mkdir(parents=True, exist_ok=True)
    reached.write_text("".join(f"{line} {file}\n" for file, line in sorted(seen)))
    return count


def _read_lines(path: Path) -> set[tuple[str, int]]:
    pairs = [line.split(" ", 1) for line in path.read_text().splitlines()] if path.exists() else []
    return {(file, int(line)) for line, file in pairs}


def _note(count: Count, target: Target, case: Case, place: Path, found: Path) -> None:
    for _ in range(2):  # what is compiled or loaded at first is no case's fault
        start = time.process_time()
        outcome, why = attempt(target, case, place)
        seconds = time.process_time() - start
        if outcome != "hangs" and seconds < 0.2 * LIMIT:
            break
    if seconds > count.slowest:
        count.slowest = seconds
        case.save(
            found / f"slowest-{target.name.replace(' ', '-')}.json", target.name, f"{seconds:.2f} s"
        )
    count.cases += 1
    setattr(count, outcome, getattr(count, outcome) + 1)
    if why and why not in count.found:
        count.found.append(why)
        name = hashlib.sha256(why.encode()).hexdigest()[:12]
        case.save(found / f"{target.name.replace(' ', '-')}-{name}.json", target.name, why)


def _origin(error: BaseException) -> str:
    """The innermost place within the package."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if f.filename.startswith(_PACKAGE)] or frames[-1:]
    return f"{Path(own[-1].filename).name}:{own[-1].lineno} {own[-1].name}" if own else "?"


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Stop what computes for so long, or waits for ever."""

    def stop(*_: object) -> None:
        raise Hang(f"longer than {seconds:g} s")

    clocks = ((signal.SIGPROF, signal.ITIMER_PROF, seconds),
              (signal.SIGALRM, signal.ITIMER_REAL, PATIENCE))  # fmt: skip
    before = [signal.signal(number, stop) for number, _, _ in clocks]
    for _, clock, limit in clocks:
        signal.setitimer(clock, limit)
    try:
        yield
    finally:
        for (number, clock, _), handler in zip(clocks, before, strict=True):
            signal.setitimer(clock, 0.0)
            signal.signal(number, handler)


@contextmanager
def _traced(seen: set[tuple[str, int]]) -> Iterator[None]:
    """Note the lines of the package that are reached."""

    def line(frame: FrameType, event: str, _: object) -> Callable[..., Any]:
        if event == "line":
            seen.add((frame.f_code.co_filename, frame.f_lineno))
        return line

    def call(frame: FrameType, *_: object) -> Callable[..., Any] | None:
        return line if frame.f_code.co_filename.startswith(_PACKAGE) else None

    before = sys.gettrace()
    sys.settrace(call)
    try:
        yield
    finally:
        sys.settrace(before)
