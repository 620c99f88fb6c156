import numpy as np
import pytest
from benchmarks.peers.measures import function_error, matched, period_scores
from benchmarks.peers.method_interface import Fit


def scores(task, periods, **more):
    return period_scores(Fit(np.zeros_like, np.array(periods, float), **more), task)


def test_the_truth_scores_one_everywhere(task):
    found = scores(task, [0.5, 0.25], fundamentals=np.array([0.5]))
    assert found == {
        "n_found": 2, "recall": 1, "precision": 1, "recall_3se": 1, "precision_3se": 1,
        "components_right": 1,
    }  # fmt: skip


def test_a_harmonic_is_a_right_period_but_not_a_component(task):
    assert scores(task, [0.5, 0.25])["precision"] == 1.0
    assert scores(task, [0.5, 0.25])["components_right"] == 0.0
    assert scores(task, [0.5])["components_right"] == 1.0


def test_half_a_rayleigh_width_decides(task):
    # The span is 10, so a frequency may be off by 0.05.
    assert scores(task, [1 / 2.049])["recall"] == 1.0
    assert scores(task, [1 / 2.051])["recall"] == 0.0


def test_three_standard_errors_decide_again(task):
    assert scores(task, [1 / 2.0059])["recall_3se"] == 1.0
    assert scores(task, [1 / 2.0061])["recall_3se"] == 0.0
    assert scores(task, [1 / 2.0061])["recall"] == 1.0


def test_a_line_can_be_claimed_once():
    right, hit = matched(np.array([1.99, 2.0]), np.array([2.0]), np.array([0.05]))
    assert right.tolist() == [False, True]
    assert hit.tolist() == [True]


def test_false_periods_cost_precision_alone(task):
    found = scores(task, [0.5, 0.1, 0.07, 3.0])
    assert found["precision"] == 0.25
    assert found["recall"] == 1.0


def test_no_periods_have_no_precision_and_no_recall(task):
    found = scores(task, [])
    assert "precision" not in found
    assert found["recall"] == 0.0


def test_own_errors_are_tried_on_right_periods_alone(task):
    good = scores(task, [0.5, 3.0], period_errors=np.array([1e-3, 1e-9]))
    assert good["own_3se"] == 1.0
    small = scores(task, [0.501], period_errors=np.array([1e-4]))
    assert small["own_3se"] == 0.0


def test_the_error_is_relative_to_what_is_there(task):
    assert function_error(np.zeros(5), task) == pytest.approx(1.0)
    assert function_error(task.y_test, task) == 0.0
    assert function_error(1.5 * task.y_test, task) == pytest.approx(0.5)
