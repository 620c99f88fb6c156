"""Options of ``--help`` in groups, one line each on 80 columns."""

from __future__ import annotations

import functools
from typing import Any

import typer
from typer.core import TyperCommand

READING, SEARCH, MODEL, OUTPUT = "Reading", "Search", "Model", "Output"
MACHINES, MANY, SERVER, LIMITS = "Machines", "Many series", "Server", "Limits"
OUT = ("--out", "-o")
_ORDER = ("Arguments", READING, SEARCH, MODEL, MACHINES, MANY, SERVER, LIMITS, OUTPUT)


def option(
    default: Any, metavar: str | None, words: str, *names: str, group: str, **more: Any
) -> Any:
    """An option of a group; its default is in its words, or one of those of its group."""
    more |= {"metavar": metavar, "help": words, "rich_help_panel": group, "show_default": False}
    return typer.Option(default, *names, **more)


def flag(group: str, words: str, *names: str) -> Any:
    """An option of a group that is there or not."""
    return option(False, None, words, *names, group=group)


reading = functools.partial(option, group=READING)
search = functools.partial(option, group=SEARCH)
model = functools.partial(option, group=MODEL)
output = functools.partial(option, group=OUTPUT)
machines = functools.partial(option, group=MACHINES)
many = functools.partial(option, group=MANY)
server = functools.partial(option, group=SERVER)
limits = functools.partial(option, group=LIMITS)


class GroupedCommand(TyperCommand):
    """A command whose help lists its options by group."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, then each group."""
        groups: dict[str, list[tuple[str, str]]] = {name: [] for name in _ORDER}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                usual = "Arguments" if parameter.param_type_name == "argument" else "Options"
                group = getattr(parameter, "rich_help_panel", None) or usual
                groups.setdefault(group, []).append(record)
        for group, records in groups.items():
            if not records:
                continue
            with formatter.section(group):
                formatter.write_dl(records)
