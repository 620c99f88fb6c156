"""Files as people have them: the same thirty values out of each, and the page that lists them."""

import sys

import numpy as np
import pytest
from tests.samples.inputs import BAD, CASES, PAGE, VALUES, error_of, missing, put, row_of

from robustfourier.samples import read_samples


def skip_without_libraries(case):
    if absent := missing(case):
        pytest.skip(f"needs {', '.join(absent)}")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_same_values_are_read_from_every_file(case, tmp_path):
    skip_without_libraries(case)
    samples = read_samples(put(case, tmp_path), **case.options)
    np.testing.assert_array_equal(samples.values, VALUES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_page_says_what_is_read(case, tmp_path):
    skip_without_libraries(case)
    assert row_of(case, tmp_path) in PAGE.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("case", BAD, ids=lambda case: case.words)
def test_the_page_says_what_is_refused_and_why(case, tmp_path):
    skip_without_libraries(case)
    line = error_of(case, tmp_path)
    assert line in PAGE.read_text(encoding="utf-8").splitlines()


def test_without_its_library_a_file_is_refused_with_the_way_to_get_it(tmp_path, monkeypatch):
    from robustfourier.errors import MissingDependencyError

    case = next(case for case in CASES if case.name == "book.xlsx")
    skip_without_libraries(case)
    path = put(case, tmp_path)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingDependencyError, match=r"pip install robustfourier\[excel\]"):
        read_samples(path)
