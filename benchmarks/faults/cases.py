"""Cases: what is given to a reader, how cases are changed, and how they are kept for a replay."""

from __future__ import annotations

import base64
import json
import random
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CHANGES = (1, 1, 1, 2, 3, 6)  # made to one case before it is tried
_CELL = re.compile(rb"[^,;\t|\s]+")
_TOKENS: tuple[bytes, ...] = (
    *(b"", b" ", b"NA", b"nan", b"inf", b"-0", b"1e400", b"1e-400", b"1_000", b"0x1F", b"1.5e3x"),
    *(b"1,5", b"1.234,5", b"1.234.567", b"<1", b"=1+1", b"5 mm", b"\xe2\x88\x925", b"\xc2\xb2"),
    *(b"2024-01-01", b"2024-02-30", b"2024-03-31T02:30", b"2024-01-01T00:00Z", b"99999-01-01"),
    *(b"01/02/2024", b"13.01.2024", b"12:30", b"24:00", b"20240131", b"202401", b"2024013123"),
    *(b"1600000000", b"1600000000000", b"2460000.5", b"9" * 400, b"1" * 30, b"Z", b"+01:00"),
    *(b'"', b'""', b"'", b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"#", b"\\", b"%Y", b"{}"),
    *(b"\x1b[2J", b"\n", b"\r", b"\r\n", b"\n\n\n", b",", b";", b"\t", b"|", b",,,,"),
    *(b"time", b"date", b"value"),
)


@dataclass(frozen=True)
class Case:
    """The bytes of a file, and the options or arguments that go with them."""

    content: bytes
    options: dict[str, Any] = field(default_factory=dict)

    def save(self, path: Path, target: str, why: str) -> None:
        """Keep a case for `python -m benchmarks.faults --replay`."""
        told = {"target": target, "why": why, "options": self.options}
        told["content"] = base64.b64encode(self.content).decode()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> tuple[str, Case]:
        """Return the name of the target and the case."""
        told = json.loads(path.read_text(encoding="utf-8"))
        return told["target"], cls(base64.b64decode(told["content"]), told["options"])


def changed_bytes(rng: random.Random, content: bytes, other: bytes) -> bytes:
    """Change bytes anywhere: flip, cut, repeat, insert, or join with another file."""
    raw = bytearray(content)
    at, to = sorted((rng.randrange(len(raw) + 1), rng.randrange(len(raw) + 1)))
    way = rng.randrange(7)
    if way == 0 and raw:
        raw[min(at, len(raw) - 1)] ^= 1 << rng.randrange(8)
    elif way == 1:
        del raw[at : min(to, at + 200)]
    elif way == 2:
        raw[at:at] = raw[at : min(to, at + 200)] * rng.choice((1, 2, 50))
    elif way == 3:
        raw[at:at] = rng.choice(_TOKENS)
    elif way == 4:
        raw[at:at] = rng.randbytes(rng.choice((1, 4, 40)))
    elif way == 5:
        raw = raw[:at]
    else:
        raw = raw[:at] + other[rng.randrange(len(other) + 1) :]
    return bytes(raw[:20_000])


def changed_cells(rng: random.Random, content: bytes) -> bytes:
    """Change a cell of a table, or a whole line."""
    if rng.random() < 0.3:
        lines = content.splitlines(keepends=True) or [b""]
        at = rng.randrange(len(lines))
        swap = rng.randrange(len(lines))
        way = rng.randrange(4)
        if way == 0:
            lines[at], lines[swap] = lines[swap], lines[at]
        elif way == 1:
            lines[at:at] = [lines[swap]] * rng.choice((1, 3, 30))
        elif way == 2:
            del lines[at]
        else:
            lines[at] = rng.choice(_TOKENS) + b"\n"
        return b"".join(lines)[:20_000]
    cells = list(_CELL.finditer(content))
    if not cells:
        return rng.choice(_TOKENS)
    cell = rng.choice(cells)
    new = rng.choice(_TOKENS) if rng.random() < 0.7 else rng.choice(cells).group()
    return content[: cell.start()] + new + content[cell.end() :]
