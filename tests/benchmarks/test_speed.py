"""Growth is measured against n log n."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import speed


def test_the_exponent_is_that_of_n_log_n():
    n = np.array([1e4, 1e5, 1e6])
    assert speed.growth_exponent(n, 3e-6 * n * np.log(n)) == pytest.approx(1.0)
    assert speed.growth_exponent(n, 1e-9 * n**2) > 1.5


def test_the_rows_tell_seconds_memory_and_growth_and_leave_a_figure(tmp_path, monkeypatch):
    monkeypatch.setattr(speed, "FIGURE", tmp_path / "speed.png")
    # seconds grow like n; even samples take too much memory
    monkeypatch.setattr(speed, "measured", lambda *at: (at[1] / 1e5, 2.0 if at[3] else 1.0, 10.0))
    rows = list(speed.growth_rows((10_000, 100_000, 1_000_000), range(1)))
    assert [row.passed for row in rows] == [False, True, True, True]
    assert (tmp_path / "speed.png").exists()
    assert (tmp_path / "speed.pdf").exists()


@pytest.mark.parametrize(("lasso", "passed"), [(6.0, True), (4.0, False)])
def test_lassocv_is_compared_seed_by_seed(monkeypatch, lasso, passed):
    def seconds(method, _n, _top, _even, seeds):
        return (sum(seeds) * (lasso if method == "lasso" else 1.0), 0.0, 10.0)

    monkeypatch.setattr(speed, "measured", seconds)
    assert speed.lasso_row("even", range(1, 4)).passed is passed


def test_a_quick_run_leaves_the_figure_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(speed, "FIGURE", tmp_path / "speed.png")
    monkeypatch.setattr(speed, "measured", lambda *at: (at[1] / 1e5, 1.0, 10.0))
    assert list(speed.speed_rows(quick=True))
    assert not (tmp_path / "speed.png").exists()
