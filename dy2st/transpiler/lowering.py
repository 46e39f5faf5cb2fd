"""The state of one lowering, and small builders of what it makes: Python's own nodes.

Each node stands at the place of the user's code that it stands for.
"""

from __future__ import annotations
import __future__

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import gast

from dy2st.transpiler.analysis import Analysis, Scope
from dy2st.transpiler.nodes import Block, Context, Node, at
from dy2st.transpiler.source import InnerCodes

# One of each serves all nodes: the compiler asks for their class alone.
LOAD, STORE = ast.Load(), ast.Store()


def load(name: str) -> ast.expr:
    """Read a name."""
    return ast.Name(name, LOAD)


def store(name: str) -> ast.expr:
    """Bind a name."""
    return ast.Name(name, STORE)


def constant(value: Any) -> ast.expr:
    """A literal."""
    return ast.Constant(value)


def tuple_of(values: Iterable[ast.expr]) -> ast.expr:
    """`(a, b)`."""
    return ast.Tuple([*values], LOAD)


def loads(names: Iterable[str]) -> ast.expr:
    """`(a, b)` of what variables hold."""
    return tuple_of(map(load, names))


def assign(name: str, value: ast.expr) -> ast.stmt:
    """`name = value`."""
    return ast.Assign([store(name)], value)


def assign_names(names: Sequence[str], value: ast.expr) -> ast.stmt:
    """`(a, b) = value`; without names the value alone."""
    if not names:
        return ast.Expr(value)
    return ast.Assign([ast.Tuple([*map(store, names)], STORE)], value)


def bind(name: str, value: ast.expr) -> ast.expr:
    """`(name := value)`."""
    return ast.NamedExpr(store(name), value)  # type: ignore[arg-type]


def arguments(names: Iterable[str], own: Sequence[str] = ()) -> ast.arguments:
    """Plain parameters; those of `own` start as what has their name outside."""
    parameters = [ast.arg(name) for name in (*names, *own)]
    return ast.arguments([], parameters, None, [], [], None, [load(name) for name in own])


def thunk(body: ast.expr, names: Iterable[str] = ()) -> ast.expr:
    """`lambda names: body`."""
    return ast.Lambda(arguments(names), body)


def define(name: str, parameters: ast.arguments, body: list[ast.stmt]) -> ast.stmt:
    """`def name(parameters): body`."""
    made: Any = ast.FunctionDef(name, parameters, body, [])
    made.type_params = []  # must be there from Python 3.12 on; before, nobody reads it
    return made  # type: ignore[no-any-return]


def parameters_of(a: Node) -> ast.arguments:
    """Those of the user's function, without defaults."""

    def names(nodes: list[Node]) -> list[ast.arg]:
        return [ast.arg(node.id) for node in nodes]

    vararg, kwarg = (None if one is None else ast.arg(one.id) for one in (a.vararg, a.kwarg))
    only = names(a.kwonlyargs)
    nothing: list[ast.expr | None] = [None] * len(only)
    return ast.arguments(names(a.posonlyargs), names(a.args), vararg, only, nothing, kwarg, [])


# The function of the protocol for each operator; `i` before it for that of `+=` and its like.
OPERATORS: dict[type, str] = {
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
    gast.USub: "neg",
    gast.UAdd: "pos",
    gast.Invert: "invert",
    gast.Not: "not_",
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
        self.fresh = context.fresh
        self.scope: Scope = names.scope
        self.out: list[ast.stmt] = []
        self.function = context.helper("F")
        self.free = frozenset(context.function.__code__.co_freevars)
        self.has_lazy_annotations = bool(context.function.__code__.co_flags & _LAZY)
        self.generators: set[str] = set()
        self._expressions, self._statements = expressions, statements
        self.cells: dict[str, str] = {}
        # Functions of the protocol in what the rewrites have made.
        self._own_names = frozenset(context.helpers.values())

    def expression(self, node: Node) -> ast.expr:
        """Lower an expression."""
        return at(node, self._expressions[node.__class__](self, node))

    def expressions(self, nodes: Block) -> list[ast.expr]:
        """Lower several expressions."""
        return [self.expression(node) for node in nodes]

    def block(self, nodes: Block) -> list[ast.stmt]:
        """Lower statements; what their expressions need stands before them."""
        before, self.out = self.out, []
        for node in nodes:
            made = self._statements[node.__class__](self, node)
            self.out += [at(node, one) for one in made]
        out, self.out = self.out, before
        return out

    def apart(self, make: Callable[[], list[ast.stmt]]) -> list[ast.stmt]:
        """Statements of a block of their own, with the functions that they need."""
        before, self.out = self.out, []
        made = make()
        made, self.out = [*self.out, *made], before
        return made

    def operand(self, node: Node, value: ast.expr) -> ast.expr:
        """What gives the value of an operand that may not run; one that binds has statements."""
        binds = {self.context.helpers.get(name) for name in ("set_cell", "set_glob")} - {None}
        if not binds or not any(getattr(one, "id", "") in binds for one in ast.walk(value)):
            return thunk(value)
        name = self.fresh("operand_fn")
        self.out.append(at(node, define(name, arguments(()), [ast.Return(value)])))
        return load(name)

    def call(self, name: str, *values: ast.expr) -> ast.expr:
        """Call a function of the protocol."""
        return ast.Call(load(self.context.helper(name)), [*values], [])

    def cell(self, name: str) -> str:
        """The name of the cell of a variable."""
        known = self.cells.get(name)
        if known is None:
            known = self.cells[name] = self.context.fresh(f"c_{name}")
        return known

    def shown(self, names: Iterable[str]) -> ast.expr:
        """Names of variables as errors show them: those of our own functions are not the user's."""
        # One constant of the code: a display would be built again at each call.
        function = self.context.function
        is_ours = str(function.__module__).startswith("dy2st")
        of = f"of {function.__name__.strip('_')}()"
        return constant(tuple(f"`{name}` {of}" if is_ours else name for name in names))

    # Names

    def read(self, name: str, is_unsure: bool = False) -> ast.expr:
        """The value of a variable."""
        kind = self.scope.kind(name)
        text = constant(name)
        if kind == "local":
            return self.call("defined", load(name), text) if is_unsure else load(name)
        if self.is_cell(name):
            reader = "local_cell" if self.scope.has_cell(name) else "cell"
            return self.call(reader, load(self.cell(name)), text)
        if name in self._own_names or name == "__debug__":
            return load(name)
        return self.call("glob", load(self.function), text)

    def write(self, name: str, value: ast.expr) -> ast.stmt:
        """Give a variable a value."""
        if self.is_local(name):
            return assign(name, value)
        return ast.Expr(self.written(name, value))

    def written(self, name: str, value: ast.expr) -> ast.expr:
        """The call that gives a cell or global variable a value."""
        if self.is_cell(name):
            return self.call("set_cell", load(self.cell(name)), value)
        return self.call("set_glob", load(self.function), constant(name), value)

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

    def undefined(self, name: str) -> ast.expr:
        """The value of a variable that has none."""
        return self.call("undefined", constant(name))

    def builtin(self, name: str) -> ast.expr:
        """One of Python's own, whatever the user has under its name."""
        assert name in BUILTINS
        return load(self.context.helper(name))
