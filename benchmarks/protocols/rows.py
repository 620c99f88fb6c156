"""Rows of a protocol: one JSON object per line; a run replaces its own and keeps the others."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def read(path: Path | None) -> list[Row]:
    """Return the rows of a file; none if it is not there."""
    if path is None or not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def keep(path: Path | None, rows: Iterable[Row], key: Sequence[str]) -> list[Row]:
    """Add rows to a file; of two with the same key the later one stays. Return all of them."""
    merged = {tuple(row[name] for name in key): row for row in (*read(path), *rows)}
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in merged.values())
        path.write_text("".join(lines), encoding="utf-8")
    return list(merged.values())


def chosen(parser: argparse.ArgumentParser, text: str, methods: dict[str, str]) -> list[str]:
    """Return the methods that are asked for; by default those whose package is installed.

    `parser`: says what is wrong. `text`: names separated by semicolons, or empty. `methods`: the
    package that each needs.
    """
    if not text:
        there = [name for name, package in methods.items() if find_spec(package) is not None]
        for name in methods.keys() - there:
            print(f"skipped: {name}, {methods[name]} is not installed")
        return there
    names = [part.strip() for part in text.split(";")]
    unknown = [name for name in names if name not in methods]
    if unknown:
        parser.error(f"unknown methods {', '.join(unknown)}; known: {', '.join(methods)}")
    return names
