"""Why a statement, or a whole function, is left as Python: the cause and what to write instead.

A statement left as Python is exact for Python values. If its condition turns out to be a traced
tensor, the error is worded from this table.
"""

from __future__ import annotations

from dataclasses import dataclass

import gast

from dy2st.transpiler.nodes import SCOPES, Node, walk_scope


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
