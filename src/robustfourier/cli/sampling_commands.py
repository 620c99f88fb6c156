"""`robustfourier check` and `robustfourier inject`: what a record can show."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robustfourier.cli import help_groups as groups
from robustfourier.cli import options
from robustfourier.cli.console import Console
from robustfourier.cli.fit_command import print_taken
from robustfourier.errors import InputError
from robustfourier.fit_config import FitConfig

if TYPE_CHECKING:
    from robustfourier.domain import Domain
    from robustfourier.sampling import Completeness, Sampling

_SIGNS = {"good": "✓", "note": "·", "warning": "!"}


@options.with_options
def check(
    file: options.File,
    *,
    reading: dict[str, Any],
    out: Path | None = groups.output(None, "FILE", "Spectral window, as png or svg.", *groups.OUT),
    console: Console,
) -> None:
    """Print which periods a sampling can show: limits, gaps, aliases."""
    _check_ending(out)
    from robustfourier.atomic_files import refuse_inputs
    from robustfourier.samples import read_samples

    file = options.located(file)
    if out is not None:
        refuse_inputs(out, file)
    samples = read_samples(file, **reading)
    from robustfourier.sampling import check_sampling

    quality = check_sampling(samples)
    if out is not None:
        from robustfourier.plots import plot_window
        from robustfourier.plots.figure_files import save_as

        save_as([out], (9.0, 2.8), lambda f: plot_window(quality, ax=f.add_subplot()))
    if console.as_json:
        console.json(_sampling_answer(quality))
        return
    print_taken(console, samples)
    console.print()
    for finding in quality.findings:
        style = {"warning": "yellow", "good": "green"}.get(finding.level)
        console.print(f"{_SIGNS[finding.level]} {finding.text}", style=style)
    console.detail(f"highest frequency by {quality.rule}")
    if out is not None:
        console.print(f"Spectral window: {out}")


@options.with_options
def inject(
    file: options.File,
    *,
    reading: dict[str, Any],
    out: Path | None = groups.output(None, "FOLDER", "For completeness.csv and .png.", *groups.OUT),
    periods: int = groups.search(6, "COUNT", "Number of periods (6).", min=1, max=100),
    amplitude: list[float] | None = groups.search(None, "SIZE", "To plant; may be repeated."),
    trials: int = groups.search(4, "COUNT", "Tones per cell (4).", min=1, max=1000),
    search_config: FitConfig,
    console: Console,
) -> None:
    """Plant known tones into a record, and print which are found."""
    if amplitude and min(amplitude) <= 0:
        raise InputError(f"--amplitude {min(amplitude)} must be positive")
    from robustfourier.atomic_files import refuse_inputs
    from robustfourier.samples import read_samples

    file = options.located(file)
    if out is not None:
        for name in ("completeness.csv", "completeness.png"):
            refuse_inputs(out / name, file)
    samples = read_samples(file, **reading)
    from robustfourier.analysis import fit_model
    from robustfourier.analysis.table_files import completeness_table, write_csv
    from robustfourier.sampling import measure_completeness

    model = fit_model(samples, **search_config.choices)
    domain = model.domains_[0]
    with console.progress("planting tones") as observe:
        found = measure_completeness(
            model,
            samples,
            n_periods=periods,
            amplitudes=amplitude,
            trials=trials,
            random_state=search_config.seed,
            observe=observe,
        )
    if out is not None:
        from robustfourier.plots import plot_completeness
        from robustfourier.plots.figure_files import save_as

        out.mkdir(parents=True, exist_ok=True)
        write_csv(completeness_table(found), out / "completeness.csv")
        drawing = partial(plot_completeness, found, domain)
        paths = [out / "completeness.png"]
        save_as(paths, (7.0, 4.0), lambda f: drawing(ax=f.add_subplot()))
    if console.as_json:
        console.json(_completeness_answer(found, domain.unit))
        return
    print_taken(console, samples)
    console.print()
    _print_completeness(console, found, domain)
    if out is not None:
        console.print(f"Written: {out / 'completeness.csv'}, {out / 'completeness.png'}")


def _sampling_answer(quality: Sampling) -> dict[str, Any]:
    """The answer for scripts."""
    domain, window = quality.domain, quality.window
    names = ("step", "even", "filled", "resolution", "longest_period", "shortest_period", "rule")
    return {
        **{"samples": quality.n, "unit": domain.unit, "span": domain.span},
        **{name: getattr(quality, name.removesuffix("_period")) for name in names},
        "gaps": [{"start": str(gap.start), "length": gap.length} for gap in quality.gaps],
        "window": {"frequency": domain.frequency(window.peak_mode), "height": window.peak_height},
        "findings": [{"level": f.level, "text": f.text} for f in quality.findings],
    }


def _completeness_answer(found: Completeness, unit: str) -> dict[str, Any]:
    """The answer for scripts."""
    return {
        "unit": unit,
        "period": found.period,
        "amplitude": found.amplitude,
        "found": found.found,
        "trials": found.trials,
        "false_modes_per_trial": found.false_modes,
        "amplitude_for_half": found.amplitude_for(0.5),
        "amplitude_for_90_percent": found.amplitude_for(0.9),
    }


def _print_completeness(console: Console, found: Completeness, domain: Domain) -> None:
    from robustfourier.formatting import number

    console.print(
        f"Share of planted tones found ({found.trials} per cell), by period and amplitude",
        style="bold",
    )
    enough = found.amplitude_for(0.9)
    rows = [
        (
            domain.period_words(float(found.period[i])),
            *(f"{100 * share:.0f} %" for share in found.found[i]),
            number(float(enough[i]), 3),
        )
        for i in range(len(found.mode))
    ]
    heads = [(number(float(a), 3), "right") for a in found.amplitude]
    console.table([("Period", "right"), *heads, ("90 % found from", "right")], rows)
    console.print(f"Modes found elsewhere: {number(found.false_modes, 2)} per trial")


def _check_ending(out: Path | None) -> None:
    if out is not None and out.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise InputError(f"--out {str(out)!r} must end with .png, .svg or .pdf")
