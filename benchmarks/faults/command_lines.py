"""Command lines: whatever the arguments, a code of ours, no word of a mistake, no input harmed."""

from __future__ import annotations

import io
import os
import random
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any

import typer.main

from benchmarks.faults.cases import CHANGES, Case
from benchmarks.faults.containers import dated_model, saved
from benchmarks.faults.fuzz import Wrong
from robustfourier.cli import main
from robustfourier.errors import InputError
from robustfourier.samples import read_samples

_LINES: list[list[str]] = [
    ["check", "numbers.csv"],
    ["check", "dates.csv", "--json"],
    ["check", "long.csv", "--by", "sensor=A"],
    ["info", "model.rfm"],
    ["info", "model.rfm", "--json", "-v"],
    ["predict", "model.rfm", "--from", "2024-03-01", "--to", "2024-03-02", "--every", "1h"],
    ["predict", "model.rfm", "--at", "dates.csv", "--out", "there.csv"],
    ["fit", "nowhere.csv", "--value", "2", "--no-files"],
    ["fit", "numbers.csv", "--no-files", "--period", "7"],
    ["inject", "numbers.csv"],
    ["fit", "numbers.csv", "--value", "c", "--period", "7"],
    ["inject", "nowhere.csv"],
    ["--help"],
    ["fit", "--help"],
    ["--version"],
    [],
]
_OPTIONS = (
    *("--time", "--value", "--error", "--by", "--missing", "--duplicates", "--na", "--delimiter"),
    *("--decimal", "--skip", "--time-format", "--timezone", "--unit", "--out", "-o", "--overwrite"),
    *(
        "--no-files",
        "--method",
        "--false-alarm",
        "--loss",
        "--scale",
        "--shortest-period",
        "--period",
    ),
    *("--modes", "--steps", "--figures", "--seed", "--json", "-q", "-v", "--at", "--from", "--to"),
    *("--every", "--periods", "--amplitude", "--trials", "--help", "--version", "--", "--nothing"),
)
_WORDS = (
    *("", " ", "0", "1", "2", "-1", "1.5", "1e400", "1e-300", "nan", "inf", "9" * 400, "\u00b2"),
    *("numbers.csv", "dates.csv", "long.csv", "model.rfm", "broken.rfm", "folder", "nowhere.csv"),
    *("-", "/dev/null", "/proc/self/mem", "example:", "example:..", "x" * 5000, "folder/..", "."),
    *("there.csv", "there.png", "there", "numbers.csv/there", "model.rfm", "dates.csv"),
    *("2024-03-01", "2024-03-31T02:30", "2024-03-01T00:00+01:00", "0001-01-01", "99999-01-01"),
    *("1h", "30min", "7d", "1e-9s", "3 parsec", "%Y%Y", "%d.%m.%Y", "julian", "number", "iso"),
    *("Europe/Berlin", "UTC", "Nowhere/City", "../../etc/passwd", "time", "value", "sensor=A"),
    *("sensor", "=", "mean", "keep", "error", "drop", "comma", "tab", ";", ",", "\\t"),
    *("png", "svg,pdf", "tiff", "mixture", "huber", "log", "0.01", "\x1b[31m", "\u202e", "\ud800"),
)
FITTED = 0.2  # of the command lines that ask for one
_NEVER = ("network", "--jobs", "--quick")  # real work, for minutes


class CommandLines:
    """The program itself, in this process."""

    name = "command lines"

    def __init__(self) -> None:
        self.model = saved(dated_model())
        if not hasattr(typer.main.get_command, "cache_info"):
            typer.main.get_command = cache(typer.main.get_command)  # built once, not each time

    def seeds(self) -> list[Case]:
        """Each command as it is meant."""
        return [Case(b"t,v\n1,2\n2,3\n3,5\n4,1\n5,2\n", {"arguments": line}) for line in _LINES]

    def change(self, rng: random.Random, case: Case, other: Case) -> Case:
        """Add, drop, exchange or misspell arguments."""
        for _ in range(rng.choice(CHANGES)):
            case = self._changed(rng, case, other)
        return case

    def _changed(self, rng: random.Random, case: Case, other: Case) -> Case:
        line = list(case.options["arguments"])
        at, way = rng.randrange(len(line) + 1), rng.random()
        if way < 0.4:
            line[at:at] = [rng.choice(_OPTIONS), rng.choice(_WORDS)][: rng.choice((1, 2, 2))]
        elif way < 0.7 and line:
            line[at % len(line)] = rng.choice(_WORDS)
        elif way < 0.8 and line:
            del line[at % len(line)]
        elif way < 0.9 and line:
            word = line[at % len(line)]
            cut = rng.randrange(len(word) + 1)
            line[at % len(line)] = word[:cut] + rng.choice(_WORDS)[:20] + word[cut:]
        else:
            line += rng.choice([*_LINES, other.options["arguments"]])
        return Case(case.content, {"arguments": [w for w in line[:30] if w not in _NEVER]})

    def run(self, case: Case, place: Path) -> bool:
        """Run the program and look at what it says and leaves."""
        inputs = self._prepared(place)
        line = [*case.options["arguments"]]
        if "fit" in line:
            line.append("--no-files")
        if "inject" in line:
            line += ["--trials", "1", "--periods", "1"]
        # A fit takes a hundred times as long as a refusal: few are made.
        stand_in = nullcontext if random.Random(repr(line)).random() < FITTED else _without_fits
        with stand_in():
            code, out, err = _run(line, case.content, place)
        if code not in (0, 1, 2, 3):
            raise Wrong(f"exit code {code}")
        if "mistake of ours" in err or "Traceback" in err:
            raise Wrong(err.strip()[:300])
        if "\x1b" in out + err:
            raise Wrong("an escape sequence was printed")
        for path, before in inputs.items():
            whole = path.is_file() and path.read_bytes() == before
            if not whole and path.name not in _outputs(line):
                raise Wrong(f"{path.name} was changed by {line}")
        for path in set(place.iterdir()) - set(inputs) - {place / "folder"}:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        return code == 0

    def _prepared(self, place: Path) -> dict[Path, bytes]:
        """The inputs and their bytes."""
        (place / "folder").mkdir(exist_ok=True)
        contents = _inputs(self.model)
        for name, content in contents.items():
            path = place / name
            if not path.is_file() or path.read_bytes() != content:
                path.write_bytes(content)
        return {place / name: content for name, content in contents.items()}


def _outputs(line: list[str]) -> set[str]:
    """Files that a command line names to be written, and nowhere else."""
    text = "\0".join(line)
    named = re.findall(r"(?:^|\0)(?:--out[\0=]|-o\0?)([^\0]*)", text)
    return {name for name in named if sum(name in word for word in line) == 1}


@contextmanager
def _without_fits() -> Iterator[None]:
    """Samples are read and parameters made of them; then the work ends with an error of ours."""
    import robustfourier.analysis as analysis

    def analyse(file: str, *, reading: Any, parameters: Any, **_: Any) -> None:
        parameters(read_samples(file, **reading))
        raise InputError("no fit is made here")

    def fit_model(*_: Any, **__: Any) -> None:
        raise InputError("no fit is made here")

    before = analysis.analyse, analysis.fit_model
    analysis.analyse, analysis.fit_model = analyse, fit_model  # type: ignore[assignment]
    try:
        yield
    finally:
        analysis.analyse, analysis.fit_model = before


@cache
def _inputs(whole: bytes) -> dict[str, bytes]:
    rows = [(i, (7 * i) % 5 + 0.5) for i in range(20)]
    return {
        "numbers.csv": b"time,value\n" + b"".join(b"%d,%g\n" % row for row in rows),
        "dates.csv": b"date,v\n" + b"".join(b"2024-01-%02d,%g\n" % (i + 1, v) for i, v in rows),
        "long.csv": b"time,sensor,value\n"
        + b"".join(b"%d,%s,%g\n" % (i, s, v) for i, v in rows for s in (b"A", b"B")),
        "model.rfm": whole,
        "broken.rfm": whole[:-100],
    }


def _run(line: list[str], given: bytes, place: Path) -> tuple[Any, str, str]:
    out, err, here, stdin = io.StringIO(), io.StringIO(), Path.cwd(), sys.stdin
    os.chdir(place)
    sys.stdin = io.TextIOWrapper(io.BytesIO(given))
    try:
        with redirect_stdout(out), redirect_stderr(err):
            main(line)
    except SystemExit as stop:
        return stop.code, out.getvalue(), err.getvalue()
    finally:
        os.chdir(here)
        sys.stdin = stdin
    raise Wrong("the program did not end")
