"""Rows of a benchmark in a file: one JSON object per line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

from robustfourier.atomic_files import write_text

Row = dict[str, Any]


def _line(row: Any) -> str:
    values = asdict(row) if is_dataclass(row) and not isinstance(row, type) else row
    return json.dumps(values, ensure_ascii=False) + "\n"


def read(path: Path | None) -> list[Row]:
    """Return the rows of a file; none if it is not there."""
    if path is None or not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def write(path: Path | None, rows: Iterable[Any]) -> None:
    """Write rows, dictionaries or dataclasses, in place of what is there: all or none."""
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, "".join(map(_line, rows)))


def append(path: Path, row: Any) -> None:
    """Add one row; a run that is killed loses at most what it was measuring."""
    with path.open("a", encoding="utf-8") as file:
        file.write(_line(row))


def keep(path: Path | None, rows: Iterable[Row], key: Sequence[str]) -> list[Row]:
    """Add rows to a file; of two with the same key the later one stays. Return all of them."""
    merged = {tuple(row[name] for name in key): row for row in (*read(path), *rows)}
    write(path, merged.values())
    return list(merged.values())
