"""Functions: parameters, defaults, closures, decorators, recursion."""

from __future__ import annotations

import functools

import dy2st
from dy2st.errors import ConversionError
from tests.dy2st.catalogue.entry import construct


@construct("a function that is called", "converted when it is first called")
def called_function(x):
    return helper(helper(x)) + 1


def helper(v, by=2):
    """Decide on a tensor."""
    if v.sum() > by:
        return v - by
    return v + by


@construct("a nested function", "converted with the one around it")
def nested_function(x):
    def inner(v):
        if v.sum() > 0:
            return v * 2
        return v - 1

    return inner(x) + inner(-x)


@construct("a closure", "reads the variables of the function around")
def closure(x):
    k = x.sum()

    def inner(v):
        return v * k if k > 0 else v

    return inner(x)


@construct("positional-only and keyword-only parameters", "as in Python")
def kinds_of_parameters(x):
    def inner(a, /, b, *, c=2, d):
        if a.sum() > 0:
            return a + b * c - d
        return a

    return inner(x, 1, d=3), inner(x, b=2, c=1, d=x)


@construct("`*args` and `**kwargs`", "as in Python, in definitions and calls")
def star_arguments(x):
    def inner(first, *rest, scale=1, **others):
        y = first
        if first.sum() > 0:
            for value in rest:
                y = y + value * scale
        return y, sorted(others)

    values, named = (1, x), {"scale": 2, "b": 1, "a": 2}
    return inner(x, *values, 3, **named)


@construct("wrong arguments", "Python's TypeError", inputs=([1.0], [2.0]))
def wrong_arguments(x):
    def inner(a, *, b):
        return a + b

    try:
        return inner(x, 1)
    except TypeError as error:
        return str(error).rpartition(".")[2]


@construct("defaults", "evaluated once, when the function is made")
def defaults(x):
    made = []

    def default(v):
        made.append(v)
        return v

    def inner(a, b=default(3), *, c=default(4)):  # noqa: B008
        return a * b + c if a.sum() > 0 else a

    return inner(x), inner(x, 1), inner(x, c=2), made


@construct("a default that is a list", "the same list in every call")
def mutable_default(x):
    def inner(v, seen=[]):  # noqa: B006
        seen.append(v)
        return len(seen)

    counts = inner(x), inner(x)
    y = x * 2 if x.sum() > 0 else x
    return counts, y


def twice(function):
    """Call a function twice."""

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        first = function(*args, **kwargs)
        if first.sum() > 0:
            return first + function(*args, **kwargs)
        return first

    return wrapper


@twice
def decorated_helper(v, by=1):
    """Be decorated."""
    return v - by if v.sum() > 0 else v


@construct("a decorated function that is called", "wrapper and function are converted")
def decorated_function(x):
    return decorated_helper(x, by=2), decorated_helper.__name__, decorated_helper.__doc__


@construct("a decorator on a nested function", "as in Python")
def decorated_nested_function(x):
    @twice
    def inner(v):
        return v * 2 if v.sum() > 0 else -v

    return inner(x), inner.__name__


@construct("a decorator on the function itself", "converted with it")
@twice
def decorated_itself(x):
    return x + 1 if x.sum() > 0 else x - 1


def scaled(by, *, shift=0):
    """Make a decorator."""

    def decorate(function):
        def wrapper(v):
            return function(v * by) + shift if v.sum() > 0 else function(v)

        return wrapper

    return decorate


@construct("a decorator with arguments, and two at once", "inner ones first")
def decorators_with_arguments(x):
    @scaled(2, shift=1)
    @twice
    def inner(v):
        return v + 1

    return inner(x)


@construct("`functools.partial`", "the function inside is converted")
def partial_function(x):
    add = functools.partial(helper, by=3)
    return add(x), functools.partial(add, by=1)(x)


@construct("a function as an argument, result or item", "converted when it is called")
def functions_as_values(x):
    def compose(f, g):
        return lambda v: f(g(v))

    table = {"double": lambda v: v * 2, "helper": helper}
    both = compose(table["double"], table["helper"])
    return both(x) if x.sum() > 0 else table["helper"](x)


@construct("recursion that Python values end", "every call is traced")
def recursion(x):
    def power(v, n):
        if n == 0:
            return v * 0 + 1
        half = power(v, n // 2)
        return half * half * v if n % 2 else half * half

    return power(x, 5) if x.sum() > 0 else power(x, 2)


@construct(
    "recursion that a tensor ends",
    "a function of the Program that calls itself",
)
def recursion_on_a_tensor(x):
    def count(v):
        if v < 1:
            return v
        return count(v - 1)

    return count(x.sum())


@construct(
    "recursion that a tensor ends, with other sizes at each call",
    "the same, with symbols for the sizes",
)
def recursion_with_longer_tensors(x):
    def longer(v):
        if v.sum() > 9:
            return v
        return longer(dy2st.concat([v, v + 1]))

    return longer(x)


@construct("recursion by halves that changes a list", "what it changes goes in and comes out")
def recursion_by_halves(x):
    order = []

    def best(low, high):
        order.append(low)
        if high - low <= 1:
            return x[low]
        middle = (low + high) // 2
        return max(best(low, middle), best(middle, high))

    return best(0, len(x)), order


@construct(
    "recursion that a tensor ends, with tensors of another rank at each call",
    "one function must serve every call",
    refused=ConversionError,
    says="a recursion whose end depends on a tensor",
)
def recursion_with_other_ranks(x):
    def deeper(v):
        if v.sum() > 9:
            return v
        return deeper((v + 1).unsqueeze(0))

    return deeper(x)


@construct("mutual recursion", "as in Python")
def mutual_recursion(x):
    def even(v, n):
        return v if n == 0 else odd(v + 1, n - 1)

    def odd(v, n):
        return -v if n == 0 else even(v * 2, n - 1)

    return even(x, 5) if x.sum() > 0 else odd(x, 4)


@construct("a function without `return`, or with `return` alone", "None")
def no_result(x):
    def inner(v):
        v + 1

    def bare(v):
        return

    return inner(x), bare(x), x


@construct("`return` of several values", "a tuple")
def several_results(x):
    def inner(v):
        if v.sum() > 0:
            return v, v * 2
        return v - 1, v

    a, b = inner(x)
    return b, a


@construct("attributes of functions", "the user's own: name, docstring, defaults, attributes")
def attributes_of_functions(x):
    def inner(v: int, w=2) -> int:
        """Have a docstring."""
        return v

    inner.mark = 3
    y = x * inner.mark if x.sum() > 0 else x
    return y, inner.__name__, inner.__doc__, inner.__qualname__, inner.__defaults__, inner.mark


@construct("annotations of parameters", "evaluated as Python does")
def annotated_parameters(x):
    def inner(v: no_such_name, n: int = 1) -> no_such_name:  # noqa: F821
        return v * n if v.sum() > 0 else v

    return inner(x, 2), list(inner.__annotations__)


@construct("a method taken from an object", "bound, as in Python")
def bound_method(x):
    class Scale:
        def __init__(self, by):
            self.by = by

        def apply(self, v):
            return v * self.by if v.sum() > 0 else v

    apply = Scale(3).apply
    return apply(x), Scale.apply(Scale(2), x)


@construct("a function that replaces a variable of its own name", "as in Python")
def shadowed_names(x):
    def max(v):  # noqa: A001
        return v.sum()

    len = 3  # noqa: A001
    return max(x) * len if x.sum() > 0 else max(x)
