"""`fit_cells`: one fit for each cell of an array of xarray, back as a `Dataset` of maps."""

from __future__ import annotations

from typing import Any

import numpy as np

from robustfourier.errors import InputError, MissingDependencyError, RobustFourierError
from robustfourier.estimators.mixture import PeriodicMixture
from robustfourier.quantities import plain_times
from robustfourier.samples.objects import time_dimension

#: Maps of the answer that are columns of the table of components.
_COLUMNS = (
    *("period", "period_error", "frequency", "frequency_error", "amplitude", "amplitude_error"),
    *("share", "false_alarm", "snr", "coherence"),
)
_WORDS = {
    "period": "period of the strongest component",
    "amplitude": "half of the distance between its highest and lowest value",
    "phase": "time of its maximum after the middle of the record, in radians of its cycle",
    "share": "part of the variation around the trend that it explains",
    "status": "ok, none (nothing repeats), or why the cell could not be fitted",
}


def fit_cells(array: Any, *, unit: str | None = None, **parameters: Any) -> Any:
    """Fit each cell of an array along its time and return maps of what was found.

    Parameters
    ----------
    array : xarray.DataArray
        With one dimension of time, and any others: latitude and longitude, station, depth.
    unit : str, optional
        Unit of times that are numbers without one.
    **parameters
        Of `PeriodicMixture`, such as ``periods=[365.25]``.

    Returns
    -------
    xarray.Dataset
        Over the other dimensions, of the strongest component: period, frequency, amplitude, phase,
        each with ``*_error``, share, false_alarm, snr, coherence, and `status`. The phase is
        relative to the middle of the whole record, the same for all cells, from -π to π. NaN where
        nothing was found; cells whose samples are all missing say so in `status`.

    Raises
    ------
    InputError
        If the array has no dimension of time, or no other.

    Examples
    --------
    >>> import xarray as xr
    >>> t = np.arange(60.0)
    >>> late = np.array([0.0, 3.0])
    >>> noise = 0.1 * np.random.default_rng(0).normal(size=(60, 2))
    >>> y = np.cos(2 * np.pi * (t[:, None] - late) / 12) + noise
    >>> grid = xr.DataArray(y, coords={"time": t, "station": ["a", "b"]}, dims=("time", "station"))
    >>> maps = fit_cells(grid, unit="month")
    >>> maps["period"].values.round()
    array([12., 12.])
    """
    xarray = _xarray()
    if not (hasattr(array, "dims") and hasattr(array, "coords")) or hasattr(array, "data_vars"):
        kind = type(array).__name__
        raise InputError(
            f"array is a {kind}; give one variable as xarray.DataArray, such as data['sst']"
        )
    time = time_dimension(array)
    others = [str(dim) for dim in array.dims if dim != time]
    if not others:
        raise InputError(f"array has the dimension {time!r} alone; fit it with PeriodicMixture")
    ordered = array.transpose(time, *others)
    values = np.asarray(ordered.values, np.float64)
    shape = values.shape[1:]
    cells = values.reshape(len(values), -1)
    plain = plain_times(ordered[time], unit)
    rows = [
        _cell(plain.values, column, {"unit": plain.unit or unit, **parameters})
        for column in cells.T
    ]
    names = (*_COLUMNS, "phase", "phase_error", "status")
    maps = {name: (others, np.array([row[name] for row in rows]).reshape(shape)) for name in names}
    coords = {dim: ordered.coords[dim] for dim in others if dim in ordered.coords}
    return _described(xarray.Dataset(maps, coords=coords), rows)


def _cell(times: Any, values: Any, parameters: dict[str, Any]) -> dict[str, Any]:
    """The strongest component of one cell."""
    nothing = dict.fromkeys((*_COLUMNS, "phase", "phase_error"), np.nan)
    there = np.isfinite(values)
    if not there.any():
        return {**nothing, "status": "all samples are missing"}
    try:
        model = PeriodicMixture(**parameters).fit(times[there], values[there])
    except (RobustFourierError, ValueError) as reason:
        return {**nothing, "status": str(reason).splitlines()[0]}
    domain = model.domains_[0]
    known = {**nothing, "unit": domain.unit}
    if not model.components_:
        return {**known, "status": "none"}
    row = model.components_.to_frame().iloc[0]
    ends = domain.offsets(times[[0, -1]])
    maximum = float(domain.offsets([row["epoch_max"]])[0]) - 0.5 * float(ends[0] + ends[1])
    cycles = maximum / row["period"]
    phase = 2.0 * np.pi * (cycles - round(cycles))
    phase_error = 2.0 * np.pi * row["epoch_max_error"] / row["period"]
    columns = {name: row[name] for name in _COLUMNS}
    return {**known, **columns, "phase": phase, "phase_error": phase_error, "status": "ok"}


def _described(maps: Any, rows: list[dict[str, Any]]) -> Any:
    unit = next((row["unit"] for row in rows if row.get("unit")), "")
    for name in ("period", "period_error", "coherence"):
        maps[name].attrs["units"] = unit
    for name, words in _WORDS.items():
        maps[name].attrs["long_name"] = words
    return maps


def _xarray() -> Any:
    try:
        import xarray
    except ImportError:
        raise MissingDependencyError(
            "fit_cells needs xarray; install it with: pip install robustfourier[xarray]"
        ) from None
    return xarray
