"""Checkpoints of records larger than memory, crafted with right checksums: taken up or refused."""

import os
import random
import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from benchmarks.faults.passes import CASES, LargeCheckpoints  # noqa: E402

from robustfourier.errors import CheckpointError, DataError  # noqa: E402
from robustfourier.large import fit_large  # noqa: E402
from robustfourier.training import load_checkpoint, save_checkpoint  # noqa: E402


@pytest.mark.filterwarnings("ignore")
def test_a_crafted_checkpoint_is_taken_up_or_refused_by_an_error_of_ours(tmp_path):
    target = LargeCheckpoints()
    rng, (case, *_) = random.Random("slice"), target.seeds()
    outcomes = [target.run(target.change(rng, case, case), tmp_path) for _ in range(CASES)]
    assert outcomes.count(False) > 10
    assert target.run(case, tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
def test_a_pipe_in_place_of_a_checkpoint_is_told_and_does_not_hang(tmp_path):
    t = np.arange(300.0)
    pd.DataFrame({"t": t, "v": np.sin(t)}).to_parquet(tmp_path / "a.parquet")
    os.mkfifo(tmp_path / "pass")
    with pytest.raises(CheckpointError, match=re.escape("is no regular file")):
        fit_large(tmp_path / "a.parquet", checkpoint=tmp_path / "pass", engine="serial")


def test_parts_replaced_under_their_names_are_not_told_by_the_old_sums(tmp_path):
    folder, place = tmp_path / "parts", tmp_path / "pass"
    folder.mkdir()

    def write(period):
        t = np.arange(600.0)
        for i, rows in enumerate(np.split(t, 3)):
            values = np.sin(2 * np.pi * rows / period) + 0.1 * np.cos(37.0 * rows)
            lines = [f"{a:.1f},{b:+.6f}\n" for a, b in zip(rows, values, strict=True)]
            (folder / f"{i}.csv").write_text("t,v\n" + "".join(lines))
            os.utime(folder / f"{i}.csv", (1.0, 1.0))

    def stop(what):
        if what.startswith("fitting"):
            raise KeyboardInterrupt

    write(37.0)
    with pytest.raises(KeyboardInterrupt):
        fit_large(folder, checkpoint=place, observe=stop, engine="serial")
    write(53.0)  # of the same size and time
    with pytest.raises(CheckpointError, match=re.escape("0.csv' has changed since it was written")):
        fit_large(folder, checkpoint=place, engine="serial")
    place.unlink()
    found = fit_large(folder, checkpoint=place, engine="serial").model
    assert found.components_[0].period == pytest.approx(53.0, abs=0.1)


def test_a_checkpoint_whose_parts_are_arrays_is_one_of_other_data(tmp_path):
    table, place = pd.DataFrame({"t": np.arange(600.0), "v": np.ones(600)}), tmp_path / "pass"
    table["v"] += np.sin(table["t"])
    table.to_csv(tmp_path / "a.csv", index=False)

    def stop(what):
        if what.startswith("fitting"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit_large(tmp_path / "a.csv", checkpoint=place, observe=stop, engine="serial")
    held = load_checkpoint(place)
    crafted = {**held.training, "parts": [np.array([None, None], dtype=object)]}
    save_checkpoint(place, replace(held, training=crafted))
    with pytest.raises(CheckpointError, match=re.escape("belongs to other data")):
        fit_large(tmp_path / "a.csv", checkpoint=place, engine="serial")


def test_a_part_that_changes_between_two_passes_is_told(tmp_path):
    t, path = np.arange(600.0), tmp_path / "a.csv"

    def write(period):
        pd.DataFrame({"t": t, "v": np.sin(2 * np.pi * t / period)}).to_csv(path, index=False)

    write(37.0)
    with pytest.raises(DataError, match=re.escape("a.csv: has changed while it was read")):
        fit_large(path, observe=lambda what: write(53.0) if "the sums" in what else None)
