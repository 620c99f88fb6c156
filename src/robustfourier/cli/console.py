"""Where words go: answers to standard output, all else to standard error; colour on terminals only.

Text from users is never read as markup.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any
from unicodedata import category

from robustfourier.writing import plain

__all__ = ["Console", "prepare_streams"]


def prepare_streams() -> None:
    """Let no character fail to print, whatever the locale."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError, OSError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]


class Console:
    """Prints at one of three levels: quiet (-1), plain (0), verbose (1)."""

    def __init__(self, level: int = 0, as_json: bool = False) -> None:
        self.level = -1 if as_json else level

    def say(self, text: str = "", style: str | None = None) -> None:
        """A line of the answer."""
        if self.level >= 0:
            self._print(sys.stdout, text, style)

    def detail(self, text: str) -> None:
        """A line for those who asked for more."""
        if self.level >= 1:
            self._print(sys.stdout, text, "dim")

    def warn(self, text: str) -> None:
        """A warning in plain words."""
        if self.level >= 0:
            self._print(sys.stdout, f"! {text}", "yellow")

    def error(self, text: str) -> None:
        """What went wrong; also printed when quiet."""
        self._print(sys.stderr, f"robustfourier: {text}", "bold red")

    def table(self, columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[str]]) -> None:
        """A table; columns are pairs of heading and "left" or "right"."""
        if self.level < 0:
            return
        from rich import box
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
        for heading, side in columns:
            table.add_column(heading, justify="right" if side == "right" else "left", no_wrap=True)
        for row in rows:
            table.add_row(*(Text(_visible(cell)) for cell in row))
        console = self._rich(sys.stdout)
        if not console.is_terminal:  # a pipe has no width that could cut a number
            console.width = 200
        console.print(table)

    def json(self, content: Any) -> None:
        """The answer for scripts: one JSON document, NaN and infinity as null."""
        print(json.dumps(plain(content), ensure_ascii=False, indent=2))

    @contextmanager
    def steps(self) -> Iterator[Any]:
        """A spinner that is told the name of each step; silent when not on a terminal."""
        console = self._rich(sys.stderr)
        if self.level < 0 or not console.is_terminal:
            yield lambda *_: None
            return
        with console.status("") as status:
            yield lambda step: status.update(f"{step} …")

    @contextmanager
    def progress(self, words: str) -> Iterator[Any]:
        """A bar that is told (done, total); silent when not on a terminal."""
        console = self._rich(sys.stderr)
        if self.level < 0 or not console.is_terminal:
            yield lambda *_: None
            return
        from rich.progress import Progress

        with Progress(console=console, transient=True) as bar:
            task = bar.add_task(words, total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)

    def _print(self, stream: Any, text: str, style: str | None) -> None:
        self._rich(stream).print(_visible(text), style=style, markup=False, highlight=False)

    def _rich(self, stream: Any) -> Any:
        from rich.console import Console as RichConsole

        return RichConsole(file=stream, soft_wrap=not stream.isatty())


def _visible(text: str) -> str:
    """Text that cannot steer a terminal: what is no character to see is written as its code."""
    return "".join(
        c if c == "\n" or category(c) not in ("Cc", "Cf", "Cs") else ascii(c)[1:-1] for c in text
    )
