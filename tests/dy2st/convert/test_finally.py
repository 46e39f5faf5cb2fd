"""What `finally` and the exits of managers do with exceptions that a tensor decides on."""

import pytest

import dy2st
from dy2st.static import InputSpec
from tests.dy2st.convert.kinds.same import same

CALLS = ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0], [9.0, 9.0, 9.0], [0.0, 0.0, 0.0], [2.0, 1.5, 1.0])


def alike(function):
    same(function, *CALLS)


def test_finally_runs_on_both_paths():
    def f(x):
        seen = []
        try:
            try:
                if x.sum() > 5:
                    raise ValueError("big")
                seen.append(x.sum())
            finally:
                seen.append(x.max())
        except ValueError:
            seen.append(x.min())
        return seen

    alike(f)


def test_break_continue_else_and_finally_around_a_raise_in_a_loop():
    def f(x):
        total = x.sum() * 0
        for v in x:
            try:
                if v > 5:
                    break
                if v < -1:
                    raise ValueError
                total = total + v
            except ValueError:
                total = total - 1
                continue
            else:
                total = total + 100
            finally:
                total = total + 1000
        else:
            total = total + 5
        return total

    alike(f)


def test_finally_may_raise_instead():
    def f(x):
        try:
            try:
                if x.sum() > 5:
                    raise ValueError("a")
            finally:
                if x.max() > 5:
                    raise KeyError("b")
        except KeyError:
            return 1
        except ValueError:
            return 2
        return 3

    alike(f)


def test_a_variable_of_finally_after_a_branch():
    def f(x):
        y = x
        try:
            if x.sum() > 10:
                return y + 1
        except ValueError:
            return y
        else:
            y = y * 2
            if x.sum() > 0:
                return y
        finally:
            y = y + 1000
        return y

    alike(f)


def test_what_a_finally_lets_pass_is_raised_at_the_line_of_the_user():
    def f(x):
        try:
            if x.sum() > 5:
                raise ValueError("big")
        finally:
            x = x + 1
        return x

    static = dy2st.jit.to_static(f, input_spec=[InputSpec([3])])
    with pytest.raises(ValueError, match="big") as caught:
        static(dy2st.ones([3]) * 9)
    place = f"{__file__}:{f.__code__.co_firstlineno + 3}"
    assert place in "".join(getattr(caught.value, "__notes__", [place]))


def test_a_finally_that_catches_something_else_lets_an_unbound_variable_pass():
    def f(x):
        try:
            if x.sum() > 5:
                y = x * 2
            x = x + y
        finally:
            try:
                {}["nothing"]
            except KeyError:
                x = x - 1
        return x

    alike(f)


def test_an_exit_that_catches_something_else_lets_an_unbound_variable_pass():
    class Quiet:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            try:
                {}["nothing"]
            except KeyError:
                return False

    def f(x):
        with Quiet():
            if x.sum() > 5:
                y = x * 2
            x = x + y
        return x

    alike(f)
