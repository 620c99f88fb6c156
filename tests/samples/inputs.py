"""The table of `docs/howto/inputs.md`: files as people have them, each written and read here.

``python tests/samples/inputs.py`` writes the page again; `test_inputs.py` compares it with what is
read now. Each file holds the values of `VALUES`, thirty samples of a wave.
"""

import bz2
import gzip
import io
import json
import lzma
import re
import tempfile
import zipfile
from collections.abc import Callable
from datetime import datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from robustfourier.errors import RobustFourierError
from robustfourier.samples import read_samples

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "howto" / "inputs.md"
TIMES = np.arange(1.0, 31.0)
VALUES = np.round(5.0 + np.sin(TIMES), 3)
DAYS = pd.date_range("2024-01-01", periods=30)
MONTHS = pd.date_range("2021-03-01", periods=30, freq="MS")
GERMAN = "Jan. Feb. März Apr. Mai Juni Juli Aug. Sept. Okt. Nov. Dez.".split()  # noqa: SIM905
FRENCH = (
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre".split()  # noqa: SIM905
)


class Case(NamedTuple):
    """A file: its name, what is in it, how it is read, and libraries that this needs."""

    name: str
    words: str
    content: Callable[[], str | bytes]
    options: dict[str, Any] = {}  # noqa: RUF012
    needs: tuple[str, ...] = ()


def table(times: Any = TIMES, head: str = "time,value", mark: str = ",", form: str = "{}") -> str:
    rows = (f"{t}{mark}{form.format(v)}" for t, v in zip(times, VALUES, strict=True))
    return "\n".join([head, *rows]) + "\n"


def calendar(*parts: str) -> str:
    rows = [",".join(d.strftime(f"%{p}") for p in parts) for d in MONTHS]
    names = {"Y": "year", "m": "month", "d": "day"}
    return table(rows, ",".join([*(names[p] for p in parts), "flow"]))


def named_months(names: list[str], day: str = "") -> str:
    return table([f"{day}{names[d.month - 1]} {d.year}" for d in MONTHS], "date;value", ";")


def logger() -> str:
    first = '"TOA5","Mast 1","CR1000","4711","CR1000.Std.31","CPU:mast.CR1","9","Hour"\n'
    names = '"TIMESTAMP","RECORD","AirTC_Avg"\n"TS","RN","Deg C"\n"","","Avg"\n'
    rows = (
        f'"{d:%Y-%m-%d %H:%M:%S}",{i},{v}\n'
        for i, (d, v) in enumerate(zip(DAYS, VALUES, strict=True))
    )
    return first + names + "".join(rows)


def wide() -> str:
    hours = [f"ZT{h:02d}_{r}" for h in range(0, 60, 4) for r in (1, 2)]
    row = ",".join(map(str, VALUES))
    return f"gene,{','.join(hours)}\nArntl,{row}\nDbp,{row}\n"


def packed_zip() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("data/table.csv", table())
    return file.getvalue()


def written(write: Callable[[Path], Any]) -> Callable[[], bytes]:
    """What a function writes to a path."""

    def content() -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "file"
            write(path)
            return (path if path.exists() else next(Path(folder).iterdir())).read_bytes()

    return content


def workbook(*names: str) -> Callable[[], bytes]:
    def write(path: Path) -> None:
        import openpyxl

        book = openpyxl.Workbook()
        book.remove(book.active)
        book.create_sheet("about").append(["Flow at the mill"])
        for name in names:
            sheet = book.create_sheet(name)
            sheet.append(["when", "flow"])
            for i, value in enumerate(VALUES):
                sheet.append([datetime(2024, 1, 1) + timedelta(days=i), float(value)])
        book.save(path)

    return written(write)


def astropy_table(kind: str) -> Callable[[], bytes]:
    def write(path: Path) -> None:
        from astropy import units
        from astropy.table import Table

        columns = {"time": TIMES * units.h, "flux": VALUES * units.Jy}
        Table({**columns, "flux_err": 0.1 * VALUES * units.Jy}).write(path, format=kind)

    return written(write)


def netcdf(engine: str) -> Callable[[], bytes]:
    def write(path: Path) -> None:
        import xarray

        level = ("time", VALUES, {"units": "m"})
        xarray.Dataset({"level": level}, {"time": DAYS}).to_netcdf(path, engine=engine)

    return written(write)


def matlab(path: Path) -> None:
    from scipy.io import savemat

    savemat(path, {"bearing": {"sr": 20_000.0, "gs": VALUES, "load": 270.0}}, appendmat=False)


def wav(path: Path) -> None:
    from scipy.io import wavfile

    wavfile.write(path, 8000, VALUES)


def feather(path: Path) -> None:
    pd.DataFrame({"time": TIMES, "value": VALUES}).to_feather(path)


def parquet(path: Path) -> None:
    pd.DataFrame({"time": DAYS, "value": VALUES}).to_parquet(path)


LINES = [json.dumps({"time": t, "value": v}) for t, v in zip(TIMES, VALUES, strict=True)]
SIGNAL = "ax\n" + "".join(f"{v}\n" for v in VALUES)
CASES = [
    Case("plain.csv", "CSV with a header", table),
    Case("comma.csv", "decimal commas, semicolons", lambda: table(head="Zeit;Wert", mark=";")
         .replace(".", ",")),
    Case("sep.csv", "first line `sep=;`", lambda: "sep=;\n" + table(head="time;value", mark=";")),
    Case("units.csv", "a line of units below the header",
         lambda: table().replace("value\n", "value\nh,mV\n")),
    Case("comments.txt", "names and units behind `#`",
         lambda: "# time flux\n# d Jy\n" + table(mark=" ").split("\n", 1)[1]),
    Case("groups.csv", "two header lines",
         lambda: "Mill,Mill\nwhen,flow\n" + table(DAYS.strftime("%Y-%m-%d")).split("\n", 1)[1]),
    Case("logger.dat", "a Campbell logger (TOA5)", logger, {"value": "AirTC_Avg"}),
    Case("total.csv", "a row of sums below the table", lambda: table() + "Total,150.1\n"),
    Case("percent.csv", "cells such as `15.8 %`", lambda: table(form="{} %")),
    Case("money.csv", "cells such as `$19.2`", lambda: table(form="${}")),
    Case("degrees.csv", "cells such as `20.1 °C`", lambda: table(form="{} °C")),
    Case("german.csv", "months in German", lambda: named_months(GERMAN, "3. ")),
    Case("french.csv", "months in French", lambda: named_months(FRENCH)),
    Case("year_month.csv", "year and month in columns", lambda: calendar("Y", "m")),
    Case("year_month_day.csv", "year, month and day in columns", lambda: calendar("Y", "m", "d")),
    Case("serial.csv", "days as Excel counts them", lambda: table(TIMES + 45_000, "date,value")),
    Case("signal.csv", "no times, a known rate", lambda: SIGNAL, {"rate": 20_000.0}),
    Case("genes.csv", "wide: rows are series, columns are times, two replicates", wide,
         {"by": ("gene=Dbp",)}),
    Case("table.csv.gz", "gzip", lambda: gzip.compress(table().encode())),
    Case("table.csv.bz2", "bzip2", lambda: bz2.compress(table().encode())),
    Case("table.csv.xz", "xz", lambda: lzma.compress(table().encode())),
    Case("table.zip", "a zip archive of one table", packed_zip),
    Case("book.xlsx", "Excel, one sheet with a table", workbook("2024"), {}, ("openpyxl",)),
    Case("books.xlsx", "Excel, one of several sheets", workbook("north", "south"),
         {"sheet": "south"}, ("openpyxl",)),
    Case("lines.jsonl", "JSON lines", lambda: "\n".join(LINES)),
    Case("list.json", "JSON, a list of objects", lambda: f"[{','.join(LINES)}]"),
    Case("columns.json", "JSON, lists of equal length",
         lambda: json.dumps({"time": TIMES.tolist(), "value": VALUES.tolist()})),
    Case("table.parquet", "Parquet", written(parquet), {}, ("pyarrow",)),
    Case("table.feather", "Feather", written(feather), {}, ("pyarrow",)),
    Case("star.fits", "FITS", astropy_table("fits"), {}, ("astropy",)),
    Case("star.vot", "VOTable", astropy_table("votable"), {}, ("astropy",)),
    Case("sea.nc", "netCDF 4", netcdf("h5netcdf"), {}, ("xarray", "h5netcdf", "h5py")),
    Case("sea3.nc", "netCDF 3", netcdf("scipy"), {}, ("xarray",)),
    Case("bearing.mat", "MATLAB, with its sampling rate", written(matlab)),
    Case("sound.wav", "WAV", written(wav)),
]  # fmt: skip
BAD = [
    Case("two.zip", "a zip archive of two files", lambda: _two_files()),
    Case("books.xlsx", "Excel with two tables", workbook("north", "south"), {}, ("openpyxl",)),
    Case("genes.csv", "a wide table", wide),
    Case("mixed.csv", "two units in one column", lambda: table(form="{} mV") + "31.0,2 V\n"),
    Case("lines.jsonl", "a broken line of JSON", lambda: "\n".join([*LINES, "{oops"])),
    Case("words.json", "JSON without a table", lambda: '{"error": "not found"}'),
    Case("signal.csv", "a rate that is none", lambda: SIGNAL, {"rate": -5.0}),
    Case("month.csv", "a date that is none, in line 2",
         lambda: table(["2024-13-01", *DAYS[1:].strftime("%Y-%m-%d")])),
    Case("signal.mat", "MATLAB without a rate", written(lambda path: _bare_matlab(path))),
    Case("broken.fits", "a damaged FITS file", lambda: b"SIMPLE  =        T" + b" " * 9000, {},
         ("astropy",)),
    Case("new.mat", "MATLAB 7.3", lambda: b"MATLAB 7.3 MAT-file" + b" " * 600),
]  # fmt: skip


def _two_files() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.csv", table())
        archive.writestr("b.csv", table())
    return file.getvalue()


def _bare_matlab(path: Path) -> None:
    from scipy.io import savemat

    savemat(path, {"signal": VALUES}, appendmat=False)


def missing(case: Case) -> list[str]:
    """Libraries that a case needs and that are not installed."""
    return [name for name in case.needs if find_spec(name) is None]


def put(case: Case, folder: Path) -> Path:
    content = case.content()
    path = folder / case.name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def option_words(case: Case) -> str:
    pairs = ((k, one) for k, v in case.options.items() for one in np.atleast_1d(v))
    return " ".join(f"`--{k.replace('_', '-')} {v:g}`" if isinstance(v, float) else f"`--{k} {v}`"
                    for k, v in pairs)  # fmt: skip


def row_of(case: Case, folder: Path) -> str:
    """The line of the page: what is read, and what is said about it."""
    samples = read_samples(put(case, folder), **case.options)
    first = str(samples.times[0])[:10] if samples.dates else f"{samples.times[0]:g}"
    unit = "dates" if samples.dates else samples.unit or "numbers"
    value = samples.value_name + (f" ({samples.value_unit})" if samples.value_unit else "")
    notes = "; ".join(note.replace("|", "/") for note in samples.notes)
    return f"| {case.words} | {option_words(case)} | {unit} from {first}, {value} | {notes} |"


def error_of(case: Case, folder: Path) -> str:
    try:
        read_samples(put(case, folder), **case.options)
    except RobustFourierError as error:
        return f"| {case.words} | {re.sub(r'[|]', '/', str(error))} |"
    raise AssertionError(f"{case.name} was read")


def page(folder: Path) -> str:
    """The page, from what is read now."""
    text = PAGE.read_text(encoding="utf-8")
    good = "\n".join(row_of(case, folder) for case in CASES)
    bad = "\n".join(error_of(case, folder) for case in BAD)
    for name, rows in (("files", good), ("errors", bad)):
        text = re.sub(
            rf"(<!-- {name} -->\n(?:\|.*\n){{2}})(?:\|.*\n)*",
            lambda match, rows=rows: match[1] + rows + "\n",
            text,
        )
    return text


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        PAGE.write_text(page(Path(name)), encoding="utf-8")
