"""Which functions have no traced form, and why."""

from __future__ import annotations

import gast

from dy2st.transpiler.nodes import SCOPES, Node, walk_scope
from dy2st.transpiler.reasons import REASONS as OF_STATEMENTS
from dy2st.transpiler.reasons import Reason

REASONS: dict[str, Reason] = {
    "async": OF_STATEMENTS["async"],
    "namespace": OF_STATEMENTS["namespace"],
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
            if isinstance(node, gast.Call) and _looks(node):
                return "namespace"
    return ""


def _looks(node: Node) -> bool:
    name = node.func.id if isinstance(node.func, gast.Name) else ""
    return name in _LOOK or (name in _LOOK_WITHOUT_ARGUMENTS and not node.args)
