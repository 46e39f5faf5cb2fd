"""Exceptions of called functions that a caller catches: relayed where the trace needs it, only."""

from __future__ import annotations

import pytest

import dy2st
from dy2st.convert.relays import Passed, convert_heard, relays_of
from dy2st.errors import UnsupportedSyntax
from dy2st.jit import to_static
from dy2st.transpiler import MOST_RELAYED

begin = Passed.begin
X = [1.0, 2.0, 3.0]


def bounded(x, limit=5):
    if x.sum() > limit:
        raise ValueError("too much")
    return x * 2


@pytest.mark.filterwarnings("ignore:.*traced anew for every call")
def test_each_statement_runs_once_in_the_trace_that_is_kept():
    turns = []

    def function(x):
        turns.append(1)
        try:
            return bounded(x)
        except ValueError:
            return -x

    static = to_static(function)
    assert static(dy2st.to_tensor(X)).tolist() == [-1.0, -2.0, -3.0]
    assert len(turns) == 1  # what the trace that failed has done is undone
    assert static(dy2st.to_tensor([1.0, 1.0, 1.0])).tolist() == [2.0, 2.0, 2.0]
    assert len(turns) == 2


def test_a_function_that_no_such_caller_calls_raises_as_before():
    def function(x):
        try:
            y = bounded(x, 10)
        except ValueError:
            y = -x
        return y + bounded(x, 7)

    static = to_static(function)
    assert static(dy2st.to_tensor(X)).tolist() == [4.0, 8.0, 12.0]
    with pytest.raises(ValueError, match="too much") as caught:
        static(dy2st.to_tensor([3.0, 3.0, 3.0]))
    assert caught.traceback[-1].path.name != "relays.py"


def test_a_function_called_beside_a_caller_that_hears_does_not_relay():
    def both(x):
        return [*map(bounded, [x])][0] + 1

    def function(x):
        try:
            return both(x)
        except ValueError:
            return -x

    with pytest.raises(UnsupportedSyntax, match="may catch it"):
        to_static(function)(dy2st.to_tensor(X))


def test_more_exceptions_than_a_call_can_relay_are_refused():
    def many(x):
        for k, text in enumerate("abcdefghij"):
            if x.sum() > 20 - k:
                raise ValueError(text)
        return x

    def function(x):
        try:
            return many(x)
        except ValueError:
            return -x

    with pytest.raises(UnsupportedSyntax) as caught:
        to_static(function)(dy2st.to_tensor(X))
    assert caught.value.hint


def test_gradients_flow_through_the_handler_and_through_the_body():
    def function(x):
        try:
            y = bounded(x) * 3
        except ValueError:
            y = x * 5
        return y.sum()

    static = to_static(function)
    for values, slope in ((X, 5.0), ([1.0, 1.0, 1.0], 6.0)):
        x = dy2st.to_tensor(values, stop_gradient=False)
        static(x).backward()
        assert x.grad.tolist() == [slope] * 3


def test_the_printed_code_stays_that_of_the_function_alone():
    def function(x):
        try:
            return bounded(x)
        except ValueError:
            return -x

    static = to_static(function)
    before = static.code
    static(dy2st.to_tensor(X))
    assert static.code == before and "relay" not in before


def test_what_a_trace_notes_is_known_to_the_next_one():
    passed = Passed()
    assert passed.note([("a.py", 1), ("b.py", 2)]) and passed.note([("a.py", 1)])
    assert passed.is_new and passed.lines == {}
    passed.begin()
    assert not passed.is_new and not passed.note([("b.py", 2)])
    assert passed.need("b.py", 2, 3) and not passed.need("b.py", 2, MOST_RELAYED + 1)
    passed.begin()
    assert passed.lines == {"a.py": {1: 1}, "b.py": {2: 3}} and not passed.need("b.py", 2, 3)


def test_one_trace_meets_the_exceptions_of_all_calls(monkeypatch):
    begun = []
    monkeypatch.setattr(Passed, "begin", lambda self: (begun.append(1), begin(self)))

    def function(x):
        for k in range(5):
            try:
                x = bounded(x + k)
            except ValueError:
                x = -x
        try:
            x = bounded(x)
        except KeyError:
            pass
        except ValueError:
            x = x * 2
        return x

    to_static(function)(dy2st.to_tensor(X))
    assert len(begun) == 2


def test_a_loop_that_only_an_exception_ends_ends_in_the_program():
    def function(x):
        turns = 0
        while True:
            turns += 1
            try:
                bounded(x * turns)
            except ValueError:
                return x + turns

    static = to_static(function)
    for values in (X, [0.5, 0.5, 0.25], [3.0, 0.0, -2.0]):
        assert (
            static(dy2st.to_tensor(values)).tolist() == function(dy2st.to_tensor(values)).tolist()
        )


def test_a_loop_that_an_exception_of_one_turn_ends_is_not_traced_for_ever():
    def function(x):
        turns = 0
        while True:
            turns += 1
            try:
                if turns == 1:
                    bounded(x)
            except ValueError:
                return x + turns

    assert to_static(function)(dy2st.to_tensor(X)).tolist() == [2.0, 3.0, 4.0]


def test_outside_of_a_trace_nobody_hears():
    assert relays_of(bounded.__code__) is None
    assert convert_heard(__file__, "bounded", 1) is None


def test_a_function_that_always_returns_gives_no_none():
    def safe(x):
        try:
            return bounded(x)
        except ValueError:
            return x * 0

    static = to_static(lambda x: safe(x) + 1)
    assert static(dy2st.to_tensor(X)).tolist() == [1.0, 1.0, 1.0]
    assert "NoneType" not in str(static.main_program)


def test_many_calls_in_one_try_are_relayed():
    def function(x):
        try:
            y = bounded(x, 50) + bounded(x, 40) + bounded(x, 30) + bounded(x, 20)
            y = y + bounded(y, 400) + bounded(y, 300) + bounded(y, 200) + bounded(y, 100)
        except ValueError:
            y = -x
        return y

    static = to_static(function)
    for values in (X, [3.0, 4.0, 5.0], [5.0, 8.0, 9.0], [50.0, 1.0, 1.0]):
        x = dy2st.to_tensor(values)
        assert static(x).tolist() == function(x).tolist()


class Coded(Exception):
    def __init__(self, code):
        super().__init__("failed")
        self.code = code


def test_exceptions_that_differ_in_an_attribute_only_are_told_apart():
    def coded(x):
        if x.sum() > 5:
            raise Coded(1)
        if x.sum() < 0:
            raise Coded(2)
        return x

    def function(x):
        try:
            return coded(x)
        except Coded as error:
            return x * error.code

    static = to_static(function)
    for values in (X, [-1.0, -2.0, -3.0], [1.0, 1.0, 1.0]):
        x = dy2st.to_tensor(values)
        assert static(x).tolist() == function(x).tolist()
