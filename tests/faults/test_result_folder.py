"""The result folder: whatever happens, one whole result, and nothing lost that was not ours."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from robustfourier.analysis import analyse
from robustfourier.atomic_files import write_text
from robustfourier.cli import main
from robustfourier.errors import DataError, OutputError, RunLockedError
from robustfourier.result_folders import RUN, claimed, exchanged

NAMES = ("report.html", "modes.csv", "model.rfm")


def put(folder, mark, figures=("fit",), **options):
    """Write a small result, every file of which holds a mark."""
    record = {"identity": {"mark": mark}, "input": {"file": f"{mark}.csv"}}
    with (
        claimed(RUN, folder, {"mark": mark}, [Path("-")], **options),
        exchanged(RUN, folder, record) as draft,
    ):
        (draft / "figures").mkdir()
        for name in (*NAMES, *(f"figures/{figure}.png" for figure in figures)):
            write_text(draft / name, mark)


def marks(folder):
    """The marks of all files of the run that a folder holds."""
    held = RUN.read(folder)
    texts = {(folder / name).read_text() for name in held["files"] if name != "run.json"}
    return texts | {held["identity"]["mark"]}


@pytest.fixture
def folder(tmp_path):
    put(tmp_path / "results", "old")
    return tmp_path / "results"


def left_beside(folder):
    return sorted(path.name for path in folder.parent.iterdir() if path != folder)


KILLS = """
import itertools, os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from test_result_folder import left_beside, marks, put
from killing import kill_at

folder = Path(sys.argv[1]) / "results"
seen = []
for step in itertools.count(1):
    put(folder, "old", ("fit", "extra"), overwrite=True)
    assert not left_beside(folder), left_beside(folder)
    (folder / "notes.txt").write_text("mine")
    (folder / "figures" / "mine.png").write_text("mine")
    child = os.fork()
    if child == 0:
        kill_at(step)
        put(folder, "new", overwrite=True)
        os._exit(0)
    killed = os.WIFSIGNALED(os.waitpid(child, 0)[1])
    (mark,) = marks(folder)
    seen.append(mark)
    assert (folder / "notes.txt").read_text() == "mine"
    assert (folder / "figures" / "mine.png").read_text() == "mine"
    if not killed:
        break
print(seen.count("old"), seen.count("new"))
"""


def test_killed_at_any_step_the_old_result_or_the_new_one_is_there_whole(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", KILLS, str(tmp_path), str(Path(__file__).parent)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    old, new = map(int, done.stdout.split())
    assert old > 30, "steps before the exchange"
    assert new > 5, "steps after it"


def test_two_runs_do_not_meet(folder):
    words = f"another run is writing {str(folder)!r}; wait for it"
    with claimed(RUN, folder, {"mark": "old"}, [Path("-")]):
        with pytest.raises(RunLockedError, match=re.escape(words)):
            put(folder, "new", overwrite=True)
        put(folder.parent / "other", "new")
    assert marks(folder) == {"old"}


def test_files_of_others_are_kept_and_files_of_the_run_before_are_not(folder):
    put(folder, "older", ("fit", "diagonal"), overwrite=True)
    (folder / "notes.txt").write_text("mine")
    (folder / "figures" / "mine.png").write_text("mine")
    (folder / "sub" / "deep").mkdir(parents=True)
    (folder / "sub" / "deep" / "link").symlink_to("/nowhere")
    put(folder, "new", overwrite=True)
    assert marks(folder) == {"new"}
    assert (folder / "notes.txt").read_text() == "mine"
    assert (folder / "figures" / "mine.png").read_text() == "mine"
    assert os.readlink(folder / "sub" / "deep" / "link") == "/nowhere"
    assert not (folder / "figures" / "diagonal.png").exists()
    assert left_beside(folder) == []


def test_a_file_of_another_with_a_name_of_ours_is_not_overwritten(folder):
    (folder / "figures" / "spectrum.png").write_text("mine")
    foreign = str(folder / "figures/spectrum.png")
    words = f"{foreign!r} was not written by robustfourier and would be overwritten"
    with pytest.raises(OutputError, match=re.escape(words)):
        put(folder, "new", ("fit", "spectrum"), overwrite=True)
    assert (folder / "figures" / "spectrum.png").read_text() == "mine"
    assert marks(folder) == {"old"}
    assert left_beside(folder) == []


@pytest.mark.parametrize("before", ["a result", "an empty folder"])
def test_a_file_that_arrives_during_the_exchange_is_not_deleted(tmp_path, monkeypatch, before):
    from robustfourier import result_folders as module

    def late(new, old):
        (old / "late.txt").write_text("mine")
        monkeypatch.undo()
        module.exchange(new, old)

    folder = tmp_path / "results"
    folder.mkdir()
    if before == "a result":
        put(folder, "old")
    monkeypatch.setattr(module, "exchange", late)
    put(folder, "new", overwrite=True)
    assert marks(folder) == {"new"}
    assert (folder / "late.txt").read_text() == "mine"
    assert left_beside(folder) == []


def test_a_file_that_cannot_be_kept_stays_where_it_is_and_is_told(folder):
    put(folder.parent / ".results.part", "older")
    (folder.parent / ".results.part" / "modes.csv.mine").write_text("mine")
    (folder / "modes.csv.mine").write_text("another")
    with pytest.raises(
        OutputError, match=re.escape("holds files that robustfourier did not write; move it")
    ):
        put(folder, "new", overwrite=True)
    assert (folder.parent / ".results.part" / "modes.csv.mine").read_text() == "mine"


def test_folders_of_others_are_kept_as_they_are(folder):
    for name in ("empty", "private/deep"):
        (folder / name).mkdir(parents=True)
    (folder / "private").chmod(0o700)
    put(folder, "new", overwrite=True)
    assert (folder / "empty").is_dir()
    assert (folder / "private" / "deep").is_dir()
    assert (folder / "private").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("step", ["fsync", "replace", "link", "mkdir"])
def test_a_full_disk_leaves_the_old_result_and_is_told_with_the_users_path(
    folder, monkeypatch, step
):
    def fail(*_, **__):
        raise OSError(28, "No space left on device", "/somewhere/.results.part/x")

    (folder / "notes.txt").write_text("mine")
    words = f"cannot write results to {str(folder)!r} (No space left on device); choose"
    with monkeypatch.context() as patch:
        patch.setattr(os, step, fail)
        with pytest.raises(OutputError, match=re.escape(words)):
            put(folder, "new", overwrite=True)
    assert marks(folder) == {"old"}
    assert left_beside(folder) == []


def test_where_folders_cannot_change_places_at_once_two_renames_do(folder, monkeypatch):
    from robustfourier import atomic_files as writing

    monkeypatch.setattr(writing, "_exchange_at_once", lambda *_: False)
    put(folder, "new", overwrite=True)
    assert marks(folder) == {"new"}
    assert left_beside(folder) == []


def test_a_folder_keeps_its_permissions(folder):
    folder.chmod(0o750)
    put(folder, "new", overwrite=True)
    assert folder.stat().st_mode & 0o777 == 0o750


def small_table(path, rows=60):
    t = np.arange(float(rows))
    y = np.sin(2 * np.pi * t / 7.3) + 0.1 * np.random.default_rng(0).normal(size=rows)
    path.write_text("t,v\n" + "".join(f"{a},{b}\n" for a, b in zip(t, y, strict=True)))
    return path


class TestCommand:
    @pytest.fixture
    def run(self, capsys, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)

        def run(*arguments):
            with pytest.raises(SystemExit) as stop:
                main([str(argument) for argument in arguments])
            return stop.value.code, capsys.readouterr().err

        return run

    def test_an_input_is_never_written_to(self, run, tmp_path):
        table = small_table(tmp_path / "fit.csv")
        before = table.read_bytes()
        code, err = run("fit", "fit.csv", "--out", ".", "--overwrite")
        assert code == 1
        assert "'.' holds the input, which results must not replace" in err
        put(tmp_path / "results", "old")
        table.rename(tmp_path / "results" / "fit.csv")
        code, err = run("fit", "results/fit.csv", "--out", "results", "--overwrite")
        assert code == 1
        assert "'results' holds the input" in err
        assert (tmp_path / "results" / "fit.csv").read_bytes() == before

    def test_the_current_folder_is_refused_before_it_changes_places(self, run, tmp_path):
        small_table(tmp_path / "a.csv")
        (tmp_path / "here").mkdir()
        os.chdir(tmp_path / "here")
        code, err = run("fit", "../a.csv", "--out", ".")
        assert code == 1
        assert "'.' is the folder you are in; choose another folder with --out" in err

    def test_a_symbolic_link_is_not_followed(self, run, tmp_path):
        small_table(tmp_path / "a.csv")
        (tmp_path / "precious").mkdir()
        (tmp_path / "link").symlink_to(tmp_path / "precious")
        code, err = run("fit", "a.csv", "--out", "link", "--overwrite")
        assert code == 1
        assert "'link' is a symbolic link" in err
        assert not list((tmp_path / "precious").iterdir())

    def test_a_folder_of_something_else_is_refused_even_with_overwrite(self, run, tmp_path):
        small_table(tmp_path / "a.csv")
        (tmp_path / "thesis").mkdir()
        (tmp_path / "thesis" / "fit.csv").write_text("years of work")
        code, err = run("fit", "a.csv", "--out", "thesis", "--overwrite")
        assert code == 1
        assert "'thesis' is not empty and holds no run of robustfourier" in err
        assert (tmp_path / "thesis" / "fit.csv").read_text() == "years of work"

    def test_a_prediction_is_not_written_over_its_model(self, run, tmp_path, small_model):
        small_model.save(tmp_path / "m.rfm")
        before = (tmp_path / "m.rfm").read_bytes()
        code, err = run("predict", "m.rfm", "--from", "2024-03-01", "--to", "2024-03-02",
                        "--every", "1h", "--out", "./m.rfm")  # fmt: skip
        assert code == 1
        assert "'m.rfm' is the input itself; choose another place" in err
        assert (tmp_path / "m.rfm").read_bytes() == before

    def test_a_window_or_a_map_is_not_drawn_over_its_input(self, run, tmp_path):
        small_table(tmp_path / "a.png")
        code, err = run("check", "a.png", "--out", "a.png")
        assert code == 1
        assert "'a.png' is the input itself" in err
        small_table(tmp_path / "completeness.csv")
        code, err = run("inject", "completeness.csv", "--out", ".")
        assert code == 1
        assert "'completeness.csv' is the input itself" in err


def test_a_failing_fit_leaves_the_earlier_result(tmp_path):
    table, out = small_table(tmp_path / "a.csv"), tmp_path / "results"
    put(out, "old")
    small_table(table, rows=3)
    with pytest.raises(DataError, match=re.escape("3 samples are too few")):
        analyse(table, out=out, overwrite=True)
    assert marks(out) == {"old"}
    assert left_beside(out) == ["a.csv"]


def fit_over_an_earlier_result(tmp_path, prelude):
    """Run the command in a process of its own, after some lines; the earlier result must stay."""
    table, out = small_table(tmp_path / "a.csv"), tmp_path / "results"
    put(out, "old")
    command = ["fit", str(table), "--out", str(out), "--overwrite"]
    script = f"{prelude}\nfrom robustfourier.cli import main\nmain({command!r})"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert marks(out) == {"old"}
    assert left_beside(out) == ["a.csv"]
    return done


SMALL_FILES = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
"""


def test_files_that_may_not_grow_leave_the_earlier_result(tmp_path):
    done = fit_over_an_earlier_result(tmp_path, SMALL_FILES)
    assert done.returncode == 1
    assert f"cannot write results to {str(tmp_path / 'results')!r} (File too large)" in done.stderr


CTRL_C = """
import signal, time
from robustfourier.analysis import file_analysis as run
run.summarise = lambda *_, **__: (signal.raise_signal(signal.SIGINT), time.sleep(60))
"""


def test_ctrl_c_in_a_fit_says_one_line_and_leaves_the_earlier_result(tmp_path):
    done = fit_over_an_earlier_result(tmp_path, CTRL_C)
    assert done.returncode == 130
    assert done.stdout == ""
    assert done.stderr == "robustfourier: interrupted\n"
