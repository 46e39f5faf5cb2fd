"""`raise` in called functions and handlers around the calls."""

from __future__ import annotations

from dy2st import nn
from tests.dy2st.catalogue.entry import construct

_CAUGHT = "a `try` whose `except` may catch it"


def checked(x, limit=10):
    """Raises for some tensors."""
    if x.sum() > limit:
        raise ValueError("too much")
    if x.sum() < 0:
        raise KeyError("negative")
    return x + 1


@construct("a handler around the call of a function that raises", "a branch of the Program")
def caught_around_a_call(x):
    try:
        y = checked(x) * 2
    except ValueError:
        y = x
    return y


@construct(
    "a function that raises one of several exceptions, and several handlers",
    "the first handler that fits; what fits none is raised",
)
def one_of_several_exceptions(x):
    try:
        y = checked(x)
    except LookupError as error:
        print("no", error)
        y = x - 1
    except (ValueError, OverflowError) as error:
        y = x * len(error.args)
    else:
        y = y + 5
    return y


@construct("functions between the `raise` and the handler", "what follows in each is left out")
def through_several_functions(x):
    calls = []

    def inner(v):
        w = checked(v)
        calls.append("inner")
        return w

    def outer(v):
        return [inner(v), v]

    try:
        y, z = outer(x / 2)
    except (ValueError, KeyError):
        y, z = x, x
    return y - z


@construct("a `finally` that prints, between the `raise` and the handler", "runs in any case")
def a_finally_on_the_way(x):
    def tidy(v):
        try:
            return checked(v)
        finally:
            print("tidy")

    try:
        return tidy(x)
    except (ValueError, KeyError) as error:
        print("caught", error)
        return x


@construct("a function that raises in a loop of the Program", "in the iteration where it is met")
def raised_in_a_loop(x):
    def first_large(v):
        for item in v:
            if item > 5:
                raise StopAsyncIteration("large")
            if item < 0:
                return item
        return v.sum()

    try:
        return first_large(x)
    except StopAsyncIteration:
        return x.max() * 2


@construct("a handler in a loop of the Program, around a call", "caught in each iteration")
def caught_in_each_turn(x):
    total, bad = x[0] * 0, 0
    for item in x:
        try:
            total = total + checked(item, 3)
        except ValueError:
            bad = bad + 1
        except KeyError:
            bad = bad + 100
    return total, bad


class Bounded(nn.Layer):
    """A layer that raises for some tensors."""

    def forward(self, x):
        """The tensor."""
        assert x.sum() < 10, "out of bounds"
        return x * 3


@construct("`assert` in the forward of a layer, a handler around its call", "a branch")
def assert_of_a_layer(x):
    layer = Bounded()
    try:
        y = layer(x) + layer(x / 2)
    except AssertionError as error:
        y = x + len(str(error))
    return y


@construct("a function that catches, and raises another exception or the same", "as in Python")
def handlers_that_raise(x):
    def translated(v):
        try:
            return checked(v)
        except KeyError:
            raise IndexError("below")
        except ValueError:
            print("above")
            raise

    try:
        return translated(x)
    except IndexError:
        return x - 1
    except ValueError:
        return x + 1


@construct("several calls in a statement, one of which raises", "evaluated from left to right")
def order_of_evaluation(x):
    count = 1

    def note(v):
        nonlocal count
        count = count + 1
        return v

    try:
        y = count * note(x) + checked(x) * note(x).sum() + count
    except ValueError:
        y = x
    return y * count


@construct(
    "a called function that raises with a text of the Program, a handler around",
    "a text of the Program",
)
def text_of_a_tensor(x):
    def bounded(v):
        if v.sum() > 10:
            raise ValueError(f"too much: {v.sum()}")
        return v

    try:
        return bounded(x)
    except ValueError:
        return x * 2


@construct(
    "a function that raises, called in a comprehension, a handler around",
    "the handler, on that path",
)
def raised_in_a_comprehension(x):
    try:
        return [checked(v) for v in (x, x / 2)]
    except (ValueError, KeyError):
        return [x, x]


@construct(
    "a function that raises, called after `and`, a handler around",
    "the handler, on that path",
)
def raised_after_and(x):
    try:
        return x.sum() > 2 and checked(x).sum() > 5
    except ValueError:
        return x.sum() > 100


@construct(
    "a function that raises, called by C code, a handler around",
    "the handler, on that path",
)
def raised_for_map(x):
    try:
        return list(map(checked, [x, x / 2]))
    except (ValueError, KeyError):
        return [x, x]


@construct(
    "a property or constructor that raises, a handler around",
    "the handler, on that path",
)
def raised_by_a_property(x):
    class Holder:
        @property
        def value(self):
            return checked(x)

    try:
        return Holder().value
    except (ValueError, KeyError):
        return x
