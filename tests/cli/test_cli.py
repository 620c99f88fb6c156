import csv
import io
import json
import os
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from tests.altered import altered
from tests.cli.toys import HOSTILE
from tests.program import PROGRAM

import robustfourier
from robustfourier.analysis import Analysis
from robustfourier.cli.console import Console
from robustfourier.cli.fit_command import print_found
from robustfourier.cli.options import instant
from robustfourier.errors import InputError
from robustfourier.fit_config import duration
from robustfourier.formatting import percent
from robustfourier.samples import read_samples

ESCAPE = "\x1b["


class TestFit:
    def test_it_works_without_home_locale_or_terminal(self, finished):
        done, _ = finished
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        assert "One repeating pattern explains" in done.stdout
        assert re.search(r"12\.[34]\d* ", done.stdout)

    def test_it_says_which_periods_were_searched(self, finished):
        words = "Searched periods from 60 min to 2.208 d."
        assert words in finished[0].stdout
        assert json.loads((finished[1] / "run.json").read_text("utf-8"))["searched"] == words
        assert words in (finished[1] / "report.html").read_text("utf-8")

    def test_screen_record_and_page_tell_one_share(self, finished):
        record = json.loads((finished[1] / "run.json").read_text("utf-8"))
        with (finished[1] / "components.csv").open(encoding="utf-8") as file:
            (row,) = csv.DictReader(file)
        share = float(row["share"])
        assert record["shares"] == {"A": share}
        assert record["explained"] == share
        assert finished[0].stdout.count(percent(share)) == 2
        assert f"{percent(share)} of the variation" in (finished[1] / "report.html").read_text()

    def test_weak_patterns_are_one_line_of_the_table(self, capsys, small_result):
        a, b = small_result.patterns
        weak = [replace(b, label=label, share=0.002) for label in "BC"]
        analysis = Analysis(altered(small_result, patterns=(a, *weak)), None, None, {})
        print_found(Console(), analysis)
        said = capsys.readouterr().out
        assert "\n… 2 weaker patterns, 0.4 % together\n" in said  # no folder, no file to see
        assert re.search(r"^ A ", said, re.MULTILINE)
        assert not re.search(r"^ [BC] ", said, re.MULTILINE)

    def test_nothing_is_coloured_in_a_pipe(self, finished):
        assert ESCAPE not in finished[0].stdout

    def test_the_folder_has_its_fixed_layout(self, finished):
        names = {path.name for path in finished[1].iterdir()}
        assert names - {"components.parquet"} == {  # where pyarrow is
            "report.html", "modes.csv", "components.csv", "fit.csv", "model.rfm", "figures",
            "run.json", "waveforms.csv", "o_minus_c.csv",
        }  # fmt: skip
        figures = {path.name for path in (finished[1] / "figures").iterdir()}
        assert {"fit.png", "spectrum.png", "components.png"} <= figures

    def test_the_run_can_be_repeated_from_its_record(self, finished, record):
        told = json.loads((finished[1] / "run.json").read_text(encoding="utf-8"))
        assert told["input"]["sha256"] == read_samples(record).sha256
        assert told["finished"]
        assert told["parameters"]["random_state"] == 0
        assert told["versions"]["robustfourier"] == robustfourier.__version__
        assert set(told["seconds"]) == {"reading", "fitting", "summing up", "drawing", "report"}
        assert told["input"]["value"] == HOSTILE

    def test_the_fit_table_adds_up(self, finished, record):
        with (finished[1] / "fit.csv").open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        samples = read_samples(record)
        assert len(rows) == len(samples)
        for row, value in zip(rows, samples.values, strict=True):
            parts = float(row["trend"]) + float(row["component_A"])
            assert float(row["value"]) == value
            error = (float(row["band_high"]) - float(row["band_low"])) / 3.3
            assert float(row["fitted"]) == pytest.approx(parts, abs=0.02 * error)
            assert float(row["residual"]) == pytest.approx(value - parts, abs=0.02 * error)
            assert float(row["band_low"]) < float(row["fitted"]) < float(row["band_high"])
        assert rows[0]["time"] == "2024-03-01T00:00:00"

    def test_the_model_in_the_folder_is_the_fit(self, finished, record):
        model = robustfourier.load(finished[1] / "model.rfm")
        samples = read_samples(record)
        with (finished[1] / "fit.csv").open(encoding="utf-8") as file:
            fitted = [float(row["fitted"]) for row in csv.DictReader(file)]
        exact, std = model.predict(samples.axis, return_std=True)
        assert np.max(np.abs(exact - fitted)) <= 0.005 * std.min()

    def test_names_are_escaped_in_the_page(self, finished):
        page = (finished[1] / "report.html").read_text(encoding="utf-8")
        assert "<script> $5" not in page
        assert "&lt;script&gt; $5 \\frac{" in page

    def test_the_same_run_may_replace_itself_but_no_other(self, finished, record, run, tmp_path):
        out = finished[1]
        other = tmp_path / "other.csv"
        other.write_text("t,v\n" + "".join(f"{i},{i % 5}\n" for i in range(30)))
        code, _, err = run("fit", other, "--out", out)
        assert code == 1
        assert "holds another run (of 'tank.csv')" in err
        code, _, err = run("fit", record, "--out", out, "--false-alarm", "0.02")
        assert code == 1
        assert "--overwrite" in err
        assert (out / "run.json").exists()

    def test_json_is_one_document(self, record, run):
        code, out, err = run("fit", record, "--no-files", "--json")
        assert (code, err) == (0, "")
        told = json.loads(out)
        assert told["components"][0]["period"] * 24 == pytest.approx(12.4, abs=0.1)
        assert told["folder"] is None

    def test_quiet_says_nothing_and_verbose_says_more(self, record, run):
        assert run("fit", record, "--no-files", "-q") == (0, "", "")
        assert "seconds: reading" in run("fit", record, "--no-files", "-v")[1]

    def test_the_unit_can_be_chosen(self, record, run):
        code, out, _ = run("fit", record, "--no-files", "--json", "--unit", "h")
        assert code == 0
        assert json.loads(out)["unit"] == "hour"
        assert json.loads(out)["components"][0]["period"] == pytest.approx(12.4, abs=0.1)
        assert run("check", record, "--unit", "fortnight")[0] == 3

    def test_standard_input_is_read_once_even_where_limits_need_its_unit(
        self, record, run, monkeypatch
    ):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(record.read_bytes())))
        code, out, err = run("fit", "-", "--no-files", "--json", "--period", "12.4h")
        assert (code, err) == (0, "")
        assert json.loads(out)["components"][0]["period"] * 24 == pytest.approx(12.4, abs=0.1)

    def test_limits_are_told_in_the_users_units(self, record, run):
        code, out, _ = run("fit", record, "--no-files", "--json", "--shortest-period", "13h")
        assert code == 0
        assert all(p["period"] * 24 > 12.9 for p in json.loads(out)["components"])

    def test_the_papers_network_is_a_method_too(self, record, run):
        pytest.importorskip("torch")
        code, out, err = run(
            "fit", record, "--no-files", "--json", "--method", "network", "--modes", "20",
            "--steps", "3000",
        )  # fmt: skip
        assert code == 0, err
        strongest = max(json.loads(out)["components"], key=lambda p: p["amplitude"])
        assert round(79.5 / (24 * strongest["period"])) in (6, 7), "12.4 h is 6.4 cycles"


class TestUsage:
    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["fit"], "argument"),
            (["nonsense"], "nonsense"),
            (["fit", "x.csv", "--false-alarm", "abc"], "--false-alarm"),
            (["fit", "x.csv", "--false-alarm", "7"], "--false-alarm 7.0 must lie between 0 and 1"),
            (["fit", "x.csv", "--method", "magic"], "--method 'magic'"),
            (["fit", "x.csv", "--loss", "none"], "--loss 'none'"),
            (["fit", "x.csv", "--figures", "exe"], "--figures 'exe'"),
            (["fit", "x.csv", "--duplicates", "both"], "--duplicates 'both'"),
            (["fit", "x.csv", "--missing", "guess"], "--missing 'guess'"),
            (["fit", "x.csv", "--delimiter", "xx"], "--delimiter 'xx'"),
            (["fit", "x.csv", "--decimal", ";"], "--decimal ';'"),
            (["check", "x.csv", "--out", "picture.exe"], "must end with .png"),
            (["inject", "x.csv", "--trials", "0"], "--trials"),
            (["inject", "x.csv", "--amplitude", "-1"], "--amplitude -1.0 must be positive"),
            (["predict", "m.rfm"], "give either --at FILE"),
            (["predict", "m.rfm", "--at", "x", "--from", "1"], "give either --at FILE"),
        ],
    )
    def test_a_mistake_ends_with_code_2_and_says_which(self, run, arguments, words):
        code, _, err = run(*arguments)
        assert code == 2, err
        assert words in err
        assert "Traceback" not in err

    @pytest.mark.parametrize("option", ["--time-format", "--timezone"])
    def test_an_unknown_format_or_zone_is_a_mistake_too(self, run, record, option):
        code, _, err = run("check", record, option, "Mars")
        assert code == 2
        assert f"{option} 'Mars'" in err

    def test_too_few_samples_are_bad_data(self, run, tmp_path):
        path = tmp_path / "short.csv"
        path.write_text("t,v\n1,2\n2,3\n3,4\n")
        code, _, err = run("fit", path, "--no-files")
        assert code == 3
        assert "3 samples are too few" in err

    def test_a_mistake_of_ours_is_called_so_without_a_traceback(self, run, record, monkeypatch):
        import robustfourier.analysis

        def broken(*_, **__):
            raise RuntimeError("boom")

        monkeypatch.setattr(robustfourier.analysis, "analyse", broken)
        code, _, err = run("fit", record, "--no-files")
        assert code == 1
        assert "internal error, please report it" in err
        assert "Traceback" not in err

    def test_an_interrupt_ends_with_130(self, run, record, monkeypatch):
        import robustfourier.analysis

        def interrupted(*_, **__):
            raise KeyboardInterrupt

        monkeypatch.setattr(robustfourier.analysis, "analyse", interrupted)
        assert run("fit", record, "--no-files")[0] == 130

    def test_help_loads_nothing_heavy(self):
        code = (
            "import sys\nfrom robustfourier.cli import main\n"
            "try:\n    main(['--help'])\nexcept SystemExit as stop:\n    assert not stop.code\n"
            "heavy = {'numpy', 'pandas', 'scipy', 'sklearn', 'numba', 'torch', 'matplotlib'}"
            "\nassert not heavy & set(sys.modules), heavy & set(sys.modules)"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        for command in ("fit", "predict", "info", "check", "inject", "compare"):
            assert command in done.stdout

    def test_the_version_is_told(self, run):
        assert run("--version")[1] == f"robustfourier {robustfourier.__version__}\n"


def test_a_narrow_terminal_keeps_letters_and_periods(monkeypatch, capsys):
    from rich.console import Console as RichConsole

    console = Console()
    narrow = lambda stream: RichConsole(file=stream, width=40, force_terminal=True)  # noqa: E731
    monkeypatch.setattr(console, "_rich", narrow)
    heads = ["", "Period", "Amplitude", "Share", "Harmonics", "False alarm"]
    row = ["AA", "18.84956 ± 0.00008 h", "0.9999", "> 99.9 %", "1–4, 6", "< 1e-15"]
    console.table([(head, "left") for head in heads], [row])
    out = capsys.readouterr().out
    assert re.search(r"AA +18.84956 ± 0.00008 h", out)
    assert "a wider terminal also shows: Share, Harmonics, False" in " ".join(out.split())


@pytest.mark.parametrize(
    ("text", "unit", "wanted"),
    [("12h", "day", 0.5), ("30 min", "hour", 0.5), ("2", "", 2.0), ("1e3 s", "second", 1000.0)],
)
def test_durations_are_read(text, unit, wanted):
    assert duration(text, unit, "--every") == wanted


@pytest.mark.parametrize("text", ["", "h", "-1", "0", "1 parsec", "nan", "1h 30min"])
def test_other_durations_are_refused(text):
    with pytest.raises(InputError, match=re.escape("--every")):
        duration(text, "day", "--every")


def test_instants_get_the_models_zone():
    assert (
        str(instant("2024-07-01", True, "Europe/Berlin", "--from")) == "2024-07-01 00:00:00+02:00"
    )
    with pytest.raises(InputError, match=re.escape("--from 'x'")):
        instant("x", False, None, "--from")


@pytest.mark.parametrize("option", ["--verbose", "--json"])
def test_a_reader_that_has_gone_is_told_nothing_as_a_closed_stream_is(record, option):
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [*PROGRAM, "check", str(record), option], stdout=write, stderr=subprocess.PIPE, text=True
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_answer_is_there_before_figures_are_drawn(tmp_path, monkeypatch, capsys, record, run):
    from robustfourier.plots import figure_files as files

    seen = []
    monkeypatch.setattr(files, "save_figures", lambda *_: seen.append(capsys.readouterr().out))
    monkeypatch.chdir(tmp_path)
    assert run("fit", record)[0] == 0
    (before,) = seen
    assert "explains" in before
    assert "Report:" not in before


def test_a_fit_without_files_loads_nothing_that_draws_or_trains(tmp_path):
    t = np.arange(40.0)
    np.savetxt(tmp_path / "n.csv", np.column_stack([t, np.cos(t)]), "%.3f", ",", header="t,v")
    code = (
        "import sys; from robustfourier.cli import main\n"
        f"try: main(['fit', {str(tmp_path / 'n.csv')!r}, '--no-files'])\n"
        "except SystemExit: pass\n"
        "print({'jinja2', 'matplotlib', 'torch', 'dask'} & set(sys.modules) or 'none loaded')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.endswith("none loaded\n")


@pytest.mark.parametrize("wrong", [["none.csv"], ["none.parquet"], ["{record}", "--value", "no"]])
def test_what_is_not_there_is_told_before_anything_heavy_loads(record, wrong):
    arguments = [word.format(record=record) for word in wrong]
    code = (
        "import sys; from robustfourier.cli import main\n"
        f"try: main(['fit', *{arguments!r}])\n"
        "except SystemExit as stop: assert stop.code == 3\n"
        "print({'numpy', 'pandas', 'rich'} & set(sys.modules) or 'none loaded')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "none loaded\n"
    assert "no such file" in done.stderr or "'no'" in done.stderr
