"""Functions that are called again: one function of the Program, and calls, where nobody can tell."""

import functools
import random
import traceback

import numpy as np
import pytest

import dy2st
from dy2st import nn
from dy2st.convert.call_context import Repeats
from dy2st.jit import to_static
from dy2st.static import InputSpec

T = dy2st.to_tensor
X, Y = T([1.0, -2.0, 3.0]), T([0.5, 4.0, -1.0])


def names(static) -> list[str]:
    """The functions of the Program that was made last."""
    return [*static.main_program.functions]


def size(program) -> int:
    """How many operators a Program has."""
    return sum(1 for _ in program.walk())


# -- growth -------------------------------------------------------------------------------------


def chosen(x, depth):
    """A helper that is called on both sides of an `if`, so many levels deep."""
    if depth == 0:
        return (x * 2 + 1) / (x * x + 3) - x * 0.25
    if x.sum() > depth:
        return chosen(x, depth - 1)
    return chosen(x - 1, depth - 1)


def test_a_helper_in_both_branches_grows_with_the_source_alone():
    sizes = []
    for depth in (3, 6, 9):
        static = to_static(lambda x, depth=depth: chosen(x, depth))
        assert static(X).tolist() == chosen(X, depth).tolist()
        sizes.append(size(static.main_program))
    assert sizes[2] - sizes[1] == sizes[1] - sizes[0] < 60


def test_a_small_helper_is_recorded_in_place():
    def double(x):
        return x * 2

    static = to_static(lambda x: double(x) + double(x))
    assert static(X).tolist() == [4.0, -8.0, 12.0]
    assert names(static) == []


# -- recursion ----------------------------------------------------------------------------------


def fibonacci(n):
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)


def is_even(n):
    if n == 0:
        return n == 0
    return is_odd(n - 1)


def is_odd(n):
    if n == 0:
        return n != 0
    return is_even(n - 1)


def power(x, n):
    if n == 0:
        return dy2st.ones_like(x)
    half = power(x, n // 2)
    if n % 2 == 0:
        return half * half
    return half * half * x


def summed(x, n, total):
    if n > 0:
        total, x = summed(x + 1, n - 1, total + x)
    return total, x


def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, n + 1)
    return ackermann(m - 1, ackermann(m, n - 1))


def in_a_dict(x, n):
    if n <= 0:
        return {"x": x, "n": n}
    found = in_a_dict(x * 2, n - 1)
    found["x"] = found["x"] + 1
    return found


def in_a_loop(x):
    while x.sum() > 1:
        x = in_a_loop(x - 1)
    return x


def of_an_inner_function(x):
    def count(v):
        if v.sum() < 1:
            return v
        return count(v - x * 0.5)

    return count(x * 3)


RECURSIONS = [
    (fibonacci, (T(9),)),
    (is_even, (T(7),)),
    (power, (X, T(5))),
    (summed, (X, T(4), T(0.0))),
    (ackermann, (T(2), T(2))),
    (in_a_dict, (X, T(3))),
    (in_a_loop, (X,)),
    (of_an_inner_function, (X,)),
]


def plain(value):
    """A result as Python's own values."""
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    return [*map(plain, value)] if isinstance(value, (tuple, list)) else value.tolist()


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize(
    ("function", "given"), RECURSIONS, ids=lambda one: getattr(one, "__name__", "")
)
def test_a_recursion_that_a_tensor_ends_is_a_function_that_calls_itself(function, given, engine):
    static = to_static(function, engine=engine)
    assert plain(static(*given)) == plain(function(*given))
    assert names(static)


class Repeated(nn.Layer):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(3, 3)

    def forward(self, x, n):
        if n > 0:
            return self(dy2st.tanh(self.inner(x)), n - 1)
        return x


def test_gradients_flow_through_a_recursion():
    net = Repeated()

    def gradients(of):
        x = dy2st.ones([2, 3])
        x.stop_gradient = False
        net.clear_gradients()
        of(x, T(3)).sum().backward()
        return [net.inner.weight.grad.numpy(), x.grad.numpy()]

    static = to_static(net)
    for _ in range(3):
        for found, wanted in zip(
            gradients(static), gradients(Repeated.forward.__get__(net)), strict=True
        ):
            np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_a_recursion_in_a_layer_names_layers_from_the_call_on():
    class Outer(nn.Layer):
        def __init__(self):
            super().__init__()
            self.net = Repeated()

        def forward(self, x, n):
            return self.net(x, n)

    static = to_static(Outer())
    static(dy2st.ones([2, 3]), T(2))
    (body,) = static.forward.main_program.functions.values()
    assert {one.layer for one in body.walk()} == {"", "inner"}


# -- what calls stand for -----------------------------------------------------------------------


def long(x, y):
    z = x * y + x
    z = z * z - y
    return dy2st.tanh(z) / (x * x + 1)


def test_calls_with_the_same_types_are_calls_of_one_function():
    static = to_static(lambda x, y: long(x, y) + long(y, x) + long(x * y, y))
    np.testing.assert_array_equal(static(X, Y), long(X, Y) + long(Y, X) + long(X * Y, Y))
    assert names(static) == ["long"]
    operators = [one.name for one in static.main_program.operators]
    assert operators == ["call", "call", "add", "multiply", "call", "add"]


def test_other_types_are_another_function():
    def f(x, y):
        wide = dy2st.stack([x, y])
        return long(x, y) + long(y, x) + long(wide, y) + long(wide, x)

    static = to_static(f)
    np.testing.assert_array_equal(static(X, Y), f(X, Y))
    assert names(static) == ["long", "long_1"]


def test_sizes_that_are_unknown_are_found_at_each_call():
    def f(x, y):
        return long(x, x).sum() + long(y, y).sum() + long(x, x).mean() + long(y, y).mean()

    static = to_static(f, input_spec=[InputSpec(["n"]), InputSpec(["m"])])
    assert static(X, Y[:2]).item() == pytest.approx(f(X, Y[:2]).item())
    assert sorted(names(static)) == ["long", "long_1"]


def begin_of_a_table(table, x):
    """Not more rows than `x` has, of a table that is as long as `x` if that is long."""
    if x.shape[0] > 4:
        rows = dy2st.arange(x.shape[0], dtype="float32").unsqueeze(-1) * table[0] - 1
    else:
        rows = table
    return rows[: x.shape[0]] * 2 + 1


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_a_result_whose_size_no_call_can_find_is_of_no_function(engine):
    def f(table, x):
        twice = begin_of_a_table(table, x) + begin_of_a_table(table, x + 1)
        return twice.squeeze(1)[dy2st.arange(x.shape[0])] * begin_of_a_table(table, x).squeeze(1)

    static = to_static(f, input_spec=[InputSpec([4, 1]), InputSpec(["n"])], engine=engine)
    for n in (3, 6):
        table, x = dy2st.ones([4, 1]), dy2st.ones([n])
        np.testing.assert_array_equal(static(table, x), f(table, x))


def test_an_error_names_the_line_of_the_helper_and_that_of_the_call():
    def chosen_of(x, place):
        y = x * 2 + 1
        y = y * y - y / 3
        return (y + x * y)[place]

    def f(x, i, j):
        a = chosen_of(x, i)
        return a + chosen_of(x * 2, j)

    static = to_static(f, engine="numpy")
    static(X, T(0), T(1))
    assert names(static) == ["chosen_of"]
    with pytest.raises(IndexError) as caught:
        static(X, T(0), T(7))
    lines = [
        line
        for file, line, *_ in traceback.extract_tb(caught.value.__traceback__)
        if file == __file__
    ]
    first = f.__code__.co_firstlineno
    assert lines[-2:] == [first + 2, first - 2]


class Block(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(3, 3), nn.Linear(3, 3)

    def forward(self, x):
        return dy2st.tanh(self.second(dy2st.tanh(self.first(x) * 0.5))) + x


def sequential():
    return nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 3), nn.Tanh(), nn.Softmax())


class Reusing(nn.Layer):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        for _ in range(12):
            x = self.inner(x * 0.5)
        return x


@pytest.mark.parametrize("inner", [Block, sequential], ids=["of the user's", "of the library"])
def test_a_layer_that_is_used_again_is_a_function_and_keeps_its_paths(inner, monkeypatch):
    monkeypatch.setattr(Repeats, "least", 5)
    net, x = Reusing(inner()), dy2st.ones([2, 3])
    static = to_static(net, input_spec=[InputSpec([None, 3])])
    program = static.forward.main_program
    assert len(program.functions) == 1
    np.testing.assert_allclose(static(x), Reusing.forward(net, x), rtol=1e-6)
    inlined = dy2st.passes.InlineFunctions()(program)
    paths = [one.layer for one in inlined.block.walk()]
    count = len(paths) // 12
    assert paths == paths[:count] * 12 and {"inner.first", "inner.0"} & {*paths}


# -- what must be recorded in place, or told apart ----------------------------------------------


class Counting:
    """An object from outside that helpers read and write."""

    def __init__(self):
        self.factor, self.calls, self.seen, self.state = 2.0, 0, [], None


def writes_an_attribute(x):
    def helper(v):
        held.calls += 1
        return v * held.calls

    held = Counting()
    return helper(x) + helper(x) + helper(x)


def reads_what_changes_between(x):
    def helper(v):
        return v * held.factor

    held = Counting()
    first = helper(x) + helper(x)
    held.factor = 7.0
    return first + helper(x) + helper(x)


OUTSIDE = Counting()
FACTOR = 3.0


def an_object_from_outside_that_changes_between(x):
    def helper(v):
        return v * OUTSIDE.factor + OUTSIDE.state

    OUTSIDE.factor, OUTSIDE.state = 2.0, x
    first = helper(x) + helper(x)
    OUTSIDE.factor = 5.0
    OUTSIDE.state = x * 2
    return first + helper(x) + helper(x)


def a_list_from_outside(x):
    def helper(v):
        OUTSIDE.seen.append(1)
        return v * len(OUTSIDE.seen)

    OUTSIDE.seen = []
    return helper(x) + helper(x) + helper(x)


def a_global_that_changes_between(x):
    global FACTOR

    def helper(v):
        return v * FACTOR

    FACTOR = 3.0
    first = helper(x) + helper(x)
    FACTOR = 4.0
    return first + helper(x) + helper(x)


def a_variable_of_the_function_around(x):
    def helper(v):
        return v * scale + shift

    scale, shift = 2.0, x
    first = helper(x) + helper(x)
    scale, shift = 3.0, x * 5
    second = helper(x) + helper(x)
    if x.sum() > 0:
        shift = shift - 1
    return first + second + helper(x) + helper(x)


def a_nonlocal_variable(x):
    def helper(v):
        nonlocal total
        total = total + v
        return total * 2

    total = x
    return helper(x) + helper(x) + helper(x) + total


def changes_its_argument(x):
    def helper(v):
        v[0] = v[0] + 1
        return v * 2

    y = x * 1
    return helper(y) + helper(y) + helper(y) + y


def returns_its_argument(x):
    def helper(v, w):
        return v if v.sum() > w.sum() else w

    y, z = x * 1, x * 2
    first, second = helper(y, z), helper(z, y)
    return first + second * 10 + helper(y * 1, z * 1)


def the_same_object(x):
    def helper(v, flag):
        return v, flag, [v * 2]

    one, flag, made = helper(x, True)
    other, _, again = helper(x, True)
    again.append(1)
    return x * (one is other) * flag * len(made), made[0] + again[0]


def a_view_of_the_argument(x):
    def helper(v):
        return v[:2]

    y = x * 1
    first, second, third = helper(y), helper(y), helper(y)
    second[0] = 5.0
    return y, first, third


def one_tensor_twice(x):
    def helper(v, w):
        return v * 2 if v is w else v + w

    y, z = x * 3, x * 4
    return helper(y, z), helper(y, y), helper(z, y), helper(z, z), helper(y, z)


def constants_that_look_alike(x):
    def helper(v, c):
        return v * c if isinstance(c, bool) else v + c

    calls = [helper(x, c) for c in (True, 1, 1.0, True, 1, 1.0, 0.0, -0.0, 0.0, -0.0)]
    return calls + [1 / (helper(x, -0.0) * 0 + 1)]


def functions_as_arguments(x):
    def apply(g, v):
        return g(v) + 1

    one = lambda v: v * 2  # noqa: E731
    other = lambda v: v * 3  # noqa: E731
    return [apply(g, x) for g in (one, other, one, other, lambda v: v * x)]


def defaults_that_differ(x):
    made = []
    for k in range(3):

        def helper(v, factor=k):
            return v * factor

        made += [helper(x), helper(x)]
    return made


def records_nothing(x):
    def helper(v):
        return v, 1

    return [helper(x) for _ in range(3)]


def lists_and_dicts_as_arguments(x):
    def helper(pair, words, **named):
        pair.append(words["a"])
        return pair[0] + len(pair) + named["y"]

    pair = [x]
    return [helper(pair, {"a": x}, y=x) for _ in range(3)], len(pair)


def under_no_grad(x):
    def helper(v):
        return v * 2 + 1

    with dy2st.no_grad():
        held = helper(x) + helper(x)
    return held + helper(x) + helper(x), held.stop_gradient


def raises_in_a_handler(x):
    def helper(v, k):
        if k == 2:
            raise ValueError("two")
        return v * k

    found = []
    for k in (1, 1, 2, 1):
        try:
            found.append(helper(x, k))
        except ValueError:
            found.append(x * 0)
    return found


def raises_for_a_tensor(x):
    def helper(v):
        if v.sum() > 100:
            raise ValueError("large")
        return v * 10

    try:
        y = helper(helper(helper(x)))
    except ValueError:
        y = x * 0
    return y


def generators_of_helpers(x):
    def items(v):
        yield v * 2
        yield v * 3

    def helper(v):
        return sum(items(v), v)

    return helper(x) + helper(x) + helper(x)


def in_a_loop_of_the_program(x):
    def helper(v, w):
        return dy2st.tanh(v * 0.5 + w)

    n = 0
    while n < x.sum():
        x = helper(x, x * 0.1) * helper(x, x * 0.1)
        n = n + 1
    return x, n


def sizes_in_helpers(x):
    def helper(v):
        return v.reshape([v.shape[0], 1]).sum(axis=1) * v.shape[0], v.shape[0]

    first, second = helper(x), helper(x)
    longer = helper(dy2st.concat([x, x]))
    return first[0] + second[0] * helper(x)[1], longer, helper(dy2st.concat([x, x]))


PROGRAMS = [
    writes_an_attribute,
    reads_what_changes_between,
    an_object_from_outside_that_changes_between,
    a_list_from_outside,
    a_global_that_changes_between,
    a_variable_of_the_function_around,
    a_nonlocal_variable,
    changes_its_argument,
    returns_its_argument,
    the_same_object,
    a_view_of_the_argument,
    one_tensor_twice,
    constants_that_look_alike,
    functions_as_arguments,
    defaults_that_differ,
    records_nothing,
    lists_and_dicts_as_arguments,
    under_no_grad,
    raises_in_a_handler,
    raises_for_a_tensor,
    generators_of_helpers,
    in_a_loop_of_the_program,
    sizes_in_helpers,
]


def settled(value):
    """A result with tensors as lists."""
    if isinstance(value, (list, tuple)):
        return [*map(settled, value)]
    return value.tolist() if isinstance(value, dy2st.Tensor) else value


@pytest.mark.parametrize("spec", [None, [InputSpec([None])]], ids=["known sizes", "unknown sizes"])
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda one: one.__name__)
def test_what_helpers_read_and_write_is_what_python_has(function, spec, every_size):
    static = to_static(function, input_spec=spec)
    for x in (X, Y, X):
        assert repr(settled(static(x * 1))) == repr(settled(function(x * 1)))


def test_random_numbers_are_drawn_at_each_call(every_size):
    def helper(v):
        return v + dy2st.rand([3])

    def f(x):
        return helper(x), helper(x), helper(x)

    static = to_static(f)
    dy2st.seed(5)
    found = settled(static(X))
    dy2st.seed(5)
    assert found == settled(f(X))


def test_a_helper_that_draws_numbers_of_python_is_recorded_at_each_call(every_size):
    def helper(v):
        return v * random.random()

    static = to_static(lambda x: helper(x) + helper(x) * 10 + helper(x) * 100)
    random.seed(1)
    found = static(X).tolist()
    random.seed(1)
    first, second, third = (random.random() for _ in range(3))
    assert found == pytest.approx([v * (first + second * 10 + third * 100) for v in X.tolist()])


def test_a_cache_is_asked_as_often_as_python_asks_it(every_size):
    @functools.cache
    def cached(k):
        return k * 2

    def helper(v, k):
        return v * cached(k)

    def f(x):
        return helper(x, 3) + helper(x, 3) + helper(x, 3)

    static = to_static(f)
    assert static(X).tolist() == [18.0, -36.0, 54.0]
    assert cached.cache_info()[:2] == (2, 1)
