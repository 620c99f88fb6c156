"""Which column is the time, which the value, which its error.

Names decide where they speak; otherwise the kind of the cells does. Where two columns could be
meant, nothing is guessed: the error lists them and says which option chooses.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from robustfourier.errors import DataError
from robustfourier.formatting import quoted, unit_called
from robustfourier.samples.read_options import ReadOptions

_TIME_WORDS = frozenset(
    """time times date dates datetime timestamp timestamps t day days epoch unix when jd mjd hjd bjd
    btjd bkjd tjd julian year years month hour hours minute minutes second seconds sec utc gmt theta
    zeit datum tag tage uhrzeit zeitpunkt stunde fecha hora tiempo heure temps jour tempo giorno
    """.split()  # noqa: SIM905
)
_VALUE_WORDS = frozenset(
    """value values y flux mag magnitude brightness level height signal measurement reading x
    wert messwert valeur valor valore
    """.split()  # noqa: SIM905
)
_ERROR_WORDS = frozenset(
    """err error errors sigma std stderr stdev unc uncertainty uncert dy e fehler
    """.split()  # noqa: SIM905
)
# What columns are called of which each holds one part of a date.
_CALENDAR = (
    frozenset("year yr yyyy years jahr año ano anno année annee jaar".split()),  # noqa: SIM905
    frozenset("month mon mo mm months monat mes mese mois maand".split()),  # noqa: SIM905
    frozenset("day dd dy dom days tag dia día giorno jour dag mday".split()),  # noqa: SIM905
    frozenset("hour hh hr hours stunde hora ora heure uur".split()),  # noqa: SIM905
    frozenset("minute min minutes minuto minuut".split()),  # noqa: SIM905
    frozenset("second sec ss seconds sekunde segundo".split()),  # noqa: SIM905
)
_BRACKETS = re.compile(r"[\[(]([^\[\]()]+)[\])]")  # the innermost: one pass, whatever the name
_DAY_COUNTS = frozenset(["jd", "mjd", "hjd", "bjd", "btjd", "bkjd", "tjd"])  # Julian dates


@dataclass(frozen=True)
class Choice:
    """Indices of the chosen columns."""

    time: int  # times, or years where `parts` follow
    value: int | None
    error: int | None
    clock: int | None = None  # A time of day that belongs to a column of dates
    parts: tuple[int, ...] = ()  # month, day, hour, minute and second, as far as each has a column
    by: tuple[tuple[int, str | None], ...] = ()  # columns and labels that choose a series

    @property
    def times(self) -> tuple[int, ...]:
        """All columns that a time is made of."""
        return tuple(j for j in (self.time, self.clock, *self.parts) if j is not None)


def choose_columns(
    names: Sequence[str],
    kinds: Sequence[str],
    source: str,
    options: ReadOptions,
    *,
    need_value: bool = True,
    apart: Sequence[int] = (),
) -> Choice:
    """Find the time, value and error column of a table, and those by which a series is chosen.

    `kinds` says what the cells of each column are: "number", "time", "clock", "text" or "empty".
    Columns of `apart` are none of them; a value column is looked for if `need_value`.
    """

    def given(name: str) -> int | None:
        wanted = getattr(options, name)
        return None if wanted is None else find_column(wanted, names, source, f"--{name}")

    by = tuple(_parsed_by(text, names, source) for text in options.by)
    time, value, error = given("time"), given("value"), given("error")
    taken = {i for i in (time, value, error, *apart, *(j for j, _ in by)) if i is not None}
    chosen = _times(names, kinds, source, taken) if time is None else Choice(time, None, None)
    chosen = replace(chosen, by=by)
    if not need_value:
        return chosen
    if value is not None and value == chosen.time:
        raise DataError(
            f"{source}: column {quoted(names[value])} cannot be time and value at once; "
            "choose with --time and --value"
        )
    taken |= set(chosen.times)
    numbers = [i for i, kind in enumerate(kinds) if kind == "number" and i not in taken]
    if not numbers:  # a column without any value is distinguished from one of words later
        numbers = [i for i, kind in enumerate(kinds) if kind == "empty" and i not in taken]
    errors = [i for i in numbers if is_error(names[i])]
    if value is None:
        value = _guess_value(names, [i for i in numbers if i not in errors], source)
    error = _guess_error(names, errors, value) if error is None else error
    return replace(chosen, value=value, error=error)


def _times(names: Sequence[str], kinds: Sequence[str], source: str, taken: set[int]) -> Choice:
    """The columns that a time is made of, where the user names none."""
    if calendar := _calendar(names, kinds, taken):
        return Choice(calendar[0], None, None, parts=calendar[1:])
    at = _guess_time(names, kinds, source, taken)
    clocks = [i for i, kind in enumerate(kinds) if kind == "clock"]
    beside = kinds[at] == "time" and len(clocks) == 1
    return Choice(at, None, None, clock=clocks[0] if beside else None)


def _guess_error(names: Sequence[str], errors: Sequence[int], value: int) -> int | None:
    """The one column of errors; of several, the one that is named like the value."""
    if len(errors) > 1:
        own = [[w for w in _split(name) if w not in _ERROR_WORDS] for name in names]
        errors = [i for i in errors if own[i] == own[value]]  # flux_err of flux
    return errors[0] if len(errors) == 1 else None


def unit_of_name(name: str) -> str:
    """Unit of time that a column's name speaks of; empty if none.

    >>> unit_of_name("t [h]"), unit_of_name("elapsed_seconds"), unit_of_name("t")
    ('hour', 'second', '')
    """
    if bracket := _BRACKETS.search(name):
        return unit_called(bracket[1].strip())
    words = _split(name)
    if not words or words in [[letter] for letter in "yashdw"]:  # too short to be a unit alone
        return ""
    return "day" if words[-1] in _DAY_COUNTS else unit_called(words[-1])


def speaks_of_time(name: str) -> bool:
    """Whether a column's name has a word for time in it."""
    return bool(_words(name) & _TIME_WORDS)


def _split(name: str) -> list[str]:
    return [word for word in re.split(r"[\W_]+", name.lower()) if word]


def _words(name: str) -> set[str]:
    """Words of a name without its unit; a single letter speaks only where it is the whole name."""
    words = _split(_BRACKETS.sub(" ", name))
    return set(words) if len(words) == 1 else {word for word in words if len(word) > 1}


def is_error(name: str) -> bool:
    """Whether a name speaks of errors; catalogues of stars write ``e_mag`` for those of ``mag``."""
    return bool(_words(name) & _ERROR_WORDS) or name.strip().lower().startswith("e_")


def _calendar(names: Sequence[str], kinds: Sequence[str], taken: set[int]) -> tuple[int, ...]:
    """Columns of year, month and, as far as there are some, day, hour, minute and second."""
    if any(kind == "time" for i, kind in enumerate(kinds) if i not in taken):
        return ()
    found: list[int] = []
    for words in _CALENDAR:
        at = [
            i
            for i, name in enumerate(names)
            if i not in taken and name.strip().lower().strip("[]()#") in words
        ]
        if len(at) != 1 or (kinds[at[0]] != "number" and len(found) != 1):
            break
        found += at
    return tuple(found) if len(found) >= 2 else ()


def find_column(wanted: str, names: Sequence[str], source: str, option: str) -> int:
    """Return the index of the column that the user means by a name or a number from 1."""
    exact = [i for i, name in enumerate(names) if name == wanted.strip()]
    loose = [i for i, name in enumerate(names) if name.lower() == wanted.strip().lower()]
    found = exact or loose
    if len(found) == 1:
        return found[0]
    if len(found) > 1:
        raise DataError(
            f"{source}: {len(found)} columns are called {quoted(wanted)}; give {option} the "
            f"column's number instead, such as {found[0] + 1}"
        )
    if re.fullmatch(r"[0-9]{1,9}", wanted.strip()) and 1 <= int(wanted) <= len(names):
        return int(wanted) - 1
    raise DataError(f"{source}: no column {quoted(wanted)} ({option}); there are {_listed(names)}")


def _listed(names: Sequence[str], limit: int = 12) -> str:
    shown = ", ".join(quoted(name, 40) for name in names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"


def _guess_time(names: Sequence[str], kinds: Sequence[str], source: str, taken: set[int]) -> int:
    usable = [i for i, kind in enumerate(kinds) if kind in ("time", "number") and i not in taken]
    dated = [i for i in usable if kinds[i] == "time"]
    named = [i for i in usable if speaks_of_time(names[i])]
    purely = [i for i in named if set(_split(names[i])) <= _TIME_WORDS]  # and of nothing else
    plain = [i for i in usable if not is_error(names[i])]
    bare = all(re.fullmatch(r"column \d+", name) for name in names)
    for found in (
        [i for i in dated if i in named],
        dated,
        purely if len(purely) == 1 else named,
        usable if len(names) == 1 else [],
        usable if len(usable) == 2 and bare else [],
        # Errors are known by their name, so of "x, y, y_err" two columns are left.
        usable[:1] if len(plain) == 2 and plain[0] == usable[0] else [],
    ):
        if len(found) == 1 or (found and found is not dated and found is not named):
            return found[0]
        if len(found) > 1:
            raise DataError(
                f"{source}: {_listed([names[i] for i in found])} could each be the time; "
                "choose with --time"
            )
    if not usable:
        raise DataError(
            f"{source}: no column holds times (numbers or dates); there are {_listed(names)}; "
            "choose with --time and, for unusual dates, --time-format"
        )
    raise DataError(
        f"{source}: cannot tell which of {_listed([names[i] for i in usable])} is the time; "
        "choose with --time"
    )


def _guess_value(names: Sequence[str], numbers: Sequence[int], source: str) -> int:
    if len(numbers) == 1:
        return numbers[0]
    named = [i for i in numbers if _words(names[i]) & _VALUE_WORDS]
    purely = [i for i in named if set(_split(names[i])) <= _VALUE_WORDS]  # and of nothing else
    for found in (named, purely):
        if len(found) == 1:
            return found[0]
    if not numbers:
        raise DataError(
            f"{source}: no column of numbers is left for the value; there are {_listed(names)}; "
            "choose with --value"
        )
    raise DataError(
        f"{source}: cannot tell which of {_listed([names[i] for i in numbers])} is the value; "
        "choose with --value"
    )


def _parsed_by(text: str, names: Sequence[str], source: str) -> tuple[int, str | None]:
    """Column and label that ``--by column=label`` means; None without a label."""
    if text.strip() in names or "=" not in text:
        return find_column(text, names, source, "--by"), None
    name, _, label = text.partition("=")
    return find_column(name, names, source, "--by"), label.strip()
