import io
import json
import os
import pickle
import re
import signal
import struct
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from robustfourier.errors import InputError, ModelFormatError, OutputError
from robustfourier.persistence import container
from robustfourier.persistence.container import (
    FORMAT_VERSION,
    MAGIC,
    read_container,
    write_container,
)

TREE = {"answer": 42, "name": "x"}
ARRAYS = [np.arange(5.0), np.array([[1, 2], [3, 4]], np.int64), np.array([], np.complex128),
          np.array(["", "A+B"])]  # fmt: skip


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "model.rfm"
    write_container(path, TREE, ARRAYS)
    return path


def test_what_is_written_is_read(path):
    tree, arrays, _ = read_container(path)
    assert tree == TREE
    for got, wanted in zip(arrays, ARRAYS, strict=True):
        assert got.dtype == wanted.dtype
        np.testing.assert_array_equal(got, wanted)


def test_the_other_byte_order_is_stored_as_ours(tmp_path):
    write_container(tmp_path / "a", {}, [np.arange(3.0).astype(">f8")])
    assert read_container(tmp_path / "a").arrays[0].tolist() == [0.0, 1.0, 2.0]


def test_every_flipped_bit_is_noticed(path):
    whole = path.read_bytes()
    for i in range(len(whole)):
        broken = bytearray(whole)
        broken[i] ^= 1 << (i % 8)
        path.write_bytes(broken)
        with pytest.raises(ModelFormatError):
            read_container(path)


def test_every_truncation_is_noticed(path):
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(ModelFormatError):
            read_container(path)


def test_bytes_behind_the_end_are_noticed(path):
    path.write_bytes(path.read_bytes() + b"\0")
    with pytest.raises(ModelFormatError, match=re.escape("1 bytes follow its last array")):
        read_container(path)


def test_a_newer_version_says_to_upgrade(path):
    whole = bytearray(path.read_bytes())
    whole[8:12] = struct.pack("<I", FORMAT_VERSION + 1)
    path.write_bytes(whole)
    with pytest.raises(ModelFormatError, match=re.escape("pip install --upgrade robustfourier")):
        read_container(path)


def archive() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("../../bomb", b"\0" * 10**7)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "cut off"),
        (MAGIC[:4], "cut off"),
        (b"time,value\n1,2\n", "is no robustfourier model"),
        (pickle.dumps([1, 2]), "a pickle, which is never loaded"),
        (archive(), "a zip archive"),
        (b"\x1f\x8b\x08" + b"\0" * 50, "a gzip file"),
        (b"\x93NUMPY\x01\x00", "a numpy file"),
    ],
)
def test_foreign_files_are_named(tmp_path, content, words):
    path = tmp_path / "foreign"
    path.write_bytes(content)
    with pytest.raises(ModelFormatError, match=re.escape(words)):
        read_container(path)


@pytest.mark.parametrize("name", ["nowhere", "", "x" * 3000, "a\0b"])
def test_names_that_are_no_file_are_refused(tmp_path, name):
    with pytest.raises(ModelFormatError):
        read_container(tmp_path / name)


def forge(path, header: bytes | dict, behind: bytes = b"", length: int | None = None):
    """A file with a right checksum but a header of our choice."""
    raw = header if isinstance(header, bytes) else json.dumps(header).encode()
    prefix = struct.pack("<8sIQ", MAGIC, 1, len(raw) if length is None else length)
    path.write_bytes(prefix + container.hashlib.sha256(prefix + raw).digest() + raw + behind)


def entry(**changes):
    return {"dtype": "<f8", "shape": [1], "offset": 0, "sha256": "0" * 64} | changes


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ({"arrays": [entry(shape=[10**15])], "tree": 1}, "shape [1000000000000000]"),
        ({"arrays": [entry(shape=[9])], "tree": 1}, "64 bytes beyond its end"),
        ({"arrays": [entry(shape=[2**40, 2**40])], "tree": 1}, "shape"),
        ({"arrays": [entry(shape=[-1])], "tree": 1}, "shape"),
        ({"arrays": [entry(shape=[True])], "tree": 1}, "shape"),
        ({"arrays": [entry(shape=[0] * 40)], "tree": 1}, "shape"),
        ({"arrays": [entry(dtype="|O")], "tree": 1}, "dtype '|O'"),
        ({"arrays": [entry(dtype="|V8")], "tree": 1}, "dtype '|V8'"),
        ({"arrays": [entry(offset=8)], "tree": 1}, "out of place"),
        ({"arrays": [{"path": "/etc/passwd"}], "tree": 1}, "not described as we do"),
        ({"arrays": 7, "tree": 1}, "table of arrays"),
        ({"tree": 1}, "header is not what we write"),
        (b"[" * 100_000, "nested too deeply"),
        (b"\xff\xfe", "header is not what we write"),
    ],
)
def test_forged_headers_are_refused_before_memory_is_taken(tmp_path, header, words):
    path = tmp_path / "forged"
    forge(path, header, b"\0" * 8)
    with pytest.raises(ModelFormatError, match=re.escape(words)):
        read_container(path)


def test_a_header_longer_than_the_file_is_refused(tmp_path):
    path = tmp_path / "forged"
    forge(path, {"arrays": [], "tree": 1}, length=2**60)
    with pytest.raises(ModelFormatError, match=re.escape("its header would be")):
        read_container(path)


@pytest.mark.parametrize(
    ("tree", "array", "words"),
    [
        (1, np.zeros(2, "V8"), "arrays of dtype |V8 cannot be saved"),
        (1, np.array([{}]), "arrays of dtype object cannot be saved"),
        ([0] * 1_000_001, np.zeros(1), "the values are too many"),
    ],
)
def test_what_could_not_be_read_again_is_not_written(tmp_path, tree, array, words):
    with pytest.raises(InputError, match=re.escape(words)):
        write_container(tmp_path / "a", tree, [array])
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there_is_an_output_error(tmp_path):
    with pytest.raises(OutputError, match=re.escape("no/model.rfm' (No such file or directory)")):
        write_container(tmp_path / "no" / "model.rfm", TREE, ARRAYS)


def test_a_failed_save_leaves_the_old_file_and_nothing_else(path, monkeypatch):
    before = path.read_bytes()

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OutputError, match=re.escape("No space left on device")):
        write_container(path, {"new": True}, ARRAYS)
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == [path.name]


KILLED = """
import sys, numpy as np
from robustfourier.persistence.container import write_container
print("ready", flush=True)
i = 0
while True:
    i += 1
    write_container(sys.argv[1], {"i": i}, [np.full(200_000, float(i))])
"""


def test_killed_at_any_moment_a_whole_file_is_there(tmp_path):
    path = tmp_path / "model.rfm"
    write_container(path, {"i": 0}, [np.zeros(10)])
    writer = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    with writer.stdout:
        assert writer.stdout.readline() == "ready\n"
        # What a reader sees between two instants is what a kill at that instant would leave.
        for _ in range(50):
            tree, arrays, _ = read_container(path)
            assert (arrays[0] == tree["i"]).all()
        writer.send_signal(signal.SIGKILL)
        writer.wait()
    tree, arrays, _ = read_container(path)
    assert (arrays[0] == tree["i"]).all()


@given(at=st.integers(0, 10**6), new=st.binary(max_size=40), cut=st.integers(0, 40))
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_damage_is_a_model_format_error(path, at, new, cut):
    write_container(path, TREE, ARRAYS)
    whole = path.read_bytes()
    at %= len(whole)
    damaged = whole[:at] + new + whole[at + cut :]
    if damaged == whole:
        return
    path.write_bytes(damaged)
    with pytest.raises(ModelFormatError):
        read_container(path)
