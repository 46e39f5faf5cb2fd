# ruff: noqa
# PYTEST_DONT_REWRITE
"""`raise`, `assert`, `try` and `with`. PYTEST_DONT_REWRITE"""

from __future__ import annotations

import contextlib
import sys
import traceback

import pytest

from tests.dy2st.transpiler.same import same, traced


def test_raise_of_a_class_an_object_and_a_cause():
    def f(k):
        if k == 0:
            raise ValueError
        if k == 1:
            raise ValueError("x") from KeyError("y")
        if k == 2:
            raise ValueError("x") from None
        if k == 3:
            raise 5
        raise ValueError from 7

    same(f, (0,), (1,), (2,), (3,), (4,))


def test_raise_again():
    def f(k):
        try:
            1 // k
        except ZeroDivisionError:
            if k == 0:
                raise
        return k

    same(f, (0,), (1,))


def test_raise_without_an_exception():
    def f():
        raise

    same(f)


def test_assert():
    def f(x):
        assert x, f"not {x}"
        assert x > 1
        return x

    same(f, (2,), (1,), (0,))


def test_the_message_of_an_assert_is_evaluated_only_if_it_fails():
    def f(x):
        seen = []
        try:
            assert x, seen.append("message")
        except AssertionError as error:
            seen.append(error.args)
        return seen

    same(f, (0,), (1,))


def test_try_except_else_finally():
    def f(k):
        out = []
        try:
            out.append("body")
            1 // k
            [][k - 1]
        except ZeroDivisionError as error:
            out.append(str(error))
        except (IndexError, KeyError):
            out.append("index")
        else:
            out.append("else")
        finally:
            out.append("finally")
        return out

    same(f, (0,), (1,), (2,))


def test_a_bare_except():
    def f(k):
        try:
            1 // k
        except:
            return sys.exc_info()[0]
        return k

    same(f, (0,), (1,))


def test_the_classes_are_evaluated_only_if_an_exception_comes():
    def f(k):
        seen = []

        def note(c):
            seen.append(c)
            return c

        try:
            1 // k
        except note(KeyError):
            pass
        except note((ValueError, ZeroDivisionError)):
            seen.append("caught")
        return seen

    same(f, (0,), (1,))


def test_what_is_caught_is_unbound_after_the_handler():
    def f(k):
        error = "before"
        try:
            1 // k
        except ZeroDivisionError as error:
            message = str(error)
        return error

    same(f, (0,), (1,))


def test_what_is_caught_may_be_captured():
    def f(k):
        try:
            1 // k
        except ZeroDivisionError as error:
            get = lambda: str(error)
            found = get()
        try:
            return found, get()
        except NameError as later:
            return found, str(later)

    same(f, (0,))


def test_what_is_caught_may_be_deleted_in_the_handler():
    def f(k):
        out = []
        for i in range(2):
            try:
                k[i]
            except IndexError as error:
                if i:
                    del error
                else:
                    error = None
        return out

    same(f, ([],))


def test_what_is_caught_may_be_a_global():
    def f(k):
        global CAUGHT
        try:
            1 // k
        except ZeroDivisionError as CAUGHT:
            found = str(CAUGHT)
        return found, "CAUGHT" in globals_of()

    def globals_of():
        return globals()

    same(f, (0,))


def test_a_variable_changed_before_the_exception_has_its_new_value():
    def f(k):
        x = 0
        try:
            if k >= 0:
                x = 1
                1 // k
            x = 2
        except ZeroDivisionError:
            return "caught", x
        return x

    same(f, (0,), (1,), (-1,))


def test_a_variable_changed_in_a_loop_before_the_exception_has_its_new_value():
    def f(values):
        total = n = 0
        try:
            for v in values:
                n += 1
                while n < 5:
                    n += v
                total += 1 // v
        except ZeroDivisionError:
            pass
        return total, n

    same(f, ([1, 2, 0],), ([9, 1],))


def test_a_variable_changed_before_the_exception_that_a_manager_swallows():
    def f(k):
        x = 0
        with contextlib.suppress(ZeroDivisionError):
            if k >= 0:
                x = 1
                1 // k
                x = 2
        return x

    same(f, (0,), (1,), (-1,))


def test_returns_in_each_part_of_try():
    def f(k):
        try:
            if k == 0:
                return "body"
            if k == 1:
                1 // 0
            if k == 2:
                [][0]
        except ZeroDivisionError:
            return "except"
        except IndexError:
            pass
        else:
            if k == 3:
                return "else"
        finally:
            if k == 4:
                return "finally"
        return "end"

    same(f, *[(k,) for k in range(6)])


def test_finally_wins():
    def f(k):
        for i in range(3):
            try:
                if k == 0:
                    return "body"
                1 // (k - 1)
            finally:
                if k < 2:
                    continue
                break
        return i

    same(f, (0,), (1,), (2,))


def test_jumps_out_of_try_in_a_loop():
    def f(values):
        out = []
        for v in values:
            try:
                if v == 1:
                    continue
                out.append(1 // v)
                if v == 2:
                    break
            except ZeroDivisionError:
                out.append("zero")
                continue
            finally:
                out.append("finally")
            out.append("end")
        else:
            out.append("else")
        return out

    same(f, ([1, 0, 3, 2, 5],), ([0, 1],))


def test_nested_tries():
    def f(k):
        out = []
        try:
            try:
                try:
                    [1 // k, {}[k]]
                except KeyError as error:
                    raise ValueError(k) from error
                finally:
                    out.append(1)
            except ZeroDivisionError:
                out.append(2)
                raise
            finally:
                out.append(3)
        except (ValueError, ZeroDivisionError) as error:
            out.append((str(error), repr(error.__context__)))
        return out

    same(f, (0,), (1,))


def test_exceptions_in_handlers_have_their_context():
    def f():
        try:
            1 // 0
        except ZeroDivisionError:
            {}["k"]

    same(f)


class Manager:
    def __init__(self, log, name, swallow=False):
        self.log, self.name, self.swallow = log, name, swallow

    def __enter__(self):
        self.log.append(("enter", self.name))
        return self

    def __exit__(self, kind, error, trace):
        self.log.append(("exit", self.name, kind and kind.__name__))
        return self.swallow


def test_with():
    def f(k, swallow):
        log = []
        with Manager(log, "a", swallow) as a, Manager(log, "b") as b:
            log.append((a.name, b.name))
            1 // k
            log.append("end")
        return log

    same(f, (1, False), (0, True), (0, False))


def test_with_several_managers_and_targets():
    def f(k):
        log, spot = [], {}
        with (
            Manager(log, "a") as spot["a"],
            contextlib.nullcontext((1, (2, 3))) as (x, [y, *z]),
            Manager(log, "c"),
        ):
            log.append((spot["a"].name, x, y, z))
        return log

    same(f, (1,))


def test_with_into_captured_variables_and_globals():
    def f():
        global HELD
        log = []
        get = lambda: (held.name, HELD.name)
        with Manager(log, "a") as held, Manager(log, "b") as HELD:
            return get(), log

    same(f)
    del globals()["HELD"]


def test_an_error_in_the_target_reaches_the_manager():
    def f():
        log = []
        try:
            with Manager(log, "a") as (x, y):
                log.append("never")
        except TypeError:
            return log

    same(f)


def test_jumps_out_of_with():
    def f(n):
        log = []
        for i in range(n):
            with Manager(log, i):
                if i == 1:
                    continue
                if i == 3:
                    break
                if i == 2 and n == 3:
                    return log
                log.append("body")
        return log, i

    same(f, (2,), (3,), (5,))


def test_a_return_from_with_may_be_lost_by_what_follows():
    def f(k):
        log = []

        def leave():
            with Manager(log, "outer", True):
                with Manager(log, "inner"):
                    if k:
                        return "returned"
                    1 // k
            return "after"

        with Manager(log, "outer", True):
            if k:
                return "returned", log
            1 // k
        return leave(), log

    same(f, (0,), (1,))


def test_what_is_no_manager_is_refused_as_in_python():
    def f():
        with 5:
            pass

    with pytest.raises((TypeError, AttributeError)):
        traced(f)()


# fmt: off
def test_the_traceback_shows_the_users_lines():
    def f(x):
        y = 1
        if x:
            for _ in range(2):
                y = (
                    y
                    + 1 // (x - 1)
                )
        return y

    first = f.__code__.co_firstlineno
    with pytest.raises(ZeroDivisionError) as caught:
        traced(f)(1)
    lines = [
        entry.lineno - first
        for entry in traceback.extract_tb(caught.value.__traceback__)
        if entry.filename == f.__code__.co_filename and entry.name == "f"
    ]
    assert lines[-1] == 6
    assert lines[0] in (2, 3)


def test_the_traceback_of_a_chain_of_methods_shows_the_line_of_each():
    def f(x):
        return (
            x
            .strip()
            .missing()
        )

    first = f.__code__.co_firstlineno
    with pytest.raises(AttributeError) as caught:
        traced(f)("a")
    frames = traceback.extract_tb(caught.value.__traceback__)
    lines = [entry.lineno - first for entry in frames if entry.name == "f"]
    assert lines == [2]
