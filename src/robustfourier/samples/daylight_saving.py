"""Clocks that are put forward in spring and back in autumn.

Local times without a zone have a missing hour in spring and a repeated one in autumn, which blurs
every period of about a day. With the name of the zone they become instants; without it, the two
hours give the clock away, and a note says so.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from robustfourier.errors import InputError
from robustfourier.formatting import quoted
from robustfourier.samples.time_columns import Times

_HOUR, _NOTHING = np.timedelta64(1, "h"), np.timedelta64(0, "h")
_QUARTER = np.timedelta64(91, "D")  # between spring and autumn lie one to three quarters of a year
# One zone for each rule of changing clocks that many records follow.
_COMMON = (
    *("Europe/Berlin", "Europe/London", "Europe/Athens", "America/New_York", "America/Chicago"),
    *("America/Denver", "America/Los_Angeles", "Australia/Sydney", "Pacific/Auckland"),
)


def on_clock(times: Times, zone: str | None) -> Times:
    """Put dates that name no zone on the clock of a zone: they become instants, in UTC.

    Numbers stay as they are. Without a zone, a note says if the clock was changed.
    """
    if times.values.dtype.kind != "M":
        return times
    if times.timezone is not None:
        return replace(times, timezone=zone or times.timezone)
    if zone is None:
        return replace(times, notes=(*times.notes, *_clock_note(times.values)))
    index = pd.DatetimeIndex(times.values)
    try:  # the order of the rows tells the repeated hour of autumn apart
        local = index.tz_localize(zone, ambiguous="infer", nonexistent="NaT")
    except ValueError:
        local = index.tz_localize(zone, ambiguous="NaT", nonexistent="NaT")
    stamps = local.tz_convert("UTC").tz_localize(None)
    lost = int(np.sum(stamps.isna())) - int(np.sum(index.isna()))
    note = f"{lost} local times that do not exist or occur twice when clocks change were left out"
    notes = (*times.notes, note) if lost else times.notes
    return replace(times, values=stamps.to_numpy(), timezone=zone, notes=notes)


def checked_zone(timezone: str | None) -> str | None:
    """Return the name of a zone, if it is one."""
    if timezone is not None:
        try:
            pd.Timestamp("2020-01-01").tz_localize(timezone)
        except Exception:  # the zone libraries raise several unrelated kinds
            raise InputError(
                f"--timezone {quoted(timezone)}: unknown; give a name such as Europe/Berlin or UTC"
            ) from None
    return timezone


def _clock_note(stamps: NDArray[Any]) -> list[str]:
    """A note if a whole hour occurs twice, as it does when clocks are put back."""
    stamps = stamps[~np.isnat(stamps)]
    known = np.sort(stamps)
    steps = np.diff(known)
    if len(steps) < 48 or not _NOTHING < (step := np.median(steps)) <= _HOUR:
        return []
    repeated = known[1:][steps == _NOTHING]
    hours, counts = np.unique(repeated.astype("datetime64[h]"), return_counts=True)
    hours = hours[counts == _HOUR // step]
    if not hours.size:
        return []
    missing = known[1:][steps == step + _HOUR] - _HOUR  # where the hour left out begins
    zone = next((zone for zone in _COMMON if _fits(stamps, zone, hours)), None)
    if zone is not None:
        index, summer = pd.DatetimeIndex(missing), np.ones(len(missing), bool)
        local = index.tz_localize(zone, nonexistent="NaT", ambiguous=summer)
        missing = missing[local.isna()]
    elif not (
        len(missing) == len(hours) == 1 and _QUARTER < abs(missing[0] - hours[0]) < 3 * _QUARTER
    ):
        return []
    return [
        f"the clock was changed: an hour is repeated on {str(hours[0])[:10]}"
        + (f" and one is missing on {str(missing[0])[:10]}" if len(missing) else "")
        + f", which blurs daily patterns; say --timezone {zone or 'NAME'}"
        + (" if that is where the clock stood" if zone else ", the zone of the clock")
    ]


def _fits(stamps: NDArray[Any], zone: str, hours: NDArray[Any]) -> bool:
    """Whether all local times exist in a zone, and the repeated hours are those it repeats."""
    index = pd.DatetimeIndex(stamps)
    try:
        index.tz_localize(zone, ambiguous="infer", nonexistent="raise")
    except ValueError:
        return False
    twice = index[index.tz_localize(zone, ambiguous="NaT").isna()]
    return bool(np.isin(hours, twice.to_numpy().astype("datetime64[h]")).all())
