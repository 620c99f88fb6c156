"""docs/theory.md names functions and tests; they must be there."""

import importlib
import re
from pathlib import Path

import pytest

from robustfourier import theory

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "theory.md").read_text(encoding="utf-8")


def test_every_slip_on_the_page_has_its_test_and_every_test_its_slip():
    named = set(re.findall(r"`(test_\w+)` \|", PAGE)) - {"test_synthetic"}
    written = set(re.findall(r"def (test_\w+)", (ROOT / "tests/theory/test_slips.py").read_text()))
    assert named <= written
    assert written - named == {"test_relu_of_a_sine_has_cosines_at_even_harmonics"}


def test_every_function_of_the_theory_is_on_the_page():
    records = {"FeatureLearningBound", "Finding", "FourierSeries", "MainBound"}
    named = set(re.findall(r"`theory\.(\w+)`", PAGE))
    assert set(theory.__all__) - records - {"success_probability"} == named


@pytest.mark.parametrize(
    "name",
    sorted(set(re.findall(r"`((?:synthetic|embedding|training|datasets|theory)\.\w+)`", PAGE))),
)
def test_what_the_page_names_exists(name):
    module, attribute = name.split(".")
    assert hasattr(importlib.import_module(f"robustfourier.{module}"), attribute)


def test_the_folders_and_files_that_the_page_names_exist():
    for path in set(re.findall(r"`(tests/[\w/.]+)`", PAGE)):
        assert (ROOT / path).exists()
    for file in set(re.findall(r"`(test_\w+\.py)`", PAGE)):
        assert (ROOT / "tests" / "theory" / file).exists()


def test_the_prediction_of_the_page_comes_out_as_it_says():
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    *lines, last = code.strip().splitlines()
    measured, stated = last.split("  # ")
    names = {}
    exec("\n".join(lines), names)
    assert eval(measured, names) == pytest.approx(float(stated), abs=5e-4)
