"""A function says which variables of others it assigns, and which of its own others may assign.

    convert_outer(lambda: (count,), ("total",))      count is nonlocal, total global
    convert_own(lambda: (count,))                    in the function whose variable `count` is

Both stand at the start of the function, so that a traced branch from which it is called knows what
to put back.
"""

from __future__ import annotations

import gast

from dy2st.transpiler.analysis.scopes import Names, NameTable, bound_in
from dy2st.transpiler.context import Context
from dy2st.transpiler.nodes import (
    FUNCTIONS,
    Node,
    at,
    constant,
    split_docstring,
    statements,
    thunk,
    tuple_of,
)
from dy2st.transpiler.source import mangle


def announce(function: Node, context: Context) -> None:
    """Insert the calls that a function needs, if any."""
    names = NameTable().inside(function)
    assigned = (names.writes | names.deletes) & names.declared
    nonlocals = sorted(assigned & names.nonlocals)
    globals_ = [mangle(name, function.owner) for name in sorted(assigned - names.nonlocals)]
    own = sorted(assigned_inside(function) & bound_in(names, function))
    calls = [context.call("convert_own", thunk(tuple_of(own)))] if own else []
    if assigned:
        calls.append(outer_call(nonlocals, globals_, context))
    if not calls:
        return
    docstring, rest = split_docstring(function.body)
    declared = [s for s in rest if isinstance(s, gast.Global | gast.Nonlocal)]
    rest = [s for s in rest if not isinstance(s, gast.Global | gast.Nonlocal)]
    place = (rest or declared)[0]
    function.body = [*docstring, *declared, *(at(place, gast.Expr(c)) for c in calls), *rest]


def outer_call(nonlocals: list[str], globals_: list[str], context: Context) -> Node:
    """`convert_outer(lambda: (a, b), ("c",))`."""
    strings = [gast.Tuple([constant(name) for name in globals_], gast.Load())] if globals_ else []
    return context.call("convert_outer", thunk(tuple_of(nonlocals)), *strings)


def assigned_inside(function: Node) -> set[str]:
    """The names that functions and classes inside assign as `nonlocal`."""
    found: set[str] = set()
    for node in statements(function)[1:]:
        if isinstance(node, FUNCTIONS):
            inner = NameTable().inside(node)
            found |= _assigned(inner)
        elif isinstance(node, gast.ClassDef):
            found |= _assigned(NameTable().of_all(node.body))
    return found


def _assigned(names: Names) -> set[str]:
    return (names.writes | names.deletes) & names.nonlocals
