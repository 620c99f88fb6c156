"""Folders that somebody has tampered with: surveys and the app's records, refused or taken."""

from __future__ import annotations

import atexit
import json
import os
import random
import shutil
import tempfile
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.faults.cases import Case, changed_bytes
from benchmarks.faults.fuzz import Wrong
from robustfourier.errors import RobustFourierError

_VALUES: tuple[Any, ...] = (None, True, -1, 10**30, 1.5, "", "../..", "/", "x" * 300, [], [1], {},
                            [[]], {"a": 1}, "\ud800", ".csv", "done", "A" * 16)  # fmt: skip


def changed_json(rng: random.Random, content: bytes) -> bytes:
    """Change one value of a JSON document; bytes of it if it is none."""
    try:
        tree = json.loads(content)
    except (ValueError, RecursionError):
        return changed_bytes(rng, content, content)
    holder: Any = tree
    while isinstance(holder, (dict, list)) and holder:
        key = rng.choice([*holder]) if isinstance(holder, dict) else rng.randrange(len(holder))
        if not isinstance(holder[key], (dict, list)) or not holder[key] or rng.random() < 0.3:
            holder[key] = rng.choice(_VALUES)
            break
        holder = holder[key]
    return json.dumps(tree).encode()


class Surveys:
    """A survey of two series of which one file is another, through `fit_many`."""

    name = "survey folders"

    @cached_property
    def place(self) -> Path:
        """A folder with a long table and a finished survey of it."""
        from robustfourier.many import fit_many

        place = Path(tempfile.mkdtemp())
        atexit.register(shutil.rmtree, place, ignore_errors=True)
        t = np.arange(40.0)
        frames = [pd.DataFrame({"t": t, "v": np.sin(t + i), "s": "ab"[i]}) for i in range(2)]
        pd.concat(frames).to_csv(place / "long.csv", index=False)
        self._how = {"by": "s", "value": "v", "engine": "serial", "reports": "none"}
        fit_many(place / "long.csv", out=place / "whole", **self._how)
        self._answer = pd.read_parquet(place / "whole" / "series.parquet").drop(columns="seconds")
        return place

    def seeds(self) -> list[Case]:
        """Every file of the survey, as it is; in the survey and in one under work."""
        whole = self.place / "whole"
        names = sorted(str(p.relative_to(whole)) for p in whole.rglob("*") if p.is_file())
        return [
            Case((whole / name).read_bytes(), {"name": name, "in": place, "as": "file"})
            for name in names
            for place in ("S", ".S.part")
        ]

    def change(self, rng: random.Random, case: Case, other: Case) -> Case:
        """Change the file, put another in its place, or a pipe, a link, a folder, or nothing."""
        options = {**case.options, "as": rng.choice(("file",) * 6 + ("pipe", "link", "folder", ""))}
        content = case.content
        if options["name"].endswith(".json") and rng.random() < 0.7:
            return Case(changed_json(rng, content), options)
        return Case(changed_bytes(rng, content, other.content), options)

    def run(self, case: Case, place: Path) -> bool:
        """Go on with the survey, or refuse it; files of others stay."""
        from robustfourier.many import fit_many

        for name in ("S", ".S.part"):
            shutil.rmtree(place / name, ignore_errors=True)
        within = place / case.options["in"]
        shutil.copytree(self.place / "whole", within)
        if case.options["in"] != "S":
            record = json.loads((within / "survey.json").read_bytes())
            (within / "survey.json").write_text(json.dumps({**record, "finished": False}))
        _put(within / case.options["name"], case)
        (within / "notes.txt").write_text("mine")
        try:
            found = fit_many(self.place / "long.csv", out=place / "S", **self._how)
        except RobustFourierError:
            return False
        finally:
            kept = [folder / "notes.txt" for folder in (place / "S", within)]
            if case.options["in"] == "S" and not any(path.exists() for path in kept):
                raise Wrong("a file of another is gone")
        answer = found.series.drop(columns="seconds")
        if list(answer["noise"]) != list(self._answer["noise"]):
            raise Wrong("the answer is another")
        return True


def _put(path: Path, case: Case) -> None:
    path.unlink(missing_ok=True)
    if case.options["as"] == "pipe":
        os.mkfifo(path)
    elif case.options["as"] == "link":
        path.symlink_to("/dev/zero")
    elif case.options["as"] == "folder":
        path.mkdir()
    elif case.options["as"]:
        path.write_bytes(case.content)


class AppRecords:
    """Records of the app, through its start and the forgetting of all that it knows."""

    name = "app records"

    def seeds(self) -> list[Case]:
        """The history of two files."""
        lines = [
            *({"record": "file", "id": c * 16, "ending": ".csv", "name": "a", "size": 1, "at": 1.0}
              for c in "BD"),
            {"record": "fit", "id": "C" * 16, "file": "B" * 16,
             "settings": {"reading": {"time": "t"}, "asked": {"false_alarm": 0.1}}},
            {"record": "state", "id": "C" * 16, "state": "done", "words": ""},
            {"record": "current", "id": "B" * 16, "fit": "C" * 16},
            {"record": "forgotten", "id": "D" * 16},
        ]  # fmt: skip
        return [Case("".join(json.dumps(line) + "\n" for line in lines).encode())]

    def change(self, rng: random.Random, case: Case, other: Case) -> Case:
        """Change a value of a line, or bytes."""
        lines = case.content.splitlines(keepends=True)
        if rng.random() < 0.2 or not lines:
            return Case(changed_bytes(rng, case.content, other.content))
        at = rng.randrange(len(lines))
        lines[at] = changed_json(rng, lines[at].strip()) + b"\n"
        return Case(b"".join(lines))

    def run(self, case: Case, place: Path) -> bool:
        """Start, look at everything, forget everything; nothing else may be gone."""
        from robustfourier.app.session_folder import Folder

        shutil.rmtree(place / "app", ignore_errors=True)
        (place / "app" / "fits" / ("C" * 16)).mkdir(parents=True)
        (place / "app" / "records.jsonl").write_bytes(case.content)
        (place / "precious.txt").write_text("mine")
        try:
            folder = Folder(place / "app")
            taken = bool(folder.files)
            for file in list(folder.files.values()):
                json.dumps([file.name, file.size, file.at, file.current]).encode()
                folder.discard(file)
        except RobustFourierError:
            return False
        if not ((place / "precious.txt").exists() and (place / "app" / "fits").is_dir()):
            raise Wrong("something of others is gone")
        return taken
