"""Numbers with a unit, and instants, of libraries that are not imported here.

astropy's `Quantity`, `Time` and masked columns, pint's quantities, xarray's arrays and Arrow's
columns are known by what they can do. Going in, units are taken off and remembered; what comes
later is converted to them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustfourier.errors import InputError
from robustfourier.formatting import SECONDS, SHORT, unit_called

#: What astropy calls our units; it has no months.
ASTROPY_UNITS = {unit: word for unit, word in SHORT.items() if unit != "month"}
ASTROPY_UNITS["microsecond"] = "us"
_YEARS = ("jyear", "byear", "decimalyear")
_SECONDS_CLOCKS = ("gps", "cxcsec", "galexsec", "stardate")
_DATED = ("unix", "unix_tai", "plot_date", "ymdhms")  # numbers that nobody reads as such


@dataclass(frozen=True)
class PlainTimes:
    """Times without their units."""

    values: Any  # numbers or dates
    unit: str = ""  # unit of numbers, of `robustfourier.formatting.SECONDS`; empty if unknown
    clock: str = ""  # what instants are counted on, such as "mjd/utc"; empty for all else


def is_instants(given: Any) -> bool:
    """Whether something is astropy's `Time`."""
    return all(hasattr(given, name) for name in ("jd1", "jd2", "format", "scale"))


def is_quantity(given: Any) -> bool:
    """Whether something has numbers and a unit to be converted."""
    if is_instants(given) or _is_plain(given):
        return False
    unit = getattr(given, "unit", None)
    astropy = hasattr(given, "to_value") and unit is not None
    return astropy or (hasattr(given, "magnitude") and hasattr(given, "units"))


def _is_plain(given: Any) -> bool:
    """Whether something is of a library without units; some of these have columns called so."""
    return type(given).__module__.partition(".")[0] in ("builtins", "numpy", "pandas", "polars")


def unit_text(given: Any) -> str:
    """The unit of a quantity or of a column, as its library writes it; empty if it has none."""
    if _is_plain(given):
        return ""
    unit = getattr(given, "unit", None)
    unit = getattr(given, "units", None) if unit is None else unit
    if unit is None and isinstance(getattr(given, "attrs", None), dict):
        unit = given.attrs.get("units")
    return "" if unit is None or callable(unit) else str(unit)


def plain_values(given: Any, unit: str = "") -> Any:
    """Numbers of a quantity, column or array, NaN where it is masked; anything else as it is.

    Quantities are converted to a unit as their library writes it; to their own if that is empty.
    """
    if is_quantity(given):
        given = _in_unit(given, unit) if unit else _bare_number(given)
    if hasattr(given, "unmasked") and hasattr(given, "mask"):  # astropy's Masked
        return np.where(np.asarray(given.mask), np.nan, np.asarray(given.unmasked, np.float64))
    if isinstance(given, np.ma.MaskedArray):
        return given
    if hasattr(given, "dims") and hasattr(given, "coords") and hasattr(given, "values"):
        return np.asarray(given.values)  # xarray
    module = type(given).__module__
    if module.startswith("pyarrow") and hasattr(given, "to_pandas"):
        return given.to_pandas()
    if module.startswith("astropy") and isinstance(given, np.ndarray):
        return np.asarray(given)
    return given


def plain_times(given: Any, unit: str | None = None, clock: str = "") -> PlainTimes:
    """Times without their units, converted to `unit` or in their own.

    `clock` is what instants are to be counted on, where numbers were before.
    """
    if is_instants(given):
        return _instants(given, unit, clock)
    own = unit_called(unit_text(given))
    if is_quantity(given):
        if not own:
            raise InputError(f"times have the unit {unit_text(given)!r}, which is no unit of time")
        wanted = unit if unit in SECONDS else own
        return PlainTimes(_duration(given, own, wanted or own), wanted or own)
    values = plain_values(given)
    if own and values is not given and getattr(np.asarray(values), "dtype", None) is not None:
        array = np.asarray(values)
        if array.dtype.kind in "iuf":
            factor = SECONDS[own] / SECONDS[unit] if unit in SECONDS else 1.0
            return PlainTimes(array * factor if factor != 1.0 else array, unit or own)
    return PlainTimes(values, unit or "")


def _bare_number(given: Any) -> Any:
    """The numbers of a quantity in its own unit."""
    return given.magnitude if hasattr(given, "magnitude") else given.value


def _in_unit(given: Any, unit: str) -> Any:
    try:
        if hasattr(given, "to_value"):
            masked = hasattr(given, "unmasked")
            bare = given.unmasked.to_value(unit) if masked else given.to_value(unit)
            return np.where(np.asarray(given.mask), np.nan, bare) if masked else np.asarray(bare)
        return np.asarray(given.to(unit).magnitude)
    except Exception as error:  # each library has its own
        raise InputError(
            f"values in {unit_text(given)!r} cannot be converted to {unit!r} ({error}); give all "
            "of them in one unit"
        ) from None


def _duration(given: Any, own: str, unit: str) -> NDArray[Any]:
    if own == unit:
        return np.asarray(plain_values(given))
    if unit in ASTROPY_UNITS and hasattr(given, "to_value"):
        return np.asarray(plain_values(given, ASTROPY_UNITS[unit]))
    return np.asarray(plain_values(given)) * (SECONDS[own] / SECONDS[unit])


def _instants(given: Any, unit: str | None, clock: str) -> PlainTimes:
    """Numbers where the format counts days, years or seconds; dates (UTC) otherwise."""
    if clock:
        form, _, scale = clock.partition("/")
        return PlainTimes(_bare(getattr(_on_scale(given, scale), form)), unit or "", clock)
    values = _bare(given.value) if given.format not in _DATED else np.array("")
    if values.dtype.kind != "f":
        return PlainTimes(_bare(_on_scale(given, "utc").datetime64), unit or "day")
    own = "year" if given.format in _YEARS else "day"
    own = "second" if given.format in _SECONDS_CLOCKS else own
    if unit is not None and unit != own and unit in SECONDS:
        raise InputError(
            f"unit={unit!r}: times in {given.format} are counted in {own}s; leave unit away, or "
            "give them as dates, such as times.datetime64"
        )
    return PlainTimes(values, own, f"{given.format}/{given.scale}")


def _on_scale(given: Any, scale: str) -> Any:
    if given.scale == scale or "local" in (given.scale, scale):
        return given
    return getattr(given, scale)


def _bare(values: Any) -> NDArray[Any]:
    """An array without a mask; what was masked is missing."""
    mask = np.asarray(getattr(values, "mask", False))
    array = np.asarray(getattr(values, "unmasked", values))
    if isinstance(values, np.ma.MaskedArray):
        array = np.asarray(values.data)
    if not mask.any():
        return array
    array = array.copy()
    array[np.broadcast_to(mask, array.shape)] = "NaT" if array.dtype.kind == "M" else np.nan
    return array
