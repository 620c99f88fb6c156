"""Every number of the mixture and of the periodic models says where it comes from."""

import ast
from pathlib import Path

import robustfourier

ROOT = Path(robustfourier.__file__).parent
ROOMS = ("mixture", "periodic")
FILES = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))


def numbers(tree):
    """Statements at the top of a module that give a name in capitals a number, and the names."""
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [part.id for target in targets for part in ast.walk(target)
                     if isinstance(part, ast.Name) and part.id.strip("_").isupper()]  # fmt: skip
            given = [part.value for part in ast.walk(node.value) if isinstance(part, ast.Constant)]
            if names and any(type(value) in (int, float) for value in given):
                yield node, names


def is_explained(node, lines):
    """A comment in the statement, or above it and its neighbours without a blank line between."""
    first = node.lineno - 1
    if any("#" in line for line in lines[first : node.end_lineno]):
        return True
    while first > 0 and lines[first - 1].strip() and not lines[first - 1].startswith("#"):
        first -= 1
    return first > 0 and lines[first - 1].startswith("#")


def bare_numbers(text):
    return [
        name
        for node, names in numbers(ast.parse(text))
        if not is_explained(node, text.splitlines())
        for name in names
    ]


def test_a_number_has_its_reason_beside_it():
    bare = {str(path.relative_to(ROOT)): bare_numbers(path.read_text("utf-8")) for path in FILES}
    assert {path: names for path, names in bare.items() if names} == {}


def test_no_room_was_renamed_away():
    assert {path.relative_to(ROOT).parts[0] for path in FILES} == set(ROOMS)


def test_a_bare_number_is_noticed():
    lines = ["import x", "", "BARE = 3.0", "GOOD = 4.0  # derived", "", "# Both from the paper.",
             "A = 1.0", "B = 2"]  # fmt: skip
    assert bare_numbers("\n".join(lines)) == ["BARE"]
