"""The condition of a statement left as Python names the reason, for the error if it is a tensor.

if convert_python_bool(test, "yield"): ...
"""

from __future__ import annotations

import gast

from dy2st.transpiler.context import Context
from dy2st.transpiler.nodes import Node, at, constant, statements
from dy2st.transpiler.rewrites.logical import is_surely_bool


def transform(tree: Node, context: Context) -> None:
    """Wrap the conditions and iterables of all statements that were left as Python."""
    for node in statements(tree):
        facts = getattr(node, "facts", None)
        if facts is None or facts.left is None:
            continue
        code, name = facts.left
        reason = [constant(code)] + ([constant(name)] if name else [])
        if isinstance(node, gast.For):
            node.iter = at(node.iter, context.call("convert_python_iter", node.iter, *reason))
        elif not is_surely_bool(node.test):
            node.test = at(node.test, context.call("convert_python_bool", node.test, *reason))
