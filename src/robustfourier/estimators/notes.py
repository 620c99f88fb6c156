"""Notes: what a fit has to say beside its tables, in words."""

from __future__ import annotations

from robustfourier.arrays import FloatArray
from robustfourier.mixture.transform import from_log
from robustfourier.periodic.basis import LevelShift


def step_note(shift: LevelShift, multiplies: bool) -> str:
    """Return when and by how much the level jumped, in words."""
    if multiplies:
        factor = from_log(shift.size)
        words = _with_error(factor, factor * shift.error)
        return f"level shift by a factor of {words} at {shift.time}"
    return f"level shift of {_with_error(shift.size, shift.error, '+')} at {shift.time}"


def _with_error(values: FloatArray, errors: FloatArray, sign: str = "") -> str:
    """Numbers, one per output, in words."""
    pairs = zip(values, errors, strict=True)
    return " and ".join(f"{value:{sign}.4g} ± {error:.2g}" for value, error in pairs)
