"""`analyse`: from a file to a result folder, timed step by step.

The folder has a fixed layout, and at any moment one whole result (`robustfourier.result_folders`)::

    report.html  modes.csv  components.csv (and .parquet)  fit.csv (or .parquet)  model.rfm
    figures/  run.json  and the tables of `robustfourier.analysis.table_files`
    forecast.csv (if a horizon is given)
"""

from __future__ import annotations

import platform
import shlex
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import Any

from robustfourier.analysis.fitting import fit_model
from robustfourier.analysis.regressor_columns import read_regressors, without_effects
from robustfourier.analysis.table_files import (
    colour_of,
    colour_words,
    forecast_table,
    further_tables,
    shown_tables,
    write_components,
    write_csv,
    write_fit,
)
from robustfourier.atomic_files import plain, write_text
from robustfourier.fields.red_noise import NoiseColour
from robustfourier.fields.vibration import Machine, band_of, envelope_signal
from robustfourier.fit_config import reading_words
from robustfourier.observers import STAGES, emit
from robustfourier.persistence import save
from robustfourier.result_folders import RUN, claimed, exchanged
from robustfourier.results import Result, summarise
from robustfourier.results.result_tables import modes_columns
from robustfourier.samples import Samples, read_samples
from robustfourier.samples.partitions import parts_of

_LIBRARIES = ("robustfourier", "numpy", "scipy", "scikit-learn", "pandas")


@dataclass(frozen=True)
class Analysis:
    """What came out: the result, the model, the folder, and the seconds of each step."""

    result: Result
    model: Any
    folder: Path | None
    seconds: dict[str, float]

    @cached_property
    def colour(self) -> NoiseColour | None:
        """The colour of what is left over; None where it is white."""
        return colour_of(self.result)


def analyse(
    path: str | Path,
    *,
    out: Path | None = None,
    method: str = "mixture",
    reading: dict[str, Any] | None = None,
    parameters: dict[str, Any] | Callable[[Samples], dict[str, Any]] | None = None,
    overwrite: bool = False,
    formats: tuple[str, ...] = ("png", "svg"),
    magnitudes: bool | None = None,
    called: str | None = None,
    chunks: bool = False,
    envelope: str | None = None,
    machine: Machine | None = None,
    name: str | None = None,
    regressors: tuple[str, ...] = (),
    horizon: int | str | None = None,
    ready: Callable[[Analysis], None] | None = None,
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
    parameters : dict or callable
        Of the estimator; a function is given the samples, whose unit it may need.
    overwrite : bool
        Whether another run in the folder may be replaced.
    formats : tuple of str
        Endings of the figures.
    magnitudes : bool, optional
        See `summarise`.
    called : str, optional
        The file as the user wrote it, for the commands that the report suggests.
    chunks : bool
        Whether the record is larger than memory, a folder or a long file: see `fit_large`.
    envelope : str, optional
        Fit the envelope of a band of the signal, "LOW-HIGH" in Hz or "auto".
    machine : Machine, optional
        What turns: names the components.
    name : str, optional
        What to call the file in the answers; its own name if not given.
    regressors : tuple of str
        Names of other columns that are part of the fit.
    horizon : int or str, optional
        How far the forecast goes, in steps or as a length of time, into ``forecast.csv`` too.
    ready : callable, optional
        Is given the answer as soon as it is there, before files are written.

    Notes
    -----
    Each step is reported to `robustfourier.observers`.
    """
    clock = _Clock()
    reading = reading or {}
    samples = None
    if not chunks:
        with clock("reading"):
            samples = read_samples(path, **reading)
            samples = samples if name is None else replace(samples, source=name)
            samples = samples if envelope is None else envelope_signal(samples, band_of(envelope))
        emit("reading", "read", samples=samples)
    if callable(parameters):
        parameters = {} if samples is None else parameters(samples)
    parameters = dict(parameters or {})
    identity = {
        "sha256": [p.content() for p in parts_of(path)] if samples is None else samples.sha256,
        "method": method,
        "reading": plain(reading),
        "parameters": plain(parameters),
        **({} if envelope is None else {"envelope": envelope}),
        **({"regressors": list(regressors)} if regressors else {}),
        **({} if horizon is None else {"horizon": horizon}),
    }
    table = None if samples is None else read_regressors(samples, path, regressors, **reading)
    with claimed(RUN, out, identity, [Path(path)], overwrite=overwrite):
        with clock("fitting"):
            if samples is None:
                samples, model = _fit_chunks(path, out, reading, parameters)
            else:
                model = fit_model(samples, method, regressors=table, **parameters)
        with clock("summing up"):
            samples = without_effects(samples, model, table)
            plain_model = model.without_regressors()
            result = summarise(samples, plain_model, magnitudes, horizon, machine)
        if ready is not None:
            ready(Analysis(result, model, out, dict(clock.seconds)))
        if out is not None:
            run = _run_record(result, model, identity)
            with exchanged(RUN, out, run) as draft:
                words = shlex.join([called or str(path), *reading_words(reading)])
                _write(result, model, run, draft, formats, clock, (words, str(out)))
    emit("report", "done", seconds=dict(clock.seconds))
    return Analysis(result, model, out, dict(clock.seconds))


def _fit_chunks(
    path: str | Path, out: Path | None, reading: dict[str, Any], parameters: dict[str, Any]
) -> tuple[Samples, Any]:
    """Fit by passes over the rows; the checkpoint stands beside the result folder."""
    from robustfourier.large import fit_large

    given = {name: value for name, value in reading.items() if name != "value"}
    place = None if out is None else out.absolute().with_name(f".{out.name}.pass")
    found = fit_large(
        path, value=reading.get("value"), reading=given, checkpoint=place, **parameters
    )
    return found.samples, found.model


class _Clock:
    """Seconds of each step, reported to observers as it begins."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, step: str) -> Iterator[None]:
        if step in STAGES:  # fitting reports its own
            emit(step)
        start = time.perf_counter()
        yield
        self.seconds[step] = time.perf_counter() - start


def _write(
    result: Result,
    model: Any,
    run: dict[str, Any],
    folder: Path,
    formats: tuple[str, ...],
    clock: _Clock,
    place: tuple[str, str],
) -> None:
    """Write all files but the record, which is given the seconds of each step."""
    # Late: the answer is given before pages and figures are thought of.
    from robustfourier.plots.figure_files import save_figures
    from robustfourier.report import render
    from robustfourier.report.next_steps import Place

    (folder / "figures").mkdir()
    with clock("drawing"):
        write_csv(modes_columns(result), folder / "modes.csv")
        write_components(result, folder)
        for name, table in further_tables(result, model.without_regressors()).items():
            write_csv(table, folder / name)
        write_fit(result, folder)
        save(model, folder / "model.rfm")
        if (horizon := run["identity"].get("horizon")) is not None:
            write_csv(forecast_table(model, horizon), folder / "forecast.csv")
        save_figures(result, folder / "figures", formats)
    tables = shown_tables(result, model.without_regressors())
    with clock("report"):
        page = render(result, _shown(result, run, clock.seconds), Place(*place), tables)
        write_text(folder / "report.html", page)
    run["seconds"] = {step: round(seconds, 4) for step, seconds in clock.seconds.items()}


def _run_record(result: Result, model: Any, identity: dict[str, Any]) -> dict[str, Any]:
    """Enough to repeat the run."""
    samples = result.samples
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
        "parameters": plain(model.get_params(deep=False)),
        "notes": list(getattr(model, "notes_", ())),
        "headline": result.headline,
        "explained": result.explained,
        "shares": {p.label: p.share for p in result.patterns},
        "searched": result.searched_words,
        "warnings": list(result.warnings),
        "remarks": list(result.remarks),
        "versions": {
            **{"python": platform.python_version(), "machine": platform.machine()},
            **{name: metadata.version(name) for name in _LIBRARIES},
        },
    }


def _shown(result: Result, run: dict[str, Any], seconds: dict[str, float]) -> dict[str, Any]:
    """The part of the record that the report prints, in words."""
    counts = result.samples.counts
    words = counts.words()
    if counts.duplicates and run["identity"]["reading"].get("duplicates") in (None, "mean"):
        words.append("of samples at one time the mean is used")
    parameters = ", ".join(f"{k}={v!r}" for k, v in run["parameters"].items() if v is not None)
    # The report states aliases in words of its own.
    search = "; ".join(note for note in run["notes"] if "alias" not in note)
    colour = colour_of(result)
    left = {} if colour is None else {"What is left over": colour_words(colour, result)}
    return {
        "Input": f"{run['input']['file']}, SHA-256 {str(run['input']['sha256'])[:16]}…",
        "Rows": f"{counts.rows:,} read, {counts.used:,} used"
        + "".join(f"; {each}" for each in words),
        "Read as": "; ".join(result.samples.notes) or "a plain table",
        "Estimator": f"{run['estimator']}({parameters})",
        "Search": search or "–",
        **({"Aliases": " ".join(result.remarks)} if result.remarks else {}),
        "Trend": {"level": "a level", "slope": "level and slope"}.get(
            result.trend_kind, "a slow smooth curve"
        ),
        **left,
        "Versions": ", ".join(f"{k} {v}" for k, v in run["versions"].items()),
        "Seconds": ", ".join(f"{k} {v:.2f}" for k, v in seconds.items()),
    }
