"""What the build makes of a kernel, and how a kernel is chosen."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import types
from pathlib import Path

import numpy as np
import pytest

from robustfourier import compiling

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "packaging" / "kernels"

HEAD = (
    "from typing import Annotated\nimport math\nimport numpy as np\n"
    "from robustfourier.arrays import IntVector, Matrix, Vector\n"
    "from robustfourier.compiling import compiled\n\n"
    "STEP = 4\nHALF, THIRD = 0.5, STEP / 3.0\n"
    "TABLE: Annotated[Vector, STEP] = np.arange(4.0)\n\n"
)
#: Each line of Python that kernels may use, in one function of numbers and arrays.
KERNELS = '''
@compiled
def shifted(x: Vector, by: float, out: Vector) -> None:
    """Write x + by."""
    for i in range(len(x)):
        out[i] = x[i] + by


@compiled
def whole(a: int, b: int) -> int:
    """Floors, as Python has them for negative numbers."""
    return 1000 * (a // b) + a % b


@compiled
def mixed(x: Matrix, place: IntVector, sums: Vector) -> float:
    """Loops, slices, tuples, conditions and arrays of its own."""
    (n, m), total, first = x.shape, 0.0, 1
    work, left = np.empty((n, m)), np.zeros(n, np.int64)
    for i in range(n - 1, -1, -1):
        shifted(x[i], HALF if i % 2 else -1, work[i])
        a, b = work[i, 0], work[i, m - 1]
        a, b = b, a
        left[i] = int(a > b) if not 0.0 < a <= 1.0 else -STEP
    work[0, 1:3] = THIRD
    while first < n:
        first *= 2
        if first == 4 and n > 1 or first > 64:
            continue
        total += max(first, 0.5 * first, TABLE[first % STEP])
    for j in range(len(place)):
        part = work[place[j], : j + 1]
        for k in range(len(part)):
            sums[j] += abs(part[k]) ** 2 - np.pi * left[place[j]]
        if sums[j] > 1e6:
            break
        z = complex(sums[j], -1.0) * (0.5j - part[0])
        total -= z.real * z.conjugate().imag + math.floor(z.imag)
    return total / np.sqrt(2.0 + n)
'''


@pytest.fixture(scope="module")
def translate():
    spec = importlib.util.spec_from_file_location("translate", FOLDER / "translate.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["translate"] = module  # for dataclasses, which look there
    spec.loader.exec_module(module)
    yield module
    del sys.modules["translate"]


def package(folder, text):
    source = folder / "trial"
    source.mkdir()
    (source / "loops.py").write_text(HEAD + text, encoding="utf-8")
    return source


@pytest.mark.skipif(shutil.which("c++") is None, reason="there is no C++ compiler")
def test_a_translated_kernel_computes_what_python_does(translate, tmp_path):
    source = package(tmp_path, KERNELS)
    cpp = tmp_path / "_kernels.cpp"
    cpp.write_text(translate.translated(source), encoding="utf-8")
    include = [sysconfig.get_path("include"), np.get_include(), FOLDER]
    library = tmp_path / f"_kernels{sysconfig.get_config_var('EXT_SUFFIX')}"
    flags = ["-std=c++17", "-O1", "-shared", "-fPIC", "-undefined", "dynamic_lookup"]
    flags = flags if sys.platform == "darwin" else flags[:4]
    words = [f"-I{folder}" for folder in include]
    subprocess.run(["c++", *flags, *words, str(cpp), "-o", str(library)], check=True)
    spec = importlib.util.spec_from_file_location("_kernels", library)
    built = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(built)
    python = types.ModuleType("trial.loops")
    text = (
        (HEAD + KERNELS).replace("import compiled", "import compiled as _").replace("@compiled", "")
    )
    exec(text, vars(python))
    built.bind("loops_TABLE", python.TABLE)

    for a, b in [(7, 4), (-7, 4), (7, -4), (-8, 4)]:
        assert built.loops_whole(a, b) == python.whole(a, b)
    x, place = np.random.default_rng(0).normal(size=(9, 5)), np.array([2, 0, 7, 7])
    for given in (x, np.asfortranarray(x), x[::-1], x.astype(np.float32), x[:1]):
        where, ours, theirs = np.minimum(place, len(given) - 1), np.ones(4), np.ones(4)
        assert built.loops_mixed(given, where, ours) == pytest.approx(
            python.mixed(given.astype(float), where, theirs), rel=1e-13
        )
        np.testing.assert_allclose(ours, theirs, rtol=1e-13)
    out = np.zeros((5, 2))
    built.loops_shifted(x[0], 1, out[:, 1])  # a column: written into a copy, and back
    np.testing.assert_array_equal(out, np.c_[np.zeros(5), x[0] + 1.0])
    with pytest.raises(TypeError, match=re.escape("shifted() takes 3 arguments, not 2")):
        built.loops_shifted(x[0], 1.0)
    with pytest.raises(TypeError, match=re.escape("needs an array of 1 axes as argument 3")):
        built.loops_shifted(x[0], 1.0, x)
    frozen = np.zeros(5)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        built.loops_shifted(x[0], 1.0, frozen)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("x += [i for i in x]", "[i for i in x] cannot be translated"),
        ("y = x * x", "arithmetic of whole arrays cannot be translated"),
        ("for one in x: pass", "a loop other than over a range cannot be translated"),
        ("x[0] = x[0] ** 3", "a power other than a square cannot be translated"),
        ("x[::2] = 0.0", "a slice other than of the last axis, without a step, cannot be"),
        ("print(x)", "print(x) cannot be translated"),
    ],
)
def test_what_is_not_translated_is_refused_with_its_line(translate, tmp_path, line, message):
    source = package(tmp_path, f"@compiled\ndef kernel(x: Vector) -> None:\n    {line}\n")
    number = HEAD.count("\n") + 3
    with pytest.raises(
        translate.TranslationError, match=re.escape(f"loops.py:{number}: {message}")
    ):
        translate.translated(source)


def test_an_argument_without_a_known_type_is_refused(translate, tmp_path):
    source = package(tmp_path, "@compiled\ndef kernel(x: list) -> None:\n    x[0] = 1.0\n")
    with pytest.raises(translate.TranslationError, match=re.escape("list is none of Vector,")):
        translate.translated(source)


@pytest.mark.skipif(compiling.HOW != "C++", reason="kernels were not built here")
def test_a_kernel_that_was_edited_after_the_build_is_not_run(monkeypatch):
    from robustfourier.periodic import basis, nufft

    message = re.escape("the kernel cos_sin of robustfourier.periodic.basis is not the one")
    function = compiling.reference(basis.cos_sin)
    edited = types.FunctionType(
        function.__code__.replace(co_varnames=("t", *function.__code__.co_varnames[1:])),
        {**vars(basis)},
        "cos_sin",
    )
    with pytest.raises(ImportError, match=message):
        compiling.compiled(edited)
    assert compiling.compiled(function) is basis.cos_sin
    monkeypatch.setattr(nufft, "HALF", 9)
    with pytest.raises(ImportError, match=re.escape("`make kernels`")):
        compiling.compiled(compiling.reference(nufft._spread))


FIT = (
    "import numpy as np, sys\n"
    "from robustfourier import PeriodicMixture, compiling\n"
    "t = np.arange(40.0)\n"
    "(found,) = PeriodicMixture().fit(t, np.sin(t) + 0.01 * (t % 3)).components_[:1]\n"
    "print(compiling.HOW, 'numba' in sys.modules, round(found.period, 3))\n"
)


@pytest.mark.parametrize(("asked", "numba"), [("python", False), ("numba", True)])
def test_a_fit_is_the_same_without_what_was_built(asked, numba):
    runs = {}
    for kernels in ("", asked):
        done = subprocess.run(
            [sys.executable, "-c", FIT],
            env={**os.environ, "ROBUSTFOURIER_KERNELS": kernels},
            capture_output=True,
            text=True,
            check=True,
        )
        runs[kernels] = done
    how, loaded, period = runs[asked].stdout.split()
    assert (how.lower(), loaded) == (asked, str(numba))
    assert period == runs[""].stdout.split()[2] == "6.283"
    assert runs[asked].stderr.count(compiling.SLOW) == (asked == "python")
