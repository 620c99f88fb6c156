"""Kernels written once, as Python functions, and translated to C++ when the package is built.

A kernel is a function with loops over arrays, decorated by `compiled`. Its annotations say what the
arguments are (`Vector`, `Matrix`, `IntVector` … of `robustfourier.arrays`, `int`, `float`, `bool`);
the types of other names follow from what is assigned to them. Allowed are arithmetic, comparisons,
``for … in range``, ``while``, ``if``, indices and slices of the last axis, tuples on both sides of
an assignment, ``np.empty`` and ``np.zeros``, functions of numbers, and calls of other kernels.
Numbers of the module are built in. Its arrays are handed over when it is imported; annotations say
their shape, as in ``_SINE: Annotated[Vector, 12]``. Anything else is refused with file and line.
"""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, SimpleNamespace
from typing import Any

from robustfourier.compiling import digest, symbol

DECORATORS = ("compiled", "inlined")
_KINDS = ("bool", "int", "float", "complex")
_CPP = {"bool": "bool", "int": "Int", "float": "double", "complex": "Complex", "None": "void"}
_ANNOTATIONS = {
    prefix + shape: (kind, rank)
    for prefix, kind in (("", "float"), ("Int", "int"), ("Bool", "bool"), ("Complex", "complex"))
    for rank, shape in enumerate(("Vector", "Matrix", "Tensor"), start=1)
} | {"int": ("int", 0), "float": ("float", 0), "bool": ("bool", 0), "None": ("None", 0)}
_OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.BitOr: "|", ast.BitAnd: "&"}
_COMPARISONS: dict[type, str] = {
    **{ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
}
_OF_NUMBERS = (
    *("sqrt", "exp", "log", "log1p", "expm1", "sin", "cos", "sinh", "cosh", "lgamma"),
    *("ceil", "floor", "rint"),
)
_DTYPES = {"int64": "int", "bool_": "bool", "float64": "float", "complex128": "complex"}
#: What the numbers of a module may be computed from.
_NUMBERS = {"np": SimpleNamespace(pi=math.pi, inf=math.inf), "pi": math.pi}


class TranslationError(Exception):
    """A kernel outside the part of Python that is translated."""


@dataclass(frozen=True)
class Type:
    """A number (rank 0) or an array of them; `owned` if the kernel itself allocates it.

    Arrays of the module have a `shape`.
    """

    kind: str
    rank: int = 0
    owned: bool = False
    shape: tuple[int, ...] = ()

    @property
    def cpp(self) -> str:
        """Its name in C++."""
        if not self.rank:
            return _CPP[self.kind]
        if self.shape:
            return f"Fixed<{', '.join([_CPP[self.kind], *map(str, self.shape)])}>"
        return f"{'Array' if self.owned else 'View'}<{_CPP[self.kind]}, {self.rank}>"

    def joined(self, other: Type) -> Type:
        """The type that holds both."""
        kind = max(self.kind, other.kind, key=_KINDS.index)
        return Type(kind, max(self.rank, other.rank), self.owned or other.owned)


@dataclass
class Kernel:
    """One function: how it is called, and its C++."""

    module: str
    name: str
    tree: ast.FunctionDef
    arguments: dict[str, Type]
    result: Type
    digest: int
    written: set[str] = field(default_factory=set)
    numbers: dict[str, float] = field(default_factory=dict)
    arrays: dict[str, Type] = field(default_factory=dict)
    code: str = ""

    @property
    def symbol(self) -> str:
        """Its name in the extension."""
        return symbol(self.module, self.name)


@dataclass
class Module:
    """A file with kernels: their names there, those it imports, its numbers and arrays."""

    path: Path
    name: str
    names: dict[str, tuple[str, str]]
    numbers: dict[str, float]
    arrays: dict[str, Type]


def translated(source: Path) -> str:
    """Return the C++ of all kernels of a package, whose folder is given."""
    modules: dict[str, Module] = {}
    kernels: dict[tuple[str, str], Kernel] = {}
    for path in sorted(source.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "robustfourier.compiling import" in text:
            module, found = _read(path, source, text)
            modules[module.name] = module
            kernels.update({(module.name, kernel.name): kernel for kernel in found})
    order: list[Kernel] = []
    for kernel in kernels.values():
        _translate(kernel, modules, kernels, order)
    return _extension(order)


def _read(path: Path, source: Path, text: str) -> tuple[Module, list[Kernel]]:
    """Return what a file says of itself, and its kernels, not translated yet."""
    relative = path.relative_to(source).with_suffix("")
    name = ".".join([source.name, *relative.parts])
    module, kernels = Module(path, name, {}, {}, {}), []
    codes = {
        code.co_name: code
        for code in compile(text, str(path), "exec", dont_inherit=True).co_consts
        if isinstance(code, CodeType)
    }
    for node in ast.parse(text).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(source.name):
            for one in node.names:
                module.names[one.asname or one.name] = (str(node.module), one.name)
        elif isinstance(node, ast.Assign):
            module.numbers.update(_numbers(node, module.numbers))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.annotation, ast.Subscript):
            module.arrays.update(_shaped(node.target, node.annotation, module.numbers))
        elif isinstance(node, ast.FunctionDef) and any(
            isinstance(one, ast.Name) and one.id in DECORATORS for one in node.decorator_list
        ):
            arguments = {one.arg: _annotated(path, one, one.annotation) for one in node.args.args}
            result = _annotated(path, node, node.returns)
            module.names[node.name] = (name, node.name)
            kernels.append(
                Kernel(name, node.name, node, arguments, result, digest(codes[node.name]))
            )
    return module, kernels


def _annotated(path: Path, node: ast.AST, annotation: ast.expr | None) -> Type:
    """Return the type that an annotation names."""
    word = ast.unparse(annotation) if annotation is not None else "nothing"
    if word not in _ANNOTATIONS:
        allowed = ", ".join(_ANNOTATIONS)
        raise TranslationError(f"{path}:{node.lineno}: {word} is none of {allowed}")  # type: ignore[attr-defined]
    return Type(*_ANNOTATIONS[word])


def _shaped(
    target: ast.expr, annotation: ast.Subscript, known: dict[str, float]
) -> dict[str, Type]:
    """Return the array that is annotated with its shape, by its name; nothing if none is."""
    if ast.unparse(annotation.value) != "Annotated" or not isinstance(annotation.slice, ast.Tuple):
        return {}
    word, *sizes = (ast.unparse(one) for one in annotation.slice.elts)
    kind, rank = _ANNOTATIONS[word]
    shape = tuple(int(known.get(size, 0) or size) for size in sizes)
    return {ast.unparse(target): Type(kind, rank, shape=shape)}


def _numbers(node: ast.Assign, known: dict[str, float]) -> dict[str, float]:
    """Return the names that an assignment gives to numbers."""
    try:
        code = compile(ast.Expression(node.value), "<numbers>", "eval")
        value = eval(code, {"__builtins__": {"float": float}}, {**_NUMBERS, **known})
    except Exception:  # needs more than numbers: not one, or not known before the package runs
        return {}
    target = node.targets[0]
    pairs: list[tuple[ast.expr, Any]] = [(target, value)]
    if isinstance(target, ast.Tuple) and isinstance(value, tuple):
        pairs = list(zip(target.elts, value, strict=True))
    return {
        name.id: number
        for name, number in pairs
        if isinstance(name, ast.Name) and isinstance(number, int | float)
    }


def _translate(
    kernel: Kernel,
    modules: dict[str, Module],
    kernels: dict[tuple[str, str], Kernel],
    order: list[Kernel],
) -> None:
    """Translate a kernel after those that it calls."""
    if kernel in order:
        return
    names = modules[kernel.module].names
    called = {
        node.func.id: kernels[names[node.func.id]]
        for node in ast.walk(kernel.tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and names.get(node.func.id) in kernels
    }
    for other in called.values():
        _translate(other, modules, kernels, order)
    _Body(kernel, modules[kernel.module], called).write()
    order.append(kernel)


class _Body:
    """Writes one function."""

    def __init__(self, kernel: Kernel, module: Module, called: dict[str, Kernel]) -> None:
        self.kernel, self.module, self.called = kernel, module, called
        self.types = dict(kernel.arguments)
        self.counter: set[str] = set()  # of loops

    def write(self) -> None:
        """Give the kernel its code."""
        body = self.kernel.tree.body
        assigned = [node for one in body for node in ast.walk(one) if isinstance(node, ast.Assign)]
        for node in ast.walk(self.kernel.tree):
            if isinstance(node, ast.For) and isinstance(node.target, ast.Name):
                self.types[node.target.id] = Type("int")
                self.counter.add(node.target.id)
        before: dict[str, Type] = {}
        while before != self.types:
            before = dict(self.types)
            for node in assigned:
                self._infer(node)
        lines = [line for node in body for line in self._statement(node)]
        own = {
            name: kind
            for name, kind in self.types.items()
            if name not in self.kernel.arguments and name not in self.counter
        }
        declared = [
            f"{kind.cpp} {name}_{'' if kind.rank else ' = 0'};" for name, kind in own.items()
        ]
        given = ", ".join(f"{kind.cpp} {name}_" for name, kind in self.kernel.arguments.items())
        head = f"INLINE {self.kernel.result.cpp} {self.kernel.symbol}({given}) {{"
        self.kernel.code = "\n    ".join([head, *declared, *lines]) + "\n}\n"

    def _refused(self, node: ast.AST, what: str = "") -> TranslationError:
        place = f"{self.module.path}:{getattr(node, 'lineno', self.kernel.tree.lineno)}"
        return TranslationError(f"{place}: {what or ast.unparse(node)} cannot be translated")

    # Types.

    def _infer(self, node: ast.Assign) -> None:
        for target, value in self._pairs(node):
            if isinstance(target, ast.Name):
                try:
                    kind = self._allocated(value) or self._expression(value)[1]
                except KeyError:  # a name whose type is not known yet
                    continue
                known = self.types.get(target.id)
                self.types[target.id] = kind if known is None else known.joined(kind)

    def _allocated(self, value: ast.expr) -> Type | None:
        """Return the type of np.empty(…) or np.zeros(…), or None if it is something else."""
        if not (isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute)):
            return None
        if value.func.attr not in ("empty", "zeros"):
            return None
        shape = value.args[0]
        dtype = value.args[1] if len(value.args) > 1 else None
        kind = _DTYPES[dtype.attr] if isinstance(dtype, ast.Attribute) else "float"
        return Type(kind, len(shape.elts) if isinstance(shape, ast.Tuple) else 1, True)

    def _pairs(self, node: ast.Assign) -> Iterator[tuple[ast.expr, ast.expr]]:
        for target in node.targets:
            yield from self._matched(target, node.value)

    def _matched(self, target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
        """Yield single targets and their values, of tuples inside tuples."""
        if not isinstance(target, ast.Tuple):
            yield target, value
            return
        parts: list[ast.expr]
        if isinstance(value, ast.Tuple):
            parts = value.elts
        elif isinstance(value, ast.Attribute) and value.attr == "shape":
            parts = [ast.Subscript(value, ast.Constant(k)) for k in range(len(target.elts))]
        elif (
            isinstance(value, ast.IfExp)
            and isinstance(value.body, ast.Tuple)
            and isinstance(value.orelse, ast.Tuple)
        ):
            both = zip(value.body.elts, value.orelse.elts, strict=True)
            parts = [ast.IfExp(value.test, one, other) for one, other in both]
        else:
            raise self._refused(target)
        for one, part in zip(target.elts, parts, strict=True):
            yield from self._matched(one, part)

    # Statements.

    def _statement(self, node: ast.stmt) -> list[str]:
        if isinstance(node, ast.Assign):
            return self._assign(node)
        if isinstance(node, ast.AugAssign):
            return [self._augmented(node)]
        if isinstance(node, ast.For):
            return self._for(node)
        if isinstance(node, ast.While):
            return self._block(f"while ({self._expression(node.test)[0]})", node.body)
        if isinstance(node, ast.If):
            lines = self._block(f"if ({self._expression(node.test)[0]})", node.body)
            return lines + (self._block("else", node.orelse) if node.orelse else [])
        if isinstance(node, ast.Return):
            value = "" if node.value is None else self._expression(node.value)[0]
            return [f"return {value};"]
        if isinstance(node, ast.Expr):
            if isinstance(node.value, ast.Constant):  # the docstring
                return []
            return [self._expression(node.value)[0] + ";"]
        if isinstance(node, ast.Continue | ast.Break):
            return [ast.unparse(node) + ";"]
        raise self._refused(node)

    def _block(self, head: str, body: list[ast.stmt]) -> list[str]:
        inside = [f"    {line}" for node in body for line in self._statement(node)]
        return [head + " {", *inside, "}"]

    def _for(self, node: ast.For) -> list[str]:
        call = node.iter
        if not (
            isinstance(node.target, ast.Name)
            and isinstance(call, ast.Call)
            and isinstance(call.func, ast.Name)
            and call.func.id == "range"
            and not node.orelse
        ):
            raise self._refused(node, "a loop other than over a range")
        bounds = [self._expression(one)[0] for one in call.args]
        start, stop = ("0", bounds[0]) if len(bounds) == 1 else (bounds[0], bounds[1])
        step = bounds[2] if len(bounds) == 3 else "1"
        i, sign = node.target.id + "_", ">" if step.startswith("(-") else "<"
        head = f"for (Int {i} = {start}, {i}end = {stop}; {i} {sign} {i}end; {i} += {step})"
        return self._block(head, node.body)

    def _assign(self, node: ast.Assign) -> list[str]:
        pairs = list(self._pairs(node))
        before, after = [], []
        for k, (target, value) in enumerate(pairs):
            made = self._allocated(value)
            if made is not None:
                before.append(self._allocation(target, value))
                continue
            code, kind = self._expression(value)
            if len(pairs) > 1 and not isinstance(value, ast.Constant):
                before.append(f"const {Type(kind.kind, kind.rank).cpp} t{k} = {code};")
                code = f"t{k}"
            after.append(self._stored(target, code, kind))
        lines = before + after
        return lines if len(pairs) == 1 else ["{", *(f"    {line}" for line in lines), "}"]

    def _allocation(self, target: ast.expr, value: ast.expr) -> str:
        assert isinstance(value, ast.Call)
        assert isinstance(value.func, ast.Attribute)
        shape = value.args[0]
        sizes = shape.elts if isinstance(shape, ast.Tuple) else [shape]
        zero = "true" if value.func.attr == "zeros" else "false"
        given = ", ".join([zero, *(self._expression(size)[0] for size in sizes)])
        return f"{ast.unparse(target)}_.allocate({given});"

    def _stored(self, target: ast.expr, code: str, kind: Type) -> str:
        if isinstance(target, ast.Name):
            if target.id in self.counter:
                raise self._refused(target, "an assignment to the counter of a loop")
            return f"{target.id}_ = {code};"
        if not isinstance(target, ast.Subscript):
            raise self._refused(target)
        self._write_to(target)
        place, whole = self._expression(target)
        if kind.rank:
            raise self._refused(target, "an assignment of a whole array")
        return f"{place}.fill({code});" if whole.rank else f"{place} = {code};"

    def _write_to(self, target: ast.expr) -> None:
        """Remember that the array behind a target is written, if it is an argument."""
        while isinstance(target, ast.Subscript):
            target = target.value
        if isinstance(target, ast.Name):
            self.kernel.written.add(target.id)

    def _augmented(self, node: ast.AugAssign) -> str:
        if isinstance(node.target, ast.Subscript):
            self._write_to(node.target)
        place, whole = self._expression(node.target)
        code, kind = self._expression(node.value)
        sign = {**_OPERATORS, ast.Div: "/"}.get(type(node.op))
        if whole.rank or kind.rank or sign is None:
            raise self._refused(node)
        if whole.kind == "bool":
            return f"{place} = {place} {sign} {code};"
        return f"{place} {sign}= {self._as(code, kind, whole.kind)};"

    # Expressions: their code and type.

    def _expression(self, node: ast.expr) -> tuple[str, Type]:
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise self._refused(node)
        result: tuple[str, Type] = method(node)
        return result

    @staticmethod
    def _as(code: str, kind: Type, wanted: str) -> str:
        """Convert an integer to a float where another operand is one."""
        return f"double({code})" if kind.kind == "int" and wanted in _KINDS[2:] else code

    def _constant(self, node: ast.Constant) -> tuple[str, Type]:
        value = node.value
        if isinstance(value, bool):
            return str(value).lower(), Type("bool")
        if isinstance(value, int):
            return str(value), Type("int")
        if isinstance(value, float):
            return _literal(value), Type("float")
        if isinstance(value, complex):
            return f"Complex({value.real!r}, {value.imag!r})", Type("complex")
        raise self._refused(node)

    def _name(self, node: ast.Name) -> tuple[str, Type]:
        name = node.id
        if name in self.types:
            return f"{name}_", self.types[name]  # no name of C++ ends like this
        if name in _NUMBERS:
            return _literal(_NUMBERS[name]), Type("float")  # type: ignore[arg-type]
        if name in self.module.numbers:
            value = self.kernel.numbers[name] = self.module.numbers[name]
            if isinstance(value, int):
                return str(value), Type("int")
            return _literal(value), Type("float")
        if name in self.module.arrays:
            kind = self.kernel.arrays[name] = self.module.arrays[name]
            return symbol(self.module.name, name), kind
        raise KeyError(name)

    def _attribute(self, node: ast.Attribute) -> tuple[str, Type]:
        if isinstance(node.value, ast.Name) and node.value.id == "np":
            if node.attr == "inf":
                return "INFINITY", Type("float")
            return _literal(getattr(_NUMBERS["np"], node.attr)), Type("float")
        if node.attr in ("real", "imag"):
            return f"{self._expression(node.value)[0]}.{node.attr}()", Type("float")
        if node.attr == "size":
            return f"{self._expression(node.value)[0]}.total()", Type("int")
        raise self._refused(node)

    def _subscript(self, node: ast.Subscript) -> tuple[str, Type]:
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            base = self._expression(node.value.value)[0]
            return f"{base}.size({self._expression(node.slice)[0]})", Type("int")
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        base, kind = self._expression(node.value)
        cut = [one for one in indices if isinstance(one, ast.Slice)]
        places = []
        for axis, one in enumerate(indices):
            if isinstance(one, ast.Slice):
                continue
            place = self._expression(one)[0]
            places.append(f"{base}.size({axis}) + {place}" if place.startswith("(-") else place)
        if not cut:
            rank = kind.rank - len(places)
            door = ".part" if rank else ""
            return f"{base}{door}({', '.join(places)})", Type(kind.kind, rank)
        if len(cut) > 1 or indices[-1] is not cut[0] or cut[0].step is not None:
            raise self._refused(node, "a slice other than of the last axis, without a step,")
        part = f"{base}.part({', '.join(places)})"
        if cut[0].lower is None and cut[0].upper is None:
            return part, Type(kind.kind, kind.rank - len(places))
        low = "0" if cut[0].lower is None else self._expression(cut[0].lower)[0]
        high = f"{part}.size(0)" if cut[0].upper is None else self._expression(cut[0].upper)[0]
        return f"{part}.slice({low}, {high})", Type(kind.kind, 1)

    def _binop(self, node: ast.BinOp) -> tuple[str, Type]:
        left, one = self._expression(node.left)
        right, other = self._expression(node.right)
        if one.rank or other.rank:
            raise self._refused(node, "arithmetic of whole arrays")
        kind = one.joined(other).kind
        if isinstance(node.op, ast.Pow):
            if not (isinstance(node.right, ast.Constant) and node.right.value == 2):
                raise self._refused(node, "a power other than a square")
            return f"squared({left})", Type(one.kind)
        if isinstance(node.op, ast.FloorDiv | ast.Mod):
            name = "floor_div" if isinstance(node.op, ast.FloorDiv) else "floor_mod"
            if kind != "int":
                raise self._refused(node, "a whole division of other than integers")
            return f"{name}({left}, {right})", Type("int")
        if isinstance(node.op, ast.Div):
            kind, sign = ("complex" if kind == "complex" else "float"), "/"
        elif type(node.op) in _OPERATORS:
            sign = _OPERATORS[type(node.op)]
            kind = "int" if kind == "bool" and sign in "+-*" else kind
        else:
            raise self._refused(node)
        left, right = self._as(left, one, kind), self._as(right, other, kind)
        return f"({left} {sign} {right})", Type(kind)

    def _unaryop(self, node: ast.UnaryOp) -> tuple[str, Type]:
        code, kind = self._expression(node.operand)
        if isinstance(node.op, ast.USub):
            return f"(-{code})", kind
        if isinstance(node.op, ast.Not):
            return f"(!{code})", Type("bool")
        raise self._refused(node)

    def _boolop(self, node: ast.BoolOp) -> tuple[str, Type]:
        sign = " && " if isinstance(node.op, ast.And) else " || "
        parts = [f"bool({self._expression(one)[0]})" for one in node.values]
        return f"({sign.join(parts)})", Type("bool")

    def _compare(self, node: ast.Compare) -> tuple[str, Type]:
        sides = [self._expression(one)[0] for one in [node.left, *node.comparators]]
        signs = [_COMPARISONS[type(one)] for one in node.ops]
        parts = [f"({a} {sign} {b})" for a, sign, b in zip(sides, signs, sides[1:], strict=False)]
        return f"({' && '.join(parts)})", Type("bool")

    def _ifexp(self, node: ast.IfExp) -> tuple[str, Type]:
        test = self._expression(node.test)[0]
        (one, kind), (other, second) = self._expression(node.body), self._expression(node.orelse)
        both = kind.joined(second)
        one, other = self._as(one, kind, both.kind), self._as(other, second, both.kind)
        return f"({test} ? {one} : {other})", both

    def _call(self, node: ast.Call) -> tuple[str, Type]:
        if node.keywords:
            raise self._refused(node, "a call with named arguments")
        if isinstance(node.func, ast.Attribute):
            return self._method(node, node.func)
        if not isinstance(node.func, ast.Name):
            raise self._refused(node)
        name = node.func.id
        if name in self.called:
            return self._kernel_call(node, self.called[name])
        if name == "len":
            return f"{self._expression(node.args[0])[0]}.size(0)", Type("int")
        given = [self._expression(one) for one in node.args]
        if name in ("int", "float"):
            return f"{_CPP[name]}({given[0][0]})", Type(name)
        if name == "complex":
            return f"Complex({given[0][0]}, {given[1][0]})", Type("complex")
        if name == "abs":
            kind = "float" if given[0][1].kind == "complex" else given[0][1].kind
            return f"std::abs({given[0][0]})", Type(kind)
        if name in ("min", "max"):
            return self._extreme(name, given)
        if name in _OF_NUMBERS:
            return f"std::{name}({self._as(*given[0], 'float')})", Type("float")
        raise self._refused(node)

    def _extreme(self, name: str, given: list[tuple[str, Type]]) -> tuple[str, Type]:
        code, kind = given[0]
        for other, second in given[1:]:
            kind = kind.joined(second)
            code = f"{'lesser' if name == 'min' else 'greater'}({code}, {other})"
        return code, kind

    def _kernel_call(self, node: ast.Call, other: Kernel) -> tuple[str, Type]:
        given = []
        for (name, kind), value in zip(other.arguments.items(), node.args, strict=True):
            code, own = self._expression(value)
            if own.rank != kind.rank or (kind.rank and own.kind != kind.kind):
                raise self._refused(value, f"{ast.unparse(value)} as {name} of {other.name}")
            if name in other.written:
                self._write_to(value)
            given.append(code)
        return f"{other.symbol}({', '.join(given)})", other.result

    def _method(self, node: ast.Call, func: ast.Attribute) -> tuple[str, Type]:
        if func.attr == "conjugate":
            return f"std::conj({self._expression(func.value)[0]})", Type("complex")
        module = func.value.id if isinstance(func.value, ast.Name) else ""
        if module in ("np", "math") and func.attr in _OF_NUMBERS:
            code, kind = self._expression(node.args[0])
            if kind.rank or kind.kind == "complex":
                raise self._refused(node)
            return f"std::{func.attr}({self._as(code, kind, 'float')})", Type("float")
        if module == "np" and func.attr in ("isinf", "isnan"):
            return f"std::{func.attr}({self._expression(node.args[0])[0]})", Type("bool")
        raise self._refused(node)


def _literal(value: float) -> str:
    """A float in C++."""
    return "INFINITY" if math.isinf(value) else repr(float(value))


def _extension(kernels: list[Kernel]) -> str:
    """Return the C++ of a module of these kernels, each after those that it calls."""
    arrays = {
        symbol(kernel.module, name): kind
        for kernel in kernels
        for name, kind in kernel.arrays.items()
    }
    record = {
        f"{kernel.module}.{kernel.name}": {
            "digest": kernel.digest,
            "numbers": kernel.numbers,
            "arrays": sorted(kernel.arrays),
        }
        for kernel in kernels
    }
    binding = [
        f'    if (!std::strcmp(name, "{name}")) return bind({name}, array);' for name in arrays
    ]
    return "\n".join(
        [
            '#include "arrays.h"',
            "",
            *(f"static {kind.cpp} {name};" for name, kind in arrays.items()),
            "",
            *(kernel.code for kernel in kernels),
            *(_door(kernel) for kernel in kernels),
            "static PyObject *bind_array(PyObject *, PyObject *given) {",
            "    const char *name;",
            "    PyObject *array;",
            '    if (!PyArg_ParseTuple(given, "sO", &name, &array)) return nullptr;',
            *binding,
            '    return PyErr_Format(PyExc_KeyError, "%s", name);',
            "}",
            "",
            "static PyMethodDef methods[] = {",
            '    {"bind", bind_array, METH_VARARGS, nullptr},',
            *(
                f'    {{"{one.symbol}", (PyCFunction)(void (*)(void))call_{one.symbol}, '
                "METH_FASTCALL, nullptr},"
                for one in kernels
            ),
            "    {nullptr, nullptr, 0, nullptr}};",
            "static PyModuleDef definition = {PyModuleDef_HEAD_INIT,",
            '    "_kernels", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};',
            "PyMODINIT_FUNC PyInit__kernels(void) {",
            "    import_array();",
            "    PyObject *module = PyModule_Create(&definition);",
            "    if (!module) return nullptr;",
            f'    PyModule_AddStringConstant(module, "KERNELS", {json.dumps(json.dumps(record))});',
            "    return module;",
            "}",
            "",
        ]
    )


def _door(kernel: Kernel) -> str:
    """Return the function that Python calls: arguments in, the kernel without the GIL, result."""
    name, kinds = kernel.symbol, kernel.arguments
    given = ", ".join(f"{kind.cpp} {word}_" for word, kind in kinds.items())
    words = ", ".join(f"{word}_" for word in kinds)
    reads = []
    for place, (word, kind) in enumerate(kinds.items()):
        if kind.rank:
            written = "true" if word in kernel.written else "false"
            code = f"in.array<{_CPP[kind.kind]}, {kind.rank}>({place}, {written})"
        else:
            door = {"int": "integer", "float": "number", "bool": "truth"}[kind.kind]
            code = f"in.{door}({place})"
        reads.append(f"    const {kind.cpp} {word}_ = {code};")
    result, result_type = kernel.result.kind, kernel.result.cpp
    back = {
        "None": "Py_RETURN_NONE",
        "int": "return PyLong_FromLongLong(result)",
        "float": "return PyFloat_FromDouble(result)",
        "bool": "return PyBool_FromLong(result)",
    }[result]
    keep = "" if result == "None" else "result = "
    lines = [
        f"static {result_type} plain_{name}({given}) {{ return {name}({words}); }}",
        f"MODERN static {result_type} modern_{name}({given}) {{ return {name}({words}); }}",
        f"static PyObject *call_{name}(PyObject *, PyObject *const *given, Py_ssize_t count) {{",
        f'    Arguments in("{kernel.name}", given, count, {len(kinds)});',
        *reads,
        *([] if result == "None" else [f"    {result_type} result = 0;"]),
        f"    if (!run(in, [&] {{ {keep}CHOSEN({name})({words}); }})) return nullptr;",
        f"    {back};",
        "}",
        "",
    ]
    return "\n".join(lines)
