"""ARCHITECTURE.md, kept true: imports point one way, each optional library has one home."""

import ast
import functools
import importlib.util
import itertools
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "robustfourier"

#: Rooms from the ground up. A room may import itself and what stands on a line above it.
LAYERS = [
    ["arrays", "errors"],
    ["observers"],
    [
        "compiling",
        "untrusted_files",
        "memory_limits",
        "weighted_rows",
        "formatting",
        "concurrency",
        "atomic_files",
    ],
    ["result_folders"],
    ["quantities"],
    ["persistence"],
    ["domain", "modes"],
    ["samples", "fit_config"],
    ["synthetic", "datasets"],
    ["network"],
    ["nn", "theory"],
    ["training"],
    ["periodic"],
    ["mixture"],
    ["estimators"],
    ["frameworks", "large"],
    ["sampling"],
    ["fields", "cosinor", "bands"],
    ["results"],
    ["plots"],
    ["report"],
    ["analysis"],
    ["many", "app"],
    ["cli"],
]
#: Methods such as `model.plot()` open these doors upwards, inside a function.
DOORS = {
    "estimators/base.py": {"cosinor", "results", "plots", "report"},
    "estimators/components.py": {"results"},
}
#: Who may import a library that is optional, slow to load, or has one home.
HOMES = {
    "torch": {"network", "nn", "training"},
    "matplotlib": {"plots"},
    "jinja2": {"report"},
    "typer": {"cli"},
    "rich": {"cli", "training"},
    "dask": {"large", "many"},
    "distributed": {"large", "many"},
    "starlette": {"app"},
    "uvicorn": {"app"},
    "sktime": {"frameworks"},
    "holidays": {"estimators"},
    "pickle": set(),
    "fcntl": {"atomic_files"},
    "numba": {"compiling"},
    "tempfile": set(),
}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
RANK = {room: rank for rank, rooms in enumerate(LAYERS) for room in rooms}


def sources() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@functools.cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def statements(node: ast.AST, *, at_top: bool = True) -> Iterator[tuple[ast.AST, bool]]:
    """Every statement of a file with whether it is at module level, but for type checkers' own."""
    for part in ast.iter_child_nodes(node):
        if isinstance(part, ast.expr):
            continue
        if isinstance(part, ast.If) and ast.unparse(part.test).endswith("TYPE_CHECKING"):
            continue
        yield part, at_top
        yield from statements(part, at_top=at_top and not isinstance(part, FUNCTIONS))


def imports(path: Path) -> Iterator[tuple[str, bool]]:
    """Every imported module of a file with whether the import is at module level."""
    for node, at_top in statements(parsed(path)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, at_top) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module == "robustfourier":
            yield from ((f"robustfourier.{alias.name}", at_top) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module, at_top


def test_imports_point_downwards_and_libraries_stay_at_home():
    assert [wrong for path in sources() for wrong in wrong_imports(path)] == []


def wrong_imports(path: Path) -> Iterator[str]:
    here = room(path)
    for module, at_top in imports(path):
        first, *rest = module.split(".")
        if first == "robustfourier" and rest and rest[0] in RANK and rest[0] != here:
            downwards = RANK[rest[0]] < RANK[here]
            door = rest[0] in DOORS.get(str(path.relative_to(PACKAGE)), ()) and not at_top
            if not (downwards or door):
                yield f"{path.name} imports upwards: {module}"
        if here not in HOMES.get(first, {here}):
            yield f"{path.name} imports {module}; its home is {HOMES[first]}"


def page() -> str:
    return (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")


def room_rows() -> dict[str, str]:
    """Rooms of the table on the architecture page, each with the words of its row."""
    table = page().partition("## Rooms")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| (.*)$", table, re.MULTILINE)
    return {name: words for names, words in rows for name in re.findall(r"`(\w+)`", names)}


def test_the_rooms_of_the_architecture_page_are_those_of_the_package():
    assert set(room_rows()) == {room(path) for path in sources()} == set(RANK)


def test_rooms_stand_on_the_page_in_the_order_of_their_imports():
    pairs = itertools.pairwise(room_rows())
    late = [pair for pair in pairs if RANK[pair[0]] > RANK[pair[1]]]
    assert late == [], "a room stands above one that it may import"


@pytest.mark.parametrize(
    "page",
    ["ARCHITECTURE.md", "CONTRIBUTING.md", "paper/README.md"]
    + [f"docs/contributing/{name}.md" for name in ("file_format", "kernel", "truth")],
)
def test_files_that_a_page_for_contributors_names_are_there(page):
    named = re.findall(r"`((?:\w+/)*\w+\.py)\b", (ROOT / page).read_text(encoding="utf-8"))
    there = [f"/{path.relative_to(ROOT)}" for path in ROOT.rglob("*.py")]
    assert [name for name in named if not any(p.endswith(f"/{name}") for p in there)] == []


def test_no_two_files_of_the_package_have_one_name():
    names = Counter(path.name for path in sources() if path.name != "__init__.py")
    assert [name for name, count in names.items() if count > 1] == []


def test_a_room_is_one_line_of_the_page():
    lines = [line for line in page().splitlines() if line.startswith("| `")]
    assert [line for line in lines if len(line) > 125] == []


def test_the_flow_fits_one_screen():
    flow = page().split("```")[1]
    assert len(flow.splitlines()) <= 24
    drawn = [name for name in RANK if re.search(rf"\b{name}\b", flow)]
    assert {"samples", "domain", "mixture", "training", "results", "report", "cli"} <= set(drawn)


def test_the_walks_of_the_page_can_be_walked():
    walks = page().partition("## Two walks")[2].partition("\n## ")[0].strip().split("\n\n")
    assert len(walks) == 2
    for walk in walks:
        steps = re.findall(r"`([\w.]+)`", walk)
        assert len(steps) > 6
        for step in steps:
            module, _, name = step.rpartition(".")
            assert is_there(f"robustfourier.{module}", name), step


def test_each_file_says_in_its_first_line_what_it_is_and_no_other_file_says_so():
    first = {path: path.read_text(encoding="utf-8").partition("\n")[0] for path in sources()}
    assert [path for path, line in first.items() if not re.match(r'r?"""\S', line)] == []
    words = Counter(line.strip('r".') for line in first.values())
    assert [line for line, count in words.items() if count > 1] == []


def chain(graph: dict[str, set[str]]) -> list[str]:
    """The longest path of imports."""
    found: dict[str, list[str]] = {}

    def longest(name: str) -> list[str]:
        if name not in found:
            found[name] = [name]  # a package and its parts may name each other
            found[name] += max(
                (longest(other) for other in graph.get(name, ())), key=len, default=[]
            )
        return found[name]

    return max((longest(name) for name in graph), key=len)


def test_no_chain_of_rooms_is_longer_than_eight():
    """A bar that may only be lowered: a longer chain means that a room has got a second job."""
    graph: dict[str, set[str]] = {}
    for path in sources():
        ours = (name.split(".")[1] for name, at_top in imports(path) if at_top and is_ours(name))
        graph.setdefault(room(path), set()).update(set(ours) - {room(path)})
    assert len(chain(graph)) <= 8, " > ".join(chain(graph))


def is_ours(name: str) -> bool:
    return name.startswith("robustfourier.")


@pytest.mark.parametrize(
    "statement",
    [
        "import robustfourier",
        "import robustfourier.cli",
        "from robustfourier import PeriodicMixture",
    ],
)
def test_heavy_libraries_are_not_loaded(statement):
    code = f"{statement}; import sys; print([m for m in sys.modules if '.' not in m])"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert not {"torch", "matplotlib", "dask"} & set(ast.literal_eval(loaded.stdout))


def test_public_names_all_resolve():
    import robustfourier

    for name in robustfourier.__all__:
        assert getattr(robustfourier, name) is not None
    with pytest.raises(AttributeError, match=re.escape("has no attribute 'nonsense'")):
        robustfourier.nonsense  # noqa: B018


MOST_CODE = 60  # lines of a function, without its words


def written() -> list[Path]:
    """Every file of code that we wrote."""
    folders = (PACKAGE, ROOT / "tests", ROOT / "benchmarks", ROOT / "paper")
    files = (path for folder in folders for path in folder.rglob("*"))
    return sorted(p for p in files if p.suffix in (".py", ".js") and p.parent.name != "vendor")


def only_stores(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function only keeps its arguments, as the constructor of an estimator must."""
    return all(isinstance(s, ast.Assign) and isinstance(s.value, ast.Name) for s in function.body)


def code_lines(function: ast.AST, text: list[str]) -> int:
    """Lines of a function that are neither empty nor words."""
    words: set[int] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            words.update(range(node.lineno, node.end_lineno + 1))
    lines = range(function.lineno, function.end_lineno + 1)
    code = [text[i - 1].strip() for i in lines if i not in words]
    return sum(bool(line) and not line.startswith("#") for line in code)


def test_no_function_is_longer_than_a_screen():
    long = {}
    for path in (p for p in written() if p.suffix == ".py"):
        text = path.read_text("utf-8").splitlines()
        for node, _ in statements(parsed(path)):
            if isinstance(node, FUNCTIONS) and node.end_lineno - node.lineno >= MOST_CODE:
                count = code_lines(node, text)
                if count > MOST_CODE and not only_stores(node):
                    long[f"{path.name}: {node.name}"] = count
    assert long == {}


def test_what_tests_import_from_the_package_is_there():
    """Else pytest leaves the file out without a word: doctests ignore errors of imports."""
    missing = [
        f"{path.name}: {node.module}.{alias.name}"
        for path in (ROOT / "tests").rglob("*.py")
        for node in parsed(path).body
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("robustfourier")
        for alias in node.names
        if not is_there(node.module, alias.name)
    ]
    assert missing == []


def is_there(module: str, name: str) -> bool:
    """Whether a module of the package has a name; yes where a library that it needs is not."""
    try:
        return hasattr(importlib.import_module(module), name) or is_module(f"{module}.{name}")
    except ImportError as error:
        return not str(error.name).startswith("robustfourier")


def is_module(name: str) -> bool:
    return importlib.util.find_spec(name) is not None
