"""Notes: what a fit has to say beside its tables, in words."""

from __future__ import annotations

from robustfourier.arrays import FloatArray
from robustfourier.mixture.transform import from_log
from robustfourier.periodic.basis import Breakpoint


def break_note(change: Breakpoint, multiplies: bool) -> str:
    """Return when and by how much the level shifted or the slope changed, in words."""
    if change.kind == "level" and multiplies:
        factor = from_log(change.size)
        words = _with_error(factor, factor * change.error)
        return f"level shift by a factor of {words} at {change.time}"
    words = _with_error(change.size, change.error, "+")
    if change.kind == "level":
        return f"level shift of {words} at {change.time}"
    of = "slope of the logarithm" if multiplies else "slope"
    return f"change of {of} by {words} per unit of time at {change.time}"


def _with_error(values: FloatArray, errors: FloatArray, sign: str = "") -> str:
    """Numbers, one per output, in words."""
    pairs = zip(values, errors, strict=True)
    return " and ".join(f"{value:{sign}.4g} ± {error:.2g}" for value, error in pairs)
