"""Observers of a fit: what they are called with, and that nobody pays for it."""

import io

import numpy as np
import pytest
from scipy.signal import lfilter

from robustfourier import PeriodicMixture
from robustfourier.observers import STAGES, Event, emit, listening, observed_by


@pytest.fixture(scope="module")
def record():
    rng = np.random.default_rng(3)
    t = np.sort(rng.uniform(0.0, 100.0, 500))
    y = np.sign(np.sin(2 * np.pi * t / 7.0)) + 0.6 * np.cos(2 * np.pi * t / 3.1)
    return t, y + 0.4 * rng.normal(size=len(t))


@pytest.fixture(scope="module")
def observed(record):
    events: list[Event] = []
    with observed_by(events.append):
        model = PeriodicMixture().fit(*record)
    return events, model


def named(events, what):
    return [event for event in events if event.what == what]


def test_a_fit_gives_the_same_bits_with_and_without_observers(record, observed):
    alone = PeriodicMixture().fit(*record)
    for name, column in alone.modes_.columns().items():
        assert np.array_equal(column, observed[1].modes_.columns()[name]), name
    assert np.array_equal(alone.predict(record[0]), observed[1].predict(record[0]))


def test_stages_are_emitted_in_their_order(observed):
    stages = [event.stage for event in named(observed[0], "began")]
    assert stages == ["sums", "diagonal", "lines", "patterns"]
    assert stages == [stage for stage in STAGES if stage in stages]
    assert {event.stage for event in observed[0]} == set(stages)


def test_weights_of_the_diagonal_grow_where_the_model_finds_its_strongest_mode(observed):
    events, model = observed
    frames = [event.facts for event in named(events, "weights")]
    trained = np.array([facts["trained"] for facts in frames])
    (restarts,) = np.nonzero(np.diff(trained) < 0)  # on what the lines found so far leave over
    assert len(restarts)
    assert trained[restarts].tolist() == [1.0] * len(restarts)
    first, last = frames[0], frames[restarts[0]]
    assert restarts[0] > 5
    strongest = last["modes"][np.argmax(last["weight"])]
    assert abs(strongest - model.components_[0].mode) < 1
    assert last["weight"].max() > 5 * first["weight"].max()


def test_the_lines_kept_are_those_of_the_model(observed):
    events, model = observed
    kept = named(events, "kept")[-1].facts["modes"]
    assert len(kept) >= 3
    for mode in model.modes_.mode[np.asarray(model.modes_.harmonic) <= 1]:
        assert np.min(np.abs(kept - mode)) < 0.5


def test_every_line_that_was_proposed_is_kept_or_dropped_with_a_reason():
    rng, events = np.random.default_rng(2), []
    wandering = lfilter([1.0], [1.0, -0.9], rng.normal(size=400))
    t = np.arange(400.0)
    with observed_by(events.append):
        PeriodicMixture().fit(t, wandering + 4.0 * np.cos(2 * np.pi * t / 9.3))
    proposed = np.concatenate([event.facts["modes"] for event in named(events, "proposed")])
    (kept,) = named(events, "kept")[-1].facts["modes"]
    dropped = named(events, "dropped")
    assert kept == pytest.approx(399 / 9.3, abs=0.1)
    assert all(event.facts["reason"] for event in dropped)
    gone = np.concatenate([event.facts["modes"] for event in dropped])
    assert len(gone) > 5
    assert np.abs(proposed[:, None] - np.append(gone, kept)).min(axis=1).max() < 0.5


def test_the_last_patterns_emitted_are_those_of_the_model(observed):
    events, model = observed
    components = named(events, "composed")[-1].facts["components"]
    assert [c.period for c in components] == [c.period for c in model.components_]


def test_nothing_is_emitted_outside_of_the_block():
    events: list[Event] = []
    with observed_by(events.append):
        assert listening()
    assert not listening()
    emit("sums")
    assert not events


def test_observers_of_blocks_within_each_other_all_hear():
    outer: list[Event] = []
    inner: list[Event] = []
    with observed_by(outer.append):
        with observed_by(inner.append):
            emit("sums", n=1)
        emit("lines")
    assert [event.stage for event in outer] == ["sums", "lines"]
    assert [event.facts for event in inner] == [{"n": 1}]


def test_an_observer_that_raises_ends_the_fit_and_is_forgotten(record):
    def refuse(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), observed_by(refuse):
        PeriodicMixture().fit(*record)
    assert not listening()


def test_the_bar_shows_the_stage_and_the_lines_found(observed):
    from rich.console import Console

    from robustfourier.cli.progress_bar import StageBar

    page = io.StringIO()
    console = Console(file=page, force_terminal=True, width=100)
    with StageBar(console, patience=0.0) as bar:
        bar._timer.join()
        for event in observed[0]:
            bar(event)
            bar._bar.refresh()
    assert "weights of the diagonal" in page.getvalue()
    assert "found" in page.getvalue()


def test_a_quick_fit_draws_no_bar(observed):
    from rich.console import Console

    from robustfourier.cli.progress_bar import StageBar

    page = io.StringIO()
    with StageBar(Console(file=page, force_terminal=True), patience=60.0) as bar:
        for event in observed[0]:
            bar(event)
    assert "diagonal" not in page.getvalue()
