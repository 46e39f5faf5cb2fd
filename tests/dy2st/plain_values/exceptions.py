# ruff: noqa
"""`raise`, `assert`, `try` and `with`."""

from __future__ import annotations

import contextlib
import sys

from tests.dy2st.catalogue.entry import on_values


@on_values((0,), (1,), (2,), (3,), (4,))
def raise_of_a_class_an_object_and_a_cause(k):
    if k == 0:
        raise ValueError
    if k == 1:
        raise ValueError("x") from KeyError("y")
    if k == 2:
        raise ValueError("x") from None
    if k == 3:
        raise 5
    raise ValueError from 7


@on_values((0,), (1,))
def raise_again(k):
    try:
        1 // k
    except ZeroDivisionError:
        if k == 0:
            raise
    return k


@on_values()
def raise_without_an_exception():
    raise


@on_values((2,), (1,), (0,))
def statement_assert(x):
    assert x, f"not {x}"
    assert x > 1
    return x


@on_values((0,), (1,))
def the_message_of_an_assert_is_evaluated_only_if_it_fails(x):
    seen = []
    try:
        assert x, seen.append("message")
    except AssertionError as error:
        seen.append(error.args)
    return seen


@on_values((0,), (1,), (2,))
def try_except_else_finally(k):
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


@on_values((0,), (1,))
def a_bare_except(k):
    try:
        1 // k
    except:
        return sys.exc_info()[0]
    return k


@on_values((0,), (1,))
def the_classes_are_evaluated_only_if_an_exception_comes(k):
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


@on_values((0,), (1,))
def what_is_caught_is_unbound_after_the_handler(k):
    error = "before"
    try:
        1 // k
    except ZeroDivisionError as error:
        message = str(error)
    return error


@on_values((0,))
def what_is_caught_may_be_captured(k):
    try:
        1 // k
    except ZeroDivisionError as error:
        get = lambda: str(error)
        found = get()
    try:
        return found, get()
    except NameError as later:
        return found, str(later)


@on_values(([],))
def what_is_caught_may_be_deleted_in_the_handler(k):
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


@on_values((0,), makes=True)
def what_is_caught_may_be_a_global():
    def f(k):
        global CAUGHT
        try:
            1 // k
        except ZeroDivisionError as CAUGHT:
            found = str(CAUGHT)
        return found, "CAUGHT" in globals_of()

    def globals_of():
        return globals()

    return f


@on_values((0,), (1,), (-1,))
def a_variable_changed_before_the_exception_has_its_new_value(k):
    x = 0
    try:
        if k >= 0:
            x = 1
            1 // k
        x = 2
    except ZeroDivisionError:
        return "caught", x
    return x


@on_values(([1, 2, 0],), ([9, 1],))
def a_variable_changed_in_a_loop_before_the_exception_has_its_new_value(values):
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


@on_values((0,), (1,), (-1,))
def a_variable_changed_before_the_exception_that_a_manager_swallows(k):
    x = 0
    with contextlib.suppress(ZeroDivisionError):
        if k >= 0:
            x = 1
            1 // k
            x = 2
    return x


@on_values(*[(k,) for k in range(6)])
def returns_in_each_part_of_try(k):
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


@on_values((0,), (1,), (2,))
def finally_wins(k):
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


@on_values(([1, 0, 3, 2, 5],), ([0, 1],))
def jumps_out_of_try_in_a_loop(values):
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


@on_values((0,), (1,))
def nested_tries(k):
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


@on_values()
def exceptions_in_handlers_have_their_context():
    try:
        1 // 0
    except ZeroDivisionError:
        {}["k"]


class Manager:
    def __init__(self, log, name, swallow=False):
        self.log, self.name, self.swallow = log, name, swallow

    def __enter__(self):
        self.log.append(("enter", self.name))
        return self

    def __exit__(self, kind, error, trace):
        self.log.append(("exit", self.name, kind and kind.__name__))
        return self.swallow


@on_values((1, False), (0, True), (0, False))
def statement_with(k, swallow):
    log = []
    with Manager(log, "a", swallow) as a, Manager(log, "b") as b:
        log.append((a.name, b.name))
        1 // k
        log.append("end")
    return log


@on_values((1,))
def with_several_managers_and_targets(k):
    log, spot = [], {}
    with (
        Manager(log, "a") as spot["a"],
        contextlib.nullcontext((1, (2, 3))) as (x, [y, *z]),
        Manager(log, "c"),
    ):
        log.append((spot["a"].name, x, y, z))
    return log


@on_values()
def an_error_in_the_target_reaches_the_manager():
    log = []
    try:
        with Manager(log, "a") as (x, y):
            log.append("never")
    except TypeError:
        return log


@on_values((2,), (3,), (5,))
def jumps_out_of_with(n):
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


@on_values((0,), (1,))
def a_return_from_with_may_be_lost_by_what_follows(k):
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
