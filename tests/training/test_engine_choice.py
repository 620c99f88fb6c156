"""Which engine trains a network, where one library or both are missing."""

import re

import pytest

from robustfourier.errors import MissingDependencyError
from robustfourier.training import engine as module
from robustfourier.training.engine import choose_engine


@pytest.mark.parametrize(
    ("installed", "asked", "chosen"),
    [
        ({"numba", "torch"}, "auto", "fused"),
        ({"numba"}, "auto", "fused"),
        ({"torch"}, "auto", "torch"),
        ({"torch"}, "torch", "torch"),
    ],
)
def test_the_fast_engine_is_taken_where_numba_is_installed(monkeypatch, installed, asked, chosen):
    monkeypatch.setattr(module, "find_spec", lambda name: name if name in installed else None)
    assert choose_engine(asked) == chosen


@pytest.mark.parametrize(("installed", "asked"), [(set(), "auto"), ({"torch"}, "fused")])
def test_without_numba_the_fast_engine_says_what_to_install(monkeypatch, installed, asked):
    monkeypatch.setattr(module, "find_spec", lambda name: name if name in installed else None)
    message = (
        f"engine={asked!r} needs numba, which is not installed; pip install 'robustfourier[numba]'"
    )
    with pytest.raises(MissingDependencyError, match=re.escape(message)):
        choose_engine(asked)
