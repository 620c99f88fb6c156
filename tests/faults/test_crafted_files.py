"""Model files and checkpoints with a right checksum and wrong contents: one error, no harm."""

import os
import re
import threading
import tracemalloc
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.faults.containers import train_shortly

from robustfourier.cli import main
from robustfourier.errors import CheckpointError, InputError, ModelFormatError
from robustfourier.persistence import load, save
from robustfourier.persistence.archive import read_archive, write_archive
from robustfourier.training import load_checkpoint, save_checkpoint

EMPTY = {"$": "dict", "items": []}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "crafted.rfm"


@pytest.fixture
def content(small_model, path):
    """A model's tree and arrays, free to change."""
    save(small_model, path)
    return read_archive(path)


def add(tree, value, name="extra_"):
    tree["fitted"]["items"].append([name, value])


@pytest.mark.parametrize("kind", ["datetime64[s]", "U8"])
def test_an_array_of_another_kind_than_declared_is_refused(content, path, kind):
    tree, arrays = content
    numbers = next(i for i, array in enumerate(arrays) if array.dtype == float and array.size)
    arrays[numbers] = np.zeros(arrays[numbers].shape).astype(int).astype(kind)
    write_archive(path, tree, arrays)
    with pytest.raises(ModelFormatError, match=re.escape("is an array of")):
        load(path)


def nested(depth):
    tree = []
    for _ in range(depth):
        tree = [tree]
    return tree


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: add(t, nested(600)), "nested too deeply"),
        (lambda t: add(t, {"$": "array", "index": 0, "scalar": False}), "array 0 twice"),
        (lambda t: add(t, {"$": "array", "index": [], "scalar": False}), "cannot be rebuilt"),
        (lambda t: add(t, {"$": "dict", "items": [[[], 1]]}), "cannot be rebuilt"),
        (
            lambda t: add(t, {"$": "record", "name": [], "fields": {}}),
            "a class that robustfourier does not have",
        ),
        (lambda t: add(t, {"$": "record", "name": "PeriodicMixture", "fields": {}}), "rebuilt"),
        (lambda t: add(t, {"$": "eval"}), "unknown kind of value"),
        (lambda t: add(t, {"$": "array", "index": 999}), "an array 999 twice, or has none"),
        (lambda t: add(t, {"$": "record", "name": "subprocess:Popen", "fields": {}}),
         "a 'subprocess:Popen', a class that robustfourier does not have"),
        (lambda t: add(t, {"$": "record", "name": "robustfourier.domain:os", "fields": {}}),
         "a class that robustfourier does not have"),
        (lambda t: add(t, {"$": "record", "name": "Domain", "fields": {"span": -1}}),
         "cannot be rebuilt"),
        (lambda t: add(t, 1, "predict"), "'predict' is no fitted"),
        (lambda t: add(t, 1, "__class__"), "'__class__' is no fitted"),
        (lambda t: add(t, 1, "a.b/../c"), "is no fitted attribute"),
        (lambda t: t["params"]["items"].append(["evil", 1]), "has no parameters ['evil']"),
        (lambda t: t.pop("params"), "lacks the parts"),
        (lambda t: t.update(model="os.system"), "holds a 'os.system'"),
        (lambda t: t.update(model=[]), "it holds a [], an estimator that this version"),
        (lambda t: t.update(params=7), "its parameters are not a table of names and values"),
        (lambda t: dict(t["fitted"]["items"])["domains_"].update(items=[3]), "do not fit together"),
        (lambda t: dict(t["fitted"]["items"])["models_"].update(items=[]), "do not fit together"),
    ],
)  # fmt: skip
def test_wrong_values_are_one_clear_error(path, content, change, words):
    tree, arrays = content
    change(tree)
    write_archive(path, tree, arrays)
    with pytest.raises(ModelFormatError, match=re.escape(words)) as caught:
        load(path)
    assert str(path) in str(caught.value)


def record_of(tree, name):
    """The first record of a class within a tree."""
    if isinstance(tree, dict) and tree.get("name") == name:
        return tree
    below = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    return next((found for part in below if (found := record_of(part, name))), None)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("unit", 5, "unit of a Domain is a int"),
        ("span", "long", "span of a Domain is a str"),
        ("start", None, "start of a Domain is a NoneType"),
        ("timezone", [], "timezone of a Domain is a list"),
    ],
)
def test_a_field_of_the_wrong_type_is_named(path, content, field, value, words):
    tree, arrays = content
    record_of(tree, "Domain")["fields"][field] = value
    write_archive(path, tree, arrays)
    with pytest.raises(ModelFormatError, match=re.escape(words)):
        load(path)


def memory_of(read, path):
    """Bytes taken while a file is read and refused."""
    tracemalloc.start()
    with pytest.raises((ModelFormatError, CheckpointError)):
        read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_an_array_referred_to_300_times_takes_its_memory_once(path, content):
    tree, arrays = content
    arrays.append(np.zeros(200_000))
    add(tree, [{"$": "array", "index": len(arrays) - 1, "scalar": False}] * 300)
    write_archive(path, tree, arrays)
    assert memory_of(load, path) < 3 * path.stat().st_size


def test_a_flood_of_empty_values_is_refused_before_it_is_read(path, monkeypatch):
    from robustfourier.persistence import archive

    with monkeypatch.context() as patch:
        patch.setattr(archive, "excess", lambda _: "")
        write_archive(path, [[]] * 3_000_000, [])
    assert memory_of(load, path) < 3 * path.stat().st_size


def test_an_archive_that_would_unpack_to_a_gigabyte_is_no_checkpoint(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("meta.json.npy", b"\0" * 50_000_000)
    with pytest.raises(CheckpointError, match=re.escape("another zip archive")):
        load_checkpoint(path)
    assert memory_of(load_checkpoint, path) < 1_000_000


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        ([], "it holds no checkpoint"),
        ({"$": "record", "name": "Domain", "fields": {"start": 0, "span": 1}},
         "it holds no checkpoint"),
        ({"$": "record", "name": "Checkpoint", "fields": {"step": "x"}},
         "step of a Checkpoint is a str"),
        ({"$": "record", "name": "Checkpoint", "fields": {"step": 1}}, "cannot be rebuilt"),
        ({"$": "record", "name": "Checkpoint", "fields": {
            "step": 1, "training": EMPTY, "state": EMPTY,
            "arrays": {"$": "dict", "items": [["a", 5]]}}}, "its arrays are not numbers"),
    ],
)  # fmt: skip
def test_a_crafted_checkpoint_is_a_checkpoint_error(path, tree, words):
    write_archive(path, tree, [])
    with pytest.raises(CheckpointError, match=re.escape(words)):
        load_checkpoint(path)


@pytest.mark.parametrize("read", [load, load_checkpoint])
def test_a_pipe_does_not_hang(path, read):
    os.mkfifo(path)
    caught = []

    def attempt():
        try:
            read(path)
        except (ModelFormatError, CheckpointError) as error:
            caught.append(str(error))

    reader = threading.Thread(target=attempt, daemon=True)
    reader.start()
    reader.join(10.0)
    assert caught
    assert "is no regular file" in caught[0]


def test_info_prints_no_escapes_of_a_file(path, content, capsys):
    tree, arrays = content
    tree["package"] = "\x1b]0;owned\x07\x9b31m\u202e"
    fields = record_of(tree, "Component")["fields"]
    fields["label"] = "\x1b[2J"
    tree["params"]["items"] = [p for p in tree["params"]["items"] if p[0] != "endpoint"]
    tree["params"]["items"].append(["endpoint", "\x1b[31m"])
    write_archive(path, tree, arrays)
    with pytest.raises(SystemExit) as stop:
        main(["info", str(path), "-v"])
    said = capsys.readouterr().out
    assert stop.value.code == 0
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", said)
    assert r"\x1b[2J" in said


def test_an_error_prints_no_escapes_of_a_file(path, content, capsys):
    tree, arrays = content
    tree["model"] = "\x1b[31m"
    write_archive(path, tree, arrays)
    with pytest.raises(SystemExit) as stop:
        main(["info", str(path)])
    said = capsys.readouterr().err
    assert stop.value.code == 3
    assert "\x1b" not in said


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("batches/rest", np.array([0, 99]), "the rest of its pass has rows that are not there"),
        ("batches/rest", np.array([0.5]), "Cannot cast"),
        ("history/batch_loss", np.zeros(7), "its history is not that of 3 steps"),
        ("history/diagonal", np.zeros((3, 2)), "its history is that of another diagonal"),
        ("parameters/output.weight", None, "arrays has the names"),
        ("parameters/output.weight", np.full((1, 10), np.nan), "are not finite numbers"),
    ],
)
def test_a_checkpoint_whose_parts_do_not_fit_is_not_resumed_from(path, name, value, words):
    pytest.importorskip("torch")
    checkpoint = train_shortly(n_steps=3).checkpoint
    arrays = {**checkpoint.arrays, name: value}
    arrays = {key: array for key, array in arrays.items() if array is not None}
    save_checkpoint(path, replace(checkpoint, arrays=arrays))
    with pytest.raises(CheckpointError, match=re.escape(words)):
        train_shortly(n_steps=6, resume=load_checkpoint(path))


def test_a_checkpoint_without_its_state_is_not_resumed_from():
    pytest.importorskip("torch")
    checkpoint = replace(train_shortly(n_steps=3).checkpoint, state={})
    with pytest.raises(CheckpointError, match=re.escape("do not fit together ('observed')")):
        train_shortly(n_steps=6, resume=checkpoint)


def test_half_of_a_surrogate_pair_is_no_json():
    from robustfourier.untrusted_files import parse_json

    with pytest.raises(InputError, match=re.escape("no JSON: 'utf-8' codec can't encode")):
        parse_json(b'{"name": "\\ud800"}')
