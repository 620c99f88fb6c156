"""`robustfourier fit`: the answer on the screen, and a folder with everything."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from robustfourier.cli import fit_many_command as many
from robustfourier.cli import options
from robustfourier.cli.band_command import Band, fit_bands
from robustfourier.cli.console import Console
from robustfourier.errors import InputError
from robustfourier.fit_config import Asked, one_of
from robustfourier.observers import observed_by

if TYPE_CHECKING:
    from robustfourier.analysis import Analysis
    from robustfourier.domain import Domain
    from robustfourier.results import Result
    from robustfourier.samples import Samples

# Bytes of a file that is read in chunks: some 3 million rows of text. A fit in memory takes about
# 1 kB for each row.
_LONG_FILE = 100_000_000
_ENDINGS = (
    *(".gz", ".bz2", ".xz", ".zip", ".csv", ".tsv", ".txt", ".dat", ".asc", ".json", ".jsonl"),
    *(".parquet", ".pq", ".feather", ".xlsx", ".fits", ".vot", ".nc", ".mat", ".wav"),
)
SCHEMA = 3  # of the answer for scripts: 3 has the columns of components.csv in `components`


Magnitudes = Annotated[
    bool, typer.Option("--magnitudes", help="The values are magnitudes: small is bright.")
]
Out = Annotated[
    Path | None, typer.Option("--out", "-o", help="Result folder; <file>-results if not given.")
]
Figures = Annotated[str, typer.Option(help="Endings of the figures: png, svg, pdf.")]
Parts = Annotated[
    bool, typer.Option("--parts", help="The files of a folder are parts of one long record.")
]
Envelope = Annotated[
    str | None,
    typer.Option(help="Fit the envelope of a band, LOW-HIGH in Hz, or auto, which finds one."),
]
Shaft = Annotated[
    float | None, typer.Option(help="Frequency of a shaft in Hz: lines are named by it.")
]
BearingGeometry = Annotated[
    str | None, typer.Option(help="ELEMENTS,DIAMETER,PITCH[,ANGLE] of a bearing on that shaft.")
]
Teeth = Annotated[int | None, typer.Option(min=2, help="Teeth of a gear on that shaft.")]
Show = Annotated[
    str, typer.Option(help="Patterns by period or frequency; auto: frequency below a second.")
]


@options.expanded
def fit(
    files: options.Files,
    *,
    reading: dict[str, Any],
    out: Out = None,
    overwrite: Annotated[bool, typer.Option(help="Replace another run in the folder.")] = False,
    dry: Annotated[bool, typer.Option("--no-files", help="Print only, write nothing.")] = False,
    method: Annotated[str, typer.Option(help="mixture, or the paper's network.")] = "mixture",
    asked: Asked,
    modes: Annotated[int, typer.Option(min=1, help="Highest mode of the network.")] = 100,
    steps: Annotated[int, typer.Option(min=1, help="Training steps of the network.")] = 50_000,
    figures: Figures = "png,svg",
    magnitudes: Magnitudes = False,
    show: Show = "auto",
    envelope: Envelope = None,
    shaft: Shaft = None,
    bearing: BearingGeometry = None,
    teeth: Teeth = None,
    together: many.Together = False,
    parts: Parts = False,
    band: Band = None,
    jobs: many.Jobs = None,
    console: Console,
) -> None:
    """Find the repeating patterns in a file and write a report; of many files, an index of reports.

    Several files, a folder, --value all, --value a,b and --by column mean many series; see
    fit-many. A folder with --parts is one record, which may be larger than memory.
    """
    one_of("--method", method, ("mixture", "network"))
    one_of("--show", show, ("auto", "period", "frequency"))
    formats = _formats(figures)
    machine = _Machine.of(shaft, bearing, teeth)
    if band is not None:
        fit_bands(files, band, reading, asked, None if dry else out, overwrite, console)
        return
    _check_parts(files, parts)
    wide, reading = many.with_series(files, reading)
    if not parts and many.is_survey(files, reading, together):
        how = {"overwrite": overwrite, "together": together, "jobs": jobs}
        out = _survey_folder(files, out, asked, dry or method == "network", wide)
        many.fit_survey(files, reading, console, asked=asked, out=out, wide=wide, **how)
        return
    file = options.located(files[0])
    chunks = method == "mixture" and _in_chunks(file)
    _check_columns(files[0], reading, asked, chunks)
    from robustfourier.analysis import analyse

    network = {"n_modes": modes, "n_steps": steps, "random_state": asked.seed}
    mixture = asked.choices if chunks else asked.parameters
    with console.stages() as observe, observed_by(observe):
        analysis = analyse(
            file,
            out=None if dry else (out or default_folder(file)),
            method=method,
            reading=reading,
            parameters=network if method == "network" else mixture,
            chunks=chunks,
            overwrite=overwrite,
            formats=formats,
            magnitudes=magnitudes or None,
            called=files[0],
            envelope=envelope,
            ready=lambda found: print_found(console, found, show, machine),
        )
    _conclude(console, analysis, machine)


def _conclude(console: Console, analysis: Analysis, machine: _Machine | None) -> None:
    """The answer for scripts, or where everything was written."""
    if console.as_json:
        console.json(answer(analysis, machine))
    else:
        print_written(console, analysis)


def _check_parts(files: list[str], parts: bool) -> None:
    if parts and (len(files) > 1 or not Path(files[0]).is_dir()):
        raise InputError(
            f"--parts {files[0]!r} takes one folder, whose files are parts of a record"
        )


def _survey_folder(
    files: list[str], out: Path | None, asked: Asked, only_series: bool, wide: bool
) -> Path:
    """The folder for many series; refuses what makes sense for one series only."""
    if out is None and Path(files[0]).is_dir():
        out = Path(f"{Path(files[0]).resolve().name or 'survey'}-results")
    if out is None and wide:
        out = default_folder(files[0])
    if only_series or replace(asked, period=()).names_periods or out is None:
        raise InputError(
            "many series need --out FOLDER, and go without --method network, --no-files, "
            "and all that names periods but --period"
        )
    return out


def _check_columns(called: str, reading: dict[str, Any], asked: Asked, chunks: bool) -> None:
    """Refuse what cannot be read, before what takes seconds to load."""
    if not chunks:
        from robustfourier.samples import check_columns

        check_columns(options.located(called), **reading)
    elif asked.names_periods:
        raise InputError(
            f"{called!r} is read in chunks, without options that name periods; "
            "use fit_large with max_frequency and periods in Python"
        )


def _in_chunks(file: str) -> bool:
    """Whether a record is a folder of parts, or too long to be fitted in memory."""
    path = Path(file)
    if path.is_dir():
        return True
    return path.is_file() and path.stat().st_size > _LONG_FILE


def default_folder(file: str) -> Path:
    """The result folder of a file: beside it would surprise, so in the current folder."""
    stem = "stdin" if file == "-" else Path(file).name
    for ending in _ENDINGS:
        stem = stem[: -len(ending)] if stem.lower().endswith(ending) and stem != ending else stem
    return Path(f"{stem}-results")


def _formats(text: str) -> tuple[str, ...]:
    formats = tuple(part.strip().lower() for part in text.split(",") if part.strip())
    if not formats or not set(formats) <= {"png", "svg", "pdf"}:
        raise InputError(f"--figures {text!r} must be png, svg, pdf or several with commas")
    return formats


@dataclass(frozen=True)
class _Machine:
    """What turns: the frequency of a shaft, and the bearing and gear on it."""

    shaft: float
    bearing: Any = None
    teeth: int | None = None

    @classmethod
    def of(cls, shaft: float | None, bearing: str | None, teeth: int | None) -> _Machine | None:
        """The options of the command line; None if no shaft is told."""
        if shaft is None:
            if bearing is not None or teeth is not None:
                raise InputError("--bearing and --teeth need --shaft, its frequency in Hz")
            return None
        if not 0 < shaft < float("inf"):
            raise InputError(f"--shaft {shaft} must be a positive frequency in Hz")
        if bearing is None:
            return cls(shaft, None, teeth)
        from robustfourier.fields import Bearing

        try:
            elements, *sizes = (float(part) for part in bearing.split(","))
            return cls(shaft, Bearing(int(elements), *sizes), teeth)
        except (TypeError, ValueError) as error:
            words = (
                error if isinstance(error, InputError) else "give 9,7.94,39.04 or 9,7.94,39.04,0"
            )
            raise InputError(f"--bearing {bearing!r}: {words}") from None

    def names(self, result: Result) -> list[str]:
        """Names of the components' lines."""
        import numpy as np

        from robustfourier.fields import characteristic_lines
        from robustfourier.formatting import SECONDS

        hertz = np.array([p.frequency for p in result.patterns])
        hertz = hertz / SECONDS.get(result.domain.unit, 1.0)
        return characteristic_lines(hertz, self.shaft, self.bearing, self.teeth)


def print_found(
    console: Console, analysis: Analysis, show: str = "auto", machine: _Machine | None = None
) -> None:
    """Print what was taken and what was found; figures and report may take longer than both."""
    result = analysis.result
    print_taken(console, result.samples)
    console.say()
    console.say(result.headline, style="bold")
    _print_patterns(console, result, show, machine)
    from robustfourier.formatting import number, percent

    drift = {"slope": "level and slope", "smooth": "slow drift"}.get(result.trend_kind, "level")
    console.say(
        f"Noise {number(result.noise, 3)} ({result.noise_kind}); trend: {drift}"
        + (f", {percent(result.trend_share)} of the variance" if drift != "level" else "")
    )
    if result.searched_words:
        console.say(result.searched_words)
    for warning in result.warnings:
        console.warn(warning)
    for note in getattr(analysis.model, "notes_", ()):
        console.detail(f"note: {note}")


def print_written(console: Console, analysis: Analysis) -> None:
    """Print how long it took, and where the rest is."""
    console.detail("seconds: " + ", ".join(f"{k} {v:.2f}" for k, v in analysis.seconds.items()))
    if analysis.folder is not None:
        console.say()
        console.say(f"Report: {analysis.folder / 'report.html'}")


def print_taken(console: Console, samples: Samples) -> None:
    """Say which columns were taken and what was left out."""
    from robustfourier.formatting import plural

    taken = f"time {samples.time_name!r}, value {samples.value_name!r}"
    if samples.error_name is not None:
        taken += f", error {samples.error_name!r}"
    console.say(f"{samples.source}: {plural(len(samples), 'sample')} ({taken})")
    for words in (*samples.counts.words(), *samples.notes):
        console.say(f"  {words}")


def _as_frequencies(result: Result, show: str) -> bool:
    """Whether patterns are told by frequency: in seconds, people count cycles in each."""
    strongest = result.patterns[0].period
    return show == "frequency" or (show == "auto" and _is_signal(result.domain, strongest))


def _is_signal(domain: Domain, period: float) -> bool:
    return not domain.dates and domain.unit == "second" and period < 1.0


def _print_patterns(
    console: Console, result: Result, show: str, machine: _Machine | None = None
) -> None:
    from robustfourier.formatting import (
        number,
        percent,
        probability,
        readable_frequency,
        with_error,
    )

    if not result.patterns:
        return
    frequencies = _as_frequencies(result, show)
    lines = [""] * len(result.patterns) if machine is None else machine.names(result)
    names = {
        p.label: name or p.constituent or p.calendar
        for p, name in zip(result.patterns, lines, strict=True)
    }
    rows = [
        (
            p.label,
            readable_frequency(p.frequency, result.domain.unit, p.frequency_error)
            if frequencies
            else result.domain.period_words(p.period, p.period_error, spread=True),
            with_error(p.amplitude, p.amplitude_error),
            percent(p.share),
            _orders(p.harmonics),
            probability(p.false_alarm),
            number(p.snr, 3) if p.snr < 1e4 else "",
            names[p.label],
        )
        for p in result.main
    ]
    console.table(
        [
            ("", "left"),
            ("Frequency" if frequencies else "Period", "right"),
            ("Amplitude", "right"),
            ("Share", "right"),
            ("Harmonics", "left"),
            ("False alarm", "right"),
            ("SNR", "right"),
            ("", "left"),
        ],
        rows,
    )
    if result.weak:
        console.say(f"… {result.weak_words}: see components.csv")


def _orders(harmonics: tuple[int, ...]) -> str:
    """Orders in short: 1–4, 6."""
    parts: list[list[int]] = []
    for n in harmonics:
        if parts and n == parts[-1][1] + 1:
            parts[-1][1] = n
        else:
            parts.append([n, n])
    words = [str(a) if a == b else f"{a}–{b}" if b > a + 1 else f"{a}, {b}" for a, b in parts]
    return ", ".join(words[:6]) + (", …" if len(words) > 6 else "")


def _table_rows(result: Result) -> list[dict[str, Any]]:
    """The rows of components.csv; orders of harmonics as a list, times as text."""
    from robustfourier.results.tables import components_columns

    columns = components_columns(result)
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    for row, pattern in zip(rows, result.patterns, strict=True):
        times = {name: row[name] for name in ("epoch_max", "epoch_min")}
        told = {k: v if isinstance(v, float | None) else str(v) for k, v in times.items()}
        row |= {**told, "harmonics": pattern.harmonics}
    return rows


def answer(analysis: Analysis, machine: _Machine | None = None) -> dict[str, Any]:
    """The answer for scripts."""
    from dataclasses import asdict

    from robustfourier.results.tables import modes_columns

    result = analysis.result
    samples = result.samples
    rows = _table_rows(result)
    if machine is not None:
        rows = [{**row, "line": n} for row, n in zip(rows, machine.names(result), strict=True)]
    return {
        "schema": SCHEMA,
        "headline": result.headline,
        "input": {
            "file": samples.source,
            "time": samples.time_name,
            "value": samples.value_name,
            "error": samples.error_name,
            "sha256": samples.sha256,
            "counts": asdict(samples.counts),
            "notes": samples.notes,
        },
        "unit": result.domain.unit,
        "explained": result.explained,
        "searched": result.searched,
        "noise": {"deviation": result.noise, "kind": result.noise_kind},
        "trend": {"kind": result.trend_kind, "share": result.trend_share},
        "components": rows,
        "modes": modes_columns(result),
        "warnings": result.warnings,
        "seconds": analysis.seconds,
        "folder": None if analysis.folder is None else str(analysis.folder),
    }
