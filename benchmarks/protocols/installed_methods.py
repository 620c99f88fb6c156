"""The methods of a protocol that run: those asked for, or those whose package is installed."""

from __future__ import annotations

import argparse
from importlib.util import find_spec


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
