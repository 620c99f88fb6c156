"""From what the user gives to the list of series: files, columns, long tables."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from robustfourier.errors import DataError, InputError
from robustfourier.many.buckets import fill_buckets
from robustfourier.many.survey_items import Item, digest
from robustfourier.samples import ReadOptions
from robustfourier.samples.partitions import Layout, Part, parts_of
from robustfourier.untrusted_files import file_digest

_UNREADABLE = "unreadable"  # in the place of a digest


@dataclass(frozen=True)
class Plan:
    """The series of a survey."""

    items: list[Item]
    layout: Layout | None = None  # how the long table is read, if it is one
    unread: list[tuple[str, str]] = field(default_factory=list)  # parts not read, and why
    content: str | None = None  # digest of a table that has no name, being in memory


@dataclass(frozen=True)
class Selection:
    """Which series of a source are fitted, and how they are read: arguments of `fit_many`."""

    by: str | None
    value: Sequence[str] | str | None  # columns, "all" of them, or None for the one that is meant
    together: bool  # whether those of a series are fitted as outputs that share their modes
    reading: dict[str, Any]

    def __post_init__(self) -> None:
        if self.together and self.value is None:
            raise InputError('together=True needs several value columns, such as value="all"')

    def layout(self, part: Part) -> Layout:
        """Which columns of a part are meant."""
        return Layout.of(part, ReadOptions(**self.reading), self.value, self.by)

    def named(self, name: str, values: tuple[str, ...]) -> list[tuple[str, tuple[str, ...]]]:
        """Names and value columns of the series with one label."""
        if self.together or len(values) == 1:
            return [(name or values[0] if len(values) == 1 else name or "all", values)]
        return [(f"{name}:{value}" if name else value, (value,)) for value in values]


def plan(source: Any, selection: Selection, folder: Path) -> Plan:
    """List the series of a source; a long table is sorted into buckets in the survey's folder."""
    paths = _paths(source)
    if paths is not None and selection.by is None:
        items = [item for path in paths for item in _of_file(path, selection)]
        return Plan(list({item.id: item for item in items}.values()))
    parts = parts_of(source)
    layout, unread = _layout(parts, selection)
    place = folder / "buckets"
    held = fill_buckets(parts, layout, place, _fingerprint(paths, selection))
    items = [
        Item(name, held.digests[bucket], str(place / bucket), chosen, label)
        for bucket, labels in held.labels.items()
        for label in labels
        for name, chosen in selection.named(label, layout.values)
    ]
    content = digest(json.dumps(sorted(held.digests.items()))) if paths is None else None
    return Plan(items, layout, list(dict.fromkeys([*unread, *held.unread])), content)


def named_source(source: Any) -> list[Path] | None:
    """The files and folders that a source names; None for a table, which has no name."""
    if isinstance(source, (str, os.PathLike)):
        source = [source]
    if not isinstance(source, (list, tuple)):
        fragments = hasattr(source, "get_fragments")
        return [Path(path) for path in source.files] if fragments else None
    if not source or not all(isinstance(each, (str, os.PathLike)) for each in source):
        raise InputError("source must be a path, a list of paths, or a table")
    return [Path(path) for path in source]


def _paths(source: Any) -> list[Path] | None:
    """Files that are meant, those of a folder in order; None for a table."""
    given = named_source(source)
    if given is None or not isinstance(source, (str, os.PathLike, list, tuple)):
        return None
    found: list[Path] = []
    for path in given:
        parts: list[Any] = parts_of(path) if path.is_dir() else []
        found += [part.path for part in parts] or [path]
    return found


def _layout(parts: list[Part], selection: Selection) -> tuple[Layout, list[tuple[str, str]]]:
    """The layout of the first part that can be read, and what could not."""
    unread: list[tuple[str, str]] = []
    for part in parts:
        try:
            return selection.layout(part), unread
        except DataError as error:
            unread.append((part.name, str(error)))
    raise DataError(unread[0][1] if unread else "source: holds no parts; give files or a table")


def _of_file(path: Path, selection: Selection) -> list[Item]:
    """The series of one file; what cannot be read fails when it is fitted, and is named."""
    try:
        content = file_digest(path)[:32]
    except (OSError, ValueError):
        content = _UNREADABLE
    named: list[tuple[str, tuple[str, ...]]] = [(str(path), ())]
    if selection.value is not None and content != _UNREADABLE:
        with suppress(DataError):
            named = selection.named(str(path), selection.layout(parts_of(path)[0]).values)
    return [Item(name, content, str(path), chosen) for name, chosen in named]


def _fingerprint(paths: list[Path] | None, selection: Selection) -> str | None:
    """Digest of the content of files and of how they are read; None for a table."""
    if paths is None:
        return None
    try:
        contents = [(str(path), file_digest(path)) for path in paths]
    except (OSError, ValueError):
        return None
    how = (selection.reading, selection.value, selection.by)
    return digest(json.dumps([contents, *how], default=str))
