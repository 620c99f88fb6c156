"""Rows: one per problem × method × seed, in a file that a run only ever appends to."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks import rows

OK = "ok"
VERSIONS = "versions.json"  # beside the rows: of the packages that made them


@dataclass(frozen=True)
class Row:
    """What came out of one fit; numbers that do not apply are None.

    Attributes
    ----------
    problem, method, seed
        The key.
    status : str
        "ok", or why there are no numbers: "too slow", "failed", "needs even samples", ...
    error : float
        Relative L² error (see `measures.function_error`).
    n_found, precision, recall, precision_3se, recall_3se, components_right, own_3se : float
        See `measures.period_scores`.
    seconds, megabytes : float
        Processor time of `fit` and growth of the peak resident memory during it.
    note : str
        A word from the method.
    """

    problem: str
    method: str
    seed: int
    status: str
    error: float | None = None
    n_found: float | None = None
    precision: float | None = None
    recall: float | None = None
    precision_3se: float | None = None
    recall_3se: float | None = None
    components_right: float | None = None
    own_3se: float | None = None
    seconds: float | None = None
    megabytes: float | None = None
    note: str = ""

    @property
    def key(self) -> tuple[str, str, int]:
        """What names the row."""
        return self.problem, self.method, self.seed


def _values(row: Row) -> rows.Row:
    """What is kept of a row: five digits, and nothing that does not apply."""
    values = {k: v for k, v in asdict(row).items() if v not in (None, "")}
    return values | {k: float(f"{v:.5g}") for k, v in values.items() if isinstance(v, float)}


def append(path: Path, row: Row) -> None:
    """Add one row."""
    rows.append(path, _values(row))


def read(path: Path) -> list[Row]:
    """Read the rows of a file; of several with one key the last stands. No file, no rows."""
    found = (Row(**record) for record in rows.read(path))
    return list({row.key: row for row in found}.values())


def forget(path: Path, methods: Iterable[str]) -> None:
    """Drop the rows of some methods, to make them again."""
    gone = set(methods)
    rows.write(path, [_values(row) for row in read(path) if row.method not in gone])


def note_versions(path: Path, versions: dict[str, str]) -> None:
    """Note which packages have made rows; those of others stay as they are."""
    place = path.with_name(VERSIONS)
    before = json.loads(place.read_text(encoding="utf-8")) if place.exists() else {}
    place.write_text(json.dumps({**before, **versions}, indent=1) + "\n", encoding="utf-8")
