"""Builds the kernels into the extension `robustfourier._kernels`; needs setuptools and a compiler.

The build of the package calls it (`hook.py`), and after a kernel was edited in a checkout
``make kernels``.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parents[1] / "src" / "robustfourier"
sys.path[:0] = [str(HERE), str(PACKAGE.parent)]

from translate import translated  # noqa: E402

NAME = "robustfourier._kernels"
#: Products may be contracted; NaN and infinity keep their meaning, so that divergence is seen. Sums
#: are not reordered: where they were, their last bits depended on where in memory arrays lay.
FLAGS = (
    *("-std=c++17", "-O3", "-g0", "-fno-math-errno", "-fno-trapping-math", "-fno-signed-zeros"),
    *("-ffp-contract=fast", "-fcx-limited-range"),
)
FLAGS_MSVC = ("/std:c++17", "/O2")


def build(folder: Path) -> Path:
    """Compile the kernels into a folder, and return the file of the extension.

    Raises
    ------
    Exception
        Of setuptools, if there is no compiler or it fails.
    """
    import numpy as np
    from setuptools import Distribution, Extension
    from setuptools.command.build_ext import build_ext

    with tempfile.TemporaryDirectory() as work:
        source = Path(work) / "_kernels.cpp"
        source.write_text(translated(PACKAGE), encoding="utf-8")
        extension = Extension(
            NAME,
            [str(source)],
            include_dirs=[np.get_include(), str(HERE)],
            define_macros=[("NPY_TARGET_VERSION", "NPY_1_22_API_VERSION")],
            extra_compile_args=list(FLAGS_MSVC if sys.platform == "win32" else FLAGS),
            language="c++",
        )
        command = build_ext(Distribution({"name": "robustfourier", "ext_modules": [extension]}))
        command.build_lib = command.build_temp = work
        command.ensure_finalized()
        command.run()
        built = Path(command.get_ext_fullpath(NAME))
        return built.replace(folder / built.name)


if __name__ == "__main__":
    print(build(PACKAGE))
