"""A long chain of `elif`s takes Python's own path, and one staged form from the traced case on."""

from __future__ import annotations

import linecache

import pytest

import dy2st
from dy2st.jit import to_static
from dy2st.static import InputSpec


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


def test_a_case_deep_in_the_chain_may_be_traced():
    function = chain_of(17)
    static = to_static(lambda x, k: function(x.sum(), x) if k else function(k, x))
    for total in (0.0, 3.0, 16.0, 20.0):
        x = dy2st.to_tensor([total, 0.0])
        assert as_list(static(x, 1)) == as_list(function(total, x))


def as_list(value):
    return value.tolist() if hasattr(value, "tolist") else value


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


def test_statements_behind_a_hundred_that_may_leave_are_converted():
    steps = range(100)
    returns = "".join(f"    if x.sum() > {100 - n}:\n        return x * {n}\n" for n in steps)
    elifs = "".join(f"    elif x.sum() > {100 - n}:\n        x = x * {n}\n" for n in steps)
    turns = "".join(
        f"        if x.sum() < {n}:\n            continue\n        x = x + 1\n" for n in steps
    )
    texts = {
        "returns": f"def returns(x):\n{returns}    return x\n",
        "elifs": f"def elifs(x):\n    if x.sum() > 900:\n        x = -x\n{elifs}    return x\n",
        "turns": f"def turns(x):\n    for _ in range(2):\n        x = x * 2\n{turns}    return x\n",
    }
    for name, text in texts.items():
        function = defined(text, name)
        static = to_static(function, input_spec=[InputSpec([2])])
        for total in (5.5, 1000.0):
            x = dy2st.to_tensor([total, 0.0])
            assert static(x).tolist() == function(x).tolist()
