"""From the source of a function to its traced form, made once for each code object.

A statement, or a whole function, that is left as Python is exact for Python values. If its
condition turns out to be a traced tensor, the error is worded from REASONS.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

import gast

from dy2st.transpiler import control_flow, expressions, functions, match, statements
from dy2st.transpiler.analysis import NameTable, analyse, bound_in, obstacle, parameter_nodes
from dy2st.transpiler.compile import Factory, Statement, compiled, factory_tree
from dy2st.transpiler.control_flow import keep_plain_loops
from dy2st.transpiler.jumps import single_exit, without_jumps
from dy2st.transpiler.lowering import Lowering, assign, load
from dy2st.transpiler.nodes import (
    CONTROL,
    FUNCTIONS,
    SCOPES,
    Context,
    Node,
    at,
    constant,
    kinds_in,
    name_super,
    split_docstring,
    statements_inside,
    to_gast,
    walk,
    walk_scope,
)
from dy2st.transpiler.source import InnerCodes, find_source, mangle, names_in
from dy2st.transpiler.source_printer import readable, to_source
from dy2st_runtime.thread_state import ByIdentity


def prepared(function: FunctionType) -> tuple[Node, Context]:
    """The tree of a function, with names as the compiler sees them."""
    source = find_source(function)
    tree = to_gast(source.node)
    if isinstance(tree, gast.Lambda):  # as the function that it is
        body = [at(tree.body, gast.Return(tree.body))]
        made = gast.FunctionDef("<lambda>", tree.args, body, [], None, None, [])
        tree = at(tree, made)
    if source.owner is not None:
        # Private names, as the compiler makes them of the names in a class
        owner = source.owner
        fields = ("id", "attr", "name", "rest")
        for node in walk(tree):
            if isinstance(node, gast.Global | gast.Nonlocal):
                node.names = [mangle(name, owner) for name in node.names]
            if isinstance(node, gast.alias):
                private = mangle(node.asname or node.name, owner)
                node.asname = node.asname if private == (node.asname or node.name) else private
                continue
            for name in fields:
                value = getattr(node, name, None)
                if isinstance(value, str) and value.startswith("__"):
                    setattr(node, name, mangle(value, owner))
    code = function.__code__
    return tree, Context(function, names_in(code) | {code.co_name})


def without_decorators(tree: Node) -> ast.AST:
    """A function in Python's own nodes, as it is converted."""
    tree.decorator_list = []
    made: ast.AST = gast.gast_to_ast(tree)
    return made


@dataclass(frozen=True)
class Reason:
    """Why, and what to write instead; `{name}` stands for the variable concerned."""

    why: str
    hint: str


REASONS: dict[str, Reason] = {
    "yield": Reason(
        "the statement contains `yield` or `await`, which must run in the function itself",
        "compute the tensor condition in a helper function without `yield`",
    ),
    "jump": Reason(
        "a `return`, `break` or `continue` leaves it in `finally`, a generator or a coroutine",
        "assign a result inside the statement, and leave the loop or function after it",
    ),
    "super": Reason(
        "it calls super() without arguments",
        "call super() before the statement, or write super(Class, self)",
    ),
    "namespace": Reason(
        "its function calls locals(), eval(), exec(), vars() or dir(), which would see the rewrite",
        "make the call in a function of its own",
    ),
    "depth": Reason(
        "it is nested too deeply to be rewritten", "split the function into smaller ones"
    ),
    "async": Reason(
        "it stands in or contains an `async` statement",
        "move the tensor code into a plain function",
    ),
}

# Functions of Python that see the variables of their caller, or which future features it has.
_LOOK = frozenset({"locals", "eval", "exec", "compile"})
_LOOK_WITHOUT_ARGUMENTS = frozenset({"vars", "dir"})


def reason_against(tree: Node) -> str:
    """The code of the reason, or nothing."""
    if isinstance(tree, gast.AsyncFunctionDef):
        return "async"
    for statement in tree.body:
        for node in () if isinstance(statement, SCOPES) else walk_scope(statement):
            if isinstance(node, gast.Call) and isinstance(node.func, gast.Name):
                name = node.func.id
                if name in _LOOK or (name in _LOOK_WITHOUT_ARGUMENTS and not node.args):
                    return "namespace"
    return ""


_EXPRESSIONS = {**expressions.EXPRESSIONS, **functions.EXPRESSIONS}
_STATEMENTS = {**statements.STATEMENTS, **control_flow.STATEMENTS, **functions.STATEMENTS}


@contextmanager
def _deep() -> Iterator[None]:
    """Let statements stand in each other as deep as they may: each takes several calls."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 5000))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


@_deep()
def lowered(function: FunctionType, pushes: bool = False) -> Factory | str:
    """The factory of the traced form of a function, or why it has none."""
    tree, context = prepared(function)
    if pushes:
        push_yields(tree, context)
    why = reason_against(tree)
    if why:
        return why
    # The branches and loops that the user has written.
    written: list[Statement] = []
    found = list(tree.body)
    for node in found:
        if isinstance(node, SCOPES):
            continue
        if node.__class__ in _KINDS:
            written.append((_KINDS[node.__class__], node.lineno, node.col_offset + 1))
        found += statements_inside(node)
    low, module = module_of(tree, context)
    return compiled(low, module, tuple(written))


@_deep()
def code_of(function: FunctionType, steps: int | None = None, is_full: bool = False) -> str:
    """The text of the traced form of a function, or of what it is after so many rewrites.

    is_full: with operators and attributes as the calls that they are. A function that has no traced
    form is shown as it is.
    """
    tree, context = prepared(function)
    if reason_against(tree):
        return to_source(without_decorators(tree))
    if steps is not None and steps < len(REWRITES):
        _prepare(tree)
        for _, rewrite in REWRITES[:steps]:
            rewrite(tree, context)
        return to_source(without_decorators(tree))
    low, module = module_of(tree, context)
    factory: Any = module.body[0]
    return readable(low, tree, factory.body[0], is_full)


@_deep()
def left_as_python(function: FunctionType) -> list[tuple[int, str]]:
    """The lines of statements that stay Python's own, with the code of the reason."""
    tree, context = prepared(function)
    why = reason_against(tree)
    _prepare(tree)
    for _, rewrite in REWRITES:
        rewrite(tree, context)
    return sorted({*_left_in(tree, 0, why)})


def _left_in(node: Node, depth: int, why: str) -> Iterator[tuple[int, str]]:
    for inner in statements_inside(node) if depth else node.body:
        if isinstance(inner, SCOPES):
            continue
        left = why or obstacle(inner, depth) if isinstance(inner, CONTROL) else ""
        if left:
            yield inner.lineno, left
        yield from _left_in(inner, depth + 1, why)


def module_of(tree: Node, context: Context) -> tuple[Lowering, ast.Module]:
    """Rewrite and lower a function."""
    _prepare(tree)
    # Before the rewrites, which add names of their own.
    local = bound_in(NameTable().inside(tree), tree)
    for _, rewrite in REWRITES:
        rewrite(tree, context)
    inner = InnerCodes(context.function)
    names = analyse(tree, local, inner.captured, context)
    low = Lowering(context, names, inner, _EXPRESSIONS, _STATEMENTS)
    body = low.block(split_docstring(tree.body)[1])
    start: list[ast.stmt] = []
    if tree.args.vararg is not None:
        # What `*rest` holds may be as long as the data decides.
        rest = tree.args.vararg.id
        start.append(assign(rest, low.call("rest", load(rest))))
    # Cells of the function's own, with the values of its parameters.
    parameters = {node.id for node in parameter_nodes(tree)}
    for name in sorted(low.names.scope.cells):
        given = [load(name)] if name in parameters else []
        start.append(assign(low.cell(name), low.call("new_cell", *given)))
    # A read before the first assignment is found by the mark that the variable begins with.
    for name in sorted(low.names.starts):
        start.append(assign(name, low.undefined(name)))
    return low, factory_tree(low, tree, [*start, *body] or [ast.Pass()])


_KINDS = {gast.If: "if", gast.While: "while", gast.For: "for"}


def _prepare(tree: Node) -> None:
    """Functions inside stay as they are, and `(x): int` says nothing of x."""
    for node in walk(tree):
        if node is not tree and isinstance(node, FUNCTIONS):
            node.untouched = True
        if isinstance(node, gast.AnnAssign) and not node.simple and node.value is None:
            node.target.ctx = gast.Load()
    keep_plain_loops(tree)


def _match(tree: Node, context: Context) -> None:
    """No `match`, and no `super()` that looks into the frame."""
    # The kinds are counted anew: rewrites that find nothing of theirs are not run at all.
    name_super(tree, context)
    context.kinds = kinds_in(tree)
    if context.has(gast.Match):
        match.transform(tree, context)
        context.kinds = kinds_in(tree)


REWRITES: tuple[tuple[str, Callable[[Node, Context], None]], ...] = (
    ("match", _match),
    ("early_return", single_exit),
    ("break_continue", without_jumps),
)


def push_yields(tree: Node, context: Context) -> None:
    """Rewrite every `yield` of a function, not those of functions inside."""
    for statement in tree.body:
        if not isinstance(statement, SCOPES):
            _in_fields(statement, context)


def _in_fields(node: Node, context: Context) -> None:
    for name, value in gast.iter_fields(node):
        if isinstance(value, list):
            value[:] = [_pushed(one, context) for one in value]
        else:
            setattr(node, name, _pushed(value, context))


def _pushed(node: Any, context: Context) -> Any:
    if not isinstance(node, gast.AST) or isinstance(node, (*SCOPES, gast.Lambda)):
        return node
    _in_fields(node, context)
    if isinstance(node, gast.Yield):
        value = constant(None) if node.value is None else node.value
        return at(node, context.call("push", value))
    if isinstance(node, gast.YieldFrom):
        return at(node, context.call("push_all", node.value))
    return node


class TracedForm:
    """A function whose every touch of an object goes through a protocol.

    untouched: why it has no such form (a key of REASONS); empty if it has.
    """

    def __init__(self, function: FunctionType, pushes: bool = False):
        """Find the source of a function, lower and compile it."""
        made = lowered(function, pushes)
        self.untouched = made if isinstance(made, str) else ""
        self._factory = made if isinstance(made, Factory) else None

    @property
    def why(self) -> str:
        """Why it has no traced form, in words; empty if it has."""
        return REASONS[self.untouched].why if self.untouched else ""

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The branches and loops that the user has written in it."""
        return () if self._factory is None else self._factory.statements

    def bind(self, protocol: object, function: FunctionType) -> FunctionType:
        """The function that does what `function`, which has this code, does by the protocol."""
        return function if self._factory is None else self._factory.made(protocol, function)


def traced_form(
    function: FunctionType,
    pushes: bool = False,
    on_form: Callable[[FunctionType], object] | None = None,
) -> TracedForm:
    """The traced form of a function; raises SourceUnavailable if its source is not to be found.

    pushes: each `yield` of a generator function calls `push` of the protocol.
    on_form: gets a function whose form is made now.
    """
    forms = _pushing_forms if pushes else _forms
    known = forms.get(function.__code__)
    if known is None:
        known = forms.setdefault(function.__code__, TracedForm(function, pushes))
        if on_form is not None:
            on_form(function)
    return known


# By identity, since two functions of two files may have equal code.
_forms: ByIdentity[CodeType, TracedForm] = ByIdentity()
_pushing_forms: ByIdentity[CodeType, TracedForm] = ByIdentity()
