"""`robustfourier fit-many`, and `fit` where it is given many series: a folder with a survey."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from robustfourier.cli import help_groups as groups
from robustfourier.cli import options
from robustfourier.cli.console import Console
from robustfourier.cli.help_groups import OUT, OUTPUT
from robustfourier.fit_config import FitConfig

if TYPE_CHECKING:
    from robustfourier.many import Progress, Survey

PARTIAL = 1  # exit code: some series could not be fitted
_SHOWN = 5  # failures that are named on the screen; all are in series.csv

TOGETHER = groups.flag(groups.MANY, "Fit the value columns with shared periods.", "--together")
JOBS = groups.many(None, "COUNT", "Processes (one per core).", min=1)


def is_survey(files: Sequence[str], reading: dict[str, Any], together: bool) -> bool:
    """Whether what was given holds many series."""
    value = reading.get("value") or ""
    told_apart = any("=" not in text for text in reading.get("by", ()))
    several = len(files) > 1 or any(Path(file).is_dir() for file in files)
    return several or value == "all" or "," in value or told_apart or together


def with_series(files: Sequence[str], reading: dict[str, Any]) -> tuple[bool, dict[str, Any]]:
    """Whether this is one wide table, and how it is read: by the column that tells series apart."""
    if len(files) != 1 or "by" in reading or not Path(files[0]).is_file():
        return False, reading
    from robustfourier.samples import series_column

    column = series_column(files[0], **{k: v for k, v in reading.items() if k != "value"})
    if column is None:
        return False, reading
    # Replicates are measurements of their own, which say how large the noise is.
    return True, {"duplicates": "keep", **reading, "by": (column,)}


@options.with_options
def fit_many(
    source: Annotated[
        list[str],
        typer.Argument(
            callback=options.nonempty,
            help="Files, folders of files, or with --by a long table of any size.",
        ),
    ],
    *,
    reading: dict[str, Any],
    out: Path = groups.output(..., "FOLDER", "Folder of results.", *OUT),
    overwrite: bool = options.OVERWRITE,
    together: bool = TOGETHER,
    engine: str = groups.many("processes", "WORD", "processes (usual), serial or dask."),
    jobs: int | None = JOBS,
    scheduler: options.Text = groups.many(None, "ADDRESS", "Dask scheduler, as tcp://host:8786."),
    patience: float = groups.many(600.0, "SECONDS", "Without progress, then give up (600)."),
    models: bool = groups.flag(OUTPUT, "Write a model file for each series.", "--models"),
    reports: str = groups.output("auto", "WORD", "Pages: all, found (a pattern), none, or auto."),
    forecast: options.Text = groups.many(
        None, "LENGTH", "Forecast each series so far, such as 30d or 12 steps."
    ),
    survey_config: FitConfig,
    console: Console,
) -> None:
    """Find the repeating patterns of many series.

    A run that was interrupted continues where it stopped.
    """
    wide, reading = with_series(source, reading)
    fit_survey(
        source,
        reading,
        console,
        wide=wide,
        out=out,
        overwrite=overwrite,
        together=together,
        engine="dask" if scheduler and engine == "processes" else engine,
        address=scheduler,
        jobs=jobs,
        patience=patience,
        models=models,
        reports=reports,
        forecast=int(forecast) if forecast and forecast.strip().isdigit() else forecast,
        config=survey_config,
    )


def fit_survey(
    files: Sequence[str],
    reading: dict[str, Any],
    console: Console,
    *,
    config: FitConfig,
    wide: bool = False,
    **how: Any,
) -> None:
    """Fit many series and print what came out; ends with exit code 1 if some could not be."""
    if wide:
        console.print(f"{files[0]}: a wide table: each row is a series, each column a time")
    from robustfourier.many import fit_many as fit_all

    with console.progress("series") as bar:
        survey = fit_all(
            [options.located(file) for file in files],
            **options.series_options(reading),
            observe=lambda progress: bar(progress.done, progress.total, words(progress)),
            false_alarm=config.false_alarm,
            loss=config.loss,
            scale=config.scale,
            seed=config.seed,
            period=list(config.period) or None,
            **how,
        )
    if console.as_json:
        console.json(answer(survey))
    else:
        _print(console, survey)
    if len(survey.failed):
        raise typer.Exit(PARTIAL)


def words(progress: Progress) -> str:
    """Rate and time left, in words.

    Examples
    --------
    >>> from robustfourier.many import Progress
    >>> words(Progress(10, 100, 1, 2.5, 36.0))
    'series, 2.5 per second, 36 s left, 1 not fitted'
    """
    if not progress.rate:
        return "series"
    left = progress.left
    units = ((86400.0, "d"), (3600.0, "h"), (60.0, "min"))
    length = next((f"{left / n:.1f} {name}" for n, name in units if left > 2 * n), f"{left:.0f} s")
    failed = f", {progress.failed:,} not fitted" if progress.failed else ""
    return f"series, {progress.rate:.3g} per second, {length} left{failed}"


def _print(console: Console, survey: Survey) -> None:
    series = survey.series
    found = int((series["patterns"] > 0).sum())
    sure = int((series["q_value"] <= 0.05).sum())
    console.print(
        f"{len(series):,} series: {found:,} with a pattern, {sure:,} of them at q ≤ 0.05",
        style="bold",
    )
    failed = survey.failed
    if len(failed):
        console.warn(f"{len(failed):,} could not be fitted:")
        for row in failed.head(_SHOWN).to_dict("records"):
            console.warn(f"  {row['id']}: {row['status']}: {row['message']}")
        if len(failed) > _SHOWN:
            console.warn(f"  … and {len(failed) - _SHOWN:,} more, see series.csv")
    ahead = ", forecasts.csv" if len(survey.forecasts) else ""
    console.print(f"Tables: {survey.folder / 'series.csv'}, patterns.csv{ahead}, and as Parquet")
    console.print(f"Index: {survey.folder / 'index.html'}")


def answer(survey: Survey) -> dict[str, Any]:
    """The answer for scripts."""
    series, failed = survey.series, survey.failed
    return {
        "folder": str(survey.folder),
        "series": len(series),
        "with_pattern": int((series["patterns"] > 0).sum()),
        "with_q_below_0.05": int((series["q_value"] <= 0.05).sum()),
        "patterns": len(survey.patterns),
        "forecasts": len(survey.forecasts),
        "failed": failed[["id", "status", "message"]].to_dict("records"),
        "seconds": survey.seconds,
    }
