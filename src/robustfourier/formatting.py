"""Numbers in words that people use: periods with their unit, shares, a sentence at the top.

Digits follow the standard error: what is not known is not printed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

#: Seconds in each unit of time that we can convert.
SECONDS = {
    **{"microsecond": 1e-6, "millisecond": 1e-3, "second": 1.0, "minute": 60.0, "hour": 3600.0},
    **{
        "day": 86400.0,
        "week": 604800.0,
        "month": 86400.0 * 365.25 / 12.0,
        "year": 86400.0 * 365.25,
    },
}
# Words that people write for each unit, in English and German.
_WORDS = {
    "microsecond": "us µs microsecond microseconds",
    "millisecond": "ms millisecond milliseconds",
    "second": "s sec secs second seconds sekunde sekunden",
    "minute": "min mins minute minutes minuten",
    "hour": "h hr hrs hour hours stunde stunden",
    "day": "d day days tag tage",
    "week": "w wk week weeks woche wochen",
    "month": "month months monat monate",
    "year": "y yr yrs a year years jahr jahre",
}
_UNIT_OF = {word: unit for unit, words in _WORDS.items() for word in words.split()}
SHORT = {
    **{"microsecond": "µs", "millisecond": "ms", "second": "s", "minute": "min", "hour": "h"},
    **{"day": "d", "week": "wk", "month": "months", "year": "yr"},
}
#: For dates: seconds up to which each unit is used; days are given in hours up to two of them.
LADDER = (
    *(("microsecond", 0.5e-3), ("millisecond", 0.5), ("second", 100.0), ("minute", 100.0 * 60)),
    *(("hour", 48.5 * 3600), ("day", 730.0 * 86400), ("year", math.inf)),
)
# From which on, the size of the unit and its name.
_HERTZ = (
    *((1e9, 1e9, "GHz"), (1e6, 1e6, "MHz"), (1e4, 1e3, "kHz")),
    *((0.01, 1.0, "Hz"), (0.0, 1e-6, "µHz")),
)
_DIGITS = 8  # of a period without an error, or with one that is tiny
_NUMBERS = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten")


def unit_called(word: str) -> str:
    """The unit of `SECONDS` that a word means; empty if none.

    >>> unit_called("hrs"), unit_called("Tage"), unit_called("parsec")
    ('hour', 'day', '')
    """
    return _UNIT_OF.get(word.strip().lower(), "")


def unit_name(unit: str, short: bool = False, plural: bool = True) -> str:
    """Unit for a label; an unknown one as the user wrote it."""
    if short:
        return SHORT.get(unit, unit)
    return f"{unit}s" if plural and unit in SECONDS else unit


def order_ranges(orders: Sequence[int], most: int = 3) -> str:
    """Orders of harmonics in short, so many ranges at most.

    >>> order_ranges([1, 2, 3, 4, 6]), order_ranges([1, 3, 5, 7, 9, 10])
    ('1–4, 6', '1, 3, 5, …')
    """
    runs: list[list[int]] = []
    for n in orders:
        if runs and n == runs[-1][1] + 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    words = [str(a) if a == b else f"{a}–{b}" if b > a + 1 else f"{a}, {b}" for a, b in runs]
    return ", ".join(words[:most]) + (", …" if len(words) > most else "")


def decimals(value: float, error: float | None) -> int:
    """Decimals to print: down to the first digit of the error, the second if that is a one."""
    size = 0 if value == 0 or not math.isfinite(value) else math.floor(math.log10(abs(value)))
    if error is None or not math.isfinite(error) or error <= 0:
        places = 3 - size
    else:
        leading = math.floor(math.log10(error))
        if error / 10.0**leading < 1.95:
            leading -= 1
        places = -leading
    return int(min(max(places, 0), max(_DIGITS - 1 - size, 0)))


def number(value: float, digits: int = 4) -> str:
    """A number with so many significant digits, without needless zeros or exponents.

    >>> number(1234567.0), number(0.012345), number(1e-9), number(3.0)
    ('1,234,567', '0.01234', '1e-09', '3')
    """
    if not math.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    if abs(value) >= 1e15 or abs(value) < 1e-4:
        return f"{value:.{max(digits - 2, 0)}g}"
    places = max(digits - 1 - math.floor(math.log10(abs(value))), 0)
    text = f"{value:,.{places}f}" if abs(value) >= 1e4 else f"{value:.{places}f}"  # years: 1987
    return text.rstrip("0").rstrip(".") if "." in text else text


def with_error(value: float, error: float | None, unit: str = "") -> str:
    """A number with its standard error.

    >>> with_error(29.0003, 0.0042, "d")
    '29.000 ± 0.004 d'
    >>> with_error(0.5, None)
    '0.5000'
    """
    if not math.isfinite(value):
        return "–"
    tail = f" {unit}" if unit else ""
    if abs(value) >= 1e9 or (value != 0 and abs(value) < 1e-5):
        spread = "" if error is None or not math.isfinite(error) else f" ± {error:.1e}"
        return f"{value:.5e}{spread}{tail}"
    places = decimals(value, error)
    if error is None or not math.isfinite(error):
        return f"{value:,.{places}f}{tail}"
    small = error < 0.5 * 10.0**-places
    spread = f"{error:.0e}" if small and error > 0 else f"{error:,.{places}f}"
    return f"{value:,.{places}f} ± {spread}{tail}"


def display_unit(period: float, unit: str, dates: bool) -> tuple[float, str]:
    """Factor and unit in which a period reads best.

    Numbers keep the user's own unit, and so do dates where it is not the day, which is what they
    have if nobody says anything.
    """
    if not dates or unit != "day" or not math.isfinite(period):
        return 1.0, unit
    seconds = abs(period) * SECONDS[unit]
    better = next(name for name, limit in LADDER if seconds < limit or limit == math.inf)
    return SECONDS[unit] / SECONDS[better], better


def readable_period(
    period: float,
    unit: str,
    *,
    error: float | None = None,
    dates: bool = False,
    spread: bool = False,
) -> str:
    """A period as people say it, with its error if `spread`; dates may change a unit of days.

    >>> readable_period(1.0, "day", error=0.0004, dates=True)
    '24.00 h'
    >>> readable_period(29.0003, "day", error=0.03)
    '29.00 d'
    >>> readable_period(29.0003, "day", error=0.004, spread=True)
    '29.000 ± 0.004 d'
    """
    factor, shown = display_unit(period, unit, dates)
    value = period * factor
    scaled = None if error is None or not math.isfinite(error) else error * factor
    if spread:
        return with_error(value, scaled, unit_name(shown, short=True))
    if scaled is None:
        return f"{number(value)} {unit_name(shown, short=True)}".rstrip()
    size = math.floor(math.log10(abs(value))) if value and math.isfinite(value) else 0
    places = max(min(decimals(value, scaled), max(3 - size, 0)), 0)
    text = f"{value:,.{places}f}" if 1e-4 <= abs(value) < 1e9 else f"{value:.4g}"
    return f"{text} {unit_name(shown, short=True)}".rstrip()


def readable_frequency(frequency: float, unit: str, error: float | None = None) -> str:
    """A frequency in cycles per `unit` as its field writes it, with its standard error.

    Seconds and their parts give Hz, others cycles per unit.

    >>> readable_frequency(117.78, "second", 0.02), readable_frequency(0.0031, "second", 1e-6)
    ('117.78 ± 0.02 Hz', '3,100.0 ± 1.0 µHz')
    >>> readable_frequency(1.9322736, "day", 1e-6)
    '1.9322736 ± 1.0e-06 c/d'
    """
    factor, name = 1.0, f"c/{SHORT.get(unit, unit)}" if unit else "per unit of time"
    if unit in ("second", "millisecond", "microsecond"):
        hertz = frequency / SECONDS[unit]
        prefix = next((p for p in _HERTZ if abs(hertz) >= p[0]), _HERTZ[-1])
        factor, name = 1.0 / (SECONDS[unit] * prefix[1]), prefix[2]
    spread = None if error is None or not math.isfinite(error) else error * factor
    return with_error(frequency * factor, spread, name)


def quoted(text: str, limit: int = 60) -> str:
    """User text for a message: in quotes, escaped, and no longer than `limit`."""
    return repr(text if len(text) <= limit else text[: limit - 1] + "…")


def listed(parts: Sequence[str]) -> str:
    """Several things in one breath: "a, b and c"."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def counted(count: int, noun: str) -> str:
    """A number of things, in words up to ten.

    >>> counted(2, "pattern"), counted(1, "pattern"), counted(12, "pattern")
    ('Two patterns', 'One pattern', '12 patterns')
    """
    word = _NUMBERS[count] if 0 <= count < len(_NUMBERS) else str(count)
    return f"{word} {noun}{'' if count == 1 else 's'}"


def plural(count: int, noun: str) -> str:
    """A number of things, in digits.

    >>> plural(1, "sample"), plural(12_000, "sample")
    ('1 sample', '12,000 samples')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def percent(share: float) -> str:
    """A share of variance; never 100 % of anything that is not all.

    >>> percent(0.9991), percent(0.5), percent(0.99999), percent(0.0001)
    ('99.9 %', '50 %', '> 99.9 %', '< 0.1 %')
    """
    value = 100.0 * share
    if not math.isfinite(value):
        return "–"
    if value >= 100.0 - 1e-9:
        return "100 %"
    if value > 99.95:
        return "> 99.9 %"
    if value <= 0:
        return "0 %"
    if value < 0.1:
        return "< 0.1 %"
    return f"{value:.1f} %" if value < 10 or value > 90 else f"{value:.0f} %"


def probability(p: float) -> str:
    """A false-alarm probability.

    >>> probability(0.0042), probability(1e-30), probability(0.0)
    ('0.0042', '< 1e-15', '< 1e-15')
    """
    if not math.isfinite(p):
        return "–"
    if p < 1e-15:
        return "< 1e-15"
    return f"{p:.2g}" if p >= 1e-4 else f"{p:.0e}"
