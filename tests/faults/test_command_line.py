"""The command line where its surroundings are broken or somebody interrupts it."""

import json
import os
import re
import shlex
import subprocess
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from tests.program import PROGRAM

import robustfourier
from robustfourier.analysis.predicting import grid_samples
from robustfourier.cli.console import Console
from robustfourier.cli.options import instant
from robustfourier.domain import Domain
from robustfourier.errors import InputError
from robustfourier.estimators.mixture import PeriodicMixture
from robustfourier.estimators.parameters import settings_of
from robustfourier.fit_config import FitConfig
from robustfourier.samples import from_arrays

COMMAND = shlex.join(PROGRAM)
SOURCE = str(Path(robustfourier.__file__).parents[1])


@pytest.fixture
def record(tmp_path):
    path = tmp_path / "tank.csv"
    times = np.arange(60.0)
    values = np.sin(times / 3.0) + 0.1 * np.cos(times**2)
    path.write_text("t,v\n" + "".join(f"{t},{v}\n" for t, v in zip(times, values, strict=True)))
    return path


def shell(command):
    return subprocess.run(
        command,
        shell=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": SOURCE},
    )


@pytest.mark.parametrize(
    ("redirection", "file", "code", "words"),
    [
        ("<&-", "-", 3, "standard input is closed"),
        (">&-", "{record}", 0, ""),
        ("2>&-", "nowhere.csv", 3, ""),
        (">&- 2>&- <&-", "{record}", 0, ""),
    ],
)
def test_a_closed_stream_is_no_mistake_of_ours(record, redirection, file, code, words):
    done = shell(f"{COMMAND} check {file.format(record=record)} {redirection}")
    assert done.returncode == code
    assert words in done.stderr
    assert "mistake" not in done.stderr


@pytest.mark.parametrize("colour", ["", "FORCE_COLOR=1 "])
def test_a_reader_who_has_seen_enough_does_not_end_the_work(record, colour):
    out = record.parent / "out"
    done = shell(f"{colour}{COMMAND} fit {record} --out {out} | head -n 1")
    assert done.stdout.count("\n") == 1
    assert "robustfourier" not in done.stderr, "no error, and no traceback"
    assert (out / "report.html").exists()


@pytest.mark.parametrize("option", ["--period", "--shortest-period"])
@pytest.mark.parametrize("period", ["1e-300", "1e-9"])
def test_a_period_that_no_search_reaches_is_refused(run, record, option, period):
    code, _, err = run("fit", record, "--no-files", option, period)
    assert code == 2
    assert f"{option} '{period}': would fit" in err


def test_the_command_line_and_the_estimator_refuse_the_same_periods():
    samples = from_arrays(np.linspace(0.0, 100.0, 50), np.arange(50.0))
    record = [Domain(0.0, 100.0)]
    for cycles in (1.9e6, 2.1e6):
        period = 100.0 / cycles
        for ask, words in (
            (
                partial(FitConfig(shortest_period=repr(period)).parameters, samples),
                "at most 2,000,000",
            ),
            (
                partial(settings_of, PeriodicMixture(max_frequency=1 / period), record),
                "at most 2,000,000",
            ),
            (partial(settings_of, PeriodicMixture(periods=[period]), record), "at most 2,000,000"),
        ):
            expected = pytest.raises(InputError, match=re.escape(words))
            with expected if cycles > 2e6 else nullcontext():
                ask()


def test_an_instant_that_the_clock_leaves_out_is_refused():
    for text in ("2024-03-31T02:30", "2024-10-27T02:30"):
        with pytest.raises(InputError, match=re.escape("does not exist or occurs twice in Europe")):
            instant(text, True, "Europe/Berlin", "--from")
    there = instant("2024-10-27T02:30+01:00", True, "Europe/Berlin", "--from")
    assert there.isoformat() == "2024-10-27T02:30:00+01:00"


def test_a_grid_without_end_is_refused():
    with pytest.raises(InputError, match=re.escape("makes inf times")):
        grid_samples(0.0, 1e308, 1e-308, Domain(0.0, 5.0), 10)


def test_control_characters_in_a_unit_are_refused(run, record):
    code, _, err = run("check", record, "--unit", "\x1b[31m")
    assert code == 2
    assert "--unit '\\x1b[31m' must be a word" in err


def test_text_from_elsewhere_does_not_command_the_terminal(capsys):
    console = Console(1)
    for emit in (console.print, console.detail, console.warn, console.error):
        emit("\x1b[2Jx\x07\u202ey")
    console.table([("a", "left")], [["\x1b]0;title\x07"]])
    said = "".join(capsys.readouterr())
    assert not set("\x1b\x07\u202e") & set(said)
    assert said.count("\\x1b") == 5


def test_a_killed_worker_is_told_with_what_to_do(run, record, monkeypatch):
    import robustfourier.analysis

    def killed(*_, **__):
        raise BrokenProcessPool("A process in the process pool was terminated abruptly")

    monkeypatch.setattr(robustfourier.analysis, "analyse", killed)
    code, _, err = run("fit", record, "--no-files")
    assert code == 1
    assert "a worker process was ended from outside" in err
    assert "mistake" not in err


def test_an_error_of_the_system_without_a_file_does_not_speak_of_one(run, record, monkeypatch):
    import robustfourier.analysis

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(robustfourier.analysis, "analyse", full)
    code, _, err = run("fit", record, "--no-files")
    assert (code, err) == (1, "robustfourier: No space left on device\n")


def test_the_program_alone_prints_its_help(run):
    code, out, err = run()
    assert (code, err) == (0, "")
    assert out.startswith("Usage: robustfourier")
    assert "fit" in out


def test_a_pipe_in_the_place_of_a_file_is_read_whole(record):
    command = f"bash -c '{COMMAND} fit <(cat {record}) --no-files --json'"
    done = shell(command)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["input"]["counts"]["rows"] == 60


def test_one_series_of_a_long_table_is_chosen_on_the_command_line(run, tmp_path):
    path = tmp_path / "long.csv"
    rows = "".join(f"{i},{s},{i}.5\n" for i in range(20) for s in "AB")
    path.write_text(f"time,sensor,value\n{rows}")
    code, _, err = run("check", path)
    assert code == 3
    assert "--by 'sensor=A'" in err
    code, out, _ = run("check", path, "--by", "sensor=A", "--json")
    assert code == 0
    assert json.loads(out)["samples"] == 20


def test_json_holds_no_character_that_commands_a_terminal(capsys):
    Console(as_json=True).json({"name": "a\u009b2J\u202eb\x7f\u2066", "words": "é\n"})
    said = capsys.readouterr().out
    assert not set(said) & set("\u009b\u202e\x7f\u2066")
    assert json.loads(said) == {"name": "a\u009b2J\u202eb\x7f\u2066", "words": "é\n"}
