import time

import pytest
from benchmarks.engines import noisy_sample
from benchmarks.watching import Spent, watching_shares

from robustfourier.training import ProgressBar


def busy(seconds):
    start = time.thread_time()
    while time.thread_time() - start < seconds:
        pass
    return seconds


def test_time_inside_calls_is_added_up_and_waiting_is_not():
    spent = Spent()
    assert spent.inside(busy)(0.02) == 0.02
    spent.inside(time.sleep)(0.1)
    busy(0.02)
    with pytest.raises(ZeroDivisionError):
        spent.inside(lambda: busy(0.02) / 0)()
    assert 0.04 <= spent.seconds < 0.06


def test_what_watching_costs_is_told_for_every_run_and_leaves_the_bar_as_it_was():
    before = ProgressBar.__call__
    shares = watching_shares(noisy_sample(), n_steps=200, repeats=2)
    assert len(shares) == 2
    assert all(share > 0.0 for share in shares)
    assert ProgressBar.__call__ is before
