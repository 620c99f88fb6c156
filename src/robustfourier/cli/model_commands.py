"""`robustfourier predict` and `robustfourier info`: what a saved model says."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from robustfourier.cli import help_groups as groups
from robustfourier.cli import options
from robustfourier.cli.console import Console
from robustfourier.errors import InputError
from robustfourier.fit_config import duration
from robustfourier.formatting import plural

_POINTS_AT_MOST = 10_000_000

Model = Annotated[
    str,
    typer.Argument(
        help="A model file, such as results/model.rfm, its result folder, or that of a survey."
    ),
]


@options.with_options
def predict(
    model: Model,
    *,
    at: options.Text = groups.model(None, "FILE", "File with a column of times."),
    start: options.Text = groups.model(None, "TIME", "First time (after the record).", "--from"),
    stop: options.Text = groups.model(None, "TIME", "Last time; alone: a forecast to it.", "--to"),
    every: options.Text = groups.model(
        None, "STEP", "As 1h, 30min, 1month or 0.5 (that of the record)."
    ),
    out: Path | None = groups.output(None, "FILE", "CSV file (standard output).", *groups.OUT),
    time: options.Text = options.TIME,
    time_format: str = options.TIME_FORMAT,
    timezone: options.Text = options.TIMEZONE,
    console: Console,
) -> None:
    """Evaluate a saved model at given times, or forecast.

    At the times of a file (--at), on a grid (--from, --to, --every), or after the end of its
    record (--to alone). Of a survey that was made with --models, each series is evaluated.
    """
    if out is not None:
        from robustfourier.atomic_files import refuse_inputs

        refuse_inputs(out, model, at)
    if (at is None) == (start is None and stop is None and every is None):
        raise InputError("give either --at FILE, or --to (with --from and --every, or without)")
    if at is None and stop is None:
        raise InputError("--from and --every need --to, the last time; give it too")
    reading = {"time": time, "time_format": time_format, "timezone": timezone}
    asked = _Times(at, start, stop, every, reading)
    table = _of_survey(model, asked) if is_survey_folder(model) else asked.table(model_file(model))
    if console.as_json:
        console.json({name: table[name].tolist() for name in table})
    elif out is not None:
        from robustfourier.analysis.table_files import write_csv

        write_csv(table, out)
        console.print(f"{len(table):,} predictions: {out}")
    else:
        table.to_csv(sys.stdout, index=False, lineterminator="\n")


@dataclass(frozen=True)
class _Times:
    """The times that are asked for: those of a file, or a grid."""

    at: str | None
    start: str | None
    stop: str | None
    every: str | None
    reading: dict[str, Any]

    def table(self, file: str) -> Any:
        """Predictions of a model file there."""
        from robustfourier.analysis.predicting import needed_columns, predictions
        from robustfourier.analysis.regressor_columns import future_regressors
        from robustfourier.analysis.table_files import prediction_table
        from robustfourier.persistence import load

        fitted = load(file)
        samples, names = self._of(fitted), needed_columns(fitted)
        if names and self.at is None:
            raise InputError(
                f"the model was fitted --with {','.join(names)} and needs their values at each "
                "time; give --at FILE with a column of times and these"
            )
        beside = None
        if self.at is not None:
            beside = future_regressors(samples, self.at, names, **self.reading)
        return prediction_table(samples, *predictions(fitted, samples, beside))

    def _of(self, fitted: Any) -> Any:
        from robustfourier.analysis.predicting import grid_samples, next_time
        from robustfourier.estimators.calendar_steps import CalendarStep
        from robustfourier.samples import read_times

        if self.at is not None:
            return read_times(self.at, **self.reading)
        domain = fitted.domains_[0]
        dates, zone = domain.dates, domain.timezone
        first, step = next_time(fitted, needed=self.start is None or self.every is None)
        if self.start is not None:
            first = options.instant(self.start, dates, zone, "--from")
        last = options.instant(str(self.stop), dates, zone, "--to", end=True)
        if self.every is not None:
            named = CalendarStep.from_text(self.every, first.day) if dates else None
            step = named or duration(self.every, domain.unit, "--every")
        return grid_samples(first, last, step, domain, _POINTS_AT_MOST)


def is_survey_folder(folder: str) -> bool:
    """Whether a folder holds a finished survey."""
    if not Path(folder).is_dir():
        return False
    from robustfourier.result_folders import SURVEY

    return SURVEY.own(Path(folder)) is not None


def _of_survey(folder: str, asked: _Times) -> Any:
    """Predictions of all models of a survey, one below the other, with the id of the series."""
    import pandas as pd

    from robustfourier.many.survey_folder import model_files

    found = []
    for name, file in model_files(Path(folder)):
        table = asked.table(str(file))
        table.insert(0, "id", name)
        found.append(table)
    return pd.concat(found, ignore_index=True)


def model_file(model: str) -> str:
    """The model file; that of a result folder if one is given."""
    return str(Path(model) / "model.rfm") if Path(model).is_dir() else model


@options.with_options
def info(model: Model, *, console: Console) -> None:
    """Print what a model file holds."""
    from robustfourier.persistence import describe, load

    file = model_file(model)
    about = describe(file)
    fitted = load(file)
    domain, components = fitted.domains_[0], getattr(fitted, "components_", ())
    content: dict[str, Any] = {
        **about,
        "unit": domain.unit,
        "span": domain.span,
        "dates": domain.dates,
        "timezone": domain.timezone,
        "parameters": fitted.get_params(deep=False),
        "components": [
            {"label": c.label, "period": c.period, "period_error": c.period_error, "share": c.share}
            for c in components
        ],
        "modes": len(fitted.modes_),
    }
    if console.as_json:
        console.json(content)
        return
    from robustfourier.estimators.components import in_words

    console.print(
        f"{about['model']}, saved by robustfourier {about['package']} "
        f"(format {about['format']}, {about['bytes']:,} bytes of arrays)",
        style="bold",
    )
    console.print(
        f"Record of {domain.period_words(domain.span)}; {plural(len(fitted.modes_), 'mode')}"
    )
    rows = [in_words(component) for component in components]
    if rows:
        heads = [("", "left"), ("Period", "right"), ("Share", "right")]
        console.table(heads, [(row["label"], row["period"], row["share"]) for row in rows])
    for name, value in content["parameters"].items():
        console.detail(f"{name} = {value!r}")
