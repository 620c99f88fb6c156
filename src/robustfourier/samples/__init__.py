"""Files, arrays and tables to `Samples`.

`read_samples` reads CSV, TSV, gzip, Parquet and standard input, finds out by itself how the
table is written and which columns are meant where that is clear, and says so; where it is not, the
error names file, line, column, value and remedy. `from_arrays` takes what is in memory.
"""

from typing import TYPE_CHECKING, Any

from robustfourier.samples.reading import (
    ReadOptions,
    check_columns,
    column_names,
    read_samples,
    read_times,
)
from robustfourier.samples.samples import Counts, Samples

if TYPE_CHECKING:
    from robustfourier.samples.cleaning import from_arrays

__all__ = [
    "Counts",
    "ReadOptions",
    "Samples",
    "check_columns",
    "column_names",
    "from_arrays",
    "read_samples",
    "read_times",
]


def __getattr__(name: str) -> Any:
    if name == "from_arrays":  # which needs pandas, and that takes half a second to load
        from robustfourier.samples.cleaning import from_arrays

        return from_arrays
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
