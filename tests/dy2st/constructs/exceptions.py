"""Exceptions and contexts: `try`, `with`, `raise`, `assert`."""

from __future__ import annotations

import contextlib

import dy2st
from dy2st.errors import ConversionError
from tests.dy2st.catalogue.entry import construct


class Doubling:
    """A context with a value, which notes what it saw."""

    def __init__(self):
        self.seen = []

    def __enter__(self):
        self.seen.append("enter")
        return 2

    def __exit__(self, kind, error, trace):
        self.seen.append(kind is None)


class Swallowing(Doubling):
    """A context that swallows every ValueError."""

    def __exit__(self, kind, error, trace):
        return kind is ValueError


@contextlib.contextmanager
def halves(n):
    """A context made of a generator."""
    yield n / 2


def checked(x):
    """Raises for some tensors."""
    if x.sum() > 10:
        raise ValueError("too much")
    return x + 1


@construct("`raise` under a tensor's `if`", "the Program raises it when it runs")
def raise_in_if(x):
    if x.sum() < 0:
        raise ValueError("negative")
    return x * 2


@construct("`raise` of a class without a text", "the Program raises it when it runs")
def raise_class(x):
    if x.sum() > 10:
        raise RuntimeError
    return x


@construct("`raise` in `else` and `elif`", "each with its own text")
def raise_in_else(x):
    if x.sum() > 10:
        y = x + 1
    elif x.sum() > 0:
        raise KeyError("middle")
    elif x.sum() < 0:
        raise IndexError("low")
    else:
        y = x - 1
    return y


@construct("`raise` in a loop of the Program", "in the iteration where it is met")
def raise_in_a_loop(x):
    n = 0
    while x.sum() < 40:
        x = x + 5
        n = n + 1
        if n > 3:
            raise OverflowError("too many turns")
    return x


@construct("`raise` in a function that is called", "the Program raises it when it runs")
def raise_in_a_call(x):
    return checked(x) * 2


@construct(
    "`raise ... from ...`", "the Program raises the exception; what it comes from is Python's"
)
def raise_from(x):
    if x.sum() < 0:
        raise ValueError("negative") from KeyError("cause")
    return x


@construct("`raise` in both branches", "one or the other; what follows is not in the Program")
def raise_in_both(x):
    if x.sum() != 6:
        if x.sum() > 0:
            raise ValueError("more")
        else:
            raise KeyError("less")
    return x


@construct("a function that raises on every path", "a Program that raises")
def raise_on_every_path(x):
    if x.sum() > 0:
        raise ValueError("more")
    raise KeyError("less")


@construct("`assert` on a tensor", "a check of the Program, with the user's message")
def assert_on_a_tensor(x):
    assert x.sum() >= 0, "a negative sum"
    return x * 2


@construct("`assert` without a message", "a check of the Program")
def assert_without_message(x):
    assert x.max() < 20
    return x * 2


@construct("`assert` under a tensor's `if` and in a loop", "checked where it is met")
def assert_in_control_flow(x):
    if x.sum() > 10:
        assert x.max() < 30, "too large"
    n = x.sum() * 0
    while n < 3:
        n = n + 1
        assert x.min() + n > -2, "too small"
    return x


@construct("`try` around Python that raises", "Python's own, when the Program is made")
def try_of_python(x):
    try:
        n = int("zz")
    except ValueError as error:
        n = len(str(error))
    if x.sum() > 0:
        x = x + n
    return x


@construct("a tensor's `if` in `try`, `except`, `else` and `finally`", "staged where it stands")
def if_in_every_part(x):
    y = x
    try:
        if x.sum() > 0:
            y = y + 1
        n = int("5")
    except ValueError:
        y = y * 0
    else:
        if y.sum() > 10:
            y = y * n
    finally:
        if y.max() < 0:
            y = y - 1
    try:
        int("zz")
    except ValueError:
        if y.sum() > 0:
            y = y + 7
    return y


@construct("`try` in a tensor's `if`", "Python's own, in the branch")
def try_in_if(x):
    if x.sum() > 0:
        try:
            y = x + int("zz")
        except ValueError:
            y = x - 1
    else:
        y = x
    return y


@construct("`raise` and `except` in one branch", "Python's own: nothing is left for the Program")
def raise_and_except_in_one_branch(x):
    if x.sum() > 0:
        try:
            raise KeyError("one")
        except KeyError as error:
            y = x + len(error.args)
    else:
        y = x
    return y


@construct("`try` in a loop of the Program", "its body is traced once")
def try_in_a_loop(x):
    n = x.sum() * 0
    while n < 3:
        try:
            n = n + 1
            k = int("2")
        except ValueError:
            k = 0
        finally:
            x = x + n
        x = x * k
    return x


@construct("`raise` and its handler around an `if`", "the handler becomes the other branch")
def raise_caught(x):
    try:
        if x.sum() > 10:
            raise ValueError("too much")
        y = x + int("3")
    except ValueError:
        y = x * 0
    return y


@construct("`raise` in `if`, `else` and `finally`", "`else` is skipped, `finally` runs")
def raise_caught_with_else(x):
    n = x.sum() * 0
    try:
        if x.sum() > 10:
            x = x + 1
            if x.max() > 20:
                raise ValueError("too much")
            x = x + 2
        n = n + 1
    except ValueError as error:
        x = x - len(str(error))
    else:
        n = n + 10
    finally:
        n = n + 100
    return x, n


@construct("several `raise`s, several handlers", "each finds the handler of its class")
def raises_of_several_classes(x):
    try:
        if x.sum() > 10:
            raise KeyError("one")
        elif x.sum() < 0:
            raise OverflowError
        y = x + 1
        if x.sum() > 5:
            raise RuntimeError("three")
        y = y * 2
    except LookupError as error:
        return x * len(error.args)
    except (ValueError, OverflowError):
        y = x - 5
    except RuntimeError:
        y = y + 1000
    return y


@construct("`raise` in a loop in `try`", "ends the loop")
def raise_caught_out_of_a_loop(x):
    n = x.sum() * 0
    try:
        for k in range(3):
            while n < 5:
                n = n + 1
                if x.sum() + n > 8:
                    raise ValueError("too much")
            x = x + k
        x = x * 2
    except ValueError:
        x = x - 1
    return x, n


@construct("`raise` again in the handler", "the Program raises what is not caught")
def raise_again(x):
    try:
        try:
            if x.sum() > 10:
                raise KeyError("much")
            if x.sum() < 0:
                raise ValueError("little")
        except ValueError:
            raise
    except KeyError as error:
        x = x + len(error.args)
    return x


@construct("`raise` and its handler in a loop", "with `continue` and `break` in the handler")
def raise_caught_in_a_loop(x):
    y = x
    for k in range(4):
        try:
            if y.sum() > 20:
                raise ValueError("too much")
            if y.sum() < 0:
                raise KeyError("too little")
            y = y * 2
        except ValueError:
            break
        except KeyError:
            y = y + 3
            continue
        y = y + k
    return y


@construct("`raise` with a handler of another class", "no handler could catch it")
def raise_past_a_handler(x):
    try:
        if x.sum() > 10:
            raise ValueError("too much")
        y = x + int("3")
    except KeyError:
        y = x
    return y


@construct("`finally` and a tensor's `raise`", "the Program raises; `finally` ran when it was made")
def raise_with_finally(x):
    n = 0
    try:
        if x.sum() > 10:
            raise ValueError("too much")
    finally:
        n = 1
    return x + n


@construct("`raise` in a handler that catches another exception", "each raises its own again")
def raise_again_inside(x):
    try:
        if x.sum() > 10:
            raise ValueError("too much")
    except ValueError as error:
        try:
            int("zz")
        except ValueError as inner:
            print(error, inner)
            error = inner
        raise
    return x


@construct("`assert` on a tensor and its handler", "the handler becomes the other branch")
def assert_caught(x):
    try:
        assert x.sum() < 10, "too much"
        for k in range(3):
            assert x.sum() + k >= 0
            x = x + k
    except AssertionError as error:
        return x * len(str(error))
    return x


@construct(
    "Python raises in a tensor's branch, a handler is around",
    "the handler, on that path",
)
def python_raises_in_a_branch(x):
    try:
        if x.sum() > 0:
            return x * 2
        int("zz")
    except ValueError:
        return x - 1
    return x


@construct(
    "a wrong type in a tensor's branch, a handler is around",
    "the handler, on that path",
)
def wrong_type_in_a_branch(x):
    y = x
    try:
        if x.sum() > 0:
            y = len(5)
    except TypeError:
        y = x - 1
    return y


@construct(
    "`raise` under a tensor in `with suppress(...)`",
    "the statement ends there, on that path",
)
def raise_suppressed(x):
    with contextlib.suppress(ValueError):
        if x.sum() > 10:
            raise ValueError("too much")
        x = x + 1
    return x


@construct(
    "`raise` under a tensor in a context that may swallow it",
    "its `__exit__` decides, on that path",
)
def raise_swallowed(x):
    with Swallowing():
        if x.sum() > 10:
            raise ValueError("too much")
        x = x + 1
    return x


@construct("`raise` under a tensor in a context that lets it pass", "the Program raises it")
def raise_through_contexts(x):
    with Doubling() as two, halves(4) as half, dy2st.no_grad():
        if x.sum() > 10:
            raise ValueError("too much")
        x = x + two * half
    return x


@construct(
    "`raise` under a tensor, `return` in `finally`",
    "decide on the condition instead",
    refused=ConversionError,
    says="that stays Python's own",
)
def raise_swallowed_by_finally(x):
    for k in range(2):
        try:
            if x.sum() > 10:
                raise ValueError("too much")
            x = x + k
        finally:
            continue
    return x


@construct(
    "a broad handler and code that has no static form",
    "a slice by a number of the Program",
)
def refusal_is_not_caught(x):
    items = [1.0, 2.0]
    try:
        y = x * items[int(x.max()) % 2 : int(x.max()) % 2 + 1][0]
    except Exception:
        y = x
    return y


@construct("`with`", "`__enter__` and `__exit__` run when the Program is made")
def with_a_context(x):
    context = Doubling()
    with context as two:
        y = x * two
        if y.sum() > 20:
            y = y - 1
    return y, len(context.seen)


@construct("`with` of several contexts", "from left to right, left from right to left")
def with_several(x):
    with Doubling() as two, halves(two) as one:
        if x.sum() > 0:
            x = x * two + one
    return x


@construct("`with` in a tensor's `if`", "entered and left when the branch is traced")
def with_in_if(x):
    if x.sum() > 0:
        with halves(3) as h:
            y = x * h
    else:
        with dy2st.no_grad():
            y = x
    return y


@construct("a context that swallows what Python raises", "Python's own")
def with_suppress(x):
    with contextlib.suppress(ValueError):
        x = x + 1
        x = x + int("zz")
    if x.sum() > 0:
        x = x * 2
    return x


@construct("`except ... as e`, then `raise`", "Python's own: raised when the Program is made")
def reraised(x):
    try:
        try:
            raise KeyError("inner")
        except KeyError as error:
            raise ValueError("outer") from error
    except ValueError as error:
        n = len(str(error.__cause__))
    return x + n if x.sum() > 0 else x


@construct("nested `try` with `finally` in order", "each `finally` once")
def nested_finally(x):
    order = []
    try:
        try:
            order.append(1)
            if x.sum() > 0:
                x = x + 1
            raise KeyError("one")
        finally:
            order.append(2)
    except KeyError:
        order.append(3)
    finally:
        order.append(4)
    return x, order


@construct(
    "an index that may be out of bounds, a handler is around",
    "the handler, on that path",
)
def index_error_in_a_try(x):
    try:
        return x[int(x.sum())]
    except IndexError:
        return x[0]


@construct(
    "an operator that fails for the data or sizes it gets, a handler is around",
    "the handler, on that path; the text of the exception may be another one",
    inputs=([1.0, 2.0, 3.0], [2.0, 1.0, 1.0], [-3.0, 1.0, 9.0]),
)
def operator_that_fails_in_a_try(x):
    places = x.astype("int64")
    try:
        x = x[places - 1]
        x = x + dy2st.linalg.cholesky(dy2st.diag(x)).sum()
    except IndexError:
        return x - 1
    except ValueError as error:
        return x * 2, type(error).__name__
    return x


@construct("a loop over a tensor in a `try` with such a handler", "its own indices always fit")
def loop_in_a_try(x):
    total = x.sum() * 0
    items = [v for v in x if v > 0]
    try:
        for v, w in zip(x, x):
            total = total + v * w
        for v in items:
            total = total + v
    except IndexError:
        total = total - 1
    return total


@construct(
    "a `finally` that calls what prints, after a tensor's `raise`",
    "printed on each path",
    inputs=([1.0, 2.0, 3.0],),
)
def finally_calls_what_prints(x):
    def tell():
        print("done")

    try:
        if x.sum() > 10:
            raise ValueError("large")
    finally:
        tell()
    return x


@construct(
    "a `finally` that may raise by itself, after a tensor's `raise`",
    "the later error, on that path",
    inputs=([1.0, 2.0, 3.0],),
)
def finally_reads_an_unbound_variable(x):
    if x.sum() > 0:
        y = x
    try:
        if x.sum() > 10:
            raise ValueError("large")
    finally:
        z = y + 1
    return z
