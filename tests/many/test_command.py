import json
import subprocess
import sys

import pandas as pd
import pytest
from tests.many.toys import series

from robustfourier.cli import main


def run(*arguments):
    with pytest.raises(SystemExit) as stop:
        main([str(a) for a in arguments])
    return stop.value.code


def test_fit_takes_several_files_and_says_partial_where_one_is_bad(tmp_path, capsys):
    for name in ("one", "two"):
        series(name, 1)[["day", "level"]].to_csv(tmp_path / f"{name}.csv", index=False)
    (tmp_path / "bad.csv").write_text("")
    files = [tmp_path / f"{name}.csv" for name in ("one", "bad", "two")]
    code = run("fit", *files, "--out", tmp_path / "out", "--jobs", 1, "--scale", "linear")
    said = capsys.readouterr().out
    assert code == 1
    assert "3 series: 2 with a pattern" in said
    assert "bad.csv: is empty" in said
    assert (tmp_path / "out" / "index.html").exists()


def test_fit_many_reads_a_long_table_and_answers_scripts(tmp_path, capsys):
    table = pd.concat([series(name, 1) for name in ("one", "two")])
    table.to_csv(tmp_path / "long.csv", index=False)
    how = ("--engine", "serial", "--reports", "none", "--scale", "linear", "--json")
    code = run("fit-many", tmp_path / "long.csv", "--by", "sensor", "-o", tmp_path / "out", *how)
    answer = json.loads(capsys.readouterr().out)
    assert code == 0
    assert (answer["series"], answer["with_pattern"], answer["failed"]) == (2, 2, [])
    assert (tmp_path / "out" / "survey.json").exists()


def test_many_series_ask_for_a_folder(tmp_path, capsys):
    series("one", 1).to_csv(tmp_path / "one.csv", index=False)
    assert run("fit", tmp_path / "one.csv", "--value", "all") == 2
    assert "many series need --out FOLDER" in capsys.readouterr().err


def test_help_loads_no_dask():
    code = (
        "import sys; from robustfourier.cli import main\n"
        "try: main(['fit-many', '--help'])\n"
        "except SystemExit: pass\n"
        "assert not {'dask', 'distributed', 'pyarrow', 'torch', 'matplotlib'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
