"""`analyse`: from a file to a result folder, timed step by step."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from robustfourier.analysis.fitting import fit_model
from robustfourier.analysis.folder import claim_folder, write_run
from robustfourier.analysis.tables import components_table, fit_table, modes_table, write_csv
from robustfourier.errors import OutputError
from robustfourier.persistence import save
from robustfourier.results import Result, summarise
from robustfourier.samples import Samples, read_samples
from robustfourier.writing import write_text

__all__ = ["Analysis", "analyse"]

_VERSIONS = ("robustfourier", "numpy", "scipy", "scikit-learn", "pandas", "numba", "finufft")

#: Told the name of each step as it begins.
Observer = Callable[[str], Any]


@dataclass(frozen=True)
class Analysis:
    """What came out: the result, the model, the folder, and the seconds of each step."""

    result: Result
    model: Any
    folder: Path | None
    seconds: dict[str, float]


def analyse(
    path: str | Path,
    *,
    out: Path | None = None,
    method: str = "mixture",
    reading: dict[str, Any] | None = None,
    parameters: dict[str, Any] | None = None,
    overwrite: bool = False,
    formats: tuple[str, ...] = ("png",),
    observe: Observer | None = None,
) -> Analysis:
    """Read a file, fit it, and write a result folder.

    Parameters
    ----------
    path : str or Path
        The file, or "-".
    out : Path, optional
        The result folder; nothing is written if None.
    method : {"mixture", "network"}
    reading : dict
        Options of `read_samples`.
    parameters : dict
        Of the estimator.
    overwrite : bool
        Whether another run in the folder may be replaced.
    formats : tuple of str
        Endings of the figures.
    observe : callable, optional
        Told of each step.

    Returns
    -------
    Analysis
    """
    clock = _Clock(observe)
    reading, parameters = dict(reading or {}), dict(parameters or {})
    with clock("reading"):
        samples = read_samples(path, **reading)
    identity = {
        "sha256": samples.sha256,
        "method": method,
        "reading": {k: _plain(v) for k, v in sorted(reading.items())},
        "parameters": {k: _plain(v) for k, v in sorted(parameters.items())},
    }
    if out is not None:
        claim_folder(out, identity, overwrite=overwrite)
    with clock("fitting"):
        model = fit_model(samples, method, **parameters)
    with clock("summing up"):
        result = summarise(samples, model)
    if out is not None:
        with clock("drawing"):
            _write(result, model, out, formats)
        run = _run_record(samples, result, model, identity, clock.seconds)
        with clock("report"):
            _write_report(result, run, out)
        run["seconds"] = {step: round(seconds, 4) for step, seconds in clock.seconds.items()}
        write_run(out, run)
    return Analysis(result, model, out, dict(clock.seconds))


class _Clock:
    """Seconds of each step, told to an observer as it begins."""

    def __init__(self, observe: Observer | None) -> None:
        self.observe = observe
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, step: str) -> Iterator[None]:
        if self.observe is not None:
            self.observe(step)
        start = time.perf_counter()
        yield
        self.seconds[step] = time.perf_counter() - start


def _write(result: Result, model: Any, folder: Path, formats: tuple[str, ...]) -> None:
    from robustfourier.plots.files import save_figures

    try:
        write_csv(modes_table(result), folder / "modes.csv")
        write_csv(components_table(result), folder / "components.csv")
        write_csv(fit_table(result), folder / "fit.csv")
        save(model, folder / "model.rfm")
        for old in (folder / "figures").iterdir():
            old.unlink()
        save_figures(result, folder / "figures", formats)
    except OSError as error:
        if isinstance(error, OutputError):
            raise
        raise OutputError(f"cannot write to {str(folder)!r} ({error.strerror or error})") from None


def _write_report(result: Result, run: dict[str, Any], folder: Path) -> None:
    from robustfourier.report import render

    write_text(folder / "report.html", render(result, _shown(result, run)))


def _run_record(
    samples: Samples,
    result: Result,
    model: Any,
    identity: dict[str, Any],
    seconds: dict[str, float],
) -> dict[str, Any]:
    """Enough to repeat the run."""
    return {
        "identity": identity,
        "input": {
            "file": samples.source,
            "sha256": samples.sha256,
            "time": samples.time_name,
            "value": samples.value_name,
            "error": samples.error_name,
            "unit": samples.unit,
            "timezone": samples.timezone,
            "counts": asdict(samples.counts),
            "notes": list(samples.notes),
        },
        "estimator": type(model).__name__,
        "parameters": {k: _plain(v) for k, v in model.get_params(deep=False).items()},
        "notes": list(getattr(model, "notes_", ())),
        "headline": result.headline,
        "explained": result.explained,
        "shares": {p.name: p.share for p in result.patterns},
        "searched": result.searched_words,
        "warnings": list(result.warnings),
        "versions": versions(),
        "seconds": dict(seconds),
    }


def versions() -> dict[str, str]:
    """Versions of Python and of what the numbers depend on."""
    found = {"python": platform.python_version(), "machine": platform.machine()}
    for name in _VERSIONS:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _shown(result: Result, run: dict[str, Any]) -> dict[str, Any]:
    """The part of the record that the report prints, in words."""
    counts = result.samples.counts
    left_out = [
        words
        for n, words in (
            (counts.missing, f"{counts.missing:,} with a missing value left out"),
            (counts.duplicates, f"{counts.duplicates:,} repeated a time (their mean is used)"),
            (counts.out_of_order, f"{counts.out_of_order:,} out of order were sorted"),
        )
        if n
    ]
    if run["identity"]["reading"].get("duplicates") not in (None, "mean"):
        left_out = [words.replace(" (their mean is used)", "") for words in left_out]
    seconds = run["seconds"]
    return {
        "Input": f"{run['input']['file']}, SHA-256 {str(run['input']['sha256'])[:16]}…",
        "Rows": f"{counts.rows:,} read, {counts.used:,} used" + "".join(f"; {w}" for w in left_out),
        "Read as": "; ".join(result.samples.notes) or "a plain table",
        "Estimator": f"{run['estimator']}("
        + ", ".join(f"{k}={v!r}" for k, v in run["parameters"].items() if v is not None)
        + ")",
        "Search": "; ".join(_search_notes(run["notes"])) or "–",
        "Trend": {"level": "a level", "slope": "level and slope"}.get(
            result.trend_kind, "a slow smooth curve"
        ),
        "Versions": ", ".join(f"{k} {v}" for k, v in run["versions"].items()),
        "Seconds": ", ".join(f"{k} {v:.2f}" for k, v in seconds.items()),
        "Other files": "modes.csv, components.csv, fit.csv, model.rfm, figures/, run.json",
    }


def _search_notes(notes: list[str]) -> list[str]:
    """Notes without the list of aliases, which the report tells in words."""
    return [note for note in notes if "alias" not in note]


def _plain(value: Any) -> Any:
    """A parameter as JSON can hold it."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(item) for item in np.asarray(value, dtype=object).tolist()]
    return str(value)
