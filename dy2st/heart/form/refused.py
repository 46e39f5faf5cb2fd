"""Which functions have no traced form, and why."""

from __future__ import annotations

import gast

from dy2st.transpiler.nodes import SCOPES, Node, walk, walk_scope

# Functions of Python that see the variables of their caller.
_LOOK = frozenset({"locals", "eval", "exec", "globals"})
_LOOK_WITHOUT_ARGUMENTS = frozenset({"vars", "dir"})


def reason_against(tree: Node) -> str:
    """The code of the reason (see `dy2st.transpiler.reasons`), or nothing."""
    if isinstance(tree, gast.AsyncFunctionDef):
        return "async"
    for statement in tree.body:
        for node in () if isinstance(statement, SCOPES) else walk_scope(statement):
            if isinstance(node, gast.Call) and _looks(node):
                return "namespace"
            if isinstance(node, gast.Await | gast.AsyncFor | gast.AsyncWith):
                return "async"
    for node in walk(tree):
        if node is not tree and getattr(node, "type_params", None):
            return "type-parameters"
    return ""


def _looks(node: Node) -> bool:
    name = node.func.id if isinstance(node.func, gast.Name) else ""
    return name in _LOOK or (name in _LOOK_WITHOUT_ARGUMENTS and not node.args)
