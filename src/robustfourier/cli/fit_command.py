"""`robustfourier fit`: the answer on the screen, and a folder with everything."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robustfourier.cli import fit_many_command as many
from robustfourier.cli import help_groups as groups
from robustfourier.cli import options
from robustfourier.cli.band_command import fit_bands
from robustfourier.cli.console import Console
from robustfourier.cli.help_groups import MANY, OUT, OUTPUT, READING, flag
from robustfourier.errors import InputError, require_choice
from robustfourier.fit_config import FitConfig
from robustfourier.observers import observed_by

if TYPE_CHECKING:
    from robustfourier.analysis import Analysis
    from robustfourier.results import Result
    from robustfourier.samples import Samples

# Bytes of a file that is read in chunks: some 3 million rows of text. A fit in memory takes about
# 1 kB for each row.
_LONG_FILE = 100_000_000
_ENDINGS = (
    *(".gz", ".bz2", ".xz", ".zip", ".csv", ".tsv", ".txt", ".dat", ".asc", ".json", ".jsonl"),
    *(".parquet", ".pq", ".feather", ".xlsx", ".fits", ".vot", ".nc", ".mat", ".wav"),
)
SCHEMA = 4  # of the answer for scripts: 4 names a line of any field in `name`, and has `tide`
_LEFT = ("Component", "Harmonics", "Name", "Maximum", "Minimum", "Highest")
_HEADS = {"Component": "", "Name": ""}


@options.with_options
def fit(
    files: options.Files,
    *,
    reading: dict[str, Any],
    out: Path | None = groups.output(None, "FOLDER", "Result folder (FILE-results).", *OUT),
    overwrite: bool = options.OVERWRITE,
    dry: bool = flag(OUTPUT, "Print only, write nothing.", "--no-files"),
    method: str = groups.model("mixture", "WORD", "mixture (usual), or the paper's network."),
    config: FitConfig,
    modes: int = groups.model(100, "COUNT", "Highest mode of the network (100).", min=1),
    steps: int = groups.model(50_000, "COUNT", "Training steps of the network (50000).", min=1),
    figures: str = groups.output("png,svg", "ENDINGS", "Of the figures: png, svg, pdf (png,svg)."),
    magnitudes: bool = flag(READING, "The values are magnitudes: small is bright.", "--magnitudes"),
    show: str = groups.output("auto", "WORD", "period, frequency, or auto (by unit and length)."),
    envelope: options.Text = groups.machines(
        None, "LOW-HIGH", "Fit the envelope of a band in Hz, or auto."
    ),
    machine: Any,
    horizon: Any,
    together: bool = many.TOGETHER,
    parts: bool = flag(MANY, "The files of a folder are parts of one record.", "--parts"),
    band: options.Text = groups.reading(None, "COLUMN", "Column of bands that share one period."),
    jobs: int | None = many.JOBS,
    console: Console,
) -> None:
    """Find the repeating patterns in a file, and write a report.

    Several files, a folder, --value all, --value a,b and --by column mean many series, with
    an index of reports; see fit-many. A folder with --parts is one record, which may be larger
    than memory.
    """
    require_choice("--method", method, ("mixture", "network"))
    require_choice("--show", show, ("auto", "period", "frequency"))
    formats = _formats(figures)
    if band is not None:
        fit_bands(files, band, reading, config, None if dry else out, overwrite, console)
        return
    _check_parts(files, parts)
    wide, reading = many.with_series(files, reading)
    if not parts and many.is_survey(files, reading, together):
        _check_others(config, horizon, alone=False)
        out = _survey_folder(files, out, config, dry or method == "network", wide)
        how = {"overwrite": overwrite, "together": together, "jobs": jobs, "out": out}
        many.fit_survey(files, reading, console, config=config, wide=wide, **how)
        return
    file = options.located(files[0])
    chunks = method == "mixture" and _in_chunks(file)
    _check_columns(files[0], reading, config, chunks)
    _check_others(config, horizon, alone=method == "mixture" and not chunks)
    _fit_one(
        *(file, console, show),
        out=None if dry else (out or default_folder(file)),
        method=method,
        reading=reading,
        parameters=_parameters(method, config, chunks, reading, n_modes=modes, n_steps=steps),
        regressors=config.columns,
        horizon=horizon,
        chunks=chunks,
        overwrite=overwrite,
        formats=formats,
        magnitudes=magnitudes or None,
        called=files[0],
        envelope=envelope,
        machine=machine,
    )


def _check_others(config: FitConfig, horizon: Any, alone: bool) -> None:
    """Refuse other columns and a horizon where they cannot be: beside many series, say."""
    if not alone and (config.columns or config.holidays or horizon is not None):
        raise InputError(
            "--with, --holidays and --horizon go with one series that fits into memory, and with "
            "--method mixture"
        )
    if horizon is not None and config.columns:
        raise InputError(
            f"--horizon {horizon} needs {', '.join(config.columns)} after the record; fit without "
            "it, then robustfourier predict FOLDER --at FILE with these columns"
        )


def _check_parts(files: list[str], parts: bool) -> None:
    if parts and (len(files) > 1 or not Path(files[0]).is_dir()):
        raise InputError(
            f"--parts {files[0]!r} takes one folder, whose files are parts of a record"
        )


def _parameters(
    method: str, config: FitConfig, chunks: bool, reading: dict[str, Any], **network: int
) -> Any:
    """Parameters of the estimator, or the function of the samples that makes them."""
    if method == "network":
        return {**network, "random_state": config.seed}
    return config.choices if chunks else partial(_with_units, config, reading.get("unit"))


def _with_units(config: FitConfig, unit: str | None, samples: Samples) -> dict[str, Any]:
    """The parameters; of dates, a length without a unit may mean hours or days: it is refused."""
    for option, text in config.lengths if samples.dates and unit is None else ():
        if text.strip().replace(".", "", 1).isdigit():
            raise InputError(
                f"{option} {text!r}: the times are dates; give a unit, such as {text}h or {text}d"
            )
    return config.parameters(samples)


def _fit_one(file: Any, console: Console, show: str, **asked: Any) -> None:
    """Analyse a file, its stages on a bar; what was found is printed before files are written."""
    from robustfourier.analysis import analyse

    with console.stages() as observe, observed_by(observe):
        analysis = analyse(file, ready=lambda found: print_found(console, found, show), **asked)
    print_end(console, analysis)


def _survey_folder(
    files: list[str], out: Path | None, config: FitConfig, only_series: bool, wide: bool
) -> Path:
    """The folder for many series; refuses what makes sense for one series only."""
    if out is None and Path(files[0]).is_dir():
        out = Path(f"{Path(files[0]).resolve().name or 'survey'}-results")
    if out is None and wide:
        out = default_folder(files[0])
    if only_series or replace(config, period=()).lengths or out is None:
        raise InputError(
            "many series need --out FOLDER, and go without --method network, --no-files, "
            "and all that names periods but --period"
        )
    return out


def _check_columns(called: str, reading: dict[str, Any], config: FitConfig, chunks: bool) -> None:
    """Refuse what cannot be read, before what takes seconds to load."""
    if not chunks:
        from robustfourier.samples import check_columns

        check_columns(options.located(called), **reading)
    elif config.lengths:
        raise InputError(
            f"{called!r} is read in chunks, without options that name periods; "
            "use fit_large with max_frequency and periods in Python"
        )


def _in_chunks(file: str) -> bool:
    """Whether a record is a folder of parts, or too long to be fitted in memory."""
    path = Path(file)
    return path.is_dir() or (path.is_file() and path.stat().st_size > _LONG_FILE)


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


def print_found(console: Console, analysis: Analysis, show: str = "auto") -> None:
    """Print what was taken and what was found; figures and report may take longer than both."""
    from robustfourier.analysis.table_files import colour_words, tide, tide_words
    from robustfourier.formatting import number, percent

    result = analysis.result
    print_taken(console, result.samples)
    console.print()
    console.print(_headline(result, show), style="bold")
    _print_components(console, result, show, written=analysis.folder is not None)
    if len(constants := tide(result, analysis.model)):
        heads, rows = tide_words(constants)
        console.table([(head, "right" if i else "left") for i, head in enumerate(heads)], rows)
    drift = {"slope": "level and slope", "smooth": "slow drift"}.get(result.trend_kind, "level")
    console.print(
        f"Noise {number(result.noise, 3)} ({result.noise_kind}); trend: {drift}"
        + (f", {percent(result.trend_share)} of the variance" if drift != "level" else "")
    )
    if analysis.colour is not None:
        console.print(f"What is left over: {colour_words(analysis.colour, result)}")
    effects = getattr(analysis.model, "regressors_", None)
    for words in () if effects is None else effects.sentences():
        console.print(words[0].upper() + words[1:])
    if result.searched_words:
        console.print(result.searched_words)
    for remark in result.remarks:
        console.print(remark)
    for warning in result.warnings:
        console.warn(warning)
    for note in getattr(analysis.model, "notes_", ()):
        console.detail(f"note: {note}")


def print_end(console: Console, analysis: Analysis) -> None:
    """Print how long it took, and where the rest is; or the answer for scripts."""
    if console.as_json:
        console.json(answer(analysis))
        return
    console.detail("seconds: " + ", ".join(f"{k} {v:.2f}" for k, v in analysis.seconds.items()))
    if analysis.folder is not None:
        console.print()
        console.print(f"Report: {analysis.folder / 'report.html'}")


def print_taken(console: Console, samples: Samples) -> None:
    """Say which columns were taken and what was left out."""
    from robustfourier.formatting import plural

    taken = f"time {samples.time_name!r}, value {samples.value_name!r}"
    if samples.error_name is not None:
        taken += f", error {samples.error_name!r}"
    console.print(f"{samples.source}: {plural(len(samples), 'sample')} ({taken})")
    for words in (*samples.counts.words(), *samples.notes):
        console.print(f"  {words}")


def _headline(result: Result, show: str) -> str:
    """The sentence of the result, with periods or frequencies as asked."""
    if show == "auto" or not result.patterns:
        return result.headline
    return result.headline_by(show == "frequency")


def _print_components(console: Console, result: Result, show: str, written: bool) -> None:
    """The table of components in two parts, each as wide as a terminal; empty columns are none."""
    from robustfourier.results.result_tables import component_words

    if not result.patterns:
        return
    rows = component_words(result, result.main)
    first, second = "Period", "Frequency"
    if show == "frequency" or (show == "auto" and result.patterns[0].is_signal):
        first, second = second, first
    for heads in (
        ("Component", first, "Amplitude", "Share", "Harmonics", "False alarm", "SNR", "Name"),
        ("Component", second, "Maximum", "Minimum", "Highest", "Coherence"),
    ):
        shown = [head for head in heads if any(row[head] for row in rows)]
        sides = [(_HEADS.get(head, head), "left" if head in _LEFT else "right") for head in shown]
        console.table(sides, [[row[head] for head in shown] for row in rows])
    if result.weak:
        console.print(f"… {result.weak_words}{': see components.csv' if written else ''}")


def _table_rows(result: Result) -> list[dict[str, Any]]:
    """The rows of components.csv; orders of harmonics as a list, times as text."""
    from robustfourier.estimators.components import COLUMNS

    rows = [{name: getattr(one, name) for name in COLUMNS} for one in result.patterns]
    for row in rows:
        times = {name: row[name] for name in ("epoch_max", "epoch_min")}
        row |= {k: v if isinstance(v, float | None) else str(v) for k, v in times.items()}
    return rows


def _colour(analysis: Analysis) -> dict[str, float]:
    """The colour of what is left over, where it is not white."""
    colour = analysis.colour
    if colour is None:
        return {}
    return {name: getattr(colour, name) for name in ("coefficient", "exponent", "knee", "step")}


def answer(analysis: Analysis) -> dict[str, Any]:
    """The answer for scripts."""
    from dataclasses import asdict

    from robustfourier.analysis.table_files import tide
    from robustfourier.results.result_tables import modes_columns

    result = analysis.result
    samples = result.samples
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
        "noise": {"deviation": result.noise, "kind": result.noise_kind, **_colour(analysis)},
        "trend": {"kind": result.trend_kind, "share": result.trend_share},
        "components": _table_rows(result),
        "tide": tide(result, analysis.model).to_dict("records"),
        "modes": modes_columns(result),
        "warnings": result.warnings,
        "remarks": result.remarks,
        "seconds": analysis.seconds,
        "folder": None if analysis.folder is None else str(analysis.folder),
    }
