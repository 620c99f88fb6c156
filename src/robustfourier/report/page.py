"""`render`: a `Result` to one self-contained page; the only home of Jinja2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from robustfourier.formatting import (
    number,
    order_ranges,
    percent,
    probability,
    unit_name,
    with_error,
)
from robustfourier.modes import ModeTable
from robustfourier.report import page_figures
from robustfourier.report.interactive_data import SAMPLES_SENT, payload
from robustfourier.report.next_steps import Place, next_steps
from robustfourier.results import Result
from robustfourier.results.calendar_patterns import period_in_words, shape_words
from robustfourier.results.figure_axes import instant
from robustfourier.results.result_tables import fit_file

_ROWS = 12  # modes shown at once; the rest behind a click
_OTHERS = ("model.rfm", "run.json")  # files of a result folder
_PANELS = 12  # patterns with a figure, of the main ones and of the weak ones each


def render(
    result: Result,
    run: Mapping[str, Any],
    place: Place | None = None,
    tables: Sequence[tuple[str, list[str], list[list[str]]]] = (),
) -> str:
    """Render the report.

    Parameters
    ----------
    result : Result
        What to show.
    run : mapping
        How it was made: names to values, shown as they are.
    place : Place, optional
        The file and the result folder, for the commands that come next and links to other files.
    tables : sequence of (title, headings, rows)
        Tables of words, shown before that of modes.

    Returns
    -------
    str
        HTML without any outside address.
    """
    order = {pattern.label: i for i, pattern in enumerate(result.patterns)}
    main, weak = (
        [_card(result, order[pattern.label]) for pattern in part[:_PANELS]]
        for part in (result.main, result.weak)
    )
    wandering = page_figures.quasi_periodic_charts(result)
    ahead = page_figures.forecast_chart(result)
    noise = page_figures.noise_chart(result)
    charts = [chart for chart in (*wandering, ahead, noise) if chart is not None]
    unit = result.domain.unit
    page: str = template("page.html.j2").render(
        **page_figures.static_figures(result),
        result=result,
        run=run,
        main=main,
        weak=weak,
        facts=_facts(result),
        extent=_extent(result),
        rows=_rows(result),
        tables=tables,
        shown_rows=_ROWS,
        steps=page_figures.step_figures(result),
        next=next_steps(result, place),
        files=() if place is None else ("modes.csv", "components.csv", fit_file(result), *_OTHERS),
        evidence=[(words, f"{value:,.1f}") for words, value in _evidence(result)],
        wandering=wandering,
        remainder=noise,
        ahead=ahead,
        payload=Markup(payload(result, charts)),
        style=Markup(asset("vendor/uPlot.min.css") + asset("style.css")),
        scripts=[Markup(text) for text in scripts()],
        drawn={"js": SAMPLES_SENT, "nojs": page_figures.DOTS},
        above=_above(result),
        false_alarm=percent(result.spectrum.false_alarm),
        per=f" (per {unit_name(unit, plural=False)})" if unit else "",
    )
    return page


def scripts() -> tuple[str, ...]:
    """The texts of the scripts in every report, for those who allow these and no others."""
    # Its notice names an address in a comment; without the scheme no scanner takes it for one.
    uplot = asset("vendor/uPlot.iife.min.js").replace("https://", "")
    return uplot, asset("numbers.js") + asset("report.js")


@cache
def template(name: str) -> Any:
    """A template of this folder; what is shown is escaped, what is not given is an error."""
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(asset(name))


@cache
def asset(name: str) -> str:
    """The text of a file of this folder."""
    return (files("robustfourier.report") / name).read_text(encoding="utf-8")


def _card(result: Result, index: int) -> dict[str, Any]:
    """One pattern as the page shows it."""
    pattern = result.patterns[index]
    orders = order_ranges(pattern.harmonics, 6)
    if orders.endswith("…"):
        orders += f" ({len(pattern.harmonics)} in all)"
    epoch = pattern.epoch_max
    wave, link = page_figures.pattern_figures(result, index)
    return {
        "index": index,
        "pattern": pattern,
        "period": period_in_words(pattern).capitalize(),
        "exact": pattern.period_words,
        "amplitude": number(pattern.amplitude),
        "share": percent(pattern.share),
        "harmonics": orders,
        "alarm": probability(pattern.false_alarm),
        "shape": shape_words(pattern),
        "epoch": "" if epoch is None else result.axis.moment(epoch, pattern.epoch_max_error),
        "wave": wave,
        "link": link,
    }


def _facts(result: Result) -> list[tuple[str, str]]:
    noise = number(result.noise, 3)
    around = "" if result.trend_kind == "level" else " around the trend"
    facts = [
        (percent(result.explained), f"of the variation{around} repeats"),
        (noise, f"standard deviation of the noise ({result.noise_kind})"),
        (f"{len(result.samples):,}", "samples"),
        (result.domain.period_words(result.domain.span), "length of the record"),
    ]
    if result.trend_kind != "level":
        facts.insert(1, (percent(result.trend_share), "of the variance is a slow trend"))
    return facts


def _evidence(result: Result) -> tuple[tuple[str, float], ...]:
    """What the log evidence of the lines, trend and noise is the sum of; empty if unknown."""
    known = None if result.evidence is None else result.evidence.log_evidence
    return () if known is None else known.terms


def _above(result: Result) -> str:
    """Whether the spectrum of the residuals stays below its line, in a sentence."""
    peaks = result.spectrum.above()
    if result.spectrum.line is None:
        return ""
    if not len(peaks):
        return "No peak of their spectrum rises above the false-alarm line."
    period = [result.domain.period_words(float(result.domain.period(mode))) for mode in peaks[:3]]
    more = ", …" if len(peaks) > 3 else ""
    rise = "peak rises" if len(peaks) == 1 else "peaks rise"
    lines = np.asarray(result.modes.mode, np.float64)
    beside = int(sum(np.any(np.abs(lines - peak) <= 1.0) for peak in peaks))
    near = f"; {beside} of them within one mode of a fitted line" if beside else ""
    return (
        f"{len(peaks)} {rise} above the false-alarm line (periods {', '.join(period)}{more})"
        f"{near}. The evidence of the whole model kept no further line there."
    )


def _extent(result: Result) -> str:
    times = result.samples.axis
    if not result.domain.dates:
        return f"{instant(float(times[0]))} to {instant(float(times[-1]))}"
    first, last = (np.datetime_as_string(t, unit="m") for t in result.samples.times[[0, -1]])
    return f"{first.replace('T', ' ')} to {last.replace('T', ' ')}"


def _rows(result: Result) -> list[dict[str, str]]:
    """The table of modes in words; what an estimator does not know is a dash."""
    modes = result.modes

    def error(name: str, i: int) -> float | None:
        column = getattr(modes, f"{name}_error")
        return None if column is None else float(column[i])

    rows = []
    harmonic = np.ones(len(modes)) if modes.harmonic is None else np.asarray(modes.harmonic)
    order = np.lexsort((harmonic, harmonic == 0, result.owner))  # side lines last
    for i in order[np.isin(order, result.shown_modes)]:
        owner = int(result.owner[i])
        pattern = result.patterns[owner] if owner < len(result.patterns) else None
        rows.append(
            {
                "index": str(owner % 6),
                "owner": str(owner),
                "pattern": "–" if pattern is None else pattern.label,
                "label": _line_label(modes, i, "" if pattern is None else pattern.label),
                "period": result.domain.period_words(
                    float(modes.period[i]), error("period", i), spread=True
                ),
                "frequency": with_error(float(modes.frequency[i]), error("frequency", i)),
                "amplitude": with_error(float(modes.amplitude[i]), error("amplitude", i)),
                "phase": with_error(float(modes.phase[i]), error("phase", i)),
                "alarm": "–"
                if modes.false_alarm is None
                else probability(float(modes.false_alarm[i])),
            }
        )
    return rows


def _line_label(modes: ModeTable, i: int, label: str) -> str:
    """Name of a line where it is not the component's; order 0 stands beside an unsteady one."""
    if modes.label is None:
        return ""
    side = modes.harmonic is not None and modes.harmonic[i] == 0
    name = str(modes.label[i])
    return "side line" if side else "" if name == label else name
