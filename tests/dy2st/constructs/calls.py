"""Builtins on tensors, and functions that call back."""

from __future__ import annotations

import contextlib
import functools
import heapq
import itertools
import operator

import dy2st
from dy2st.errors import ConversionError, TensorAsPython
from dy2st.jit import not_to_static
from tests.dy2st.catalogue.entry import construct

# -- builtins on tensors --------------------------------------------------------------------------


@construct("`int(x)`, `float(x)`, `bool(x)`", "numbers that go on as Python's do")
def casts(x):
    return int(x.sum()), float(x[0]), bool(x.sum()), int(x[1]) // 2, -int(x[0]) % 7


@construct("`len(x)`", "the first size")
def length(x):
    return len(x), len(x[1:]), len([x, x])


@construct("`abs(x)`, `divmod(x, y)`, `pow(x, y)`", "of tensors and of traced numbers")
def arithmetic_builtins(x):
    number = int(x.sum())
    return abs(x), abs(number), divmod(x, 4), divmod(number, 4), pow(x, 2), pow(number, 2)


@construct(
    "`round(x)`, `round(x, digits)`", "a number becomes an int, or has the decimals of Python"
)
def rounding(x):
    number = float(x.sum()) * 0.3
    return round(x * 1.26), round(x * 1.26, 1), round(number), round(number, 2)


@construct("`max(x)`, `min(x)`", "of a tensor, of several tensors")
def extremes(x):
    return max(x), min(x), max(x.sum(), x.max()), min([x[0], x[2]])


@construct("`max(..., key=)`, `max(..., default=)`", "the first of the largest, as Python's")
def extremes_by_key(x):
    return max([x[0], x[2]], key=lambda v: -v), max([], default=x), min(x, default=3)


@construct("`sum(x)`, `sum(x, start)`", "of tensors, lists and generators")
def sums(x):
    return sum(x), sum(x, 10), sum([x, x]), sum(value for value in x)


@construct("`any(x)`, `all(x)`", "of tensors, lists and generators")
def any_and_all(x):
    positive = x > 0
    return any(positive), all(positive), any(v > 2 for v in x), all([v > 0 for v in x])


@construct("`sorted(x)`, `reverse=True`", "a list of 0-d tensors")
def sorting(x):
    return sorted(x), sorted(x, reverse=True), sorted([x.sum(), x.max(), x[0]])


@construct("`sorted(x, key=)`", "equal keys stay in order")
def sorting_by_key(x):
    ascending = sorted(x, key=lambda v: (v - 2) * (v - 2))
    return ascending, sorted(x, key=lambda v: v * 0, reverse=True)


@construct("`zip`, `enumerate`, `reversed`, `list`, `tuple`", "over the first axis")
def iterators(x):
    pairs = list(zip(x, x + 1, strict=True))
    return pairs, list(enumerate(x, 1)), list(reversed(x)), tuple(x), [*x]


@construct("`iter(x)`, `next(it)`", "outside of branches")
def iterator_by_hand(x):
    rows = iter(x)
    return next(rows) + next(rows)


@construct("`map(f, x)`, `filter(f, items)`", "over the first axis")
def mapping(x):
    return list(map(lambda v: v * 2, x)), list(filter(lambda n: n > 1, [1, 2, 3]))


@construct("`range(n)` with a traced n", "in a `for`; its length anywhere")
def range_of_tensor(x):
    count = int(abs(x.sum()))
    total = 0
    for i in range(count):
        total += i
    return total, len(range(count))


@construct("`isinstance(x, ...)`, `type(x)`", "as of the eager value")
def kinds(x):
    number = int(x.sum())
    is_tensor = isinstance(x, dy2st.Tensor)
    return isinstance(number, int), is_tensor, type(number) is int, type(x).__name__


@construct("builtins on one of several values", "of whichever it is")
def builtins_on_choice(x):
    parts = [x]
    if x.sum() > 0:
        parts = [x, x + 1]
    count = len(parts)
    return list(parts), tuple(parts), count, max(parts, key=lambda v: v.sum()), bool(parts)


@construct("a function that differs by branch", "the one that was chosen is called")
def function_by_branch(x):
    activation = dy2st.relu
    if x.sum() > 0:
        activation = lambda v: v + 5  # noqa: E731
    return activation(x)


@construct("an int in one branch, a float in the other", "each keeps its type")
def number_by_branch(x):
    scale = 1
    if x.sum() > 0:
        scale = 2.5
    return scale, scale * 2, x * scale


@construct("None or a tensor", "`is None` is asked when the Program runs")
def optional(x):
    y = None
    if x.sum() > 0:
        y = x * 2
    if y is None:
        z = x - 1
    else:
        z = y + 1
    return y, z


@construct("None used as a tensor", "Python's error when the Program runs")
def optional_unguarded(x):
    y = None
    if x.sum() > 0:
        y = x * 2
    return y.sum()


@construct("None until a tensor loop finds one", "which it is, is carried")
def optional_in_loop(x):
    best = None
    for value in x.astype("int64"):
        if value > 1 and (best is None or value > best):
            best = value
    return best


@construct("`return` with and without a value", "None or the tensor")
def optional_return(x):
    if x.sum() > 0:
        return x


@construct("results of different structure", "whichever the run returns")
def structures(x):
    if x.sum() > 10:
        return x, 1
    if x.sum() > 0:
        return {"x": x}
    return "none"


@construct("tensors of different dtype or rank", "what follows is done for each")
def dtypes(x):
    y = x
    if x.sum() > 10:
        y = x.astype("int64")
    elif x.sum() > 0:
        y = x.sum()
    return y * 2


@construct(
    "`round(number, -1)`",
    "to digits before the point; a tensor can be rounded",
    refused=ConversionError,
    says="round() of a number to digits",
)
def round_number(x):
    return round(float(x.sum()), -1)


@construct(
    "`complex(x)`",
    "a tensor of complex numbers is `x + 0j`",
    refused=ConversionError,
    says="complex() of a traced tensor",
)
def complex_number(x):
    return complex(x.sum()).imag


# -- callbacks ------------------------------------------------------------------------------------


# -- callbacks ------------------------------------------------------------------------------------


def flip(x):
    """A callback with a condition on a tensor."""
    if x.sum() > 0:
        return x * 2
    return -x


def larger(a, b):
    if a.sum() > b.sum():
        return a
    return b


class Holder:
    def __init__(self, x):
        self.x = x

    def flipped(self):
        if self.x.sum() > 0:
            return self.x
        return self.x * 3

    def scaled(self, factor, offset=0):
        if self.x.sum() > 0:
            return self.x * factor + offset
        return self.x

    fivefold = functools.partialmethod(scaled, 5, offset=1)


@construct("`map(f, items)`", "f runs converted")
def mapped(x):
    return sum(map(flip, [x, x + 1, -x]))


@construct("`map(lambda a, b: ..., xs, ys)`", "so do lambdas, of any number of parameters")
def mapped_lambda(x):
    first, second = map(lambda a, b: a if a.sum() > 0 else b, [x, -x], [x * 2, x * 3])
    return first + second


@construct("`map(len, ...)`, `map(float, ...)`", "builtins treat tensors as when called directly")
def mapped_builtin(x):
    return sum(map(len, [x, x])) + sum(map(float, [x.sum(), x.max()]))


@construct("`filter(f, items)` of Python values", "as in Python")
def filtered(x):
    return sum(filter(lambda n: n > 1, [1, 2, 3])) * x


@construct("`filter(f, items)` where f asks a tensor", "a list of unknown length, or a loop")
def filtered_by_tensor(x):
    total = x.sum()
    for k, item in enumerate(filter(lambda y: y > 1, x)):
        if item > 3:
            break
        total = total + k * item
    return len(list(filter(lambda y: y.sum() > 0, [x, -x]))), list(filter(None, x)), total


@construct("`sorted(key=)`, `list.sort(key=)`, `min(key=)`", "the key runs converted")
def sorted_by_key(x):
    numbers = [3, 1, 2]
    numbers.sort(key=lambda n: n if n > 1 else 10)
    best = min(numbers, key=lambda n: -n)
    return x * sorted(numbers, key=lambda n: -n)[0] + numbers[0] + best


@construct("`functools.reduce`", "its function runs converted")
def reduced(x):
    return functools.reduce(larger, [x, -x, x * 2])


@construct("`functools.partial`", "what it calls runs converted")
def partially(x):
    scaled = functools.partial(lambda factor, y: y * factor if y.sum() > 0 else y, 3)
    return scaled(x)


@construct("`functools.partialmethod`", "what it calls runs converted")
def partial_method(x):
    return Holder(x).fivefold()


@functools.lru_cache
def cached_flip(x):
    return flip(x)


@functools.cache
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


@construct(
    "`functools.lru_cache`",
    "the user's own cache answers; pure functions of tensors are computed anew",
)
def cached(x):
    return cached_flip(x) * fibonacci(60)


@functools.singledispatch
def described(value):
    raise TypeError(type(value))


@described.register
def _(value: dy2st.Tensor):
    if value.sum() > 0:
        return value
    return -value * 2


@described.register
def _(value: int):
    return value + 1


@construct("`functools.singledispatch`", "tensors are dispatched as tensors, their numbers as int")
def dispatched(x):
    return described(x) + described(3)


@construct("`functools.wraps`", "the wrapper and what it wraps run converted")
def decorated(x):
    def twice(function):
        @functools.wraps(function)
        def wrapper(*args, **options):
            once = function(*args, **options)
            return function(once) if once.sum() > 10 else once

        return wrapper

    return twice(flip)(x)


@construct("`itertools.accumulate`, `starmap`, `takewhile`", "their functions run converted")
def from_itertools(x):
    running = list(itertools.accumulate([x, -x, x * 2], larger))
    pairs = itertools.starmap(larger, [(x, -x), (running[0], running[2])])
    few = itertools.takewhile(lambda n: n < 3, [1, 2, 3])
    return sum(pairs) + sum(few)


@construct("`heapq.nlargest(key=)`", "the key runs converted")
def from_heapq(x):
    return heapq.nlargest(1, [1, 2, 3], key=lambda n: -n if n > 1 else n)[0] * x


@construct("`operator.methodcaller`, `attrgetter`", "what C code calls is found and converted")
def from_operator(x):
    return operator.methodcaller("flipped")(Holder(x)) + operator.attrgetter("x")(Holder(x))


@construct("functions in lists and dicts", "converted when they are called")
def stored_functions(x):
    table = {"flip": flip, "same": lambda y: y}
    return [table["flip"], table["same"]][0](x)


@construct("functions as values", "stay themselves: they can be compared and be keys")
def functions_as_values(x):
    names = {flip: "flip"}
    same = list(map(lambda f: f, [flip]))[0]
    return names[same], same is flip, flip.__name__, flip.__doc__


@contextlib.contextmanager
def doubled(x):
    yield x * 2


@construct("`contextlib.contextmanager`", "the manager is a generator of Python")
def context_manager(x):
    with doubled(x) as y:
        if y.sum() > 0:
            return y
    return y * 3


@construct("`contextlib.ExitStack.callback`", "what it calls is found and converted")
def exit_stack(x):
    found = []

    def note(y):
        found.append(y if y.sum() > 0 else -y)

    with contextlib.ExitStack() as stack:
        stack.callback(note, x)
    return found[0]


@not_to_static
def left_alone(x):
    return x if x.sum() > 0 else -x


@construct("`@not_to_static`", "where it asks a tensor, with the mark as the cause",
           refused=TensorAsPython, says="left_alone() is not converted: it is marked")  # fmt: skip
def marked(x):
    return left_alone(x)


@construct("a refusal that user code catches", "is raised all the same",
           refused=TensorAsPython, says="numpy() of a traced tensor")  # fmt: skip
def caught_refusal(x):
    try:
        return x * float(x.numpy().sum())
    except TypeError:
        return x


@construct("`int`, `round`, `sorted` of floats", "with all digits of Python's floats")
def all_digits(x):
    number = float(x.sum()) * 0
    small, middle, large = number + 2.9999999999, number + 2.50000000001, number + 16777217.0
    return int(small), round(middle), int(large), sorted([large, small])


@construct("`full` of a number that the run decides", "float32, as of a number of Python")
def filled(x):
    like = dy2st.full_like(x, float(x.sum())), dy2st.full_like(x, x.max(), "int64")
    return dy2st.full([2], float(x.sum())), dy2st.full([2], int(x.sum())), *like


@construct("`<<`, `>>`, `~` of ints", "as of Python's, up to 64 bits")
def shifts(x):
    whole, count = int(x.sum()), int(x.max())
    return whole << 2, whole >> 1, 1 << abs(count), -7 >> abs(count), whole >> 80, ~whole, -whole


@construct("`**` of floats and ints", "with the exceptions that Python raises")
def powers(x):
    whole, number = int(x.sum()), float(x.sum())
    return whole**2, 2.0**whole, (number + 1) ** -2, (abs(number) + 0.5) ** 0.5, whole**-1


@construct("arithmetic of bools", "is that of ints")
def bools_as_ints(x):
    up, large = bool(x.sum() > 0), bool(x.max() > 5)
    return (
        up - large,
        -up,
        +large,
        abs(up),
        up + large,
        up * large,
        up**2,
        up // True,
        up % True,
        True + up,
    )


@construct("`x.item()`", "a number of the Program: bool, int or float by the dtype")
def item_of_a_tensor(x):
    total, count, large = x.sum().item(), (x > 0).sum().item(), (x.max() > 5).item()
    if total > 0 and large:
        count += 1
    return total, count, large, x[0:1].item() // 2, [x.max().item()]
