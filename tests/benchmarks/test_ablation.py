"""Switches really switch, and the table says what a stage earns and costs."""

import sys
from operator import attrgetter
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from benchmarks.ablation import SWITCHES, each_without, off, switched, valued, without
from benchmarks.ordinary.rows import Row

from benchmarks import ablation
from robustfourier import PeriodicMixture


@pytest.fixture
def stages(monkeypatch):
    """A module of stages, and one that imported from it."""
    first, second = ModuleType("robustfourier.stages"), ModuleType("robustfourier.user")
    first.grow = second.grow = lambda x: x + 1
    first.grow.__name__ = "grow"
    first.PRICE = second.PRICE = 3.75
    first.MOVES = second.MOVES = (first.grow, SimpleNamespace(name="drop"))
    first.TABLE = {"tie": 1, "split": 2}
    monkeypatch.setitem(sys.modules, first.__name__, first)
    monkeypatch.setitem(sys.modules, second.__name__, second)
    return second


def test_a_function_is_replaced_everywhere_counted_and_put_back(stages):
    with switched(off("growth", "stages:grow", lambda x: x)) as calls:
        assert stages.grow(1) == 1
        assert sum(calls.values()) == 1
    assert stages.grow(1) == 2


def test_constants_and_entries_of_lists_are_switched_too(stages):
    with switched(valued("price", "stages:PRICE", 0.0)) as calls:
        assert stages.PRICE == 0.0
        assert calls["homes"] == 2
    assert stages.PRICE == 3.75
    with switched(without("stages:MOVES", "grow")):
        assert [move.name for move in stages.MOVES] == ["drop"]
    assert len(stages.MOVES) == 2
    moves, entries = each_without("stages:MOVES"), each_without("stages:TABLE")
    assert [s.name for s in (*moves, *entries)] == [
        "moves: grow", "moves: drop", "table: tie", "table: split"]  # fmt: skip
    with switched(entries[0]):
        assert sys.modules["robustfourier.stages"].TABLE == {"split": 2}
    missing = without("stages:TABLE", "merge")
    with pytest.raises(KeyError, match="has no entry 'merge'; it has tie, split"):
        missing.changed(sys.modules["robustfourier.stages"].TABLE)


@pytest.mark.parametrize("switch", SWITCHES, ids=lambda switch: switch.name)
def test_every_switch_names_something_that_is_there(switch):
    assert attrgetter(switch.attribute)(switch.home) is not None
    assert len({other.name for other in SWITCHES}) == len(SWITCHES)


def test_a_switched_stage_changes_the_fit_and_is_whole_again_afterwards():
    t = np.arange(400.0)
    y = np.where(t < 200, 0.0, 3.0) + 0.5 * np.random.default_rng(0).normal(size=400)
    steps = next(switch for switch in SWITCHES if switch.name == "breakpoints")
    with switched(steps) as calls:
        assert PeriodicMixture().fit(t, y).breakpoints_ == ()
    assert sum(calls.values()) > 0
    assert len(PeriodicMixture().fit(t, y).breakpoints_) == 1


def test_the_table_says_what_is_earned_what_it_costs_and_what_never_ran():
    def rows(*right):
        return [Row("a", i, bool(r), "", 1.0, 10, 0.0, "") for i, r in enumerate(right)]

    base = rows(1, 1, 1, 0)
    one = ablation.outcome("growth", base, rows(0, 0, 1, 1), True)
    assert (one.right, one.earns, one.costs) == (2, ("a 0", "a 1"), ("a 3",))
    idle = ablation.outcome("idle", base, base, False)
    lines = ablation.table([idle, one], base).splitlines()
    assert lines[2] == "| growth | +1 | 2 | 1 | +0.0 | a 2 | a 1 |"
    assert lines[3].startswith("| idle | never ran |")
