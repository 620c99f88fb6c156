"""What the README shows runs."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot

from robustfourier.synthetic import paper_example

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.S)


@pytest.fixture
def names(tmp_path, monkeypatch):
    """The names that the README's code takes for granted; files go to an empty folder."""
    monkeypatch.chdir(tmp_path)
    problem = paper_example(1, random_state=0)
    return {
        "series": pd.Series(problem.y, index=problem.theta),
        "t": problem.theta,
        "y": problem.y,
        "t_new": np.linspace(-1, 1, 50),
    }


@pytest.mark.parametrize("block", BLOCKS, ids=lambda text: text.splitlines()[0])
def test_the_code_runs_and_gives_what_it_says(block, names):
    exec(block, names)
    pyplot.close("all")
    if "modes_.active" in block:
        model = names["model"]
        assert model.modes_.mode[model.modes_.active].tolist() == [5.0, 29.0, 61.0]


def test_there_is_code_to_run():
    assert len(BLOCKS) == 2


def test_the_example_prints_what_the_readme_says(run, tmp_path):
    said = re.search(r"The example prints\n\n```\n(.*?)```", README, re.S)[1]
    _, out, _ = run("fit", "example:double_mode_cepheid", "--out", str(tmp_path / "star"))
    printed = {" ".join(line.split()) for line in out.splitlines()}
    lines = [" ".join(line.split()) for line in said.splitlines()]
    assert [line for line in lines if line.strip("─ ") and line not in printed] == []
