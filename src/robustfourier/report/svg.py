"""Small, clean SVG figures that take their colours from the page's style sheet.

A `Panel` maps data to a rectangle and collects shapes; every shape has a CSS class instead of a
colour, so one figure serves light, dark and print. Text is escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from html import escape

import numpy as np
from numpy.typing import NDArray

from robustfourier.arrays import FloatArray
from robustfourier.results.axis import even_ticks, number_labels

ByteArray = NDArray[np.uint8]

_FAR = 10_000  # tenths of a pixel to both sides: no figure is wider
_LETTERS = 7  # of such a number: -1000.0
_NONE = b"\0"  # the letter of places that stay empty


class Panel:
    """One set of axes.

    Parameters
    ----------
    width, height : int
        Size in CSS pixels at scale one.
    x, y : (float, float)
        Range of the data on each axis.
    log : bool
        Whether the y axis is logarithmic.
    down : bool
        Whether the y axis points downwards, as for magnitudes of stars.
    left, bottom, top, right : int
        Margins.
    title : str
        Said to those who cannot see the figure.
    """

    def __init__(
        self,
        width: int,
        height: int,
        x: tuple[float, float],
        y: tuple[float, float],
        *,
        log: bool = False,
        down: bool = False,
        left: int = 58,
        bottom: int = 40,
        top: int = 10,
        right: int = 12,
        title: str = "",
    ) -> None:
        self.width, self.height, self.title = width, height, title
        self.log, self.down = log, down
        self.left, self.top = left, top
        self.inner_width, self.inner_height = width - left - right, height - top - bottom
        self.x, self.y = _widened(x), _widened(y)
        if log:
            self.y = (np.log10(self.y[0]), np.log10(self.y[1]))
        self.shapes: list[str] = []
        self.frame: list[str] = []
        self.words: list[tuple[float, float]] = []  # where marks have their words

    def px(self, x: FloatArray | float) -> FloatArray:
        """Pixels of x."""
        low, high = self.x
        return self.left + (np.asarray(x, np.float64) - low) / (high - low) * self.inner_width

    def py(self, y: FloatArray | float) -> FloatArray:
        """Pixels of y; the axis points upwards unless it is turned."""
        low, high = self.y
        values = np.asarray(y, np.float64)
        if self.log:
            values = np.log10(np.maximum(values, 10.0 ** (low - 1.0)))
        above = values - low if self.down else high - values
        return self.top + above / (high - low) * self.inner_height

    def line(self, x: FloatArray, y: FloatArray, css: str) -> None:
        """Draw a line through points."""
        self.shapes.append(f'<path class="{css}" d="{_path(self.px(x), self.py(y))}"/>')

    def band(self, x: FloatArray, low: FloatArray, high: FloatArray, css: str) -> None:
        """Fill the area between two curves."""
        there = _path(self.px(x), self.py(high))
        back = _path(self.px(x)[::-1], self.py(low)[::-1])
        self.shapes.append(f'<path class="{css}" d="{there}L{back[1:]}Z"/>')

    def points(self, x: FloatArray, y: FloatArray, css: str) -> None:
        """Draw dots: one path of round strokes without length, a tenth of the size of circles."""
        # Steps from dot to dot in tenths of a pixel are shorter than places.
        # What lies outside is drawn at the edge.
        foot, end = self.top + self.inner_height, self.left + self.inner_width
        heights = np.clip(self.py(y), self.top + 1.5, foot - 1.5)
        inside = (self.px(x) >= self.left - 1.0) & (self.px(x) <= end + 1.0)
        at = np.round(np.column_stack([self.px(x), heights])[inside], 1)
        steps = np.diff(at, axis=0, prepend=0.0)
        dots = _filled("m%.4g %.4gh0", *np.round(steps, 1).T)
        self.shapes.append(f'<path class="dots {css}" d="{dots}"/>')

    def stems(self, x: FloatArray, y: FloatArray, css: str) -> None:
        """Draw vertical lines from the bottom of the panel."""
        foot = self.top + self.inner_height
        lines = _filled(f"M%.1f {foot:.1f}V%.1f", self.px(x), self.py(y))
        self.shapes.append(f'<path class="{css}" d="{lines}"/>')

    def whiskers(self, x: FloatArray, y: FloatArray, error: FloatArray, css: str) -> None:
        """Draw a vertical line of one standard error to each side of points."""
        lines = _filled("M%.1f %.1fV%.1f", self.px(x), self.py(y - error), self.py(y + error))
        self.shapes.append(f'<path class="{css}" d="{lines}"/>')

    def bars(self, edges: FloatArray, heights: FloatArray, css: str) -> None:
        """Draw a histogram."""
        foot = float(self.py(max(self.y[0], 0.0)))
        left, right = self.px(edges[:-1]), self.px(edges[1:])
        boxes = "".join(
            f"M{a:.1f} {foot:.1f}V{t:.1f}H{b - 0.6:.1f}V{foot:.1f}Z"
            for a, b, t in zip(left, right, self.py(heights), strict=True)
        )
        self.shapes.append(f'<path class="{css}" d="{boxes}"/>')

    def rule(self, y: float, css: str) -> None:
        """Draw a horizontal line."""
        at = float(self.py(y))
        self.shapes.append(
            f'<path class="{css}" d="M{self.left} {at:.1f}H{self.left + self.inner_width}"/>'
        )

    def mark(self, x: float, y: float, text: str, css: str) -> None:
        """Draw a small triangle that points down at (x, y), with a word above if there is room."""
        a, b = float(self.px(x)), max(float(self.py(y)) - 5.0, self.top + 16.0)
        if any(abs(a - u) < 11.0 and abs(b - v) < 13.0 for u, v in self.words):
            text = ""
        if text:
            self.words.append((a, b))
        self.shapes.append(
            f'<path class="{css}" d="M{a:.1f} {b:.1f}l-4 -7h8Z"/>'
            f'<text class="mark {css}" x="{a:.1f}" y="{b - 10:.1f}">{escape(text)}</text>'
        )

    def axes(
        self,
        xlabel: str,
        ylabel: str,
        *,
        xticks: tuple[FloatArray, Sequence[str]] | None = None,
    ) -> None:
        """Draw grid lines, labels of ticks and names of the axes."""
        count = max(int(self.inner_width / 90), 2)
        at, labels = xticks or _ticks(even_ticks(*self.x, count))
        foot = self.top + self.inner_height
        for value, label in zip(self.px(at), labels, strict=True):
            self.frame.append(f'<path class="grid" d="M{value:.1f} {self.top}V{foot}"/>')
            for row, part in enumerate(label.split("\n")):
                y = foot + 15 + 12 * row
                self.frame.append(
                    f'<text class="tick" x="{value:.1f}" y="{y}">{escape(part)}</text>'
                )
        at, labels = self._log_ticks() if self.log else self._y_ticks()
        for value, label in zip(self.py(at), labels, strict=True):
            end = self.left + self.inner_width
            self.frame.append(f'<path class="grid" d="M{self.left} {value:.1f}H{end}"/>')
            self.frame.append(
                f'<text class="tick end" x="{self.left - 7}" y="{value + 4:.1f}">'
                f"{escape(label)}</text>"
            )
        middle = self.left + self.inner_width / 2
        centre = self.top + self.inner_height / 2
        self.frame.append(
            f'<text class="name" x="{middle:.0f}" y="{self.height - 5}">'
            f"{escape(_short(xlabel))}</text>"
            f'<text class="name" transform="translate(13 {centre:.0f}) rotate(-90)">'
            f"{escape(_short(ylabel, 34))}</text>"
        )

    def repeat(self, name: str, shift: float) -> None:
        """Draw all shapes so far once more, shifted in x; `name` must be the page's only one."""
        pixels = self.inner_width * shift / (self.x[1] - self.x[0])
        key = escape(name, quote=True)
        first = f'<g class="figure" id="{key}">{"".join(self.shapes)}</g>'  # the copy's own class
        self.shapes = [f'{first}<use href="#{key}" x="{pixels:.2f}"/>']

    def top_axis(self, at: FloatArray, labels: Sequence[str], name: str) -> None:
        """Write a second scale above the panel."""
        for value, label in zip(self.px(at), labels, strict=True):
            self.frame.append(
                f'<text class="tick" x="{value:.1f}" y="{self.top - 6}">{escape(label)}</text>'
            )
        middle = self.left + self.inner_width / 2
        self.frame.append(f'<text class="name" x="{middle:.0f}" y="12">{escape(name)}</text>')

    def _y_ticks(self) -> tuple[FloatArray, list[str]]:
        return _ticks(even_ticks(*self.y, max(int(self.inner_height / 38), 2)))

    def _log_ticks(self) -> tuple[FloatArray, list[str]]:
        low, high = int(np.ceil(self.y[0] - 1e-9)), int(np.floor(self.y[1] + 1e-9))
        step = max(1, (high - low) // 5 + 1) if high - low > 6 else 1
        powers = np.arange(low, high + 1, step, dtype=np.float64)
        if len(powers) < 2:
            at = even_ticks(10.0 ** self.y[0], 10.0 ** self.y[1], 4)
            return _ticks(at[at > 0])
        return 10.0**powers, [_power_label(power) for power in powers]

    def __str__(self) -> str:
        """The figure as SVG."""
        box = (
            f'x="{self.left}" y="{self.top}" width="{self.inner_width}" '
            f'height="{self.inner_height}"'
        )
        return (
            f'<svg class="figure" viewBox="0 0 {self.width} {self.height}" role="img" '
            f'aria-label="{escape(self.title, quote=True)}">'
            f"{''.join(self.frame)}"
            f'<svg {box} viewBox="{self.left} {self.top} {self.inner_width} {self.inner_height}">'
            f"{''.join(self.shapes)}</svg></svg>"
        )


def _widened(ends: tuple[float, float]) -> tuple[float, float]:
    low, high = float(ends[0]), float(ends[1])
    if not np.isfinite(low) or not np.isfinite(high):
        return 0.0, 1.0
    if high <= low:
        pad = 0.5 * abs(low) or 0.5
        return low - pad, low + pad
    return low, high


def _ticks(at: FloatArray) -> tuple[FloatArray, list[str]]:
    return at, number_labels(at)


def _power_label(power: float) -> str:
    if -4 <= power <= 5:
        return f"{10.0**power:,.{max(int(-power), 0)}f}"
    digits = str(int(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10{digits}"


def _short(text: str, limit: int = 60) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _path(x: FloatArray, y: FloatArray) -> str:
    """A polyline with as few characters as one tenth of a pixel needs."""
    return "M" + _filled("L%.1f %.1f", x, y)[1:] if len(x) else "M0 0"


def _filled(form: str, *columns: FloatArray) -> str:
    """A form filled with each row of numbers, which are told in tenths by `.1f` or `.4g`."""
    rows = np.column_stack(columns)
    places = np.rint(10.0 * rows) + _FAR
    if not np.all((places >= 0) & (places <= 2 * _FAR)):  # far outside a figure, or no number
        return form * len(rows) % tuple(rows.ravel().tolist())
    first, *others = form.split("%")
    row = first + "".join(" " * _LETTERS + other[3:] for other in others)
    text = np.empty((len(rows), len(row)), np.uint8)
    text[:] = np.frombuffer(row.encode("ascii"), np.uint8)
    at = len(first)
    for place, other in zip(places.T.astype(np.intp), others, strict=True):
        text[:, at : at + _LETTERS] = _numbers(other[:3]).take(place, axis=0)
        at += _LETTERS + len(other[3:])
    return text.tobytes().translate(None, _NONE).decode("ascii")


@cache
def _numbers(form: str) -> ByteArray:
    """Letters of all tenths of a pixel that figures have, one row each: numbers are looked up."""
    tenths = np.arange(-_FAR, _FAR + 1) / 10.0
    text = f"%-{_LETTERS}{form}" * len(tenths) % tuple(tenths.tolist())
    letters = text.encode("ascii").replace(b" ", _NONE)
    return np.frombuffer(letters, np.uint8).reshape(-1, _LETTERS)
