"""Checkpoints of records larger than memory: damaged ones are refused, crafted ones or taken up."""

from __future__ import annotations

import atexit
import random
import shutil
import tempfile
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.faults.cases import Case
from benchmarks.faults.containers import changed_tree, damaged
from benchmarks.faults.fuzz import Wrong
from robustfourier.errors import RobustFourierError
from robustfourier.large import chunked_fit as large

CASES = 60  # of a small slice
_HOW: dict[str, Any] = {"engine": "serial", "loss": "squared", "max_frequency": 0.2}


class _Begun(Exception):  # noqa: N818 - no error, the end of what is wanted
    """The sums are there, and the checkpoint with them."""


class LargeCheckpoints:
    """Checkpoints of `fit_large`, through the fit that goes on from them."""

    name = "checkpoints of passes"

    @cached_property
    def table(self) -> Path:
        """A short record, in a folder that lasts as long as this process."""
        place = tempfile.mkdtemp()
        atexit.register(shutil.rmtree, place, ignore_errors=True)
        path, t = Path(place) / "record.parquet", np.arange(300.0)
        noise = 0.1 * np.random.default_rng(0).normal(size=len(t))
        pd.DataFrame({"t": t, "v": np.sin(t / 6.0) + noise}).to_parquet(path)
        return path

    def seeds(self) -> list[Case]:
        """What a fit leaves that is killed after its passes."""

        def stop(what: str) -> None:
            if what.startswith("fitting"):
                raise _Begun

        path = self.table.with_name("pass")
        try:
            large.fit_large(self.table, checkpoint=path, observe=stop, **_HOW)
        except _Begun:
            return [Case(path.read_bytes())]
        raise RuntimeError("the fit was not interrupted")

    def change(self, rng: random.Random, case: Case, other: Case) -> Case:
        """Damage a whole file, or craft one with right checksums."""
        if case.options or rng.random() < 0.2:
            return Case(damaged(rng, case.content, other.content), {"damaged": True})
        return Case(changed_tree(rng, case.content))

    def run(self, case: Case, place: Path) -> bool:
        """Go on, or refuse."""
        path = place / "fuzz.pass"
        path.write_bytes(case.content)
        try:
            large.fit_large(self.table, checkpoint=path, **_HOW)
        except RobustFourierError:
            return False
        if case.options:
            raise Wrong("a damaged checkpoint was taken up")
        return True
