"""What in a statement itself keeps it from being rewritten."""

from __future__ import annotations

from typing import NamedTuple

import gast

from dy2st.transpiler.analysis.scopes import Names
from dy2st.transpiler.nodes import LOOPS, SCOPES, Block, Node, blocks, walk_scope

MAXIMAL_DEPTH = 25


class Left(NamedTuple):
    """A statement is left as Python: the code of the reason, and the name concerned."""

    code: str
    name: str = ""


def obstacle(node: Node, names: Names, outer_writes: set[str], depth: int) -> Left | None:
    """The first obstacle in a statement, or None."""
    if depth > MAXIMAL_DEPTH:
        return Left("depth")
    for inner in walk_scope(node):
        left = _of_node(inner)
        if left is not None:
            return left
    if outer_writes:
        return Left("outer-write", min(outer_writes))
    if _jumps_out(node):
        return Left("jump")
    if isinstance(node, gast.While):
        for inner in gast.walk(node.test):
            if isinstance(inner, gast.NamedExpr):
                return Left("walrus", inner.target.id)
    return None


def _of_node(node: Node) -> Left | None:
    if isinstance(node, gast.Yield | gast.YieldFrom | gast.Await):
        return Left("yield")
    if isinstance(node, gast.AsyncFor | gast.AsyncWith):
        return Left("async")
    if isinstance(node, gast.comprehension) and node.is_async:
        return Left("async")
    if isinstance(node, gast.Global | gast.Nonlocal):
        return Left("outer-write", node.names[0])
    if isinstance(node, gast.Call) and _is_bare_super(node):
        return Left("super")
    return _class_inside(node)


def _class_inside(node: Node) -> Left | None:
    for block in blocks(node):
        for statement in block:
            if isinstance(statement, gast.ClassDef):
                return Left("class", statement.name)
    return None


def _is_bare_super(node: Node) -> bool:
    function = node.func
    return (
        isinstance(function, gast.Name)
        and function.id == "super"
        and not node.args
        and not node.keywords
    )


def _jumps_out(node: Node) -> bool:
    """Whether a jump that was not rewritten leaves the statement."""
    return any(map(_jumps, blocks(node)))


def _jumps(block: Block) -> bool:
    for statement in block:
        if isinstance(statement, gast.Return | gast.Break | gast.Continue):
            return True
        if isinstance(statement, LOOPS):
            if _returns(statement.body) or _jumps(statement.orelse):
                return True
        elif not isinstance(statement, SCOPES) and _jumps_out(statement):
            return True
    return False


def _returns(block: Block) -> bool:
    for statement in block:
        if isinstance(statement, gast.Return):
            return True
        if not isinstance(statement, SCOPES) and any(map(_returns, blocks(statement))):
            return True
    return False
