"""Variables that closures share, `nonlocal` and `global`, under tensor conditions."""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest

import dy2st
from dy2st.errors import ConversionError
from dy2st.jit import to_static
from tests.unseen import Unseen

TENSORS = [np.float32(v) for v in ([1, 2, 3], [-1, -2, -3], [10, 20, 30], [0, 0, 0])]


level = 0


latest = None


def comparable(value):
    if isinstance(value, dy2st.Tensor):
        return str(value.dtype), value.numpy().tolist()
    if isinstance(value, (list, tuple)):
        return [comparable(entry) for entry in value]
    return type(value), value


def test_a_global_assigned_in_a_branch_is_written_when_the_program_runs():
    def f(x):
        global latest
        latest = x
        if x.sum() > 0:
            latest = x * 2
        return latest + 1

    static = to_static(f)
    for values in TENSORS:
        result = static(dy2st.to_tensor(values))
        expected = values * 2 if values.sum() > 0 else values
        np.testing.assert_array_equal(latest.numpy(), expected)
        np.testing.assert_array_equal(result.numpy(), expected + 1)
    assert len(static.program_cache) == 1


def test_a_global_that_each_call_reads_and_assigns_counts_the_calls(monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "level", 0)

    def f(x):
        global level
        level += 1
        return x * level

    static = to_static(f)
    for call in (1, 2, 3):
        assert static(dy2st.to_tensor([1.0])).item() == call
        assert level == call
    assert len(static.program_cache) <= 2  # with a constant, and with an input


def test_a_call_that_raises_has_assigned_globals_as_python_has(monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "level", 7)

    def f(x):
        global level
        level = x
        raise KeyError("no")

    with pytest.raises(KeyError):
        to_static(f)(dy2st.to_tensor([1.0]))
    assert level.tolist() == [1.0]


def make_counter():
    count = 0

    def counter(x):
        nonlocal count
        if x.sum() > 0:
            count = count + 1
        return x * 1

    return counter, lambda: count


def test_a_closure_made_before_the_trace_keeps_what_calls_assign():
    counter, count = make_counter()
    static = to_static(lambda x: counter(x) + 1)
    for values in TENSORS:
        static(dy2st.to_tensor(values))
    assert int(count()) == 2


def test_a_global_may_become_an_object():
    def f(x):
        global latest
        latest = types.SimpleNamespace(x=x)
        return x

    static = to_static(f)
    for value in (1.0, 2.0):
        static(dy2st.to_tensor([value]))
        assert latest.x.tolist() == [value]


def test_a_function_that_assigns_a_global_is_not_saved(tmp_path):
    def f(x):
        global latest
        latest = x * 2
        return x

    static = to_static(f)
    static(dy2st.to_tensor([1.0]))
    with pytest.raises(ConversionError, match="assigns `latest`, a variable outside of it"):
        dy2st.jit.save(static, str(tmp_path / "model"))


def test_a_condition_of_a_loop_may_assign():
    def f(x):
        n = 0

        def more():
            nonlocal n
            n += 1
            return x.sum() > n

        while more():
            x = x - 1
        return x, n

    value, tests = to_static(f)(dy2st.to_tensor([5.0]))
    assert (float(value), int(tests)) == (3.0, 3)


def test_a_function_of_one_branch_is_bound_where_that_was_taken():
    def f(x):
        if x.sum() > 0:

            def g(n):
                return x if n < 1 else g(n - 1)

        return g(2)

    static = to_static(f)
    assert static(dy2st.to_tensor([1.0])).numpy().tolist() == [1.0]
    with pytest.raises(UnboundLocalError, match="'g'"):
        static(dy2st.to_tensor([-1.0]))


def test_a_branch_that_raises_leaves_the_variables_of_the_other():
    def f(x):
        n = 1
        look = lambda: n  # noqa: E731
        try:
            if x.sum() > 0:
                n = 2
            else:
                n = 3
                raise ValueError("negative")
        finally:
            m = look()
        return m, n

    static = to_static(f)
    assert comparable(static(dy2st.to_tensor([1.0]))) == comparable((2, 2))
    with pytest.raises(ValueError, match="negative"):
        static(dy2st.to_tensor([-1.0]))


def test_a_global_that_is_only_assigned_needs_no_new_trace():
    traces = Unseen()

    def f(x):
        global latest
        traces.note()
        latest = x * 2
        return latest + 1

    static = to_static(f)
    for values in TENSORS:
        static(dy2st.to_tensor(values))
    assert traces.count == 1


def _bound_beside_a_tensor(x):
    n, go_on = 0, x.sum() > 0
    while go_on and (n := n + 1) < 5:
        x = x + n
    return x + n


def _bound_in_one_of_two(x):
    n = 0
    while x.sum() < 100 and ((n := n + 1) < 5 or x.max() < 3):
        x = abs(x) * 2 + 1
    return x + n


def _bound_first(x):
    while (s := x.sum()) < 100 and x.max() < 30:
        x = abs(x) * 2 + 1
    return x + s


def _bound_in_a_choice(x):
    n = 1
    y = x * (n := 2) if x.sum() > 0 else x - (n := 3)
    return y * n


def _bound_after_or(x):
    n = 1
    return x if x.sum() > 0 or (n := 5) < 3 else x * n


def _bound_in_an_elif(x):
    if x.sum() > 9:
        return x
    elif (m := x.max()) > 1 and (k := m + 1) > 2:
        return x * k
    return x - m


def _changed_by_a_function_that_a_turn_makes(x):
    def counted(x):
        n = x.sum()

        def increase():
            nonlocal n
            n = n + 1

        increase()
        return n

    while x.sum() < 100:
        x = x + abs(counted(x)) + 1
    return x


def _changed_in_a_branch_of_a_function_that_a_turn_calls(x):
    def counted(x):
        n = x.sum() * 0

        def increase():
            nonlocal n
            if x.sum() > 0:
                n = n + 1

        increase()
        return n

    while x.sum() < 20:
        x = x + counted(x) + 1
    return x


@pytest.mark.parametrize(
    "function",
    [
        _bound_beside_a_tensor,
        _bound_in_one_of_two,
        _bound_first,
        _bound_in_a_choice,
        _bound_after_or,
        _bound_in_an_elif,
        _changed_by_a_function_that_a_turn_makes,
        _changed_in_a_branch_of_a_function_that_a_turn_calls,
    ],
)
def test_a_variable_of_a_turn_is_its_own(function):
    converted = to_static(function)
    for values in ([1.0, 2.0, 3.0], [-1.0, -2.0, 0.5], [20.0, 30.0, 1.0]):
        x = dy2st.to_tensor(values)
        assert converted(x).tolist() == function(x).tolist()
