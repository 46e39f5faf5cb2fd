"""Exceptions that a tensor decides on, in `try` and through calls, as Python has them."""

from enum import Enum

import pytest

import dy2st
from dy2st.errors import ArgumentError
from dy2st.jit import to_static
from dy2st.static import InputSpec
from tests.dy2st.convert.kinds.same import refused, same

CALLS = ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0], [9.0, 9.0, 9.0], [0.0, 0.0, 0.0], [2.0, 1.5, 1.0])


def test_the_test_of_a_while_loop_may_raise():
    def f(x):
        s = x.sum()

        def more(s):
            if s > 30:
                raise ValueError("big")
            return s < 20

        try:
            while more(s):
                s = s * 3 + 1
                if s < -40:
                    break
        except ValueError:
            s = s - 1000
        return s

    same(f, *CALLS, [4.0, 0.0, 0.0], [3.0, 0.5, 0.0])


@pytest.mark.parametrize("kind", [TypeError, AttributeError, NameError])
def test_a_fault_of_code_that_the_code_itself_raises_depends_on_the_branch(kind):
    def f(x):
        if x.sum() < 0:
            raise kind("negative")
        return x * 2

    same(f, *CALLS)


def test_a_refusal_is_not_caught_by_the_user():
    def f(x):
        try:
            y = x.numpy() if x.sum() > 0 else x
            int(x.sum().numpy())
        except Exception:
            y = x
        finally:
            x = x + 1
        return y

    refused(f, "numpy", *CALLS)


def test_an_exception_in_a_generator_that_is_asked_for_items_is_refused():
    def items(x):
        try:
            if x.sum() > 5:
                raise ValueError("big")
            yield x
        except ValueError:
            yield x * 2

    def f(x):
        return list(zip(items(x), [1, 2], strict=False))

    refused(f, "may catch it and that stays Python's own", *CALLS)


def test_an_operator_that_refuses_one_of_several_values_raises_where_it_is_that_one():
    def f(x):
        c = None
        if x.sum() > 0:
            c = x * 2
        return x + c

    static = to_static(f)
    assert static(dy2st.ones([2])).tolist() == [3.0, 3.0]
    with pytest.raises(ArgumentError, match="None is not a tensor"):
        static(-dy2st.ones([2]))


def test_an_error_of_getattr_knows_what_was_asked_of_which_object():
    class Asked:
        def __getattr__(self, name):
            raise AttributeError

    asked = Asked()

    @to_static
    def f():
        try:
            return asked.missing
        except AttributeError as error:
            return error.name, error.obj is asked

    assert f() == ("missing", True)


@pytest.mark.parametrize(
    "ask",
    [
        lambda found: found.place,
        lambda found: found[0],
        lambda found: found + 1,
        lambda found: len(found),
        lambda found: [one for one in found],
        lambda found: (lambda first, rest: first)(*found),
        lambda found: 3 in found,
        lambda found: found(),
    ],
)
def test_what_none_cannot_do_is_raised_where_the_branch_is_taken(ask):
    def f(x):
        found = None
        if x.sum() > 2:
            return ask(found)
        return x * 2

    same(f, sizes="unknown")


def named_alike():
    class Wrong(Exception):
        pass

    return Wrong


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_exceptions_of_one_name_are_told_apart(engine):
    first, second = named_alike(), named_alike()

    def f(x):
        if x > 2:
            raise first("x")
        if x > 1:
            raise second("x")
        if x > 0:
            raise ValueError("x") from KeyError("a")
        raise ValueError("x") from KeyError("b")

    static, raised = to_static(f, engine=engine), []
    for value in (3.0, 1.5, 0.5, -1.0):
        with pytest.raises(Exception, match="x") as caught:
            static(dy2st.to_tensor(value))
        raised.append((caught.type, repr(caught.value.__cause__)))
    causes = [(ValueError, "KeyError('a')"), (ValueError, "KeyError('b')")]
    assert raised == [(first, "None"), (second, "None"), *causes]


class Phase(Enum):
    WARM, COLD = 1, 2


def test_a_member_of_an_enum_is_raised_and_its_text_saved(tmp_path):
    def rate(x):
        phase = Phase.WARM if x.sum() > 0 else Phase.COLD
        rates = {Phase.WARM: 0.5}
        if x.max() > 5:
            raise ValueError("too large", phase)
        return x * rates[phase]

    static = to_static(rate, input_spec=[InputSpec([None])])
    assert static(dy2st.to_tensor([2.0])).tolist() == [1.0]
    with pytest.raises(KeyError) as missing:
        static(dy2st.to_tensor([-1.0]))
    assert missing.value.args == (Phase.COLD,)
    with pytest.raises(ValueError, match="too large") as large:
        static(dy2st.to_tensor([7.0, -9.0]))
    assert large.value.args == ("too large", Phase.COLD)
    dy2st.jit.save(static, str(tmp_path / "model"))
    with pytest.raises(KeyError, match="Phase.COLD: 2"):
        dy2st.jit.load(str(tmp_path / "model"))(dy2st.to_tensor([-1.0]))


def raised_in_a_handler(x):
    try:
        if x.sum() > 0:
            raise KeyError("a")
        raise IndexError(x.sum())
    except LookupError:
        raise ValueError("c")


def raised_in_finally(x):
    try:
        if x.sum() > 0:
            raise KeyError("a")
    finally:
        raise ValueError("c")


class Failing:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        raise ValueError("left")


def raised_by_a_manager(x):
    with Failing():
        if x.sum() > 0:
            raise KeyError("a")


@pytest.mark.parametrize("function", [raised_in_a_handler, raised_in_finally, raised_by_a_manager])
def test_an_exception_keeps_the_one_that_was_handled_when_it_was_raised(function):
    def f(x):
        try:
            return function(x)
        except ValueError as error:
            context = error.__context__
            return type(context).__name__, None if context is None else context.args[0]

    same(f, *CALLS)


def test_the_text_of_a_key_error_shows_a_key_that_the_run_knows():
    def f(x):
        try:
            return {0: "none", -1: "all"}[int((x > 1).sum()) - 1]
        except KeyError as error:
            return str(error), f"{error}", f"{error!s:>4}"

    same(f, *CALLS)
