"""The progress bar shows a training on a terminal and nothing elsewhere."""

import io
import logging

import numpy as np
import pytest
from numba import njit
from rich.console import Console

from robustfourier.compiling import numba_jit as compiling_module
from robustfourier.compiling.numba_jit import announced, jitted
from robustfourier.network.architecture import Architecture
from robustfourier.network.initial_weights import draw_weights
from robustfourier.training import train_jointly
from robustfourier.training.callbacks import ProgressBar

THETA = np.linspace(-1, 1, 40)
LOGGER = "robustfourier.training"


def train(observers, n_steps=40):
    start = draw_weights(Architecture(2), random_state=0)
    return train_jointly(
        start,
        (THETA, np.cos(np.pi * THETA)),
        n_steps=n_steps,
        observers=observers,
        observe_every=10,
        random_state=0,
    )


def console(terminal):
    return Console(file=io.StringIO(), force_terminal=terminal, width=120)


def test_the_bar_shows_step_loss_rate_and_time_left():
    screen = console(terminal=True)
    with ProgressBar("example 1", console=screen) as bar:
        end = train([bar])
    shown = screen.file.getvalue()
    assert "example 1 (joint)" in shown
    assert "40/40" in shown
    assert f"loss {end.history.batch_loss[-10:].mean():.4g}" in shown
    assert "rate 0.002" in shown
    assert "0:00:00" in shown


def test_nothing_is_shown_where_there_is_no_terminal():
    screen = console(terminal=False)
    with ProgressBar(console=screen) as bar:
        assert not bar.visible
        train([bar])
    assert screen.file.getvalue() == ""


def test_no_bar_is_drawn_into_a_file_whatever_force_color_says(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    with ProgressBar() as bar:
        assert not bar.visible
        print("a line of the script")
    assert capsys.readouterr() == ("a line of the script\n", "")


def test_a_script_prints_to_its_file_while_the_bar_is_on_a_terminal(capsys):
    with ProgressBar(console=console(terminal=True)):
        print("a line of the script")
    assert capsys.readouterr().out == "a line of the script\n"


def test_a_bar_that_was_not_opened_shows_nothing():
    screen = console(terminal=True)
    train([ProgressBar(console=screen)])
    assert screen.file.getvalue() == ""


def test_the_bar_changes_nothing_and_never_ends_a_training():
    with ProgressBar(console=console(terminal=True)) as bar:
        watched = train([bar])
    alone = train([])
    assert watched.completed
    np.testing.assert_array_equal(watched.weights.diagonal, alone.weights.diagonal)


def test_the_bar_says_what_the_training_logs_and_stops_listening_when_closed():
    screen = console(terminal=True)
    log = logging.getLogger(LOGGER)
    with ProgressBar(console=screen):
        log.warning("compiling [once]")
    log.info("afterwards")
    assert "compiling [once]" in screen.file.getvalue()
    assert "afterwards" not in screen.file.getvalue()
    assert log.handlers == []


def test_compiling_is_announced_once_and_a_compiled_kernel_in_silence(caplog):
    inner = njit(lambda x: x + 1)
    kernel = njit(lambda x: inner(x) * 2)
    with caplog.at_level(logging.INFO, LOGGER):
        with announced():
            assert kernel(1) == 4
        assert [record.getMessage() for record in caplog.records] == [compiling_module.NOTICE]
        with announced():
            assert kernel(2) == 6
        assert len(caplog.records) == 1
    assert "compiling once" in compiling_module.NOTICE


@pytest.mark.parametrize(("terminal", "level"), [(True, "WARNING"), (False, "INFO")])
def test_the_notice_is_a_warning_only_where_somebody_looks(terminal, level, caplog, monkeypatch):
    monkeypatch.setattr(compiling_module.sys.stderr, "isatty", lambda: terminal, raising=False)
    with caplog.at_level(logging.INFO, LOGGER), announced():
        njit(lambda x: x - 1)(1)
    assert [record.levelname for record in caplog.records] == [level]


def test_kernels_compile_where_no_cache_can_be_written(monkeypatch):
    def refuse(*_, **__):
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr("numba.core.dispatcher.FunctionCache", refuse)
    with pytest.raises(RuntimeError, match="no locator"):
        njit(cache=True)(lambda x: x)
    assert jitted(lambda x: x + 3)(4) == 7
