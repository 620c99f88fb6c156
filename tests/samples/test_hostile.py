"""Hostile files: each gets the right numbers or a clear error with the right exit code.

`GOOD` files are read in spite of their looks, and give the samples of `TIMES` and `VALUES`. `BAD`
ones end with exit code 3 and a message that names the file and what is wrong. Nothing ends in a
traceback or in a wrong number.
"""

import gzip
import io
import json
import pickle
import zipfile

import numpy as np
import pytest

from robustfourier.samples import read_samples

TIMES = np.arange(1.0, 13.0)
VALUES = np.array([3.0, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8]) + 0.5


def table(time="time", value="value", delimiter=",", end="\n", decimal="."):
    quoted = '"' + value.replace('"', '""') + '"'
    lines = [f"{time}{delimiter}{quoted}"]
    lines += [
        f"{t:g}{delimiter}{v:g}".replace(".", decimal) for t, v in zip(TIMES, VALUES, strict=True)
    ]
    return end.join(lines) + end


def zipped(members: int = 1) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.mkdir("folder")
        for i in range(members):
            archive.writestr(f"../../evil{i}.csv", table())
    return buffer.getvalue()


ROWS = table().splitlines(keepends=True)
GOOD: dict[str, str | bytes] = {
    "plain": table(),
    "a column named <script>": table(value="<script>alert(1)</script>"),
    "a column named like TeX": table(value=r"cost $5 \frac{"),
    "a column named like a formula": table(value="=cmd()|' /C calc'!A0"),
    "a column named like a rich markup": table(value="[bold red]x[/bold]"),
    "a column named like a template": table(value="{{ 7*7 }}{% raw %}"),
    "a column of 10,000 characters": table(value="x" * 10_000),
    "a column of emoji": table(value="🌊🌙"),
    "a column of right-to-left text": table(value="\u202eقيمة"),
    "a column with a line break": table(value="two\nlines"),
    "a column with quotes": table(value='he said "hi"'),
    "an empty column name": table(value=""),
    "control characters in the name": table(value="a\x1b[31mb\x07"),
    "a percent format as name": table(value="%s%n{0}"),
    "a path as name": table(value="../../etc/passwd"),
    "semicolons and decimal commas": table(delimiter=";", decimal=","),
    "tabs and decimal commas": table(delimiter="\t", decimal=","),
    "old Mac line ends": table(end="\r"),
    "mixed line ends": "".join(ROWS[:5]).replace("\n", "\r\n") + "".join(ROWS[5:]),
    "blank lines": table(end="\n\n\n"),
    "a comment in the middle": "".join([*ROWS[:4], "# battery changed\n", *ROWS[4:]]),
    "rows in reverse": "".join([ROWS[0], *reversed(ROWS[1:])]),
    "every row twice": "".join([ROWS[0], *(2 * row for row in ROWS[1:])]),
    "missing values between": "".join([*ROWS[:4], "3.5,NA\n3.6,\n,1\n", *ROWS[4:]]),
    "blanks around cells": "\n".join(row.replace(",", "  ,  ") for row in table().splitlines()),
    "UTF-16": table().encode("utf-16"),
    "UTF-8 with a mark": "\ufeff" + table(),
    "Latin-1": table(value="Höhe").encode("latin-1"),
    "gzip": gzip.compress(table().encode()),
    "huge exponents left alone": table() + "99,1e400\n",
    "a zip archive of one table": zipped(),
    "a trailing delimiter": table().replace("\n", ",\n"),
    "300 further columns of text": "\n".join(
        row + ",x" * 300 for row in table().splitlines()
    ).replace("value" + '"' + ",x" * 300, 'value"' + "".join(f",c{i}" for i in range(300))),
}
BAD: dict[str, tuple[str | bytes, str]] = {
    "empty": ("", "is empty"),
    "only blank lines": ("\n\n\n", "holds no rows"),
    "header only": ("time,value\n", "has a header but no rows"),
    "one column of dates": ("when\n2024-01-01\n2024-01-02\n", "only one column"),
    "one sentence": ("the quick brown fox\n", "has a header but no rows"),
    "an open quote": ('time,value\n1,2\n2,"3\n3,4\n', "quote that is not closed"),
    "an open quote far down": (table() + '13,"1\n' + "14,2\n" * 600, "quote that is not closed"),
    "a short row": ("time,value\n1,2\n2\n3,4\n4,5\n", "line 3: has 1 columns instead of 2"),
    "a long row": ("time,value\n1,2\n2,3,4\n3,4\n4,5\n", "line 3: has 3 columns instead of 2"),
    "a header that is too short": ("time,value\n1,2,3\n2,3,4\n3,4,5\n", "line 1: has 2 columns"),
    "NUL bytes": ("time,value\n1,2\n2,\x003\n", "NUL"),
    "zeros only": (b"\0" * 5000, "NUL"),
    "random bytes": (np.random.default_rng(0).bytes(5000), "random bytes"),
    "one line of 100 MB": (b"1," * 50_000_000, "longer than 1,000,000 characters"),
    "a gzip bomb of one line": (gzip.compress(b"1" * 50_000_000), "longer than 1,000,000"),
    "a cut gzip": (gzip.compress(table().encode() * 50)[:-30], "gzip"),
    "a gzip with a wrong sum": (gzip.compress(table().encode())[:-6] + b"\0" * 6, "gzip"),
    "all missing": ("time,value\n1,NA\n2,\n3,nan\n", "none of the 3 rows"),
    "one word among numbers": (table() + "13,abc\n", "'abc' is no number"),
    "an underscore in a number": (table() + "13,1_000\n", "'1_000' is no number"),
    "a hexadecimal number": (table() + "13,0x1F\n", "'0x1F' is no number"),
    "a number with a unit": (table() + "13,5 mm\n", "'5 mm' is no number"),
    "a time out of its column": (table() + "noon,5\n", "'noon' is no number"),
    "a month 13": ("time,value\n2024-13-01,1\n2024-01-02,2\n", "'2024-13-01' is no date"),
    "30 February": ("time,value\n2024-01-01,1\n2024-02-30,2\n", "'2024-02-30' is no date"),
    "the year 99999": ("time,value\n2024-01-01,1\n99999-01-01,2\n", "'99999-01-01' is no date"),
    "dates of two kinds": ("time,value\n2024-01-01,1\n02.01.2024,2\n03.01.2024,2\n", "is no date"),
    "day or month": ("time,value\n01/02/2024,1\n02/03/2024,2\n", "month/day/year or day/month"),
    "some dates with a zone": (
        "time,value\n2024-01-01T00:00Z,1\n2024-01-01T01:00,2\n",
        "has no time zone, unlike the rows before",
    ),
    "thousands or decimals": ("time;value\n1;1,234\n2;2,345\n", "decimal comma or a thousands"),
    "both decimal marks": ("time;value\n1;1,5\n2;1.5\n", "decimal points and with decimal commas"),
    "two columns that could be the value": ("time,a,b\n1,2,3\n2,3,4\n", "choose with --value"),
    "two columns that could be the time": ("date,time,v\n1,2,3\n2,3,4\n", "choose with --time"),
    "words only": ("a,b\nx,y\nz,w\n", "no column holds times"),
    "a web page": ("<!DOCTYPE html><html><body>404</body></html>", "web page"),
    "JSON": ('{"time": [1, 2], "value": [3]}', "JSON"),
    "a zip archive of nothing": (zipped(members=0), "holds 0 files"),
    "a zip archive of two files": (zipped(members=2), "holds 2 files"),
    "a cut zip archive": (zipped()[:-30], "zip"),
    "a pickle": (pickle.dumps({"a": 1}, protocol=4) + b"", "pickle"),
    "a PNG": (b"\x89PNG\r\n\x1a\n" + b"\0" * 100, "PNG picture"),
    "a PDF": (b"%PDF-1.7\n", "PDF"),
    "censored values": ("time,value\n1,2\n2,<1\n3,4\n", "'<1' is no number"),
    "one time only": ("time,value\n" + "5,1\n" * 20, "two different times"),
    "one row": ("time,value\n1,2\n", "two different times"),
}


def put(tmp_path, content):
    path = tmp_path / "random bytes.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_there_are_enough_of_them():
    assert len(GOOD) + len(BAD) >= 75


@pytest.mark.parametrize("name", GOOD)
def test_a_file_that_only_looks_bad_gives_the_right_numbers(tmp_path, run, name):
    path = put(tmp_path, GOOD[name])
    code, out, err = run("check", path, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["samples"] == len(TIMES)
    samples = read_samples(path)
    np.testing.assert_array_equal(samples.times, TIMES)
    np.testing.assert_array_equal(samples.values, VALUES)


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_ends_with_code_3_and_says_why(tmp_path, run, name):
    content, words = BAD[name]
    code, out, err = run("check", put(tmp_path, content))
    assert code == 3, err
    assert out == ""
    assert "Traceback" not in err
    assert words in err.replace("\n", " ")
    assert err.startswith("robustfourier: ")
    assert len(err) < 700


@pytest.mark.parametrize(
    ("path", "words"),
    [("nowhere.csv", "no such file"), ("", "folder"), ("a\0b", "cannot be opened"),
     ("x" * 5000, "cannot be opened")],
)  # fmt: skip
def test_names_that_are_no_file_end_with_code_3(run, path, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = run("check", path or str(tmp_path))
    assert code == 3
    assert words in err
