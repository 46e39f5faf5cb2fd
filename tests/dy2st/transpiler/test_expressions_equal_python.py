"""Logical expressions, comparisons and calls evaluate each operand as Python does.

PYTEST_DONT_REWRITE: pytest would rewrite the assertions of the functions compared here.
"""

from __future__ import annotations

import pytest

SEEN = []


def n(value):
    SEEN.append(value)
    return value


EXPRESSIONS = [
    "n(a) and n(b)",
    "n(a) or n(b)",
    "n(a) and n(b) and n(0) and n(1)",
    "n(a) or n([]) or n('') or n(b)",
    "not n(a)",
    "not not n(a)",
    "n(a) and (n(b) or n('x'))",
    "n(a) < n(b)",
    "n(a) < n(b) < n(3)",
    "n(1) < n(b) <= n(b) != n(a) < n(10)",
    "n(a) in n([0, 1]) in n([True])",
    "n(a) not in n((1, 2))",
    "n(a) is n(None) is not n(a)",
    "n('x') if n(a) else n('y')",
    "n('x') if a is None else n('y') if n(b) else n('z')",
    "[n(v) for v in range(4) if n(v) and v < b or v == 3]",
    "(lambda p, q=n(2): p and q)(n(a))",
    "max(n(a), n(b)), min([n(a), n(b)]), max([a, b], key=lambda v: -v)",
    "any(n(v) for v in (0, a, b)), all(n(v) for v in (1, a, b))",
    "sum([a, b]), sum([[a], [b]], []), sorted([b, a]), list(reversed([a, b]))",
    "list(zip([a], [b])), list(enumerate([a], b)), divmod(a, b or 1), round(a / 3, 2)",
    "int('12', 8), int(a), float('1.5'), bool([]), complex(a, b), len([a])",
    "isinstance(a, int), isinstance(a, (str, bool)), abs(-a), pow(a, b)",
    "f'{n(a) and n(b)}{n(a)!r:>5}'",
    "(y := n(a)) and y + 1",
    "n(a) and (y := n(b)) or y",
    "dict(k=n(a), **{'l': n(b)})",
    "n(*[n(a)], **{})",
    "len(a)",
    "int('x')",
    "any(3)",
    "max()",
    "print(a, sep=3)",
    "a < 'x' < n(b)",
    "n(a)[0] and n(b)",
    "all()",
    "any([1], [2])",
    "sorted([a], bad=1)",
    "undefined_name and n(a)",
]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_expression_equals_python(expression, define, convert):
    function = define(f"def f(a, b, n):\n    return {expression}\n")
    converted = convert(function)
    for a, b in ((0, 0), (0, 1), (1, 0), (1, 2), (2, 1), (None, 1)):
        results = []
        for form in (function, converted):
            SEEN.clear()
            try:
                value = repr(form(a, b, n))
            except Exception as error:  # every error is compared
                value = (type(error), str(error))
            results.append((value, list(SEEN)))
        assert results[0] == results[1]


def test_logical_operands_keep_their_identity(define, convert):
    function = define("def f(a, b):\n    return a or b, a and b\n")
    left, right = [], [1]
    first, second = convert(function)(left, right)
    assert first is right and second is left


def test_truth_is_asked_once(define, convert):
    class Truth:
        asked = 0

        def __bool__(self):
            self.asked += 1
            return True

    for text in ("a and 1", "a or 1", "not a", "1 if a else 2"):
        truth = Truth()
        convert(define(f"def f(a):\n    return {text}\n"))(truth)
        assert truth.asked == 1
    truth = Truth()
    convert(define("def f(a):\n    if a:\n        return 1\n    while a:\n        break\n"))(truth)
    assert truth.asked == 1


STATEMENTS = [
    "assert a, n('message')",
    "assert a == 1",
    "x = [1, 2]; x[n(0)] = n(a); return x",
    "x = {}; x[n('k'), n(1)] = y = n(a); return x, y",
    "x = [1, 2, 3]; x[a:b] = [n(9)]; return x",
    "x = [1, 2, 3]; x[n(0)] += n(a); return x",
    "x = [[1], 2]; x[0] += [n(a)]; return x",
    "x = (1, 2); x[0] = n(a)",
    "x = ([],); x[0] += [n(a)]",
    "x = {}; x['k'] += n(a)",
    "x[n(0)] = n(a)",
    "a.b[n(0)] = n(1)",
    "x, y = n((a, b)); return y, x",
    "x: int = n(a); return x",
    "x = y = n(a); return x is y",
    "del a; return a",
    "return",
]


@pytest.mark.parametrize("statements", STATEMENTS)
def test_statement_equals_python(statements, define, convert):
    body = "\n    ".join(statements.split("; "))
    function = define(f"def f(a, b, n):\n    {body}\n")
    for a, b in ((0, 2), (1, 2)):
        results = []
        for form in (function, convert(function)):
            SEEN.clear()
            try:
                value = repr(form(a, b, n))
            except Exception as error:  # every error is compared
                value = (type(error), str(error))
            results.append((value, list(SEEN)))
        assert results[0] == results[1]
