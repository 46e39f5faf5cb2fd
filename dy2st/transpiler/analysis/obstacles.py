"""What in a statement itself keeps it from being rewritten."""

from __future__ import annotations

import gast

from dy2st.transpiler.nodes import LOOPS, SCOPES, Block, Node, blocks, is_bare_super, walk_scope

MAXIMAL_DEPTH = 90


def obstacle(node: Node, depth: int, is_inside: bool = False) -> str:
    """The code of the first obstacle in a statement.

    is_inside: it stands in a statement without one, so that only a jump may be in its way.
    """
    if depth > MAXIMAL_DEPTH:
        return "depth"
    for inner in () if is_inside else walk_scope(node):
        if isinstance(inner, gast.Yield | gast.YieldFrom):
            return "yield"
        if is_bare_super(inner):
            return "super"
    return "jump" if _jumps_out(node) else ""


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
