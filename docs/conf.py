"""The documentation site: ``make docs``. Pages with code cells are executed when it is built."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "src"))
# Kernels of executed pages find the same package and speak of nothing but results.
os.environ["PYTHONPATH"] = str(ROOT / "src")
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"


def _digest(folder: Path) -> str:
    """Return a name for the state of all source files in a folder."""
    sums = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        built = "__pycache__" in path.parts or path.name.startswith("_kernels")
        if path.is_file() and not built:
            sums.update(f"{path.relative_to(folder)}\0".encode() + path.read_bytes())
    return sums.hexdigest()[:16]


project = "robustfourier"
author = "The robustfourier developers"
project_copyright = "the robustfourier developers, MIT licence"
version = release = metadata.version("robustfourier")

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
]
exclude_patterns = ["_build", "figures", "**.ipynb_checkpoints"]
html_theme = "pydata_sphinx_theme"
html_title = "robustfourier"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_theme_options = {
    "show_toc_level": 2,
    "header_links_before_dropdown": 2,
    "navbar_align": "left",
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "**": ["globaltoc.html"]}

# One backtick in a docstring is code.
default_role = "code"
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autosummary_generate = False
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
# A page is executed if its code has changed since it last was, or the package has. Pages take
# far longer where kernels are compiled beside other work.
nb_execution_mode = "cache"
nb_execution_cache_path = str(ROOT / "out" / "executed" / _digest(ROOT / "src"))
nb_execution_in_temp = True
nb_execution_timeout = 900
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_merge_streams = True
suppress_warnings = ["mystnb.unknown_mime_type"]
linkcheck_ignore = [r"http://localhost.*"]


def _escape_names(app, what, name, obj, options, lines):  # type: ignore[no-untyped-def]
    """Let |x| in a docstring be an absolute value and components_ a name, not a reference.

    Code, formulas and what stands between backticks are left as they are.
    """
    del app, what, name, obj, options
    formula = -1  # indentation of a directive whose content is left alone
    for i, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        if line.strip() and indent <= formula:
            formula = -1
        if line.lstrip().startswith((".. math::", ".. code", "::")):
            formula = indent
        if formula < 0 and not line.lstrip().startswith((">>>", "...", "+")):
            parts = line.split("`")
            plain = (part.replace("|", r"\|") for part in parts[::2])
            parts[::2] = [re.sub(r"(?<=\w)_(?!\w)", r"\\_", part) for part in plain]
            lines[i] = "`".join(parts)


def setup(app):  # type: ignore[no-untyped-def]
    """Register what is done to docstrings, after napoleon."""
    app.connect("autodoc-process-docstring", _escape_names, priority=900)
