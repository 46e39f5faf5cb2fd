"""The state of one lowering, and small builders of what it makes: Python's own nodes.

Each node stands at the place of the user's code that it stands for.
"""

from __future__ import annotations
import __future__

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import gast

from dy2st.transpiler.analysis import Analysis, Scope
from dy2st.transpiler.nodes import Block, Context, Node
from dy2st.transpiler.source import InnerCodes

Place: TypeAlias = "dict[str, Any]"

# One of each serves all nodes: the compiler asks for their class alone.
LOAD, STORE = ast.Load(), ast.Store()


def load(place: Place, name: str) -> ast.expr:
    """Read a name."""
    return ast.Name(id=name, ctx=LOAD, **place)


def store(place: Place, name: str) -> ast.expr:
    """Bind a name."""
    return ast.Name(id=name, ctx=STORE, **place)


def constant(place: Place, value: Any) -> ast.expr:
    """A literal."""
    return ast.Constant(value=value, **place)


def call(place: Place, function: str, *arguments: ast.expr) -> ast.expr:
    """Call what has a name in the factory."""
    return ast.Call(func=load(place, function), args=list(arguments), keywords=[], **place)


def call_of(
    place: Place,
    function: ast.expr,
    arguments: list[ast.expr],
    keywords: Sequence[ast.keyword] = (),
) -> ast.expr:
    """Call what an expression gives."""
    return ast.Call(func=function, args=arguments, keywords=list(keywords), **place)


def tuple_of(place: Place, values: Iterable[ast.expr]) -> ast.expr:
    """`(a, b)`."""
    return ast.Tuple(elts=list(values), ctx=LOAD, **place)


def loads(place: Place, names: Iterable[str]) -> ast.expr:
    """`(a, b)` of what variables hold."""
    return tuple_of(place, [load(place, name) for name in names])


def texts(place: Place, values: Iterable[str]) -> ast.expr:
    """A tuple of strings."""
    # One constant of the code: a display would be built again at each call.
    return constant(place, tuple(values))


def assign(place: Place, target: ast.expr, value: ast.expr) -> ast.stmt:
    """`target = value`."""
    return ast.Assign(targets=[target], value=value, **place)


def assign_name(place: Place, name: str, value: ast.expr) -> ast.stmt:
    """`name = value`."""
    return assign(place, store(place, name), value)


def assign_names(place: Place, names: Sequence[str], value: ast.expr) -> ast.stmt:
    """`(a, b) = value`; without names the value alone."""
    if not names:
        return ast.Expr(value=value, **place)
    targets: list[ast.expr] = [store(place, name) for name in names]
    return assign(place, ast.Tuple(elts=targets, ctx=STORE, **place), value)


def bind(place: Place, name: str, value: ast.expr) -> ast.expr:
    """`(name := value)`."""
    return ast.NamedExpr(target=store(place, name), value=value, **place)  # type: ignore[arg-type]


def arguments(place: Place, names: Iterable[str], own: Sequence[str] = ()) -> ast.arguments:
    """Plain parameters; those of `own` start as what has their name outside."""
    return ast.arguments(
        posonlyargs=[],
        args=[ast.arg(arg=name, **place) for name in (*names, *own)],
        kwonlyargs=[],
        kw_defaults=[],
        defaults=[load(place, name) for name in own],
    )


def thunk(place: Place, body: ast.expr, names: Iterable[str] = ()) -> ast.expr:
    """`lambda names: body`."""
    return ast.Lambda(args=arguments(place, names), body=body, **place)


def define(place: Place, name: str, parameters: ast.arguments, body: list[ast.stmt]) -> ast.stmt:
    """`def name(parameters): body`."""
    # `type_params` must be there from Python 3.12 on; before, nobody reads it.
    made: Any = ast.FunctionDef
    rest: dict[str, Any] = {"decorator_list": [], "type_params": [], **place}
    function: ast.stmt = made(name=name, args=parameters, body=body, returns=None, **rest)
    return function


def give(place: Place, value: ast.expr) -> ast.stmt:
    """`return value`."""
    return ast.Return(value=value, **place)


BINARY: dict[type, str] = {
    gast.Add: "add",
    gast.Sub: "sub",
    gast.Mult: "mul",
    gast.Div: "truediv",
    gast.FloorDiv: "floordiv",
    gast.Mod: "mod",
    gast.Pow: "pow_",
    gast.MatMult: "matmul",
    gast.LShift: "lshift",
    gast.RShift: "rshift",
    gast.BitAnd: "and_bits",
    gast.BitOr: "or_bits",
    gast.BitXor: "xor",
}

IN_PLACE: dict[type, str] = {
    gast.Add: "iadd",
    gast.Sub: "isub",
    gast.Mult: "imul",
    gast.Div: "itruediv",
    gast.FloorDiv: "ifloordiv",
    gast.Mod: "imod",
    gast.Pow: "ipow_",
    gast.MatMult: "imatmul",
    gast.LShift: "ilshift",
    gast.RShift: "irshift",
    gast.BitAnd: "iand_bits",
    gast.BitOr: "ior_bits",
    gast.BitXor: "ixor",
}

UNARY: dict[type, str] = {
    gast.USub: "neg",
    gast.UAdd: "pos",
    gast.Invert: "invert",
    gast.Not: "not_",
}

COMPARE: dict[type, str] = {
    gast.Lt: "lt",
    gast.LtE: "le",
    gast.Gt: "gt",
    gast.GtE: "ge",
    gast.Eq: "eq",
    gast.NotEq: "ne",
    gast.Is: "is_",
    gast.IsNot: "is_not",
    gast.In: "in_",
    gast.NotIn: "not_in",
}

# Python's own, which code reads under names of its own.
BUILTINS: dict[str, object] = {
    "BaseException": BaseException,
    "list": list,
    "set": set,
    "slice_": slice,
    "tuple": tuple,
}


_LAZY = __future__.annotations.compiler_flag

Expressions = Mapping[type, "Callable[[Lowering, Node], ast.expr]"]
Statements = Mapping[type, "Callable[[Lowering, Node], list[ast.stmt]]"]


class Lowering:
    """What the parts share: names, the code objects inside, and where statements are put.

    out: the statements in the making; functions that an expression needs go there before it.
    used: the parameters of the factory that stand for cells: variable -> name.
    """

    def __init__(
        self,
        context: Context,
        names: Analysis,
        inner: InnerCodes,
        expressions: Expressions,
        statements: Statements,
    ):
        """Start in the scope of the function."""
        self.context, self.names, self.inner = context, names, inner
        self.scope: Scope = names.scope
        self.out: list[ast.stmt] = []
        self.function = context.helper("F")
        self.free = frozenset(context.function.__code__.co_freevars)
        self.has_lazy_annotations = bool(context.function.__code__.co_flags & _LAZY)
        self.generators: set[str] = set()
        self._expressions, self._statements = expressions, statements
        self._place: Place = {}
        self._cells: dict[str, str] = {}
        self._own_names: frozenset[str] = frozenset(context.helpers.values())

    def place(self, node: Node) -> Place:
        """Where a node stands; one that a rewrite has made stands where the last one did."""
        line = getattr(node, "lineno", None)
        if line is not None:
            end = getattr(node, "end_lineno", None)
            self._place = {
                "lineno": line,
                "col_offset": node.col_offset,
                "end_lineno": line if end is None else end,
                "end_col_offset": node.col_offset if end is None else node.end_col_offset,
            }
        return self._place

    def expression(self, node: Node) -> ast.expr:
        """Lower an expression."""
        return self._expressions[node.__class__](self, node)

    def expressions(self, nodes: Block) -> list[ast.expr]:
        """Lower several expressions."""
        return [self.expression(node) for node in nodes]

    def block(self, nodes: Block) -> list[ast.stmt]:
        """Lower statements; what their expressions need stands before them."""
        before, self.out = self.out, []
        for node in nodes:
            made = self._statements[node.__class__](self, node)
            self.out += made
        out, self.out = self.out, before
        return out

    def apart(self, make: Callable[[], list[ast.stmt]]) -> list[ast.stmt]:
        """Statements of a block of their own, with the functions that they need."""
        before, self.out = self.out, []
        made = make()
        made, self.out = [*self.out, *made], before
        return made

    def operand(self, place: Place, value: ast.expr) -> ast.expr:
        """What gives the value of an operand that may not run; one that binds has statements."""
        binds = {self.context.helpers.get(name) for name in ("set_cell", "set_glob")} - {None}
        if not binds or not any(getattr(one, "id", "") in binds for one in ast.walk(value)):
            return thunk(place, value)
        name = self.fresh("operand_fn")
        self.out.append(define(place, name, arguments(place, ()), [give(place, value)]))
        return load(place, name)

    def fresh(self, stem: str) -> str:
        """A name for what is generated."""
        return self.context.fresh(stem)

    def helper(self, name: str) -> str:
        """The name of a function of the protocol."""
        return self.context.helper(name)

    def call(self, place: Place, name: str, *values: ast.expr) -> ast.expr:
        """Call a function of the protocol."""
        return call(place, self.context.helper(name), *values)

    def cell(self, name: str) -> str:
        """The name of the cell of a variable."""
        known = self._cells.get(name)
        if known is None:
            known = self._cells[name] = self.context.fresh(f"c_{name}")
        return known

    def shown(self, names: Iterable[str]) -> list[str]:
        """Names of variables as errors show them: those of our own functions are not the user's."""
        function = self.context.function
        is_ours = str(function.__module__).startswith("dy2st")
        of = f"of {function.__name__.strip('_')}()"
        return [f"`{name}` {of}" if is_ours else name for name in names]

    def parameters(self) -> tuple[dict[str, str], dict[str, str]]:
        """What the factory takes: the function's own cells, and functions by their names."""
        cells = {name: known for name, known in self._cells.items() if name in self.free}
        return cells, dict(self.context.helpers)

    def is_own(self, name: str) -> bool:
        """Whether a name is that of a function of the protocol, in what a rewrite has made."""
        return name in self._own_names

    # Names

    def read(self, place: Place, name: str, is_unsure: bool = False) -> ast.expr:
        """The value of a variable."""
        kind = self.scope.kind(name)
        text = constant(place, name)
        if kind == "local":
            value = load(place, name)
            return self.call(place, "defined", value, text) if is_unsure else value
        if self.is_cell(name):
            reader = "local_cell" if self.scope.has_cell(name) else "cell"
            return self.call(place, reader, load(place, self.cell(name)), text)
        if self.is_own(name):
            return load(place, name)
        if name == "__debug__":
            return load(place, name)
        return self.call(place, "glob", load(place, self.function), text)

    def write(self, place: Place, name: str, value: ast.expr) -> ast.stmt:
        """Give a variable a value."""
        if self.scope.kind(name) == "local":
            return assign_name(place, name, value)
        return ast.Expr(value=self.written(place, name, value), **place)

    def written(self, place: Place, name: str, value: ast.expr) -> ast.expr:
        """The call that gives a cell or global variable a value."""
        if self.is_cell(name):
            return self.call(place, "set_cell", load(place, self.cell(name)), value)
        function = load(place, self.function)
        return self.call(place, "set_glob", function, constant(place, name), value)

    def is_local(self, name: str) -> bool:
        """Whether Python's own local variable holds it."""
        return self.scope.kind(name) == "local"

    def is_cell(self, name: str) -> bool:
        """Whether a cell holds it, of this function or of one around it."""
        kind = self.scope.kind(name)
        return kind == "cell" or (not kind and name in self.free)

    def is_builtin(self, name: str) -> bool:
        """Whether a name means one of Python's own, as long as nobody gives it to a global."""
        is_free = not self.scope.kind(name) and name not in self.free
        return is_free and name not in self.context.function.__globals__

    def undefined(self, place: Place, name: str) -> ast.expr:
        """The value of a variable that has none."""
        return self.call(place, "undefined", constant(place, name))

    def builtin(self, place: Place, name: str) -> ast.expr:
        """One of Python's own, whatever the user has under its name."""
        assert name in BUILTINS
        return load(place, self.helper(name))
