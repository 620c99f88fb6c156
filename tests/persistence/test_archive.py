import hashlib
import io
import json
import pickle
import re
import struct
import zipfile

import numpy as np
import pytest

from robustfourier.errors import InputError, ModelFormatError
from robustfourier.persistence.archive import (
    FORMAT_VERSION,
    read_archive,
    write_archive,
)

TREE = {"answer": 42, "name": "x"}
ARRAYS = [np.arange(5.0), np.array([[1, 2], [3, 4]], np.int64), np.array([], np.complex128),
          np.array(["", "A+B"])]  # fmt: skip


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "model.rfm"
    write_archive(path, TREE, ARRAYS)
    return path


def test_what_is_written_is_read(path):
    tree, arrays = read_archive(path)
    assert tree == TREE
    for got, wanted in zip(arrays, ARRAYS, strict=True):
        assert got.dtype == wanted.dtype
        np.testing.assert_array_equal(got, wanted)


def test_the_other_byte_order_is_stored_as_ours(tmp_path):
    write_archive(tmp_path / "a", {}, [np.arange(3.0).astype(">f8")])
    assert read_archive(tmp_path / "a").arrays[0].tolist() == [0.0, 1.0, 2.0]


def test_every_flipped_bit_is_noticed(path):
    whole = path.read_bytes()
    for i in range(len(whole)):
        broken = bytearray(whole)
        broken[i] ^= 1 << (i % 8)
        path.write_bytes(broken)
        with pytest.raises(ModelFormatError):
            read_archive(path)


def test_every_truncation_is_noticed(path):
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(ModelFormatError):
            read_archive(path)


def test_bytes_behind_the_end_are_noticed(path):
    path.write_bytes(path.read_bytes() + b"\0")
    with pytest.raises(ModelFormatError, match=re.escape("or a damaged model")):
        read_archive(path)


def test_a_newer_version_says_to_upgrade(path):
    forge(path, {"format": FORMAT_VERSION + 1, "tree": 1})
    with pytest.raises(ModelFormatError, match=re.escape("pip install --upgrade robustfourier")):
        read_archive(path)


def test_numpy_opens_the_arrays(path):
    with np.load(path, allow_pickle=False) as arrays:
        for i, wanted in enumerate(ARRAYS):
            np.testing.assert_array_equal(arrays[str(i)], wanted)


def archive() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("../../bomb", b"\0" * 10**7)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "cut off"),
        (b"PK\x03\x04", "or a damaged model"),
        (b"time,value\n1,2\n", "is no robustfourier model"),
        (pickle.dumps([1, 2]), "a pickle, which is never loaded"),
        (archive(), "another zip archive"),
        (b"\x1f\x8b\x08" + b"\0" * 50, "a gzip file"),
        (b"\x93NUMPY\x01\x00", "a numpy file"),
    ],
)
def test_foreign_files_are_named(tmp_path, content, words):
    path = tmp_path / "foreign"
    path.write_bytes(content)
    with pytest.raises(ModelFormatError, match=re.escape(words)):
        read_archive(path)


@pytest.mark.parametrize("name", ["nowhere", "", "x" * 3000, "a\0b"])
def test_names_that_are_no_file_are_refused(tmp_path, name):
    with pytest.raises(ModelFormatError):
        read_archive(tmp_path / name)


def forge(path, tree, members=(), **kept):
    """A file with a right digest but members of our choice."""
    with zipfile.ZipFile(path, "w", **kept) as file:
        file.comment = b"0" * 64
        text = tree if isinstance(tree, bytes) else json.dumps(tree).encode()
        file.writestr("tree.json", text)
        for name, content in members:
            file.writestr(name, content)
    seal(path)


def seal(path):
    content = path.read_bytes()[:-64]
    path.write_bytes(content + hashlib.sha256(content).hexdigest().encode())


def member(descr="<f8", shape=(1,), behind=b"\0" * 8, name="0.npy", order=False):
    """An array as numpy writes it, but for what the arguments say."""
    header = repr({"descr": descr, "fortran_order": order, "shape": shape}) + "\n"
    raw = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
    return name, raw + behind


WHOLE = {"format": FORMAT_VERSION, "tree": 1}


@pytest.mark.parametrize(
    ("tree", "members", "words"),
    [
        (WHOLE, [member(shape=(10**15,))], "shape (1000000000000000,) has 8 bytes"),
        (WHOLE, [member(shape=(9,))], "shape (9,) has 8 bytes"),
        (WHOLE, [member(shape=(2**40, 2**40))], "has 8 bytes"),
        (WHOLE, [member(shape=(-1, -1))], "has 8 bytes"),
        (WHOLE, [member(shape=(0,) * 40, behind=b"")], "shape"),
        (WHOLE, [member(order=True)], "has 8 bytes"),
        (WHOLE, [member("|O")], "dtype '|O'"),
        (WHOLE, [member("|V8")], "dtype '|V8'"),
        (WHOLE, [member([("a", "<f8")])], "dtype '|V8'"),
        (WHOLE, [member("<U2", behind=b"\xff" * 8)], "0.npy holds what is no text"),
        (WHOLE, [("0.npy", b"\x93NUMPY\x02\x00")], "0.npy is of another version"),
        (WHOLE, [("0.npy", b"")], "cannot be read"),
        (WHOLE, [member(name="../../etc/passwd")], "members are not those of a model"),
        (WHOLE, [member(), member()], "members are not those of a model"),
        ({"tree": 1}, [], "values are not those of a model"),
        (7, [], "values are not those of a model"),
        (b"[" * 100_000, [], "nested too deeply"),
        (b"\xff\xfe", [], "no JSON"),
        (b"[" + b"[]," * 1_000_000 + b"1]", [], "more than 1,000,000 values"),
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_forged_members_are_refused_before_memory_is_taken(tmp_path, tree, members, words):
    path = tmp_path / "forged"
    forge(path, tree, members)
    with pytest.raises(ModelFormatError, match=re.escape(words)):
        read_archive(path)


def test_what_would_unpack_to_a_gigabyte_is_refused(tmp_path):
    path = tmp_path / "bomb"
    bomb = member(shape=(2**24,), behind=bytes(2**27))
    forge(path, WHOLE, [bomb], compression=zipfile.ZIP_DEFLATED)
    with pytest.raises(ModelFormatError, match=re.escape("its members are compressed")):
        read_archive(path)


def test_members_that_share_their_bytes_are_refused(tmp_path):
    path = tmp_path / "overlap"
    forge(path, WHOLE, [member(shape=(1000,), behind=bytes(8000))])
    content = path.read_bytes()
    entry = content[content.rindex(b"PK\x01\x02") : content.index(b"PK\x05\x06")]
    many = [entry.replace(b"0.npy", b"%d.npy" % i) for i in range(1, 9)]
    end = bytearray(content[content.index(b"PK\x05\x06") :])
    end[8:16] = struct.pack("<HHI", 10, 10, struct.unpack("<I", end[12:16])[0] + 8 * len(entry))
    path.write_bytes(content[: content.index(b"PK\x05\x06")] + b"".join(many) + end)
    seal(path)
    with pytest.raises(ModelFormatError, match=re.escape("its members overlap")):
        read_archive(path)


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
        write_archive(tmp_path / "a", tree, [array])
    assert not list(tmp_path.iterdir())
