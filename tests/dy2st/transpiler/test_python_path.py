"""Converted code without tensors runs as Python's own statements; tensors still find operators."""

from __future__ import annotations

import sys
import weakref
from contextlib import suppress

import pytest

import dy2st
from dy2st.convert import convert_call
from dy2st.convert.call import HELPERS
from dy2st.jit import to_static
from dy2st.transpiler import transpile


class Thing:
    """An object that can be watched, and is true or not as it is told; it counts the questions."""

    def __init__(self, truth=True):
        self.truth = truth
        self.asked = 0

    def __bool__(self):
        self.asked += 1
        return self.truth


def refusing(function):
    """The converted function, for which every call that decides by value is an error."""

    def refuse(*_):
        raise AssertionError("a plain value reached a staged form")

    decides = [n for n in HELPERS if n.startswith("convert_") and n != "convert_range"]
    helpers = HELPERS | dict.fromkeys(decides, refuse)
    return transpile(function).function(function, helpers | {"convert_call": lambda f: f})


def all_statements(xs, n):
    out = []
    for x in xs:
        if x < 0 and n:
            continue
        if x > 100 or (not n and x == 7):
            break
        out.append(x if x % 2 else -x)
    else:
        out.append("end")
    i = 0
    while i < n <= 10:
        i += 1
        if i == 3:
            continue
        for k in range(i):
            out[0] = k
    assert out is not None, "nothing"
    return out, i, not i, i or xs, i and out


@pytest.mark.parametrize("xs", [[1, -2, 3], [4, 101, 5], [7, 7]])
@pytest.mark.parametrize("n", [0, 5, 11])
def test_plain_values_need_no_staged_form(xs, n):
    assert refusing(all_statements)(xs, n) == all_statements(xs, n)


def test_the_truth_of_an_object_is_asked_once(same_as_python):
    def f(truths):
        things = [Thing(truth) for truth in truths]
        a, b, c = things
        seen = [a and b, a or b, not c, 1 if c else 2]
        if a and (b or not c):
            seen.append("if")
        while not (a and b):
            seen.append("while")
            break
        if not (c or not c):
            seen.append("never")
        return [type(s).__name__ for s in seen], [thing.asked for thing in things]

    for number in range(8):
        same_as_python(f, ([bool(number & 1), bool(number & 2), bool(number & 4)],))


def operands_of_tests():
    gone = []

    def make(truth):
        made = Thing(truth)
        gone.append(weakref.ref(made))
        return made

    def still_there():
        return [reference() is not None for reference in gone]

    def f():
        seen = []
        if make(True):
            seen.append(still_there())
        if make(False) or make(True):
            seen.append(still_there())
        kept = make(False) and 1
        seen.append((make(True) or 1) is not None and still_there())
        del kept
        while make(True) and seen:
            seen.append(still_there())
            break
        seen.append(not make(False) and still_there())
        seen.append(still_there() if make(True) else None)
        return seen

    return f


def test_the_operands_of_a_test_are_let_go_as_python_does():
    assert convert_call(operands_of_tests())() == operands_of_tests()()


def test_the_items_of_a_loop_are_let_go_as_python_does():
    def leave(jumps):
        log = []

        def produce():
            try:
                yield from range(3)
            finally:
                log.append("closed")

        with suppress(ZeroDivisionError):
            for item in produce():
                if jumps and item:
                    break
                log.append(1 // (1 - item))
        log.append("after")
        return log

    for jumps in (False, True):
        assert convert_call(leave)(jumps) == leave(jumps)
    assert leave(False)[-2:] == ["closed", "after"]


def test_the_iterable_of_a_loop_is_not_kept():
    class Items(list):
        pass

    def f():
        gone = []

        def make():
            items = Items([1, 2])
            gone.append(weakref.ref(items))
            return items

        for _ in make():
            pass
        return gone[0]() is None

    assert f()
    assert convert_call(f)()


def test_a_name_of_a_builtin_may_mean_something_else(define):
    text = "def len(x):\n    return 'mine'\ndef f(x):\n    return len(x)\n"
    function = define(text)
    assert convert_call(function)([1]) == "mine"
    function.__globals__["len"] = sum
    assert convert_call(function)([5, 2]) == 7


def test_a_nested_function_that_is_replaced_is_found(same_as_python):
    def f(n):
        def g(x):
            return x + 1

        first = g(n)
        if n > 1:

            def g(x):
                return x * 10

        return first, g(n)

    same_as_python(f, (1,), (2,))


def test_statements_beyond_what_python_nests_still_run(define, same_as_python):
    depth = 11
    lines = ["def f(n):", "    total = 0"]
    for k in range(depth):
        lines.append("    " * (k + 1) + f"for i{k} in [n]:")
        lines.append("    " * (k + 2) + "if total > 5: break")
    lines += ["    " * (depth + 1) + "total += 1", "    return total"]
    same_as_python(define("\n".join(lines) + "\n"), (1,))


def test_recursion_is_at_least_half_as_deep():
    def depth(n):
        if n == 0:
            return 0
        for _ in [n]:
            deeper = depth(n - 1) + 1 if n else 0
        return deeper

    limit = sys.getrecursionlimit() // 2 - 100
    assert convert_call(depth)(limit) == limit


def test_functions_defined_twice_from_one_code_do_not_share_state(same_as_python):
    def f(n):
        made = [lambda x, k=k: (x and k) or k for k in range(n)]
        return [g(v) for g in made for v in (0, 1)]

    same_as_python(f, (3,))


def test_operands_in_comprehensions_and_class_bodies_equal_python(same_as_python):
    def f(xs):
        class Kept:
            size = len(xs) or 7
            items = [x or 1 for x in xs]

            def total(self):
                return sum(x if x > 1 and x < 9 else 0 for x in self.items)

        pairs = {x: not x for x in xs if x or len(xs) > 1}
        nested = [[y and x for y in (x or [1], 0)] for x in xs]
        lazy = list(x or None for x in xs)  # noqa: C400
        return Kept.size, Kept.items, Kept().total(), pairs, nested, lazy

    same_as_python(f, ([],), ([0],), ([0, 3, 5],))


def conditions_mix_plain_and_traced(x, plain):
    y = x
    if plain and x.sum() > 0:
        y = y + 1
    elif x.max() > 5 or plain is None:
        y = y + 2
    if not (plain or x.sum() > 0):
        y = y + 4
    if 0 < x.sum() < 10:
        y = y + 8
    return y + (16 if (plain and x.max() > 2) or x.min() < -3 else 32)


def loops_that_become_traced(x, plain):
    turns = 0
    for step in [1, 2, 3, 4]:
        if step > 1 and x.sum() > 20:
            break
        x = x + step
        turns += 1
    count = 0
    while count < 2 or x.sum() < 100:
        x = x * 2 + 1
        count += 1
        if plain:
            continue
        x = x + 1
    return x, turns, count


@pytest.mark.parametrize("function", [conditions_mix_plain_and_traced, loops_that_become_traced])
@pytest.mark.parametrize("plain", [0, 1, None, "text"])
def test_one_program_takes_every_branch_as_python_does(function, plain):
    static = to_static(function)
    for values in ([1.0, 2.0], [-1.0, -4.0], [7.0, 30.0], [3.0, 4.0], [-5.0, 9.0]):
        x = dy2st.to_tensor(values)
        expected, found = function(x, plain), static(x, plain)
        if not isinstance(expected, tuple):
            expected, found = (expected,), (found,)
        assert [as_list(e) for e in expected] == [as_list(e) for e in found]


def as_list(value):
    return value.tolist() if hasattr(value, "tolist") else value


def test_a_name_that_is_bound_again_in_the_assigned_value_is_looked_at_again(same_as_python):
    def f(word, other):
        counts = {}
        counts[word] = counts.get(word, 0) + 1
        counts[word] = [counts.get(word, 0) for word in (other, word)]
        counts[word] = (lambda word: counts.get(word, 0))(other)
        counts[word] = (word := other, counts.get(word, 0))
        return counts, word

    same_as_python(f, ("a", "b"), (2, "a"), ([], "unhashable"))
