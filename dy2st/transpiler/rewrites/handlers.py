"""An `except` that catches nearly everything lets a refusal of dy2st pass: Python has none.

except Exception: convert_caught(); ...
"""

from __future__ import annotations

import gast

from dy2st.transpiler.context import Context
from dy2st.transpiler.nodes import SCOPES, Node, at, functions_in, is_own, walk_scope

# The classes of Python that refusals are instances of.
_BROAD = frozenset(
    {
        "BaseException",
        "EnvironmentError",
        "Exception",
        "IOError",
        "OSError",
        "RuntimeError",
        "TypeError",
    }
)


def transform(tree: Node, context: Context) -> None:
    """Begin every broad handler with the check."""
    for function in functions_in(tree):
        for statement in function.body:
            for node in () if isinstance(statement, SCOPES) else list(walk_scope(statement)):
                if _catches_all(node):
                    check = gast.Expr(context.call("convert_caught"))
                    node.body.insert(0, at(node.body[0], check))


def _catches_all(node: Node) -> bool:
    return isinstance(node, gast.ExceptHandler) and not is_own(node) and _is_broad(node.type)


def _is_broad(kind: Node | None) -> bool:
    if isinstance(kind, gast.Tuple):
        return any(map(_is_broad, kind.elts))
    return kind is None or (isinstance(kind, gast.Name) and kind.id in _BROAD)
