"""The wheel on every Python at hand: `make matrix`.

Builds the wheel for each Python that it names and that is found here (the one that runs this,
``python3.x`` on the path, or what pyenv knows), downloads today's newest packages as wheels, and
installs from these alone, without an index and with nothing to compile, into a clean environment of
that Python; once more, on the oldest of them, with the oldest packages that the wheel admits; and
once as it is built without a compiler, with numba. In each environment the program is used as a new
user would, and a few tests run against what was installed; import, first fit and size are printed.
torch is not installed, and numba only there: the core does without.

    python tools/matrix.py                      all of it, two environments at a time
    python tools/matrix.py --only 3.12 oldest   some of it
"""

from __future__ import annotations

import argparse
import email
import os
import re
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from email.message import Message
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: What a wheel meets in the field: model files, the command line, a fit and who watches it.
TESTS = (
    *("tests/persistence", "tests/cli/test_console.py", "tests/cli/test_models_and_sampling.py"),
    *("tests/test_modes.py", "tests/test_observers.py"),
)
TEST_TOOLS = ("pytest>=8.0", "hypothesis>=6.100")
#: The model is loaded again, predicts, and has the periods that were printed.
RELOAD = """
import csv, pathlib, sys, sysconfig
import robustfourier
assert pathlib.Path(robustfourier.__file__).is_relative_to(sysconfig.get_path("purelib"))
model = robustfourier.load("results/model.rfm")
with open("results/components.csv", newline="") as file:
    periods = [float(row["period"]) for row in csv.DictReader(file)]
assert [component.period for component in model.components_] == periods, periods
assert len(model.predict([2450000.0, 2450000.5])) == 2
assert "torch" not in sys.modules
"""
#: Processor time of what a user waits for: the first fit includes the start of the program.
IMPORT = """
import time
from robustfourier import PeriodicMixture
print(f"import {time.process_time():.2f} s")
"""
FIRST = """
import subprocess, sys, os
program = os.path.join(os.path.dirname(sys.executable), "robustfourier")
subprocess.run([program, "fit", "example:double_mode_cepheid", "--no-files", "-q"], check=True)
spent = os.times()
print(f"first fit {spent.children_user + spent.children_system:.2f} s")
"""


@dataclass(frozen=True)
class Environment:
    """A Python, the requirements that are installed beside the wheel, and how that is built."""

    name: str
    python: str
    pins: tuple[str, ...] = ()
    compiler: bool = True


def build(folder: Path, python: str = sys.executable, *, compiler: bool = True) -> Path:
    """Return the wheel of this checkout for a Python, built into a folder."""
    shutil.rmtree(folder, ignore_errors=True)
    pip = [python, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps"]
    how = {"ROBUSTFOURIER_REQUIRE_KERNELS": "1"} if compiler else {"CC": "false", "CXX": "false"}
    command = [*pip, "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run(command, env={**surroundings(), **how}, check=True)
    (wheel,) = folder.glob("*.whl")
    assert wheel.name.endswith("-none-any.whl") != compiler, wheel.name
    return wheel


def metadata(wheel: Path) -> Message:
    """Return what a wheel says of itself."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return email.message_from_bytes(archive.read(name))


def versions(known: Message) -> list[str]:
    """Return the Pythons that the classifiers name, oldest first."""
    pattern = re.compile(r"Programming Language :: Python :: (3\.\d+)")
    found = [match[1] for text in known.get_all("Classifier", []) if (match := pattern.match(text))]
    return sorted(found, key=lambda version: int(version.partition(".")[2]))


def floors(known: Message) -> tuple[str, ...]:
    """Return the oldest release that each requirement of the core admits, as pins.

    Examples
    --------
    >>> known = Message()
    >>> known["Requires-Dist"] = "numpy>=1.24"
    >>> known["Requires-Dist"] = 'torch>=2.2; extra == "torch"'
    >>> floors(known)
    ('numpy==1.24',)
    """
    core = [text for text in known.get_all("Requires-Dist", []) if "extra ==" not in text]
    return tuple(text.partition(";")[0].strip().replace(">=", "==") for text in core)


def interpreters(version: str) -> Iterator[str]:
    """Yield what may be a Python of this version: this one, of the path, then what pyenv knows."""
    yield sys.executable
    if path := shutil.which(f"python{version}"):
        yield path
    if pyenv := shutil.which("pyenv"):
        for name in output(pyenv, "versions", "--bare").split():
            if name.startswith(f"{version}."):
                yield str(Path(output(pyenv, "prefix", name)) / "bin" / "python")


def output(*command: str) -> str:
    """Return what a command prints, or nothing if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def found(version: str) -> str | None:
    """Return a Python of this version that runs, if there is one."""
    ask = "import sys; print('%d.%d' % sys.version_info[:2])"
    return next(
        (path for path in interpreters(version) if output(path, "-c", ask) == version), None
    )


def check(environment: Environment, folder: Path) -> tuple[bool, str]:
    """Install and use a wheel in a clean environment; whether all went well, and the log."""
    start = time.perf_counter()
    home = folder / environment.name
    shutil.rmtree(home, ignore_errors=True)
    lines: list[str] = []

    def run(*command: str | Path, where: Path = home) -> str:
        begin = time.perf_counter()
        done = subprocess.run(
            [str(word) for word in command],
            cwd=where,
            env=surroundings(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        words = " ".join(str(word) for word in command[1:] if "\n" not in str(word))
        lines.append(f"  {time.perf_counter() - begin:6.1f} s  {words[:96]}")
        if done.returncode:
            raise subprocess.CalledProcessError(done.returncode, words, done.stdout)
        return done.stdout

    scripts = home / ("Scripts" if os.name == "nt" else "bin")
    python, program = scripts / "python", scripts / "robustfourier"
    pip = (python, "-m", "pip", "--quiet", "--disable-pip-version-check")
    wheels = folder / f"{environment.name}-wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    old = ("-W", "ignore") if environment.pins else ()  # what newer releases have mended
    try:
        wheel = build(
            folder / f"{environment.name}-dist", environment.python, compiler=environment.compiler
        )
        run(environment.python, "-m", "venv", home, where=folder)
        needed = (wheel, *environment.pins)
        run(*pip, "download", "--only-binary", ":all:", "--dest", wheels, *needed, *TEST_TOOLS)
        offline = (*pip, "install", "--no-index", "--find-links", wheels)
        run(*offline, *needed)
        lines.append(f"  {megabytes(home):.0f} MB, of which {bytecode(home):.0f} MB are bytecode")
        lines.append("  " + run(python, "-c", IMPORT).strip())
        first = run(python, "-c", FIRST).strip()
        lines.append(f"  {first}; once more {run(python, '-c', FIRST).strip()}")
        run(*offline, *TEST_TOOLS)
        run(program, "--version")
        run(program, "--help")
        run(program, "fit", "example:double_mode_cepheid", "--out", "results")
        run(program, "predict", "results", "--from", "2450000", "--to", "2450001", "--every", "0.5")
        run(python, "-c", RELOAD)
        run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *old, *TESTS, where=ROOT)
        outcome = "ok"
    except subprocess.CalledProcessError as error:
        outcome = f"FAILED: {error.cmd}\n{error.output}"
    head = f"{environment.name}: {time.perf_counter() - start:.0f} s, {outcome}"
    return outcome == "ok", "\n".join([head, *lines])


def megabytes(folder: Path) -> float:
    """Return the size of a folder's files."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir()) / 1e6


def bytecode(folder: Path) -> float:
    """Return the size of what Python made of its files."""
    return sum(path.lstat().st_size for path in folder.rglob("*.pyc")) / 1e6


def surroundings() -> dict[str, str]:
    """Return this process's variables without those that lead to other packages than installed."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return kept | {"OMP_NUM_THREADS": "1"}


def main() -> int:
    """Run all, print a log of each environment; 0 if all went well."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", metavar="NAME", help="such as 3.12, or oldest")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "matrix")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    folder = given.out.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    wheel = build(folder / "dist", compiler=False)
    known = metadata(wheel)
    pythons = {version: found(version) for version in versions(known)}
    here = {version: path for version, path in pythons.items() if path is not None}
    if not here:
        print(f"none of Python {', '.join(pythons)} was found on the path or by pyenv")
        return 1
    oldest = next(iter(here))
    environments = [Environment("oldest", here[oldest], floors(known))]
    environments += [Environment(version, path) for version, path in here.items()]
    newest = list(here.values())[-1]
    environments += [Environment("no-compiler", newest, ("numba",), compiler=False)]
    chosen = [one for one in environments if given.only is None or one.name in given.only]
    missing = [version for version in pythons if version not in here]
    print(f"Python {', '.join(here)}; oldest packages on {oldest}", flush=True)
    with ThreadPoolExecutor(given.jobs) as pool:
        results = []
        for good, log in pool.map(lambda one: check(one, folder), chosen):
            print(log, flush=True)
            results.append(good)
    if missing:
        print(f"not found here, and not tried: Python {', '.join(missing)}")
    return 0 if chosen and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
