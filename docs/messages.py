"""Make `docs/messages.md`: every error and sentence of the package, read from its source.

Run ``python docs/messages.py``; with ``--check`` it only says whether the page is current.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "robustfourier"
PAGE = ROOT / "docs" / "messages.md"
#: Exit codes of the command line, by class; all others end with 1.
CODES = {"InputError": 2, "InputKindError": 2, "DataError": 3, "ModelFormatError": 3}
#: Where sentences that are no errors come from.
ROOMS = ("results", "report", "cli", "mixture", "periodic", "sampling", "samples", "estimators")
WORDS = 4  # fewer are no sentence
#: The family of errors that users can cause; others are mistakes of the package itself.
KINDS = set(re.findall(r"^class (\w+)", (SOURCE / "errors.py").read_text("utf-8"), re.M))


class Message(NamedTuple):
    """What may be printed; `{…}` stands for what is filled in."""

    room: str
    kind: str
    text: str


def template(node: ast.AST) -> str:
    """Text of a string with a pair of braces for each part that is filled in."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(template(part) for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return template(node.left) + template(node.right)
    return "{" + ast.unparse(node.value) + "}" if isinstance(node, ast.FormattedValue) else "{…}"


def messages(path: Path) -> Iterator[Message]:
    """Messages of one file: errors that it raises, and other sentences."""
    room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    passed = {id(node.body[0].value) for node in ast.walk(tree) if _has_docstring(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
            kind = ast.unparse(node.exc.func).split(".")[-1]
            passed |= {id(part) for part in ast.walk(node)}
            text = template(node.exc.args[0])
            if kind in KINDS and len(re.sub(r"\{.*?\}", "", text).split()) > 1:
                yield Message(room, kind, text)
        elif isinstance(node, ast.keyword) and node.arg in ("help", "epilog", "match"):
            passed |= {id(part) for part in ast.walk(node)}
        elif isinstance(node, ast.arguments):  # words of options stand in their defaults
            defaults = filter(None, (*node.defaults, *node.kw_defaults))
            passed |= {id(part) for default in defaults for part in ast.walk(default)}
    if room not in ROOMS:
        return
    bodies = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    for node in (part for body in bodies for part in ast.walk(body)):
        if id(node) in passed or not isinstance(node, ast.JoinedStr | ast.Constant):
            continue
        passed |= {id(part) for part in ast.walk(node)}
        text = template(node)
        sentence = len(re.findall(r"[A-Za-z]{2,}", re.sub(r"\{.*?\}", "", text))) >= WORDS
        if sentence and not re.search(r'="|\(\?|->|\n|_per_|^vendor|^\.', text):
            yield Message(room, "", text)


def _has_docstring(node: ast.AST) -> bool:
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return isinstance(node, kinds) and ast.get_docstring(node) is not None


def page() -> str:
    """The page as text."""
    found = sorted({m for path in sorted(SOURCE.rglob("*.py")) for m in messages(path)})
    lines = [
        "# Messages",
        "",
        "Everything that the package may print about data, options and results, made from its "
        "source by `python docs/messages.py`. What stands in braces is filled in.",
        "",
        "## Errors",
        "",
        "The code is that with which the command line ends.",
        "",
        "| code | class | message |",
        "|---|---|---|",
    ]
    errors = [m for m in found if m.kind]
    errors.sort(key=lambda m: (CODES.get(m.kind, 1), m.kind, m.text))
    lines += [f"| {CODES.get(m.kind, 1)} | `{m.kind}` | {_cell(m.text)} |" for m in errors]
    lines += ["", "## Sentences", "", "Headlines, notes, warnings and captions; the code is 0.", ""]
    lines += ["| from | sentence |", "|---|---|"]
    lines += [f"| `{m.room}` | {_cell(m.text)} |" for m in found if not m.kind]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    one_line = " ".join(text.split()).replace("`", "'").replace("|", "\\|")
    return f"`{one_line}`"


def main() -> None:
    """Write the page, or say that it is out of date."""
    if "--check" in sys.argv[1:]:
        sys.exit(0 if PAGE.read_text(encoding="utf-8") == page() else "run python docs/messages.py")
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
