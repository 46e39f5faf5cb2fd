"""Exceptions of called functions and of the Program, inside of the user's handlers and outside."""

from __future__ import annotations

import contextlib
import importlib.util
import math
import threading
import warnings

import pytest

import dy2st
from dy2st.errors import ConversionError
from dy2st.jit import to_static

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


def test_the_test_of_a_loop_may_raise_behind_each_iteration():
    def is_open(x, found):
        if found is not None:
            raise ValueError("there is one")
        return x.sum() > 5

    def function(x):
        found = None
        while is_open(x, found):
            found = x * 2
        return x + 1

    static = to_static(function)
    with pytest.raises(ValueError, match="there is one"):
        static(dy2st.to_tensor(X))
    assert static(dy2st.to_tensor([1.0, 1.0, 1.0])).tolist() == [2.0, 2.0, 2.0]


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


# -- exceptions of the Program ---------------------------------------------------------------------


class Silent:
    def __enter__(self):
        return self

    def __exit__(self, *details):
        return None


@contextlib.contextmanager
def passing():
    try:
        yield
    finally:
        pass


def checked(x):
    if x.sum() > 10:
        raise ValueError("too much")
    return x + 1


def call(make):
    def inside(x):
        with make():
            y = checked(x)
        return y

    return to_static(inside)


@pytest.mark.parametrize(
    "make", [Silent, passing, dy2st.no_grad, threading.Lock, warnings.catch_warnings]
)
def test_the_program_raises_inside_a_context_that_lets_it_pass(make):
    static = call(make)
    assert static(dy2st.to_tensor([1.0])).numpy().tolist() == [2.0]
    with pytest.raises(ValueError, match="too much"):
        static(dy2st.to_tensor([11.0]))


def test_a_try_around_the_static_function_is_no_matter():
    static = to_static(checked)
    try:
        static(dy2st.to_tensor([11.0]))
    except ValueError as error:
        assert str(error) == "too much"
    else:
        raise AssertionError("not raised")


def test_a_function_that_a_try_defines_is_outside_of_it():
    @to_static
    def function(x):
        try:

            def inner(value):
                return checked(value)

        except ValueError:
            return x
        return inner(x)

    with pytest.raises(ValueError, match="too much"):
        function(dy2st.to_tensor([11.0]))


def test_a_tensor_is_changed_in_place_before_and_behind_a_branch_that_raises():
    def function(x, c):
        x = x * 1
        try:
            if c.sum() > 0:
                raise ValueError
            else:
                x.add_(dy2st.ones([3]))
            x.add_(dy2st.ones([3]))
            x.add_(dy2st.ones([3]))
        except ValueError:
            x.add_(dy2st.ones([3]) * 10)
        return x

    static = to_static(function)
    for c in ([1.0], [-1.0]):
        args = dy2st.to_tensor(X), dy2st.to_tensor(c)
        assert static(*args).tolist() == function(*args).tolist()


def test_a_tensor_is_made_and_changed_in_place_where_the_other_side_raises():
    def function(x, c):
        if c.sum() > 0:
            raise ValueError("no")
        else:
            y = x * 2
            y.add_(dy2st.ones([3]))
        return y

    assert to_static(function)(dy2st.to_tensor(X), dy2st.to_tensor([-1.0])).tolist() == [3, 5, 7]


ENGINES = ["numpy", *(["native"] if importlib.util.find_spec("llvmlite") else [])]


@pytest.mark.parametrize("engine", ENGINES)
def test_what_an_exception_holds_outlives_the_call(engine):
    def function(x):
        twice = x * 2
        if twice[0] > 0:
            raise ValueError("too much", x[0] + 1, twice)
        return x

    static = to_static(function, engine=engine)
    raised = []
    for step in range(3):
        with pytest.raises(ValueError, match="too much") as caught:
            static(dy2st.to_tensor(X) + step)
        raised.append(caught.value)
    for step, error in enumerate(raised):
        assert error.args[1].item() == 2.0 + step
        assert error.args[2].tolist() == [2 * (one + step) for one in X]


class Refined(Exception):
    def __init__(self, text, place):
        super().__init__(text)
        self.place = place


def always(x):
    raise ValueError("told", x[0] + 1)


def with_a_cause(x):
    raise TypeError("told") from KeyError(x[0] + 1)


def with_two_causes(x):
    if x[0] > 0:
        try:
            try:
                raise KeyError(x[1] + 1)
            except KeyError as error:
                raise Refined("inner", x[0] * 2) from error
        except Refined as error:
            raise ValueError("outer") from error
    return x


def chain(error):
    """The exception and its causes, each with what it holds."""
    found = []
    while error is not None:
        own = {name: one for name, one in vars(error).items() if name != "__notes__"}
        held = [*error.args, *own.values()]
        values = [one.item() if isinstance(one, dy2st.Tensor) else one for one in held]
        found.append((type(error), values))
        error = error.__cause__
    return found


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("function", [always, with_a_cause, with_two_causes])
def test_an_exception_and_its_causes_hold_the_values_of_the_run(function, engine):
    static = to_static(function, engine=engine)
    for values in (X, [2.0, 4.0, 6.0]):
        x = dy2st.to_tensor(values)
        with pytest.raises(Exception, match="told|outer") as wanted:
            function(x)
        with pytest.raises(Exception, match="told|outer") as caught:
            static(x)
        assert chain(caught.value) == chain(wanted.value)


def test_a_cause_of_another_path_is_refused():
    def function(x):
        try:
            if x[0] > 0:
                raise ValueError(int(x[0] * 2))
        except ValueError as error:
            raise TypeError("told") from error
        return x

    with pytest.raises(ConversionError, match="raised from an exception that another path has"):
        to_static(function)(dy2st.to_tensor(X))


def raised_again(x):
    try:
        if x[0] != 0:
            raise ValueError(int(x[0] * 2))
    except ValueError as error:  # int() raises one, too, of NaN
        raise TypeError(error.args[0]) from None
    return x


def test_a_handler_raises_what_is_a_number_or_a_text():
    static = to_static(raised_again)
    for value, words in ((2.0, "4"), (math.nan, "cannot convert float NaN"), (-1.0, "-2")):
        with pytest.raises(TypeError, match=words):
            static(dy2st.to_tensor([value]))
    assert static(dy2st.zeros([1])).tolist() == [0.0]
