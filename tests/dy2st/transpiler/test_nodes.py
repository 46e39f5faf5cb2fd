"""A walk over a tree meets every node."""

import gast
import pytest

from dy2st.transpiler import nodes
from dy2st.transpiler.source import find_source


def matched(x):
    match x:
        case 0:
            return 1
        case [a, *_] if a > 0:
            return a
    return 2


def caught(x):
    try:
        if x > 0:
            raise ValueError("positive")
    except Exception:
        x = -x
    return x


def yielding(x):
    yield from [x]


def bound_late(x):
    while x < 3 and (n := x + 1):
        x = n
    return f"{x}" if x else "%s" % x  # noqa: UP031


def filled(x):
    found = {}
    found[0] = [v for v in range(3) if not x]
    assert found, "nothing"

    class Local:
        def method(self):
            nonlocal x
            x = 1

    return found, Local


def straight(x):
    y = x + 1
    return y * 2


FUNCTIONS = [matched, caught, yielding, bound_late, filled, straight]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_walk_finds_what_gast_finds_but_for_operators_and_contexts(function):
    tree = nodes.to_gast(find_source(function).node)
    bare = gast.expr_context | gast.operator | gast.boolop | gast.unaryop | gast.cmpop
    expected = [node for node in gast.walk(tree) if not isinstance(node, bare)]
    assert [*map(id, nodes.walk(tree))] == [*map(id, expected)]
