"""Loops that compute with numbers alone: Python's own statement runs where all begins with such.

What such a loop reads are local variables and constants, what it does are operators and loops of
the same kind. So if its variables are numbers or texts when it begins, all values in it are.
"""

from __future__ import annotations

import ast
from typing import Any, NamedTuple

import gast

from dy2st.transpiler.analysis.flow import Flow
from dy2st.transpiler.lowering import Lowering
from dy2st.transpiler.nodes import LOOPS, SCOPES, Node, statements_inside, walk
from dy2st.transpiler.trees import Place, arguments, define, give, load, loads, tuple_of

_ALLOWED = (
    *(gast.For, gast.While, gast.If, gast.Pass, gast.Break, gast.Continue),
    *(gast.Assign, gast.AugAssign, gast.Name, gast.Constant, gast.Tuple),
    *(gast.BinOp, gast.UnaryOp, gast.BoolOp, gast.Compare, gast.IfExp),
)


def keep_plain_loops(tree: Node) -> None:
    """Keep the outermost loops of this kind as they are written: `plain` of the loop."""
    todo = statements_inside(tree)
    for node in todo:
        is_plain = isinstance(node, LOOPS) and not node.orelse
        if is_plain and all(isinstance(n, _ALLOWED) or _is_range(n) for n in _inside(node)):
            node.plain = gast.gast_to_ast(node)
            names = [one for one in _inside(node) if isinstance(one, gast.Name)]
            found = frozenset(one.id for one in names)
            written = {one.id for one in names if isinstance(one.ctx, gast.Store)}
            node.names_of_plain = found - written, found  # those that are read alone, and all
        elif not isinstance(node, SCOPES):
            todo += statements_inside(node)


def _inside(loop: Node) -> list[Node]:
    """All of a loop but for what it runs over."""
    parts = [loop.test] if isinstance(loop, gast.While) else [loop.target]
    return [node for part in (*parts, *loop.body) for node in walk(part)]


def _is_range(node: Node) -> bool:
    is_call = isinstance(node, gast.Call) and isinstance(node.func, gast.Name)
    return is_call and node.func.id == "range" and not node.keywords


class PlainLoop(NamedTuple):
    """A loop as it is written: the function of it, and what a call of the staged one gets of it."""

    made: list[ast.stmt]
    given: list[ast.expr]


def plain_loop(low: Lowering, place: Place, loop: Node, flow: Flow) -> PlainLoop:
    """`def plain_loop_0(n, a): while ...; return (a,)`, and `(plain_loop_0, (n, a))`.

    A `for` takes what it runs over first. Without such a loop there is nothing.
    """
    if not hasattr(loop, "plain"):
        return PlainLoop([], [])
    written: Any = loop.plain
    only_read, names = loop.names_of_plain
    if not all(low.is_local(name) or name == "range" for name in names):
        return PlainLoop([], [])
    name = low.fresh("plain_loop")
    read = sorted(names & {*only_read, *flow.given, *flow.own})
    unset = [one for one in flow.state if one in names and one not in flow.given]
    parameters = list(read)
    if isinstance(written, ast.For):
        iterable = low.fresh("iterable")
        written.iter = load(place, iterable)
        parameters.insert(0, iterable)
    body = [written, give(place, loads(place, flow.state))]
    made = define(place, name, arguments(place, parameters, unset), body)
    asked = tuple_of(place, [low.read(place, one) for one in read])
    return PlainLoop([made], [tuple_of(place, [load(place, name), asked])])
