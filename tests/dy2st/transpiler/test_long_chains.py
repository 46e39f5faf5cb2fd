"""A long chain of `elif`s takes Python's own path, and one staged form from the traced case on."""

from __future__ import annotations

import linecache
import sys
import time
import weakref
from types import FunctionType

import pytest

import dy2st
from dy2st.convert import convert_call
from dy2st.convert.call import HELPERS
from dy2st.jit import to_static
from dy2st.transpiler import is_converted, transpile


def many_cases(x, y, seen):
    def ask(name, truth):
        seen.append(name)
        return truth

    if ask("a", x == 0):
        y = y + 1
    elif ask("b", x == 1) and y.sum() < 5:
        y = y + 2
    elif y is None:
        y = 3
    elif ask("c", y.sum() > 20):
        y = y + 4
    elif ask("d", x) or y.max() > 3:
        y = y + 8
    elif ask("e", y.min() < 0):
        y = y * 2
    else:
        y = y - 1
    return y


VALUES = ([1.0, 1.0], [10.0, 12.0], [4.0, 2.0], [-1.0, 2.0], [1.0, 5.0], [2.0, 3.0])


@pytest.mark.parametrize("x", [0, 1, 2, None, 0.0])
def test_one_program_takes_every_case_as_python_does(x):
    static = to_static(lambda x, y: many_cases(x, y, []))
    for values in VALUES:
        y = dy2st.to_tensor(values)
        assert static(x, y).tolist() == many_cases(x, y, []).tolist()


class Printed:
    def append(self, name):
        print(name)


def test_every_condition_is_asked_once_and_in_order(capsys):
    def run(y):
        return many_cases(1, y, Printed())

    static = to_static(run)
    for values in VALUES:
        y = dy2st.to_tensor(values)
        run(y)
        expected = capsys.readouterr().out
        static(y)
        assert capsys.readouterr().out == expected
    # The second case is traced; d is plain and true, so nobody asks for e.
    program = str(static.concrete_program.main_program)
    assert [program.count(f'"{name}", ') for name in "abcde"] == [1, 1, 1, 1, 0]


def in_turns(y, kinds):
    for kind in kinds:
        if kind == 0:
            y = y + 1
        elif kind == 1 and y.sum() > 4:
            y = y * 2
        elif y.sum() > kind * 10:
            y = y - 3
        elif kind == 3:
            y = y + 7
        else:
            y = y + 100
    return y


@pytest.mark.parametrize("kinds", [(0, 1, 0), (1, 0, 3), (3, 0, 1, 2), (2, 2, 0, 1), (0, 0)])
def test_a_case_of_an_earlier_turn_decides_nothing_in_a_later_one(kinds):
    static = to_static(in_turns)
    for values in VALUES:
        y = dy2st.to_tensor(values)
        assert static(y, kinds).tolist() == in_turns(y, kinds).tolist()


def chain_of(count):
    cases = "".join(f"    elif x == {n}: y = {n} + y\n" for n in range(1, count))
    text = (
        f"def chain(x, y):\n    if x == 0: y = y + 90\n{cases}    else: y = y - 1\n    return y\n"
    )
    return defined(text, "chain")


def defined(text, name):
    file = f"<chain {len(text)}>.py"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    namespace: dict = {}
    exec(compile(text, file, "exec"), namespace)
    return namespace[name]


def refusing(function: FunctionType) -> FunctionType:
    def refuse(*_):
        raise AssertionError("a plain value reached a staged form")

    return transpile(function).function(function, HELPERS | {"convert_ifelse": refuse})


@pytest.mark.parametrize("count", [4, 17, 40])
def test_plain_values_reach_no_staged_form(count):
    function = chain_of(count)
    run = refusing(function)
    assert is_converted(run.__code__)
    for x in (0, 1, count // 2, count - 1, count, "other"):
        assert run(x, 5) == function(x, 5)


def test_a_case_deep_in_the_chain_may_be_traced():
    function = chain_of(17)
    static = to_static(lambda x, k: function(x.sum(), x) if k else function(k, x))
    for total in (0.0, 3.0, 16.0, 20.0):
        x = dy2st.to_tensor([total, 0.0])
        assert as_list(static(x, 1)) == as_list(function(total, x))


def as_list(value):
    return value.tolist() if hasattr(value, "tolist") else value


def test_lines_are_passed_as_python_passes_them():
    def lines(function, x):
        found = []

        def note(frame, event, _):
            if frame.f_code.co_filename.startswith("<chain") and event == "line":
                found.append(frame.f_lineno)
            return note

        sys.settrace(note)
        try:
            function(x, 1)
        finally:
            sys.settrace(None)
        return found

    function = chain_of(6)
    for x in range(7):
        assert lines(convert_call(function), x) == lines(function, x)


def seconds(count):
    function = chain_of(count)
    start = time.process_time()
    transpile(function)
    return time.process_time() - start


def test_twice_as_many_cases_take_less_than_four_times_as_long():
    seconds(10)
    assert min(seconds(40 + n) for n in range(3)) < 4 * min(seconds(20 + n) for n in range(3))


def many_operands(x, y):
    if x == 1 and y.sum() > 0 and (x or y is None) and y.max() < 9 and not y.min() < -5:
        y = y + 1
    if x == 3 or x == 2 or y.sum() > 11 or x is None or (y.max() > 3 and y.min() > 1):
        y = y * 2
    all_of = x and y.sum() > 0 and y.max() > 2
    one_of = x == 0 or y.sum() > 8 or x == 1 or y.max() > 5
    return y, all_of, one_of


@pytest.mark.parametrize("x", [0, 1, 2, 3, None])
def test_any_of_many_operands_may_be_traced(x):
    static = to_static(many_operands)
    for values in VALUES:
        y = dy2st.to_tensor(values)
        found, expected = static(x, y), many_operands(x, y)
        assert [as_list(part) for part in found] == [as_list(part) for part in expected]


class Asked:
    def __init__(self, name, truth, seen):
        self.name, self.truth, self.seen = name, truth, seen

    def __bool__(self):
        self.seen.append(self.name)
        return self.truth


def joined(a, b, c, d):
    if a and b and c and d:
        return 1
    if a or b or c or d:
        return a or b or c or d
    return a and b and c and d


@pytest.mark.parametrize("truths", range(16))
def test_each_of_many_operands_is_asked_once(truths):
    def run(function):
        seen: list[str] = []
        found = function(
            *(Asked(name, bool(truths >> n & 1), seen) for n, name in enumerate("abcd"))
        )
        return getattr(found, "name", found), seen

    assert run(convert_call(joined)) == run(joined)


def test_an_operand_is_let_go_before_the_next_one_is_evaluated():
    def run():
        first, second = Asked("a", False, []), Asked("b", False, [])
        gone = [weakref.ref(first), weakref.ref(second)]
        things = [first, second]
        del first, second
        return things.pop(0) or things.pop(0) or [r() is None for r in gone] or 1

    assert convert_call(run)() == run() == [True, True]
