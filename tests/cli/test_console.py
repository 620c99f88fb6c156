"""Answers are on standard output, bars on a terminal: whatever the surroundings ask for."""

import functools
import os
from contextlib import contextmanager, redirect_stderr, suppress

import pytest

from robustfourier.cli import progress_bar as stages
from robustfourier.cli.console import Console
from robustfourier.observers import Event

needs_terminals = pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo-terminals here")
TABLE = [("", "left"), ("Period", "right")], [("A", "7.00 d")]


@pytest.fixture(autouse=True)
def _bars_at_once(monkeypatch):
    monkeypatch.setattr(stages, "StageBar", functools.partial(stages.StageBar, patience=0.0))
    monkeypatch.setenv("TERM", "xterm")


@contextmanager
def terminal():
    """A terminal for standard error; a list of what was on it, once it is closed."""
    reader, writer = os.openpty()
    shown: list[str] = []
    with open(writer, "w") as stream, redirect_stderr(stream):
        yield shown
    with open(reader, "rb", buffering=0) as screen, suppress(OSError):  # raised at its end
        while part := screen.read(10_000):
            shown.append(part.decode(errors="replace"))


def answer(console):
    """Say something while a bar is drawn, if one is."""
    with console.stages() as bar:
        if isinstance(bar, stages.StageBar.func):
            bar._timer.join()
        bar(Event("lines", "began"))
        console.print("One repeating pattern")
        console.table(*TABLE)
        bar(Event("drawing", "began"))


@pytest.mark.parametrize("colour", ["", "1"])
def test_without_a_terminal_there_is_the_answer_and_no_bar(capsys, monkeypatch, colour):
    monkeypatch.setenv("FORCE_COLOR", colour)
    answer(Console())
    with Console().progress("series") as move:
        move(1, 2)
    out, err = capsys.readouterr()
    assert "One repeating pattern" in out
    assert "7.00 d" in out
    assert err == ""


@needs_terminals
def test_the_answer_is_on_standard_output_while_the_bar_is_on_the_terminal(capsys):
    with terminal() as parts:
        answer(Console())
    out, shown = capsys.readouterr().out, "".join(parts)
    assert "One repeating pattern\n" in out
    assert "7.00 d" in out
    assert "pattern" not in shown
    assert "7.00 d" not in shown
    assert shown.index("lines: propose") < shown.index("drawing figures"), "the bar is back again"


@needs_terminals
def test_a_bar_of_a_survey_leaves_standard_output_alone(capsys):
    with terminal() as parts, Console().progress("series") as move:
        move(1, 2)
        print("a line")
    assert capsys.readouterr().out == "a line\n"
    assert "series" in "".join(parts)
