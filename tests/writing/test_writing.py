import os
import re
import stat
import subprocess
import sys
from types import SimpleNamespace

import pytest

from robustfourier import atomic_files
from robustfourier.atomic_files import locked, replacing, write_text
from robustfourier.errors import OutputError, RunLockedError

KILLED = """
import os, signal, sys
from robustfourier.atomic_files import replacing
with replacing(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def path(tmp_path):
    (tmp_path / "page.html").write_text("old")
    return tmp_path / "page.html"


def names(path):
    return [entry.name for entry in path.parent.iterdir()]


def write_new(path):
    with replacing(path) as file:
        file.write(b"new")


def test_a_file_is_replaced_and_keeps_its_permissions(path):
    path.chmod(0o640)
    write_new(path)
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert names(path) == ["page.html"]


def test_a_new_file_has_the_permissions_that_the_user_gives_new_files(tmp_path):
    write_new(tmp_path / "ours")
    (tmp_path / "theirs").write_text("")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "theirs").stat().st_mode


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, MemoryError])
def test_an_error_in_the_middle_leaves_the_old_file_and_nothing_else(path, error):
    def interrupted():
        with replacing(path) as file:
            file.write(b"half")
            raise error("in the middle")

    with pytest.raises(error, match="in the middle"):
        interrupted()
    assert path.read_text() == "old"
    assert names(path) == ["page.html"]


@pytest.mark.parametrize("step", ["fsync", "replace", "chmod"])
def test_a_failing_disk_is_told_with_the_users_path(path, monkeypatch, step):
    def fail(*_):
        raise OSError(28, "No space left on device", "/tmp/.page.html.part")

    monkeypatch.setattr(os, step, fail)
    words = f"cannot write {str(path)!r} (No space left on device); choose another place"
    with pytest.raises(OutputError, match=f"^{re.escape(words)}$"):
        write_new(path)
    assert path.read_text() == "old"
    assert names(path) == ["page.html"]


def test_a_killed_writer_leaves_the_old_file_and_the_next_one_clears_up(path):
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert done.returncode == -9
    assert path.read_text() == "old"
    assert ".page.html.part" in names(path)
    write_new(path)
    assert path.read_text() == "new"
    assert names(path) == ["page.html"]


def test_two_writers_do_not_meet(path):
    words = f"cannot write {str(path)!r}: another process is writing it"
    with replacing(path) as first:
        first.write(b"first")
        with pytest.raises(RunLockedError, match=re.escape(words)):
            write_new(path)
    assert path.read_text() == "first"


def test_a_name_that_somebody_else_has_taken_meanwhile_is_left_alone(tmp_path):
    with locked(tmp_path / "lock", "busy"):
        (tmp_path / "lock").rename(tmp_path / "kept")
        (tmp_path / "lock").write_text("another's")
    assert (tmp_path / "lock").read_text() == "another's"


@pytest.mark.parametrize("kind", ["link", "folder", "pipe"])
def test_only_regular_files_are_replaced(path, kind):
    odd = path.parent / kind
    {"link": lambda: odd.symlink_to(path), "folder": odd.mkdir, "pipe": lambda: os.mkfifo(odd)}[
        kind
    ]()
    what = "a symbolic link" if kind == "link" else "no regular file"
    with pytest.raises(OutputError, match=re.escape(f"(it is {what})")):
        write_new(odd)
    assert path.read_text() == "old"


@pytest.mark.parametrize("name", ["", "x" * 300, "a\0b", "missing/file"])
def test_impossible_names_are_output_errors(tmp_path, name):
    with pytest.raises(OutputError, match=re.escape("choose another place")):
        write_new(tmp_path / name)


def test_text_that_no_encoding_knows_is_still_written(tmp_path):
    write_text(tmp_path / "a.html", "lone \udcff surrogate")
    assert (tmp_path / "a.html").read_text(encoding="utf-8") == "lone ? surrogate"


def test_where_there_is_no_flock_the_lock_is_that_of_windows(tmp_path, monkeypatch):
    held = set()

    def locking(handle, how, count):
        assert (how, count) == ("now or never", 1)
        assert os.lseek(handle, 0, os.SEEK_CUR) > 1_000_000_000  # no byte that is written
        key = os.fstat(handle).st_ino
        if key in held:
            raise PermissionError(13, "Permission denied")
        held.add(key)

    windows = SimpleNamespace(locking=locking, LK_NBLCK="now or never")
    monkeypatch.setitem(sys.modules, "msvcrt", windows)
    monkeypatch.setattr(atomic_files, "fcntl", None)
    with locked(tmp_path / "lock", "busy") as file:
        file.write(b"mine")
        file.flush()
        assert (tmp_path / "lock").read_bytes() == b"mine"
        with (
            pytest.raises(RunLockedError, match=re.escape("busy")),
            locked(tmp_path / "lock", "busy"),
        ):
            pass
    assert not (tmp_path / "lock").exists()
