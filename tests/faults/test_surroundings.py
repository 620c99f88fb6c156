"""Broken surroundings: a full or read-only disk, threads, forks, and no torch."""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from robustfourier.estimators.mixture import PeriodicMixture

HERE = str(Path(__file__).parent)
#: In a mount name space of its own: an earlier result on a small disk, and a fit over it.
DISK = """
import subprocess, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from test_result_folder import left_beside, marks, put, small_table
from robustfourier.cli import main

table, disk, options = small_table(Path(sys.argv[2]) / "a.csv"), Path(sys.argv[3]), sys.argv[4]
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=120k", "tmpfs", disk], check=True)
out = disk / "results"
put(out, "old")
if options == "ro":
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
many = [str(small_table(Path(sys.argv[2]) / "b.csv"))] if sys.argv[5:] else ["--overwrite"]
place = disk / "survey" if sys.argv[5:] else out
try:
    main(["fit", str(table), *many, "--out", str(place)])
except SystemExit as stop:
    print(stop.code, marks(out), left_beside(out))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="mounts a small disk")
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["rw"], "No space left on device"),
        (["ro"], "Read-only file system"),
        (["ro", "many"], "Read-only file system"),
    ],
)
def test_a_full_or_read_only_disk_leaves_the_earlier_result(tmp_path, options, words):
    disk = tmp_path / "disk"
    disk.mkdir()
    given = [HERE, str(tmp_path), str(disk), *options]
    command = ["unshare", "-m", sys.executable, "-c", DISK, *given]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no unshare")
    if "unshare" in done.stderr or "mount" in done.stderr:
        pytest.skip("mounting is not allowed here")
    code, rest = done.stdout.splitlines()[-1].split(" ", 1)  # behind the answer, told before
    assert int(code) == 1, done.stderr
    assert rest.startswith("{'old'} [")
    assert ".part" not in rest
    assert words in done.stderr
    assert str(disk / ("survey" if "many" in options else "results")) in done.stderr


def series(seed):
    rng = np.random.default_rng(seed)
    t = np.sort(rng.uniform(0, 100, 200))
    return t, np.sin(2 * np.pi * t / 7) + 0.3 * rng.normal(size=200)


def answer(seed):
    t, y = series(seed)
    return PeriodicMixture().fit(t, y).predict(t).tobytes()


def test_fits_in_threads_give_the_bits_of_fits_alone():
    alone = [answer(seed) for seed in range(4)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(answer, range(4))) == alone


#: Where BLAS has two threads: products pinned and free, here first, then in threads that overlap.
OVERLAP = """
import sys, threading
import numpy as np
from threadpoolctl import threadpool_limits
from robustfourier.concurrency import one_blas_thread

A = np.random.default_rng(0).normal(size=(100_000, 30))
product = lambda: (A.T @ A[:, 0]).tobytes()
free = product()
with threadpool_limits(1, "blas"):
    pinned = product()
if free == pinned:
    sys.exit(77)
with one_blas_thread():
    assert product() == pinned, "BLAS is not pinned"
there, gone, seen = threading.Event(), threading.Event(), []

def short():
    with one_blas_thread():
        there.wait()
        seen.append(product())
    gone.set()

def long():
    with one_blas_thread():
        there.set()
        gone.wait()  # the first one in has left
        seen.append(product())

threads = [threading.Thread(target=work) for work in (short, long)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert seen == [pinned] * 2, [one == pinned for one in seen]
assert product() == free, "BLAS stays pinned"
"""
#: A network that is asked alone, and in a thread while another thread holds BLAS.
ASKED = """
import threading
import numpy as np
from robustfourier import FourierNetworkRegressor
from robustfourier.concurrency import one_blas_thread

t = np.arange(100.0)[:, None]
model = FourierNetworkRegressor(n_steps=100, random_state=0).fit(t, np.sin(t[:, 0]))
at = np.linspace(0.0, 100.0, 50_000)[:, None]
alone, there = model.predict(at), []
with one_blas_thread():
    thread = threading.Thread(target=lambda: there.append(model.predict(at)))
    thread.start()
    thread.join()
assert alone.tobytes() == there[0].tobytes()
"""


@pytest.mark.parametrize("code", [OVERLAP, ASKED], ids=["products", "predictions"])
def test_threads_that_overlap_have_the_bits_of_one_thread_alone(code):
    free = {name: value for name, value in os.environ.items() if "NUM_THREADS" not in name}
    done = subprocess.run(
        [sys.executable, "-c", code], env={**free, "OPENBLAS_NUM_THREADS": "2"},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    if done.returncode == 77:
        pytest.skip("one thread and two have the same bits here")
    assert done.returncode == 0, done.stderr


#: Forks while two threads fit without a pause; each child must come to its end with the same bits.
FORKS = """
import faulthandler, itertools, os, sys, threading
sys.path.insert(0, sys.argv[1])
from test_surroundings import answer

before, seen = answer(0), threading.Semaphore(0)

def work():
    while True:
        answer(1)
        seen.release()

for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
for _ in range(8):
    seen.acquire()  # the threads are somewhere within a fit
    child = os.fork()
    if child == 0:
        faulthandler.dump_traceback_later(60, exit=True)
        os._exit(0 if answer(0) == before else 7)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code:
        os._exit(code)
os._exit(0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_a_fork_during_fits_in_threads_does_not_hang():
    command = [sys.executable, "-c", FORKS, HERE]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr


def test_an_interrupted_fit_leaves_the_estimator_as_it_was(monkeypatch):
    from robustfourier.estimators import mixture

    model = PeriodicMixture().fit(*series(0))
    before = dict(vars(model))

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(mixture, "mode_table", interrupt)  # after half of the attributes are set
    with pytest.raises(KeyboardInterrupt):
        model.fit(*series(1))
    assert vars(model) == before


def test_an_interruption_within_compiled_code_is_no_system_error(monkeypatch):
    from robustfourier.estimators import mixture

    def interrupt(*_):
        try:
            raise SystemError("returned a result with an exception set") from KeyboardInterrupt()
        except SystemError as error:
            raise SystemError("CPUDispatcher returned a result with an exception set") from error

    monkeypatch.setattr(mixture, "fit_on_scale", interrupt)
    with pytest.raises(KeyboardInterrupt):
        PeriodicMixture().fit(*series(1))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_a_fit_in_a_forked_process_gives_the_same_bits():
    code = (
        f"import os, sys; sys.path.insert(0, {HERE!r})\n"
        "from test_surroundings import answer\n"
        "before = answer(0)\n"
        "child = os.fork()\n"
        "if child == 0:\n    os._exit(0 if answer(0) == before else 7)\n"
        "sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))"
    )
    done = subprocess.run([sys.executable, "-c", code], timeout=300, check=False)
    assert done.returncode == 0


def test_without_torch_all_but_the_layer_works(tmp_path):
    code = (
        "import sys\n"
        "class Nowhere:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name.partition('.')[0] == 'torch':\n"
        "            raise ModuleNotFoundError(\"No module named 'torch'\", name='torch')\n"
        "sys.meta_path.insert(0, Nowhere())\n"
        f"sys.path.insert(0, {HERE!r})\n"
        "import numpy as np\n"
        "from robustfourier import PeriodicMixture, load\n"
        "from robustfourier.errors import MissingDependencyError\n"
        "t = np.arange(60.0)\n"
        "model = PeriodicMixture().fit(t, np.sin(t) + t % 2)\n"
        f"model.save({str(tmp_path / 'm.rfm')!r})\n"
        f"assert (load({str(tmp_path / 'm.rfm')!r}).predict(t) == model.predict(t)).all()\n"
        "try:\n    import robustfourier.nn\n"
        "except MissingDependencyError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "torch" in done.stdout


#: numba without a place for its cache, as where neither installation nor home can be written.
NOWHERE = """
import sys
from numba.core import caching
classes = caching.CacheImpl._locator_classes
caching.CacheImpl._locator_classes = [one for one in classes if "UserProvided" in one.__name__]
sys.path.insert(0, sys.argv[1])
from kernel import twice
twice(2)
print(sum(twice.stats.cache_hits.values()))
"""


@pytest.mark.skipif(os.name == "nt", reason="folders of users are others there")
def test_where_nothing_can_be_written_kernels_are_kept_among_temporary_files(tmp_path, monkeypatch):
    (tmp_path / "kernel.py").write_text(
        "from robustfourier.compiling.numba_jit import jitted\n\n"
        "@jitted\ndef twice(x):\n    return 2 * x\n"
    )
    (tmp_path / "temporary").mkdir()
    env = {**os.environ, "TMPDIR": str(tmp_path / "temporary")}
    env.pop("NUMBA_CACHE_DIR", None)
    command = [sys.executable, "-c", NOWHERE, str(tmp_path)]
    hits = [
        subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout.strip()
        for _ in range(2)
    ]
    assert hits == ["0", "1"]
    (kept,) = (tmp_path / "temporary").iterdir()
    assert kept.stat().st_mode & 0o777 == 0o700
    from robustfourier.compiling import numba_jit

    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr(os, "mkdir", None)  # nothing is made
    assert numba_jit._own_folder() == str(kept)
    kept.chmod(0o777)  # others could have put code there
    monkeypatch.setattr(os, "lstat", {str(kept): os.lstat(kept)}.__getitem__)
    monkeypatch.setattr(os.path, "lexists", lambda _: True)
    with pytest.raises(KeyError, match=re.escape("/var/tmp")):
        numba_jit._own_folder()  # looks elsewhere


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path, monkeypatch):
    from numba.core import caching

    from robustfourier.compiling.numba_jit import jitted

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(caching.Cache, "_save_overload", full)
    code = compile("def thrice(x):\n    return 3 * x\n", str(tmp_path / "k.py"), "exec")
    (tmp_path / "k.py").write_text("def thrice(x):\n    return 3 * x\n")
    names = {}
    exec(code, names)
    assert jitted(names["thrice"])(2) == 6
