"""Files, arrays and tables to `Samples`.

`read_samples` reads CSV, TSV, gzip, Parquet and standard input, finds out by itself how the
table is written and which columns are meant where that is clear, and says so; where it is not, the
error names file, line, column, value and remedy. `from_arrays` takes what is in memory.
"""

from robustfourier.samples.cleaning import from_arrays
from robustfourier.samples.reading import ReadOptions, read_samples, read_times
from robustfourier.samples.samples import Counts, Samples

__all__ = ["Counts", "ReadOptions", "Samples", "from_arrays", "read_samples", "read_times"]
