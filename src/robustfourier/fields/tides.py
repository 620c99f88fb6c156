"""Tidal constituents: names of lines, Greenwich phases, ellipses of currents.

A constituent is H f cos(V(t) + u - g): V is its equilibrium argument, an integer combination of
mean lunar time and of the mean longitudes of moon, sun, lunar perigee, lunar node and perihelion;
f and u correct for the node (18.6 years) at the middle of the record; g is the Greenwich phase lag.

References
----------
.. [1] A. T. Doodson, The harmonic development of the tide-generating potential, Proc. R. Soc. A
       100 (1921).
.. [2] D. T. Pugh, Tides, Surges and Mean Sea-Level (1987), tables 4.1 to 4.3.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from robustfourier.arrays import FloatArray
from robustfourier.domain import Domain
from robustfourier.errors import InputError
from robustfourier.formatting import SECONDS

_ERRORS = 3.0  # standard errors within which a line agrees with a constituent …
_MODES = 0.3  # … or cycles over the record: errors of strong lines are often too small
_SEEN = 2  # constituents, one of them of the moon, before a record counts as a tide
_J2000 = np.datetime64("2000-01-01T12:00:00")
#: Mean longitudes in degrees, and their rates per Julian century: s, h, p, N' and p1.
_LONGITUDES = np.array(
    [
        [218.3164477, 481267.88123421],
        [280.46646, 36000.76983],
        [83.3532465, 4069.0137287],
        [-125.04452, 1934.136261],
        [282.93735, 1.71946],
    ]
)
_HOURS = 36525.0 * 24.0  # of a Julian century
#: Name: multiples of lunar time τ and of s, h, p, N', p1; the constant phase; Δf, u (degrees).
_CONSTITUENTS: dict[str, tuple[tuple[int, int, int, int, int, int], float, float, float]] = {
    "Ssa": ((0, 0, 2, 0, 0, 0), 0.0, 0.0, 0.0),
    "Mm": ((0, 1, 0, -1, 0, 0), 0.0, -0.130, 0.0),
    "MSf": ((0, 2, -2, 0, 0, 0), 0.0, -0.037, -2.1),
    "Mf": ((0, 2, 0, 0, 0, 0), 0.0, 0.414, -23.7),
    "2Q1": ((1, -3, 0, 2, 0, 0), 270.0, 0.187, 10.8),
    "Q1": ((1, -2, 0, 1, 0, 0), 270.0, 0.187, 10.8),
    "O1": ((1, -1, 0, 0, 0, 0), 270.0, 0.187, 10.8),
    "P1": ((1, 1, -2, 0, 0, 0), 270.0, 0.0, 0.0),
    "S1": ((1, 1, -1, 0, 0, 0), 180.0, 0.0, 0.0),
    "K1": ((1, 1, 0, 0, 0, 0), 90.0, 0.115, -8.9),
    "J1": ((1, 2, 0, -1, 0, 0), 90.0, 0.169, -12.9),
    "2N2": ((2, -2, 0, 2, 0, 0), 0.0, -0.037, -2.1),
    "mu2": ((2, -2, 2, 0, 0, 0), 0.0, -0.037, -2.1),
    "N2": ((2, -1, 0, 1, 0, 0), 0.0, -0.037, -2.1),
    "nu2": ((2, -1, 2, -1, 0, 0), 0.0, -0.037, -2.1),
    "M2": ((2, 0, 0, 0, 0, 0), 0.0, -0.037, -2.1),
    "L2": ((2, 1, 0, -1, 0, 0), 180.0, -0.037, -2.1),
    "T2": ((2, 2, -3, 0, 0, 1), 0.0, 0.0, 0.0),
    "S2": ((2, 2, -2, 0, 0, 0), 0.0, 0.0, 0.0),
    "K2": ((2, 2, 0, 0, 0, 0), 0.0, 0.286, -17.7),
    "M3": ((3, 0, 0, 0, 0, 0), 180.0, -0.056, -3.2),
    "MK3": ((3, 1, 0, 0, 0, 0), 90.0, 0.078, -11.0),
    "MN4": ((4, -1, 0, 1, 0, 0), 0.0, -0.074, -4.2),
    "M4": ((4, 0, 0, 0, 0, 0), 0.0, -0.074, -4.2),
    "MS4": ((4, 2, -2, 0, 0, 0), 0.0, -0.037, -2.1),
    "M6": ((6, 0, 0, 0, 0, 0), 0.0, -0.111, -6.3),
}
#: Mean nodal factors that are not 1.
_MEAN = {"Mf": 1.043, "2Q1": 1.009, "Q1": 1.009, "O1": 1.009, "K1": 1.006, "J1": 1.013, "K2": 1.024}
#: Those with the largest coefficients of the potential, the largest first.
_STRONGEST = ("M2", "K1", "S2", "O1", "P1", "N2", "K2", "Mf", "Q1", "Mm", "M4")


def _rates(multiples: FloatArray) -> FloatArray:
    """Degrees per hour of integer combinations of τ, s, h, p, N', p1."""
    s, h, *rest = _LONGITUDES[:, 1] / _HOURS
    return np.asarray(multiples @ np.array([15.0 + h - s, s, h, *rest]))


NAMES = tuple(_CONSTITUENTS)
#: Degrees per hour, as oceanographers state the frequency of a constituent.
SPEEDS = _rates(np.array([row[0] for row in _CONSTITUENTS.values()], np.float64))


@dataclass(frozen=True)
class Argument:
    """Equilibrium argument at an instant: V + u in degrees, and the nodal factor f."""

    degrees: float
    factor: float


def equilibrium_argument(name: str, instant: Any, nodal: bool = True) -> Argument:
    """Return V + u at Greenwich and the nodal factor f of a constituent at an instant (UTC).

    Without the correction for the lunar node (`nodal`), u = 0 and f = 1.

    >>> argument = equilibrium_argument("M2", np.datetime64("2000-01-01T12:00:00"))
    >>> round(argument.degrees, 1), round(argument.factor, 3)
    (122.6, 1.021)
    """
    stamp = pd.Timestamp(instant)
    stamp = stamp.tz_convert("UTC").tz_localize(None) if stamp.tzinfo else stamp
    days = (stamp - pd.Timestamp(_J2000)) / pd.Timedelta(days=1)
    s, h, *rest = _LONGITUDES[:, 0] + _LONGITUDES[:, 1] * days / 36525.0
    lunar = 360.0 * ((days + 0.5) % 1.0) + h - s
    multiples, phase, swing, shift = _CONSTITUENTS[name]
    degrees = float(np.dot(multiples, [lunar, s, h, *rest]) + phase)
    node = np.deg2rad(-rest[1])
    if not nodal:
        return Argument(degrees % 360.0, 1.0)
    return Argument(
        float((degrees + shift * np.sin(node)) % 360.0),
        float(_MEAN.get(name, 1.0) + swing * np.cos(node)),
    )


def constituent_named(frequency: float, error: float, domain: Domain) -> str:
    """Name of the constituent that a line is; empty if none, or if the unit of time is unknown.

    Of those that a short record cannot tell apart, the strongest in the potential.

    Examples
    --------
    >>> constituent_named(1 / 12.4206, 1e-6, Domain(0.0, 8760.0, "hour"))
    'M2'
    """
    if domain.unit not in SECONDS:
        return ""
    hours = SECONDS[domain.unit] / 3600.0
    apart = np.abs(SPEEDS / 360.0 * hours - frequency)
    reach = max(_ERRORS * (error if np.isfinite(error) else 0.0), _MODES / domain.span)
    near = [NAMES[i] for i in np.flatnonzero(apart <= reach)]
    main = [name for name in _STRONGEST if name in near]
    return main[0] if main else near[int(np.argmin(apart[apart <= reach]))] if near else ""


def is_tide(names: list[str]) -> bool:
    """Whether lines with these names are a tide: several constituents, M2 or O1 among them.

    These are the largest that the moon alone makes, of half a day and of a day; slow lines such as
    Mm, and those of the sun, stand in many records that are no tide.
    """
    found = {name for name in names if name}
    return len(found) >= _SEEN and not found.isdisjoint(("M2", "O1"))


def constituents_of(components: Iterable[Any], domain: Domain) -> list[str]:
    """Constituents that components are, by their fundamentals; all empty if this is no tide."""
    names = [constituent_named(c.frequency, c.frequency_error, domain) for c in components]
    return names if is_tide(names) else [""] * len(names)


def harmonic_constants(model: Any) -> pd.DataFrame:
    """Harmonic constants of a tide: the lines of a fit that are constituents.

    Parameters
    ----------
    model : PeriodicMixture
        Fitted to one column of times with a known unit.

    Returns
    -------
    DataFrame
        constituent, label, speed (° per hour), amplitude H (nodal factor divided out) with its
        error and, for dated records, phase: the Greenwich phase lag g in degrees with its error;
        dates without a zone count as universal time. With several outputs, amplitude_0, phase_0
        and so on.

    Raises
    ------
    InputError
        If the unit of time is unknown.
    """
    domain, modes = model.domains_[0], model.modes_
    if domain.unit not in SECONDS:
        raise InputError(
            f"unit={domain.unit!r}: the model's unit of time is unknown; fit with dates or with "
            "unit='hour'"
        )
    errors = np.full(len(modes), np.nan) if modes.frequency_error is None else modes.frequency_error
    middle = domain.from_theta(np.zeros(1))[0] if domain.dates else None
    rows: dict[str, dict[str, Any]] = {}
    for i in np.argsort(-np.max(np.atleast_2d(modes.amplitude.T), axis=0)):
        name = constituent_named(float(modes.frequency[i]), float(errors[i]), domain)
        if not name or name in rows:
            continue
        row = {
            "constituent": name,
            "label": "" if modes.label is None else str(modes.label[i]),
            "speed": SPEEDS[NAMES.index(name)],
        }
        rows[name] = row | _constants(modes, i, name, middle)
    columns = ("constituent", "label", "speed", "amplitude", "amplitude_error")
    frame = pd.DataFrame(list(rows.values()), columns=None if rows else list(columns))
    return frame


def _constants(modes: Any, i: Any, name: str, middle: Any) -> dict[str, Any]:
    """Amplitudes and Greenwich phases of one line, one for each output."""
    argument = Argument(np.nan, 1.0) if middle is None else equilibrium_argument(name, middle)
    constants: dict[str, Any] = {}
    size, late = np.atleast_1d(modes.amplitude[i]), np.atleast_1d(modes.phase[i])
    size_error, late_error = (
        np.full_like(size, np.nan) if column is None else np.atleast_1d(column[i])
        for column in (modes.amplitude_error, modes.phase_error)
    )
    for j in range(len(size)):
        tail = f"_{j}" if len(size) > 1 else ""
        constants[f"amplitude{tail}"] = float(size[j]) / argument.factor
        constants[f"amplitude{tail}_error"] = float(size_error[j]) / argument.factor
        if middle is not None:
            # cos(πkθ - φ) at θ = 0 has the phase -φ, and V + u - g there is the same.
            lag = argument.degrees + np.rad2deg(float(late[j]))
            constants[f"phase{tail}"] = float(lag % 360.0)
            constants[f"phase{tail}_error"] = float(np.rad2deg(late_error[j]))
    return constants


def ellipses(model: Any) -> pd.DataFrame:
    """Tidal ellipses of a current (u, v), one for each constituent.

    With the complex amplitudes U and V of eastward and northward velocity, the two rotating parts
    are W± = (U ± iV) / 2 (V conjugated for W-), the semi-axes |W+| ± |W-| [1]_.

    Parameters
    ----------
    model : PeriodicMixture
        Fitted to two outputs: velocity to the east and to the north.

    Returns
    -------
    DataFrame
        constituent, label, speed, major, minor (negative: clockwise), inclination (degrees from
        east, 0 to 180) and, for dated records, phase (Greenwich, of the maximum along the major
        axis).

    References
    ----------
    .. [1] M. G. G. Foreman, Manual for tidal currents analysis and prediction (1978).
    """
    table = harmonic_constants(model)
    if model.single_output_ or (len(table) and "amplitude_1" not in table):
        raise InputError("ellipses need two outputs, eastward and northward: fit(times, uv)")
    if not len(table):
        return table
    dated = "phase_0" in table
    u, v = _complex(model, table)
    counter, clock = 0.5 * (u + 1j * v), 0.5 * np.conj(u - 1j * v)
    minor = np.abs(counter) - np.abs(clock)
    angle = 0.5 * (np.angle(counter, deg=True) + np.angle(clock, deg=True))
    turn = np.where(angle % 360.0 >= 180.0, 180.0, 0.0)
    constants = table[["constituent", "label", "speed"]].assign(
        major=np.abs(counter) + np.abs(clock), minor=minor, inclination=(angle - turn) % 180.0
    )
    if dated:
        lag = 0.5 * (np.angle(clock, deg=True) - np.angle(counter, deg=True))
        constants["phase"] = (lag + turn) % 360.0
    return constants


def _complex(model: Any, table: pd.DataFrame) -> tuple[Any, Any]:
    """Complex amplitudes H e^{-ig} of both outputs."""
    if "phase_0" in table:
        phases = [np.deg2rad(table[f"phase_{j}"].to_numpy()) for j in (0, 1)]
    else:  # relative to the middle of the record
        at = [int(np.flatnonzero(model.modes_.label == label)[0]) for label in table["label"]]
        phases = [model.modes_.phase[at, j] for j in (0, 1)]
    u, v = (table[f"amplitude_{j}"].to_numpy() * np.exp(-1j * phases[j]) for j in (0, 1))
    return u, v
