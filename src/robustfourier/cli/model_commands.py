"""`robustfourier predict` and `robustfourier info`: what a saved model says."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from robustfourier.cli import options
from robustfourier.cli.console import Console
from robustfourier.errors import InputError
from robustfourier.formatting import duration, plural

if TYPE_CHECKING:
    from robustfourier.samples import Samples

_POINTS_AT_MOST = 10_000_000

Model = Annotated[
    str, typer.Argument(help="A model file, such as results/model.rfm, or its result folder.")
]


@options.expanded
def predict(
    model: Model,
    *,
    at: Annotated[str | None, typer.Option(help="File with a column of times.")] = None,
    start: Annotated[
        str | None, typer.Option("--from", help="First time; after the record if not given.")
    ] = None,
    stop: Annotated[
        str | None, typer.Option("--to", help="Last time; alone it asks for a forecast up to it.")
    ] = None,
    every: Annotated[
        str | None,
        typer.Option(
            help="Step, such as 1h, 30min, 1month or 0.5; that of the record if not given."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="CSV file; standard output if not given.")
    ] = None,
    time: options.Time = None,
    time_format: options.TimeFormat = "auto",
    timezone: options.Timezone = None,
    console: Console,
) -> None:
    """Evaluate a saved model: at the times of a file, on a grid, or after the end of its record.

    That is --at FILE; --from, --to and --every; or --to alone.
    """
    from robustfourier.analysis.csv_files import prediction_table, write_csv
    from robustfourier.analysis.predicting import needed_columns, predictions
    from robustfourier.analysis.regressor_columns import read_regressors
    from robustfourier.atomic_files import refuse_inputs
    from robustfourier.persistence import load
    from robustfourier.samples import read_times

    if out is not None:
        refuse_inputs(out, model, at)
    if (at is None) == (start is None and stop is None and every is None):
        raise InputError("give either --at FILE, or --to (with --from and --every, or without)")
    fitted = load(model_file(model))
    reading = options.reading_options(time=time, time_format=time_format, timezone=timezone)
    samples = _grid(fitted, start, stop, every) if at is None else read_times(at, **reading)
    names = needed_columns(fitted)
    if names and at is None:
        raise InputError(
            f"the model needs {', '.join(names)}; give --at FILE with a column of times and these"
        )
    beside = read_regressors(at, names, samples, reading) if at is not None else None
    table = prediction_table(samples, *predictions(fitted, samples, beside))
    if console.as_json:
        console.json({name: table[name].tolist() for name in table})
    elif out is not None:
        write_csv(table, out)
        console.say(f"{len(table):,} predictions: {out}")
    else:
        table.to_csv(sys.stdout, index=False, lineterminator="\n")


def _grid(fitted: Any, start: str | None, stop: str | None, every: str | None) -> Samples:
    """Times from --from to --to; what is not given is that of the record."""
    from robustfourier.analysis.predicting import grid_samples, next_time
    from robustfourier.estimators.calendar_steps import CalendarStep

    if stop is None:
        raise InputError("--from and --every need --to, the last time; give it too")
    domain = fitted.domains_[0]
    zone = domain.timezone
    first, step = next_time(fitted, needed=start is None or every is None)
    first = first if start is None else options.instant(start, domain.dates, zone, "--from")
    last = options.instant(stop, domain.dates, zone, "--to", end=True)
    if every is not None:
        named = CalendarStep.from_text(every, first.day) if domain.dates else None
        step = named or duration(every, domain.unit, "--every")
    return grid_samples(first, last, step, domain, _POINTS_AT_MOST)


def model_file(model: str) -> str:
    """The model file; that of a result folder if one is given."""
    return str(Path(model) / "model.rfm") if Path(model).is_dir() else model


@options.expanded
def info(
    model: Model,
    *,
    console: Console,
) -> None:
    """Say what a model file holds."""
    from robustfourier.persistence import describe, load

    file = model_file(model)
    about = describe(file)
    fitted = load(file)
    domain = fitted.domains_[0]
    content: dict[str, Any] = {
        **about,
        "unit": domain.unit,
        "span": domain.span,
        "dates": domain.dates,
        "timezone": domain.timezone,
        "parameters": fitted.get_params(deep=False),
        "components": [
            {"label": c.label, "period": c.period, "period_error": c.period_error, "share": c.share}
            for c in getattr(fitted, "components_", ())
        ],
        "modes": len(fitted.modes_),
    }
    if console.as_json:
        console.json(content)
        return
    import numpy as np

    from robustfourier.formatting import percent

    console.say(
        f"{about['model']}, saved by robustfourier {about['package']} "
        f"(format {about['format']}, {about['bytes']:,} bytes of arrays)",
        style="bold",
    )
    console.say(
        f"Record of {domain.period_words(domain.span)}; {plural(len(fitted.modes_), 'mode')}"
    )
    rows = [
        (
            c.label,
            domain.period_words(c.period, c.period_error, spread=True),
            ", ".join(percent(share) for share in np.ravel(c.share).tolist()),
        )
        for c in getattr(fitted, "components_", ())
    ]
    if rows:
        console.table([("", "left"), ("Period", "right"), ("Share", "right")], rows)
    for name, value in content["parameters"].items():
        console.detail(f"{name} = {value!r}")
