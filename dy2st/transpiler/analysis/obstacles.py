"""What in a statement itself keeps it from being rewritten."""

from __future__ import annotations

from typing import NamedTuple

import gast

from dy2st.transpiler.nodes import LOOPS, SCOPES, Block, Node, blocks, is_bare_super, walk_scope

MAXIMAL_DEPTH = 90


class Left(NamedTuple):
    """A statement is left as Python: the code of the reason, and the name concerned."""

    code: str
    name: str = ""


def obstacle(node: Node, depth: int, is_inside: bool = False) -> Left | None:
    """The first obstacle in a statement, or None; one inside of another without has but jumps."""
    if depth > MAXIMAL_DEPTH:
        return Left("depth")
    for inner in () if is_inside else walk_scope(node):
        left = _of_node(inner)
        if left is not None:
            return left
    return Left("jump") if _jumps_out(node) else None


def _of_node(node: Node) -> Left | None:
    if isinstance(node, gast.Yield | gast.YieldFrom | gast.Await):
        return Left("yield")
    if isinstance(node, gast.AsyncFor | gast.AsyncWith):
        return Left("async")
    if isinstance(node, gast.comprehension) and node.is_async:
        return Left("async")
    if is_bare_super(node):
        return Left("super")
    return None


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
