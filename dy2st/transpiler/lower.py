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

import gast

from dy2st.transpiler import control_flow, expressions, functions, nodes, statements
from dy2st.transpiler.analysis import NameTable, analyse, bound_in, obstacle, parameter_nodes
from dy2st.transpiler.compile import TracedForm, compiled
from dy2st.transpiler.control_flow import keep_plain_loops
from dy2st.transpiler.lowering import Lowering, assign, define, load, parameters_of
from dy2st.transpiler.nodes import (
    CONTROL,
    SCOPES,
    YIELDS,
    Context,
    Node,
    at,
    is_bare_super,
    own_nodes,
    own_statements,
    split_docstring,
    statements_inside,
    to_gast,
    walk,
)
from dy2st.transpiler.rewrites import REWRITES
from dy2st.transpiler.source import InnerCodes, find_source, mangle, names_in
from dy2st.transpiler.source_printer import readable, to_source
from dy2st_runtime.thread_state import ByIdentity


def prepared(function: FunctionType) -> tuple[Node, Context, str]:
    """The tree of a function, with names as the compiler sees them, and why it has no form."""
    source = find_source(function)
    tree = to_gast(source.node)
    if isinstance(tree, gast.Lambda):  # as the function that it is
        body = [at(tree.body, gast.Return(tree.body))]
        tree = at(tree, gast.FunctionDef("<lambda>", tree.args, body, [], None, None, []))
    code = function.__code__
    context = Context(function, names_in(code) | {code.co_name})
    for node in walk(tree):
        context.kinds.add(node.__class__)
        if source.owner is not None:
            _mangle(node, source.owner)
        if isinstance(node, gast.AnnAssign) and not node.simple and node.value is None:
            node.target.ctx = gast.Load()  # `(x): int` says nothing of x
    return tree, context, reason_against(tree, context.taken)


def _mangle(node: Node, owner: str) -> None:
    """Private names, as the compiler makes them of the names in a class."""
    if isinstance(node, gast.Global | gast.Nonlocal):
        node.names = [mangle(name, owner) for name in node.names]
    if isinstance(node, gast.alias):
        private = mangle(node.asname or node.name, owner)
        node.asname = node.asname if private == (node.asname or node.name) else private
        return
    for field in ("id", "attr", "name", "rest"):
        value = getattr(node, field, None)
        if isinstance(value, str) and value.startswith("__"):
            setattr(node, field, mangle(value, owner))


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


def reason_against(tree: Node, names: set[str]) -> str:
    """The code of the reason, or nothing; its code has some names."""
    if isinstance(tree, gast.AsyncFunctionDef):
        return "async"
    for node in () if names.isdisjoint(_LOOK | _LOOK_WITHOUT_ARGUMENTS) else own_nodes(tree):
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
def lowered(function: FunctionType, pushes: bool = False) -> TracedForm:
    """Find the source of a function, lower and compile it."""
    tree, context, why = prepared(function)
    if why:
        return TracedForm(why, REASONS[why].why)
    if pushes:
        context.kinds -= YIELDS
    # The branches and loops that the user has written.
    found = [node for node in own_statements(tree.body) if isinstance(node, CONTROL)]
    written = [
        (node.__class__.__name__.lower(), node.lineno, node.col_offset + 1) for node in found
    ]
    low, form = form_of(tree, context)
    return compiled(low, form, tuple(written))


@_deep()
def code_of(function: FunctionType, steps: int | None = None, is_full: bool = False) -> str:
    """The text of the traced form of a function, or of what it is after so many rewrites.

    is_full: with operators and attributes as the calls that they are. A function that has no traced
    form is shown as it is.
    """
    tree, context, why = prepared(function)
    if why or (steps is not None and steps < len(REWRITES)):
        if not why:
            rewrite(tree, context, steps)
        tree.decorator_list = []
        return to_source(gast.gast_to_ast(tree))
    low, form = form_of(tree, context)
    return readable(low, tree, form, is_full)


@_deep()
def left_as_python(function: FunctionType) -> list[tuple[int, str]]:
    """The lines of statements that stay Python's own, with the code of the reason."""
    tree, context, why = prepared(function)
    rewrite(tree, context)
    return sorted({*_left_in(tree, NameTable(), 0, why)})


def _left_in(node: Node, table: NameTable, depth: int, why: str) -> Iterator[tuple[int, str]]:
    for inner in statements_inside(node) if depth else node.body:
        if isinstance(inner, SCOPES):
            continue
        left = why or obstacle(inner, table, depth) if isinstance(inner, CONTROL) else ""
        if left:
            yield inner.lineno, left
        yield from _left_in(inner, table, depth + 1, why)


def form_of(tree: Node, context: Context) -> tuple[Lowering, ast.stmt]:
    """Rewrite and lower a function."""
    # Before the rewrites, which add names of their own.
    outer = context.function.__code__.co_freevars  # a class inside may bind them
    local = bound_in(NameTable().inside(tree), tree).difference(outer)
    rewrite(tree, context)
    inner = InnerCodes(context.function)
    names = analyse(tree, local, inner.captured, context)
    low = Lowering(context, names, inner, _EXPRESSIONS, _STATEMENTS)
    body = low.block(split_docstring(tree.body)[1])
    start: list[ast.stmt] = []
    # What `*rest` holds may be as long as the data decides; the dict of `**named` is new.
    for node in (one for one in (tree.args.vararg, tree.args.kwarg) if one is not None):
        start.append(assign(node.id, low.call("rest", load(node.id))))
    # Cells of the function's own, with the values of its parameters.
    parameters = {node.id for node in parameter_nodes(tree)}
    for name in sorted(low.names.scope.cells):
        given = [load(name)] if name in parameters else []
        start.append(assign(low.cell(name), low.call("new_cell", *given)))
    # A read before the first assignment is found by the mark that the variable begins with.
    for name in sorted(low.names.starts):
        start.append(assign(name, low.undefined(name)))
    made = define(tree.name, parameters_of(tree.args), [*start, *body] or [ast.Pass()])
    return low, at(tree, made)


def rewrite(tree: Node, context: Context, steps: int | None = None) -> None:
    """Do the first rewrites, or all; before, `super()` has arguments, each `with` one manager."""
    function, first = context.function, [*tree.args.posonlyargs, *tree.args.args][:1]
    is_pythons = "super" in function.__code__.co_names and "super" not in function.__globals__
    if first and is_pythons and "__class__" in function.__code__.co_freevars:
        for node in filter(is_bare_super, own_nodes(tree)):
            node.args = [at(node, nodes.load("__class__")), at(node, nodes.load(first[0].id))]
    keep_plain_loops(tree)
    for node in own_statements(tree.body):
        for item in node.items[:0:-1] if isinstance(node, gast.With) else ():  # one in the other
            node.body = [at(item.context_expr, gast.With([item], node.body, None))]
            node.items.remove(item)
    for _, rewriting in REWRITES[:steps]:
        rewriting(tree, context)


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
        known = forms.setdefault(function.__code__, lowered(function, pushes))
        if on_form is not None:
            on_form(function)
    return known


# By identity, since two functions of two files may have equal code.
_forms: ByIdentity[CodeType, TracedForm] = ByIdentity()
_pushing_forms: ByIdentity[CodeType, TracedForm] = ByIdentity()
