import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from tests.altered import altered

from robustfourier.plots.figure_files import save_figures
from robustfourier.report import render
from robustfourier.report.interactive_data import payload
from robustfourier.report.page_figures import static_figures
from robustfourier.results import summarise
from robustfourier.results.patterns import is_magnitude

RUN = {"Estimator": "PeriodicMixture", "Seed": "0"}
HOSTILE = (
    "</script><script>alert('x')</script><img src=x onerror=alert(1)>$5 \\frac{ {{7*7}} =cmd()"
)


class Outline(HTMLParser):
    """Tags with their attributes, and the text between them."""

    def __init__(self, page):
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.text: list[str] = []
        self.inside: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.inside.append(tag)

    def handle_endtag(self, tag):
        while self.inside and self.inside.pop() != tag:
            pass

    def handle_data(self, data):
        if not {"script", "style"} & set(self.inside):
            self.text.append(data)


@pytest.fixture(scope="module")
def page(small_result):
    return render(small_result, RUN)


def test_the_headline_is_the_title_of_the_page(page, small_result):
    headline = small_result.headline.replace(" %", "\u00a0%")  # no line begins with a sign
    assert f"<h1>{headline}</h1>" in page


def test_nothing_is_loaded_from_outside(page):
    outline = Outline(page)
    for tag, attributes in outline.tags:
        assert tag not in ("link", "iframe", "img", "object", "embed", "base"), tag
        assert "src" not in attributes
        assert not str(attributes.get("href", "#")).startswith(("http", "//"))
    assert "http://" not in page
    assert "https://" not in page
    assert not re.search(r"url\((?!#)", page)  # but for clips of the page itself
    assert "@import" not in page
    assert "default-src 'none'" in page


def test_every_figure_is_there_without_javascript(page, small_result):
    labels = {a["aria-label"] for tag, a in Outline(page).tags if tag == "svg" and "role" in a}
    wanted = {
        "Data and fit",
        "Amplitude spectrum with the modes found, the noise floor and the false-alarm line",
        "Weights of the diagonal layer",
        "Residuals against time",
        "Histogram of the residuals",
        "Spectrum of the residuals",
    } | {f"Waveform of pattern {p.label}" for p in small_result.patterns}
    assert wanted <= labels


def test_warnings_modes_and_run_are_told(page, small_result):
    text = " ".join(Outline(page).text)
    for warning in small_result.warnings:
        assert warning in text
    assert text.count("± ") >= 3 * len(small_result.modes)
    assert "PeriodicMixture" in text


def test_weak_patterns_are_folded_away(small_result):
    a, b = small_result.patterns
    weak = replace(b, share=0.003)
    page = render(altered(small_result, patterns=(a, weak)), RUN)
    shown, folded = page.split("<summary>1 weaker pattern, 0.3 %</summary>")
    assert "Waveform of pattern A" in shown
    assert "Waveform of pattern B" not in shown
    assert "Waveform of pattern B" in folded.split("</details>")[0]


def test_the_page_says_what_was_searched(page, noise_result, small_result):
    assert small_result.searched_words in page
    assert noise_result.searched_words in render(noise_result, RUN)


def test_user_text_is_escaped_wherever_it_is_shown(small_result):
    samples = replace(
        small_result.samples, value_name=HOSTILE, time_name=HOSTILE, source=HOSTILE + ".csv"
    )
    axis = replace(small_result.axis, label=HOSTILE)
    page = render(altered(small_result, samples=samples, axis=axis), {HOSTILE: HOSTILE})
    outline = Outline(page)
    assert [tag for tag, _ in outline.tags].count("script") == 3
    assert not [tag for tag, _ in outline.tags if tag == "img"]
    assert not [a for _, a in outline.tags if any(name.startswith("on") for name in a)]
    assert HOSTILE in " ".join(outline.text)
    assert "49 =cmd()" not in page


def test_the_payload_is_json_that_cannot_leave_its_element(small_result):
    samples = replace(small_result.samples, value_name=HOSTILE)
    text = payload(altered(small_result, samples=samples))
    assert "<" not in text
    assert ">" not in text
    assert json.loads(text)["value"] == HOSTILE


def test_noise_alone_makes_a_page_too(noise_result):
    page = render(noise_result, RUN)
    assert "No mode stands out from the noise." in page
    assert "Waveform of pattern" not in page


def test_ten_thousand_samples_stay_below_a_megabyte(small_result):
    rng = np.random.default_rng(0)
    n = 10_000
    position = np.sort(rng.uniform(small_result.position[0], small_result.position[-1], n))
    values = rng.normal(size=n)
    many = altered(
        small_result,
        samples=replace(small_result.samples, values=values, times=np.zeros(n, "M8[us]")),
        position=position,
        fitted=values,
        residual=values,
        curve=replace(
            small_result.curve,
            x=np.linspace(position[0], position[-1], 12_000),
            y=rng.normal(size=12_000),
            std=np.ones(12_000),
        ),
        patterns=tuple(
            replace(p, folded=replace(p.folded, x=rng.uniform(size=n), y=values))
            for p in (small_result.patterns * 6)[:12]
        ),
    )
    page = render(many, RUN)
    assert len(page.encode()) < 1_000_000
    assert "Of 10,000 samples a random 2,500 are drawn." in page


def drawn(page, label):
    """The figure of that name."""
    return page.split(f'aria-label="{label}')[1].split("</svg>")[0]


def test_waveforms_are_two_cycles_with_a_name_and_a_stated_phase(page, small_result):
    figure = drawn(page, "Waveform of pattern A")
    ticks = re.findall(r">([\d.]+)</text>", figure)
    assert {"0.0", "1.0", "2.0"} <= {f"{float(tick):.1f}" for tick in ticks}
    assert f">{small_result.samples.value_name}</text>" in figure
    text = " ".join(Outline(page).text)
    epochs = re.findall(
        r"Phase 0 is the maximum, (2024-03-0\d \d\d:\d\d(?::\d\d)?) ± [\d.]+ (?:min|s)\.", text
    )
    assert len(epochs) == len(small_result.patterns)
    for pattern, epoch in zip(small_result.patterns, epochs, strict=True):
        at = np.datetime64(epoch) - np.datetime64(pattern.epoch_max, "s")
        assert abs(at) <= np.timedelta64(60, "s")


def test_at_the_epoch_a_pattern_has_its_phase_zero(small_result, small_model):
    for i, pattern in enumerate(small_result.patterns):
        now = small_model.decompose(np.array([pattern.epoch_max])).components[0, i]
        assert now == pytest.approx(pattern.waveform.y[0], abs=1e-4)


def test_the_spectrum_has_a_scale_of_periods(page):
    figure = drawn(page, "Amplitude spectrum")
    assert re.search(r">[\d.]+ min</text>", figure)


def test_the_diagonal_is_folded_away_under_how_it_was_found(page):
    before, folded = page.split("<summary>How it was found</summary>")
    assert "Weights of the diagonal layer" not in before
    assert "Weights of the diagonal layer" in folded.split("</details>")[0]


def test_the_evidence_that_decided_is_shown_as_a_sum(page, small_model):
    known = small_model.models_[0].evidence.log_evidence
    shown = [f"{value:,.1f}" for _, value in known.terms]
    folded = page.split("<summary>How it was found</summary>")[1].split("</details>")[0]
    cells = re.findall(r'<td class="num">(.*?)</td>', folded)
    assert cells == shown
    assert sum(value for _, value in known.terms[:-1]) == pytest.approx(known.terms[-1][1])


@pytest.mark.parametrize(
    ("name", "turned"),
    [("magnitude", True), ("V_mag", True), ("gmag", True), ("Mag (V)", True), ("mags", True),
     ("image", False), ("magnetic field", False), ("imag", False), ("level", False)],
)  # fmt: skip
def test_magnitudes_are_known_by_their_name(name, turned):
    assert is_magnitude(name) is turned


@pytest.mark.parametrize("turned", [True, False])
def test_magnitudes_grow_downwards(small_result, turned):
    result = altered(small_result, downwards=turned)
    assert json.loads(payload(result))["down"] is turned
    ticks = re.findall(
        r'anchor: end[^>]* y="([\d.]+)"[^>]*>([−\d.]+)<', static_figures(result)["fit"]
    )
    value = lambda tick: float(tick[1].replace("−", "-"))  # noqa: E731
    heights = [float(y) for y, _ in sorted(ticks, key=value)]
    assert len(heights) > 2
    assert (heights == sorted(heights)) is turned


def test_the_epoch_is_the_maximum_or_the_brightest_moment(small_samples, small_model):
    for down in (False, True):
        for pattern in summarise(small_samples, small_model, magnitudes=down).patterns:
            wave = pattern.waveform.y
            best = wave.min() if down else wave.max()
            assert wave[0] == pytest.approx(best, abs=1e-3 * np.ptp(wave))
            assert 0 < pattern.epoch_max_error < 0.3 * pattern.period


def test_a_line_that_nothing_could_reach_is_left_out_where_it_is_so(small_result, tmp_path):
    spectrum = small_result.spectrum
    line = np.where(spectrum.mode < 4.0, np.nan, spectrum.line)
    result = altered(small_result, spectrum=replace(spectrum, line=line))
    assert "nan" not in render(result, RUN).split('<script type="application/json"')[0].lower()
    assert 0.0 < result.spectrum.line_top <= spectrum.line_top
    assert save_figures(result, tmp_path)


def test_side_lines_are_called_so_and_come_last(small_result):
    harmonic = small_result.modes.harmonic.copy()
    harmonic[0] = 0
    modes = replace(small_result.modes, harmonic=harmonic)
    text = " ".join(Outline(render(altered(small_result, modes=modes), RUN)).text)
    letters = re.findall(r"\b([AB]) +(side line|\d*f\d)", text)
    assert letters.count(("A", "side line")) == 1
    assert letters.index(("A", "side line")) == sum(owner == "A" for owner, _ in letters) - 1


def test_measured_errors_are_drawn(small_result):
    few = len(static_figures(small_result)["fit"])
    errors = np.full(len(small_result.samples), 0.2)
    measured = altered(small_result, samples=replace(small_result.samples, errors=errors))
    assert len(static_figures(measured)["fit"]) > few + 20 * len(errors)
    assert "Dots are samples with their measured errors" in render(measured, RUN)


def test_the_page_says_whether_peaks_are_left_above_the_line(page, small_result):
    assert "No peak of their spectrum rises above the false-alarm line." in page
    low = replace(small_result.spectrum, line=small_result.spectrum.line * 0.2)
    left = render(altered(small_result, spectrum=low), RUN)
    assert re.search(r"\d+ peaks rise above the false-alarm line", left)


def test_a_component_that_explains_nothing_is_not_listed(small_result):
    a, b = small_result.patterns
    phantom = altered(small_result, patterns=(a, replace(b, share=0.0)))
    assert phantom.weak == ()
    page = render(phantom, RUN)
    assert "Waveform of pattern B" not in page
    rows = re.findall(r'<tr data-pattern="(\d)"', page)
    assert set(rows) == {"0"}


def test_a_table_that_scrolls_can_be_reached_by_keyboard(page):
    tables = re.findall(r'<div class="scroll"([^>]*)><table>', page)
    assert len(tables) >= 2
    assert all(re.search(r'tabindex="0" role="region" aria-label="[^"]+"', one) for one in tables)
    names = re.findall(r'role="region" aria-label="([^"]+)"', page)
    assert len(set(names)) == len(names)
