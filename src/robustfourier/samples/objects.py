"""Tables of other libraries as a `Frame`, without importing them.

astropy's tables, time series and light curves, xarray's arrays and data sets, and whatever speaks
the Arrow PyCapsule interface (pyarrow, duckdb, polars, …) are known by what they can do.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from robustfourier.errors import InputError
from robustfourier.quantities import is_instants, plain_times, plain_values, unit_text
from robustfourier.samples.columns import speaks_of_time
from robustfourier.samples.typed_tables import Frame


def frame_of(given: Any) -> Frame | None:
    """The table that an object of another library is; None if it is none that is known."""
    if isinstance(given, pd.DataFrame):
        return Frame(given)
    if hasattr(given, "colnames") and hasattr(given, "columns"):
        return _astropy_frame(given)
    if hasattr(given, "data_vars"):
        return dataset_frame(given, "X")
    if hasattr(given, "dims") and hasattr(given, "coords"):
        return _array_frame(given)
    if hasattr(given, "collect") and hasattr(given, "lazy"):  # a lazy table of polars
        given = given.collect()
    if hasattr(given, "get_columns"):
        return Frame(_polars_columns(given))
    if hasattr(given, "to_pandas") and hasattr(given, "schema"):  # pyarrow
        return Frame(given.to_pandas())
    if hasattr(given, "df") and hasattr(given, "fetchall"):  # duckdb
        return Frame(given.df())
    if hasattr(given, "__arrow_c_stream__") and not hasattr(given, "__array__"):
        return Frame(_arrow_columns(given))
    return None


def _polars_columns(given: Any) -> pd.DataFrame:
    """Columns of polars; dates with a zone keep it."""
    columns = {}
    for column in given.get_columns():
        series = pd.Series(column.to_numpy() if column.dtype.is_numeric() else column.to_list())
        if zone := getattr(column.dtype, "time_zone", None):
            series = pd.Series(pd.DatetimeIndex(pd.to_datetime(series, utc=True)).tz_convert(zone))
        columns[column.name] = series
    return pd.DataFrame(columns)


def _arrow_columns(given: Any) -> pd.DataFrame:
    try:
        import pyarrow
    except ImportError:
        raise InputError(
            f"X is a {type(given).__name__}, an Arrow table, which needs pyarrow; install it with: "
            "pip install robustfourier[arrow], or give two columns as arrays"
        ) from None
    return pyarrow.table(given).to_pandas()


def _astropy_frame(table: Any) -> Frame:
    """Columns of numbers, instants and words; those of more dimensions are left out."""
    columns: dict[str, Any] = {}
    units: dict[str, str] = {}
    left = []
    for name in table.colnames:
        column = table[name]
        if getattr(column, "ndim", 1) != 1:
            left.append(name)
            continue
        columns[name], units[name] = _astropy_column(column)
    instants = [name for name in table.colnames if is_instants(table[name])]
    if not columns:
        raise InputError("X is a table without columns of one dimension; give times and values")
    frame = Frame(
        pd.DataFrame(columns),
        {name: unit for name, unit in units.items() if unit},
        time=instants[0] if len(instants) == 1 else None,
        notes=(f"columns of several dimensions left out: {', '.join(left)}",) if left else (),
    )
    if "flux" in columns and hasattr(table, "flux"):  # a light curve says what it is
        error = "flux_err" if "flux_err" in columns else None
        known = error and np.isfinite(np.asarray(columns["flux_err"], np.float64)).any()
        return replace(frame, value="flux", error=error if known else None, notes=())
    return frame


def _astropy_column(column: Any) -> tuple[Any, str]:
    if is_instants(column):
        plain = plain_times(column)
        return plain.values, plain.unit
    unit = unit_text(column)
    values = plain_values(column)
    if isinstance(values, np.ma.MaskedArray):
        masked: Any = values.astype(np.float64) if values.dtype.kind in "iuf" else values
        values = np.asarray(
            masked.filled(np.nan) if values.dtype.kind in "iuf" else masked.filled()
        )
    array = np.asarray(values)
    if array.dtype.kind == "S":
        array = np.char.decode(array, "utf-8", "replace")
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return array if array.dtype.kind != "U" else array.astype(object), unit


def _array_frame(array: Any) -> Frame:
    """An array of xarray along its one dimension."""
    if len(array.dims) != 1:
        raise InputError(
            f"X has the dimensions {', '.join(map(str, array.dims))}; fit takes one, of time; "
            "choose one series with X.sel(…) or X.isel(…), or fit all with "
            "robustfourier.fit_cells(X)"
        )
    name = str(array.name or "value")
    return dataset_frame(array.to_dataset(name=name), "X", value=name)


def cells_frame(array: Any) -> pd.DataFrame:
    """An array of xarray with a column of times and one for each cell of the other dimensions.

    Cells are named by their coordinates, such as ``lat=50.5, lon=8``.
    """
    time = time_dimension(array)
    others = [dim for dim in array.dims if dim != time]
    ordered = array.transpose(time, *others)
    values = np.asarray(ordered.values).reshape(ordered.sizes[time], -1)
    labels = [
        [f"{dim}={label}" for label in np.asarray(ordered[dim].values).tolist()] for dim in others
    ]
    names = [", ".join(cell) for cell in itertools.product(*labels)]
    stamps = plain_times(ordered[time]).values
    return pd.DataFrame({time: stamps} | dict(zip(names, values.T, strict=True)))


def time_dimension(data: Any, at: str | None = None) -> str:
    """The dimension of xarray's arrays or data sets that is time."""
    dims = [str(dim) for dim in data.dims]
    if at in dims:
        return str(at)
    dated = [d for d in dims if d in data.coords and data.coords[d].dtype.kind in "Mm"]
    named = [d for d in dims if speaks_of_time(d)]
    for found in (dated, named, dims):
        if len(found) == 1:
            return found[0]
    raise InputError(
        f"none of the dimensions {', '.join(dims)} is clearly the time; rename it to 'time'"
    )


def dataset_frame(data: Any, name: str, at: str | None = None, value: str | None = None) -> Frame:
    """Variables of a data set along time; other dimensions are columns that tell series apart."""
    if not len(data.data_vars):
        raise InputError(f"{name} holds no variables; give one with a time dimension")
    along = [str(d) for d in data.coords[at].dims] if at in data.coords else []
    time = along[0] if len(along) == 1 else time_dimension(data, at)
    wanted = [v for v in map(str, data.data_vars) if time in data[v].dims]
    if value in wanted:
        dims = set(data[value].dims)
        wanted = [v for v in wanted if set(data[v].dims) == dims]
    table = data[wanted].to_dataframe().reset_index()
    single = [d for d in map(str, data.dims) if d != time and data.sizes[d] == 1]
    frame = table.drop(columns=[d for d in single if d in table.columns and d != at])
    if time not in data.coords:
        frame = frame.drop(columns=time, errors="ignore").assign(**{time: table[time]})
    units = {str(v): unit_text(data[v]) for v in (*wanted, *data.coords)}
    stamped = frame[time]
    if stamped.dtype == object and len(stamped) and hasattr(stamped.iloc[0], "isoformat"):
        frame[time] = [pd.Timestamp(stamp.isoformat()) for stamp in stamped]  # cftime
    known = {v: unit for v, unit in units.items() if unit}
    labels = [d for d in map(str, data.dims) if d != time and d in frame.columns]
    labels += [c for c in map(str, data.coords) if c in frame.columns and c not in (time, at)]
    found = tuple(dict.fromkeys(labels))
    return Frame(frame, known, time=at or time, value=value, labels=found)
