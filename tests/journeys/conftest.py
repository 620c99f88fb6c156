"""Journeys of eight kinds of new users: data made here, the program as they run it."""

import json
from types import SimpleNamespace

import pandas as pd
import pytest


@pytest.fixture
def fitted(run, tmp_path):
    """Runs `robustfourier fit FILE -o FOLDER`: what was said, and what the folder holds."""

    def fitted(file, *options):
        folder = tmp_path / f"{file.stem}-results"
        code, told, complaints = run("fit", file, "-o", folder, "--figures", "svg", *options)
        assert code == 0, complaints
        record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        words = dict.fromkeys(("calendar", "peak", "name", "harmonics"), str)
        table = pd.read_csv(folder / "components.csv", converters=words)
        rows = table.to_dict("records")
        return SimpleNamespace(**{"told": told, "folder": folder, "components": rows, **record})

    return fitted
