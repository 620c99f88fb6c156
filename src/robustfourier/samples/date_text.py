"""Dates as text: what looks like one, months in several languages, dates in several columns."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

# January to December in English, German, French, Spanish, Italian, Portuguese, Dutch, Swedish,
# Danish and Polish; shortened forms are beginnings of these, or stand beside them.
_MONTHS = (
    "january januar janner janvier enero ene gennaio gen janeiro januari styczen stycznia",
    "february februar fevrier febrero febbraio fevereiro fev februari luty lutego",
    "march marz mrz maerz mars marzo marco maart mrt marts marzec marca",
    "april avril abril abr aprile avr kwiecien kwietnia",
    "may mai mayo maggio mag maio mei maj maja",
    "june juni juin junio giugno giu junho czerwiec czerwca",
    "july juli juillet juil julio luglio lug julho lipiec lipca",
    "august aout agosto ago augustus augusti sierpien sierpnia",
    "september septembre septiembre setiembre settembre set setembro wrzesien wrzesnia",
    "october oktober octobre octubre ottobre ott outubro out pazdziernik pazdziernika",
    "november novembre noviembre novembro listopad listopada",
    "december dezember decembre diciembre dicembre dic dezembro dez grudzien grudnia",
)
_ENGLISH = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MONTH_OF = {
    word[:length]: month
    for month, words in zip(_ENGLISH, _MONTHS, strict=True)
    for word in words.split()
    for length in sorted({len(word), 3, 4})
    # "mar" and "mai" are one month in every language, "jui" is two in French
    if not (word.startswith("jui") and length == 3)
}
_MONTH_OF |= {"sept": "Sep"}
_NAME = "|".join(sorted(_MONTH_OF, key=len, reverse=True))
_TIME = re.compile(
    rf"""\d{{4}}-\d{{1,2}}(-\d{{1,2}})?([T ].*)?(Z|[+-]\d\d:?\d\d)?   # ISO
      | \d{{1,4}}[./-]\d{{1,2}}[./-]\d{{1,4}}([T, ].*)?                # 31.12.2020, 12/31/2020
      | \d{{1,2}}[ -][^\W\d_]{{3,9}}\.?[ -]\d{{2,4}}(\ .*)?            # 31 Dec 2020
      | [^\W\d_]{{3,9}}\.?\ \d{{1,2}},?\ \d{{4}}(\ .*)?                # Dec 31, 2020
      | (?:{_NAME})-\d{{1,2}}-\d{{4}}(\ .*)?                           # Dec-31-2020
      | (?:{_NAME})([ -]\d{{4}}|-\d\d) | \d{{4}}[ -](?:{_NAME})        # Dec 2020, Dec-20, 2020 Dec
      | \d{{4}}[ -]?[Qq][1-4] | [Qq][1-4][ /-]\d{{4}}                 # 2020 Q4, Q4 2020
      | \d{{1,2}}:\d\d(:\d\d(\.\d*)?)?(\ ?[AaPp][Mm])?               # 13:45
    """,
    re.VERBOSE | re.IGNORECASE,
)
# What ``strptime`` reads as it is.
_READ = {word.split()[0] for word in _MONTHS} | {word[:3] for word in _MONTHS}
_WORD = re.compile(r"[^\W\d_]{3,}")
_AFTER_DAY = re.compile(r"(?<!\d)(\d{1,2})(?:\.|º|er|st|nd|rd|th)?(?:\s+de)?\s+(?=[^\W\d_]{3,})")


def is_time(cell: str) -> bool:
    """Whether a cell could be a date or a time of day.

    >>> [is_time(text) for text in ("3. März 2020", "12 de enero de 2024", "13:45", "room 5")]
    [True, True, True, False]
    """
    return bool(_TIME.fullmatch(english_months(cell.strip())))


def english_months(text: str) -> str:
    """Return a date with the month in English, as ``strptime`` reads it.

    >>> english_months("3. März 2020"), english_months("12 de enero de 2024 13:45")
    ('3 Mar 2020', '12 Jan 2024 13:45')
    """
    if not any(map(str.isalpha, text)) or len(text) > 60:
        return text
    months = [(m, found) for m in _WORD.finditer(text) if (found := _month(m[0]))]
    if len(months) != 1:
        return text
    match, month = months[0]
    before, after = text[: match.start()], text[match.end() :]
    if match[0].lower() in _READ:
        month = match[0]
    after = after.removeprefix(".")
    before = _AFTER_DAY.sub(r"\1 ", before + "xxx").removesuffix("xxx")
    return before + month + re.sub(r"^\s+del?\s+", " ", after)


def _plain(word: str) -> str:
    """A word in lower case without accents."""
    parts = unicodedata.normalize("NFKD", word.lower())
    return "".join(c for c in parts if not unicodedata.combining(c))


def _month(word: str) -> str:
    return _MONTH_OF.get(_plain(word), "")


def calendar_text(parts: Sequence[str]) -> str:
    """Return a date of year, month, day, … in columns of their own as ISO text; empty if one lacks.

    >>> calendar_text(["2024", "2"]), calendar_text(["2024", "Feb", "3", "14"])
    ('2024-02-01', '2024-02-03 14:00')
    """
    if not all(parts):
        return ""
    month = _month(parts[1])
    numbers = [parts[0], str(_ENGLISH.index(month) + 1) if month else parts[1], *parts[2:]]
    whole = [n.removesuffix(".0").rjust(2, "0") for n in numbers]
    whole += ["01"] * (3 - len(whole))
    date, clock = "-".join(whole[:3]), whole[3:]
    if not clock:
        return date
    return f"{date} {':'.join([*clock, '00'] if len(clock) == 1 else clock)}"
