"""`robustfourier check` and `robustfourier inject`: what a record can show."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from robustfourier.cli import help_groups as groups
from robustfourier.cli import options
from robustfourier.cli.console import Console
from robustfourier.cli.fit_command import print_taken
from robustfourier.errors import InputError

if TYPE_CHECKING:
    from robustfourier.domain import Domain
    from robustfourier.sampling import Completeness, Sampling

_SIGNS = {"good": "✓", "note": "·", "warning": "!"}


@options.expanded
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
        from robustfourier.plots.figure_files import save_window

        save_window(quality, out)
    if console.as_json:
        console.json(_sampling_answer(quality))
        return
    print_taken(console, samples)
    console.say()
    for finding in quality.findings:
        style = {"warning": "yellow", "good": "green"}.get(finding.level)
        console.say(f"{_SIGNS[finding.level]} {finding.text}", style=style)
    console.detail(f"highest frequency by {quality.rule}")
    if out is not None:
        console.say(f"Spectral window: {out}")


@options.expanded
def inject(
    file: options.File,
    *,
    reading: dict[str, Any],
    out: Path | None = groups.output(None, "FOLDER", "For completeness.csv and .png.", *groups.OUT),
    periods: int = groups.search(6, "COUNT", "Number of periods (6).", min=1, max=100),
    amplitude: list[float] | None = groups.search(None, "SIZE", "To plant; may be repeated."),
    trials: int = groups.search(4, "COUNT", "Tones per cell (4).", min=1, max=1000),
    false_alarm: float = options.FALSE_ALARM,
    seed: int = options.SEED,
    console: Console,
) -> None:
    """Plant known tones into a record, and print which are found."""
    if not 0 < false_alarm < 1:
        raise InputError(f"--false-alarm {false_alarm} must lie between 0 and 1, such as 0.01")
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
    from robustfourier.analysis.tables import completeness_table, write_csv
    from robustfourier.sampling import measure_completeness

    model = fit_model(samples, false_alarm=false_alarm, random_state=seed)
    domain = model.domains_[0]
    with console.progress("planting tones") as observe:
        found = measure_completeness(
            model,
            samples,
            n_periods=periods,
            amplitudes=amplitude,
            trials=trials,
            random_state=seed,
            observe=observe,
        )
    if out is not None:
        from robustfourier.plots.figure_files import save_completeness

        out.mkdir(parents=True, exist_ok=True)
        write_csv(completeness_table(found), out / "completeness.csv")
        save_completeness(found, out / "completeness.png", domain)
    if console.as_json:
        console.json(_completeness_answer(found, domain.unit))
        return
    print_taken(console, samples)
    console.say()
    _print_completeness(console, found, domain)
    if out is not None:
        console.say(f"Written: {out / 'completeness.csv'}, {out / 'completeness.png'}")


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

    console.say(
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
    console.say(f"Modes found elsewhere: {number(found.false_modes, 2)} per trial")


def _check_ending(out: Path | None) -> None:
    if out is not None and out.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise InputError(f"--out {str(out)!r} must end with .png, .svg or .pdf")
