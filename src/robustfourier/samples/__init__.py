"""Files, arrays and tables to `Samples`.

`read_samples` reads text tables of any kind, packed or not, Excel, JSON, Parquet, Feather, FITS,
VOTable, netCDF, MATLAB, WAV and standard input, finds out by itself how the
table is written and which columns are meant where that is clear, and says so; where it is not, the
error names file, line, column, value and remedy. `from_arrays` takes what is in memory. Names load
on first use: `check_columns` does without numpy and pandas, which take longer than its answer.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robustfourier.samples.read_options import ReadOptions
    from robustfourier.samples.reading import column_names, read_samples, read_times
    from robustfourier.samples.samples import Counts, Samples, from_arrays
    from robustfourier.samples.text_tables import check_columns, series_column

__all__ = [
    "Counts",
    "ReadOptions",
    "Samples",
    "check_columns",
    "column_names",
    "from_arrays",
    "read_samples",
    "read_times",
    "series_column",
]

_HOME = {
    "ReadOptions": "read_options",
    **dict.fromkeys(("check_columns", "series_column"), "text_tables"),
    **dict.fromkeys(("column_names", "read_samples", "read_times"), "reading"),
    **dict.fromkeys(("Counts", "Samples", "from_arrays"), "samples"),
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
