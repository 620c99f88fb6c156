"""Where words go: answers to standard output, all else to standard error.

Bars are drawn on terminals only; colour there and where FORCE_COLOR asks for it. Text from users is
never read as markup.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

from robustfourier.atomic_files import plain

# Control characters but for the ends of lines, and marks that turn the direction of writing.
_COMMANDS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def prepare_streams() -> None:
    """Let no character fail to print, whatever the locale; a closed stream swallows all."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - for as long as we run
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError, OSError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]


def let_go(stream: Any) -> None:
    """Send what is still written to a stream nowhere: its reader has gone."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


class Console:
    """Prints at one of three levels: quiet (-1), plain (0), verbose (1)."""

    def __init__(self, level: int = 0, as_json: bool = False) -> None:
        self.level = -1 if as_json else level
        self.as_json = as_json
        self._bar: Any = None  # that is on the screen meanwhile

    def print(self, text: str = "", style: str | None = None) -> None:
        """A line of the answer."""
        if self.level >= 0:
            self._print_to(sys.stdout, text, style)

    def detail(self, text: str) -> None:
        """A line for those who asked for more."""
        if self.level >= 1:
            self._print_to(sys.stdout, text, "dim")

    def warn(self, text: str) -> None:
        """A warning in plain words."""
        self.print(f"! {text}", style="yellow")

    def error(self, text: str) -> None:
        """What went wrong; also printed when quiet."""
        self._print_to(sys.stderr, f"robustfourier: {text}", "bold red")

    def table(self, columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[str]]) -> None:
        """A table; columns are pairs of heading and "left" or "right"."""
        if self.level < 0:
            return
        from rich import box
        from rich.table import Table
        from rich.text import Text

        console = self._rich(sys.stdout)
        if not console.is_terminal:  # a pipe has no width that could cut a number
            console.width = 200
        heads = [heading for heading, _ in columns]
        widths = [max(map(len, cells)) + 3 for cells in zip(heads, *rows, strict=True)]
        # A narrow terminal leaves out columns from the right, never the name of a row.
        fitting = max(sum(w <= console.width for w in itertools.accumulate(widths)), 2)
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
        for heading, side in columns[:fitting]:
            table.add_column(heading, justify="right" if side == "right" else "left", no_wrap=True)
        for row in rows:
            table.add_row(*(Text(_visible(cell)) for cell in row[:fitting]))
        with console.capture() as shown:
            console.print(table)
        self._write(sys.stdout, shown.get())
        if left := list(filter(None, heads[fitting:])):
            self.print(f"(a wider terminal also shows: {', '.join(left)})")

    def json(self, content: Any) -> None:
        """The answer for scripts: one JSON document, NaN and infinity as null.

        Characters that command a terminal are escaped, as they are in all other words.
        """
        text = json.dumps(plain(content), ensure_ascii=False, indent=2)
        self._write(sys.stdout, _COMMANDS.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + "\n")

    @contextmanager
    def stages(self) -> Iterator[Any]:
        """A bar that observes a fit of more than 2 s; silent when not on a terminal."""
        if self.level < 0 or not sys.stderr.isatty():
            yield lambda *_: None
            return
        from robustfourier.cli.progress_bar import StageBar

        with StageBar(self._rich(sys.stderr)) as bar:
            self._bar = bar
            try:
                yield bar
            finally:
                self._bar = None

    @contextmanager
    def progress(self, words: str) -> Iterator[Any]:
        """A bar that is given (done, total, words); silent when not on a terminal."""
        if self.level < 0 or not sys.stderr.isatty():
            yield lambda *_: None
            return
        from rich.progress import Progress

        console = self._rich(sys.stderr)
        with Progress(console=console, transient=True, redirect_stdout=False) as bar:
            task = bar.add_task(words, total=None)

            def move(done: int, total: int, now: str = words) -> None:
                bar.update(task, completed=done, total=total, description=now)

            yield move

    def _print_to(self, stream: Any, text: str, style: str | None) -> None:
        if not (stream.isatty() or os.environ.get("FORCE_COLOR")):  # rich need not load
            self._write(stream, f"{_visible(text)}\n")
            return
        console = self._rich(stream)
        with console.capture() as shown:
            console.print(_visible(text), style=style, markup=False, highlight=False)
        self._write(stream, shown.get())

    def _write(self, stream: Any, text: str) -> None:
        """Write at once; where the reader has gone (`… | head`), the work goes on without words.

        A bar gives way meanwhile.
        """
        with nullcontext() if self._bar is None else self._bar.hidden():
            try:
                stream.write(text)
                stream.flush()
            except BrokenPipeError:
                let_go(stream)

    def _rich(self, stream: Any) -> Any:
        from rich.console import Console as RichConsole

        return RichConsole(file=stream, soft_wrap=not stream.isatty())


def _visible(text: str) -> str:
    """Text without characters that command a terminal or turn its direction."""
    return _COMMANDS.sub(lambda match: repr(match[0])[1:-1], text)
