"""A comprehension over Python values gives what Python gives, also while a function is traced.

PYTEST_DONT_REWRITE: pytest would rewrite the assertions of the functions compared here.
"""

from __future__ import annotations

import pytest

import dy2st
from dy2st.jit import to_static

EXPRESSIONS = [
    "[n(v) for v in range(4)]",
    "[n(v) for v in n(range(4)) if n(v) > 0 if n(v) < 3]",
    "[n((v, w)) for v in range(3) if n(v) for w in n(range(v)) if n(w) or v]",
    "[v / (v - 2) for v in range(4)]",
    "[1 for v in 3]",
    "[1 for v in range(3) for w in v]",
    "[v for v, w in [(1, 2), (3, 4)]], [(v, ws) for v, *ws in ['abc', 'de']]",
    "[v for v, w in [(1, 2), 3]]",
    "[None for d['x'] in range(3)], d",
    "[[n(w) for w in range(v)] for v in range(3)]",
    "[a for a in range(3)] + [a]",
    "[z := 3, [z + v for v in range(2)], z]",
    "[(z := v) for v in range(3)], [v for v in range(3) if (y := v)], z, y",
    "[f() for f in [lambda: v for v in range(3)]], [f() for f in [lambda v=v: v for v in 'ab']]",
    "[list(g) for g in [(v * k for v in range(2)) for k in range(3)]]",
    "[undefined for v in ()], [v for v in range(2) if undefined]",
    "[v if v else n(v) for v in range(3) if v and n(v) or not v]",
    "sum(n(v) for v in range(5)), sum((n(v) for v in range(5) if v), n(100))",
    "sum(([v] for v in range(2)), []), sum(0.1 for v in range(10)), sum([0.1] * 10)",
    "sum(v for v in 'ab')",
    "any(n(v) for v in (0, 0, 2, 3)), all(n(v) for v in (1, 0, 2)), any(n(v) for v in ())",
    "any(n(v) for w in range(3) for v in (0, w, 7)), all(n(v) for w in (1, 2) for v in (1, w - 1))",
    "any(1 / v for v in (1, 0)), all(n(v) > 0 for v in (1, -1) if n(v))",
    "max(n(v) for v in (1, 3, 2)), min((v for v in (1, 3, 2)), key=lambda v: -v)",
    "max((v for v in ()), default=7), max(v for v in ())",
    "list(v for v in range(3) if v), ''.join(n(c) for c in 'abc'), dict((v, 1) for v in (1, 2))",
    "{v: n(v) for v in range(3) if n(v)}, {v for v in (1, 1, 2)}",
    "[sum(w for w in range(v)) for v in range(4)], [any(w == v for w in (1, 2)) for v in range(4)]",
    "next(v for v in range(3) if v), next((v for v in ()), None)",
    "sum(v for v in [1, 2]) if a else all(v for v in b)",
]


def outcome(function, seen):
    """What a call gives, and in which order it evaluated."""
    seen.clear()
    try:
        result = repr(function())
    except Exception as error:
        result = (type(error), str(error))
    return result, list(seen)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_a_comprehension_is_pythons(expression, define, convert):
    function = define(f"def f(a, b, d, n):\n    return {expression}\n")
    seen = []

    def n(value):
        seen.append(value)
        return value

    def call(form):
        return outcome(lambda: form(2, [1, 2], {}, n), seen)

    assert call(convert(function)) == call(function)


def test_a_builtin_that_gets_another_meaning_later_is_read_anew(define):
    function = define("def f(x):\n    return sum(v for v in x)\n")
    static = to_static(function)
    x = dy2st.to_tensor([1.0, 2.0])
    assert static(x).item() == 3.0
    function.__globals__["sum"] = max
    assert static(x).item() == 2.0
