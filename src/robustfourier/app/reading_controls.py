"""Controls of the page that say how a file is read, and errors in their words.

One table: the page builds its controls from it, `settings` checks what they send, and what the
command line would call ``--by`` is called by the name of its control.
"""

from __future__ import annotations

import re
from dataclasses import fields
from typing import NamedTuple

from robustfourier.fit_config import FitConfig, flag_of


class Control(NamedTuple):
    """One control."""

    option: str  # of `read_samples`
    words: str  # what stands beside it
    kind: str  # column, text, list, count, number, choice or switch
    hint: str = ""  # an example, shown while it is empty
    choices: tuple[tuple[str, str], ...] = ()  # values with their words; the first is the default


CONTROLS = (
    Control("time", "Time", "column"),
    Control("value", "Value", "column"),
    Control("error", "Errors", "column"),
    Control("unit", "Unit of time", "text", "such as day"),
    Control("by", "One series of several", "list", "sensor=A"),
    Control("sheet", "Sheet", "text", "name or number"),
    Control("na", "Marks of missing values", "list", "-999"),
    Control(
        *("missing", "Rows that lack something", "choice", ""),
        (("drop", "leave out"), ("error", "refuse")),
    ),
    Control(
        *("duplicates", "Rows of the same time", "choice", ""),
        (("", "as usual"), ("mean", "their mean"), ("first", "the first"), ("last", "the last"),
         ("keep", "all"), ("error", "refuse")),
    ),
    Control(
        *("delimiter", "Delimiter", "choice", ""),
        (("", "as found"), ("comma", "comma"), ("semicolon", "semicolon"), ("tab", "tab"),
         ("bar", "bar"), ("blanks", "blanks")),
    ),
    Control(
        *("decimal", "Decimal mark", "choice", ""),
        (("", "as found"), (".", "point"), (",", "comma")),
    ),
    Control("skip", "Lines to skip", "count", "0"),
    Control("time_format", "Dates written as", "text", "%d.%m.%Y %H:%M"),
    Control("timezone", "Time zone", "text", "Europe/Berlin"),
    Control("rate", "Samples per second", "number", "20000"),
    Control("magnitudes", "Magnitudes: small is bright", "switch"),
)  # fmt: skip
#: What the page calls fields of the fit itself.
_OTHERS = {
    flag_of(field.name).removeprefix("--"): field.metadata["page"]
    for field in fields(FitConfig)
    if field.metadata["page"]
}
_WORDS = {control.option.replace("_", "-"): control.words for control in CONTROLS} | _OTHERS
_FIELD = re.compile(rf"\b({'|'.join(_OTHERS).replace('-', '_')})=('[^']*'|[\d.e+-]+)")
_OPTION = re.compile(r"--([a-z]+(?:-[a-z]+)*)(?:[ =]('[^']*'|\"[^\"]*\"|[-\w.=]*\d[-\w.=]*))?")


def in_controls(words: str) -> str:
    """A sentence of the command line in the words of the page.

    Examples
    --------
    >>> in_controls("choose one with --sheet")
    'choose one with “Sheet”'
    >>> in_controls("loss='none' is unknown")
    '“Outliers”: none is unknown'
    >>> in_controls("choose one series, such as --by 'gene=Dbp', or fit each with --by 'gene'")
    'choose one series, such as “One series of several”: gene=Dbp'
    """
    # The page fits one series of a file: what is said of many is for the command line.
    words = re.sub(r",? or fit each with --by.*$", "", words)
    words = _FIELD.sub(lambda found: f"--{found[1].replace('_', '-')} {found[2]}", words)
    return _OPTION.sub(_named, words)


def _named(found: re.Match[str]) -> str:
    words, value = _WORDS.get(found[1]), found[2]
    if words is None:
        return found[0]
    return f"“{words}”" + (f": {value.strip(chr(39) + chr(34))}" if value else "")
