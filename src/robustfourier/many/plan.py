"""From what the user gives to the list of series: files, columns, long tables."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from robustfourier.errors import DataError, InputError
from robustfourier.many.item import Item, digest
from robustfourier.many.spill import spill
from robustfourier.samples import ReadOptions
from robustfourier.samples.layout import Layout, Part
from robustfourier.samples.parts import parts_of
from robustfourier.samples.source import file_digest


@dataclass(frozen=True)
class Plan:
    """The series of a survey.

    Parameters
    ----------
    items : list of Item
    layout : Layout or None
        How the long table is read, if it is one.
    unread : list of pairs of str
        Parts that could not be read, and why.
    """

    items: list[Item]
    layout: Layout | None = None
    unread: list[tuple[str, str]] = field(default_factory=list)


def plan(
    source: Any,
    *,
    by: str | None,
    values: Sequence[str] | str | None,
    together: bool,
    reading: dict[str, Any],
    folder: Path,
) -> Plan:
    """List the series.

    Parameters
    ----------
    source : path, list of paths, or table
    by : str, optional
        Column of labels: a long table, whose rows may come in any order.
    values : sequence of str, "all" or None
        Value columns.
    together : bool
        Whether the value columns of a series are fitted as outputs that share their modes.
    reading : dict
        Of `read_samples`.
    folder : Path
        Where long tables are sorted into buckets.
    """
    if together and values is None:
        raise InputError('together=True needs several value columns, such as value="all"')
    paths = _paths(source)
    if paths is not None and by is None:
        items = [i for p in paths for i in _of_file(p, values, together, reading)]
        return Plan(list({item.id: item for item in items}.values()))
    asked = ReadOptions(**reading)
    parts = parts_of(source)
    layout, unread = _layout(parts, asked, values, by)
    held = spill(parts, layout, folder, _fingerprint(paths, reading, values, by))
    items = [
        Item(name, data, str(folder / bucket), chosen, label)
        for bucket, labels in held.labels.items()
        for data in [held.digests[bucket]]
        for label in labels
        for name, chosen in _named(label, layout.values, together)
    ]
    return Plan(items, layout, list(dict.fromkeys([*unread, *held.unread])))


def _paths(source: Any) -> list[Path] | None:
    """Files that are meant, those of a folder in order; None for a table."""
    if isinstance(source, (str, os.PathLike)):
        source = [source]
    if not isinstance(source, (list, tuple)):
        return None
    if not source or not all(isinstance(each, (str, os.PathLike)) for each in source):
        raise InputError("source must be a path, a list of paths, or a table")
    found: list[Path] = []
    for path in map(Path, source):
        parts: list[Any] = parts_of(path) if path.is_dir() else []
        found += [part.path for part in parts] or [path]
    return found


def _layout(
    parts: list[Part], asked: ReadOptions, values: Sequence[str] | str | None, by: str | None
) -> tuple[Layout, list[tuple[str, str]]]:
    """The layout of the first part that can be read, and what could not."""
    unread: list[tuple[str, str]] = []
    for part in parts:
        try:
            return Layout.of(part, asked, values, by), unread
        except DataError as error:
            unread.append((part.name, str(error)))
    raise DataError(unread[0][1] if unread else "source: holds no parts; give files or a table")


def _of_file(
    path: Path, values: Sequence[str] | str | None, together: bool, reading: dict[str, Any]
) -> list[Item]:
    """The series of one file; what cannot be read fails when it is fitted, and is named."""
    content = _digest(path)
    if values is None:
        return [Item(str(path), content, str(path))]
    try:
        layout = Layout.of(parts_of(path)[0], ReadOptions(**reading), values, None)
    except DataError:
        return [Item(str(path), content, str(path))]
    many = len(layout.values) > 1
    named = _named(str(path), layout.values, together) if many else [(str(path), layout.values)]
    return [Item(name, content, str(path), chosen) for name, chosen in named]


def _named(name: str, values: tuple[str, ...], together: bool) -> list[tuple[str, tuple[str, ...]]]:
    """Names and value columns of the series with one label."""
    if together or len(values) == 1:
        return [(name or values[0] if len(values) == 1 else name or "all", values)]
    return [(f"{name}:{value}" if name else value, (value,)) for value in values]


def _digest(path: Path) -> str:
    """Digest of a file's bytes; of its absence where it cannot be read."""
    try:
        return file_digest(path)[:32]
    except (OSError, ValueError):
        return "unreadable"


def _fingerprint(paths: list[Path] | None, *how: Any) -> str | None:
    """Digest of names, sizes and times of files and of how they are read; None for a table."""
    if paths is None:
        return None
    try:
        stats = [(str(p.resolve()), p.stat().st_size, p.stat().st_mtime_ns) for p in paths]
    except OSError:
        return None
    return digest(json.dumps([stats, *how], default=str))
