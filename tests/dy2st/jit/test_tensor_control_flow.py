"""Converted functions give what Python gives, on inputs that take every path, by one Program."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

import dy2st
from dy2st.jit import to_static

INPUTS = ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0], [10.0, 20.0, 30.0], [0.0, 0.0, 0.0])


def numbers_differ(x):
    n = 0
    if x.sum() > 0:
        n = 3
    return x * n, n


def int_and_float(x):
    scale = 2
    if x.sum() > 0:
        scale = 0.1
    return x * scale


def number_and_tensor(x):
    y = 0
    if x.sum() > 0:
        y = x.mean()
    return x + y


def early_return_in_while(x):
    i = 0
    while i < 10:
        if x.sum() > 50:
            return x + i
        x = x + 5
        i += 1
    return x


def early_return_in_for(x):
    for i in range(4):
        if x.sum() > 5:
            return x * i
        x = x + 1
    return x - 100


def break_in_python_for(x):
    for i in range(5):
        if x.sum() > 8:
            break
        x = x + i
    return x, i


def break_in_while_true(x):
    n = 0
    while True:
        x = x + 1
        n += 1
        if x.sum() > 9:
            break
    return x, n


def continue_in_tensor_while(x):
    i = dy2st.zeros([], "int64")
    y = x * 0
    while i < 6:
        i = i + 1
        if i % 2 == 0:
            continue
        y = y + x * i.astype("float32")
    return y


def nested_loops_with_inner_break(x):
    count = 0
    for i in range(3):
        for j in range(4):
            if x.sum() * 0 + j > i:
                break
            count = count + 1
    return x + count


def while_else(x):
    i = 0
    while i < 3 and x.sum() < 1000:
        x = x + 1
        i += 1
    else:
        x = x * 100
    return x


def for_else_with_tensor_break(x):
    for i in range(3):
        if x.sum() > 20:
            break
        x = x + i
    else:
        x = x * 2
    return x


def assigned_in_a_try_of_a_loop_and_behind_it(x):
    p = 1
    for _ in range(2):
        if x.sum() > 0:
            try:
                if x.max() > 2:
                    p = 2
            finally:
                x = x - p
            p = 3
    return x, p


def loop_variable_after_break(x):
    for i in range(10):
        x = x + 1
        if x.max() > 8:
            break
    return x * i


def loop_variable_assigned_in_body(x):
    total = x * 0
    for i in range(dy2st.to_tensor(3)):
        i = i * 10
        total = total + i
    return total, i


def tensor_range_with_step(x):
    stop = x.astype("int64").sum() * 0 + 9
    for i in range(1, stop, 3):
        x = x + i
    return x


def negative_step(x):
    start = x.astype("int64").sum() * 0 + 5
    for i in range(start, 0, -2):
        x = x * 2 + i
    return x


def total_that_starts_as_a_number(x):
    total = 0
    turns = 0
    while x.abs().sum() > 1 or turns < 1:
        total = total + x.sum()
        x = x / 2
        turns += 1
    return total


def assigned_first_inside_the_loop(x):
    i = 0
    while x.sum() * 0 + i < 3:
        y = x + i
        i += 1
    return y


def append_in_tensor_while(x):
    parts = []
    i = dy2st.zeros([], "int64")
    while i < 3:
        parts.append(x * i)
        i = i + 1
    return dy2st.concat(parts), len(parts)


def append_in_tensor_if(x):
    parts = [x]
    if x.sum() > 0:
        parts.append(x * 2)
    else:
        parts.append(x * 3)
    return dy2st.stack(parts)


def list_item_set_in_branch(x):
    parts = [x, x + 1]
    alias = parts
    if x.sum() > 0:
        parts[0] = x * 5
    return alias[0] + alias[1]


def dict_changed_in_branch(x):
    cache = {"k": x, "n": 1}
    if x.sum() > 0:
        cache["k"] = x * 7
    return cache["k"], cache["n"]


def item_assignment(x):
    y = x * 1
    y[0] = 5.0
    if x.sum() > 0:
        y[1:] = y[1:] * 2
    return y


def item_assignment_in_loop(x):
    y = dy2st.zeros([3])
    for i in range(dy2st.to_tensor(3)):
        y[i] = x[i] * i
    return y


def boolean_operators_as_values(x):
    a = x.sum() > 0 and x.max() > 5
    b = x.sum() > 0 or x.max() > 5
    c = not x.sum() > 0
    return a, b, c


def short_circuit(x):
    if x.sum() > 0 and x[0] / x.sum() > 0.1:
        return x + 1
    return x


def chained_comparison(x):
    if 0 < x.sum() < 10:
        return x * 2
    return x * 3


def conditional_expression(x):
    y = x * 2 if x.sum() > 0 else x * 3
    return y + (1.0 if y.sum() > 10 else 2.0)


def casts(x):
    n = int(x.sum())
    f = float(x.mean())
    b = bool(x.max() > 2)
    return n * 2, f, b, x * f


def large_int_cast(x):
    return int(x.astype("float64").sum() * 1e9) * 2


def builtins_on_tensors(x):
    return max(x.sum(), x.mean()), min(x.sum(), x.max()), abs(x.sum()), len(x), sum([x, x])


def isinstance_of_tensor(x):
    return x + 1 if isinstance(x, dy2st.Tensor) else None


def asserts(x):
    assert x.sum() < 1000, "too large"
    return x


def iterate_over_rows(x):
    total = 0
    for row in x:
        total = total * 2 + row
    return total


def enumerate_and_zip(x):
    total = x * 0
    for i, (a, b) in enumerate(zip(x, x + 1)):
        total = total + a * b * i
    return total


def comprehension_with_ternary(x):
    return dy2st.stack([v * 2 if i > 0 else v for i, v in enumerate(x)])


def nonlocal_in_nested_function(x):
    count = 0

    def bump():
        nonlocal count
        count += 1
        return x * count

    return bump() + bump()


def helper_with_branch(v):
    if v.sum() > 0:
        return v + 1
    return v - 1


def calls_a_helper(x):
    return helper_with_branch(helper_with_branch(x))


def walrus_in_if(x):
    if (s := x.sum()) > 0:
        return x * s
    return x * 0 + s


def match_with_tensor_if(x, mode="double"):
    match mode:
        case "double":
            y = x * 2 if x.sum() > 0 else x
        case _:
            y = x
    return y


def tensor_that_grows(x):
    y = x
    while y.shape[0] < 10:
        y = dy2st.concat([y, x])
    return y


def tensor_that_grows_as_the_data_says(x):
    y = x[:1]
    i = dy2st.zeros([], "int64")
    while i < x.abs().max().astype("int64") % 4:
        y = dy2st.concat([y, x[:1] + i.astype("float32")])
        i = i + 1
    return y


def return_structures(x):
    if x.sum() > 0:
        out = {"a": x, "b": [x * 2, 3]}
    else:
        out = {"a": x - 1, "b": [x, 3]}
    return out, None, "text"


def recursion_on_python_value(x, n=3):
    if n == 0:
        return x
    return recursion_on_python_value(x * 2, n - 1)


FUNCTIONS = [
    value
    for name, value in list(globals().items())
    if callable(value)
    and getattr(value, "__module__", "") == __name__
    and name not in ("helper_with_branch",)
]


def comparable(value):
    if isinstance(value, dy2st.Tensor):
        return ("tensor", str(value.dtype), value.numpy())
    if isinstance(value, (list, tuple)):
        return (type(value).__name__, [comparable(v) for v in value])
    if isinstance(value, dict):
        return ("dict", list(value), [comparable(v) for v in value.values()])
    return (type(value).__name__, value)


def assert_same(left, right):
    if isinstance(left, np.ndarray):
        np.testing.assert_allclose(right, left, rtol=1e-6)
    elif isinstance(left, (list, tuple)):
        assert len(left) == len(right)
        for a, b in zip(left, right, strict=True):
            assert_same(a, b)
    elif isinstance(left, float):
        assert right == pytest.approx(left, rel=1e-6)
    else:
        assert left == right


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_the_converted_function_gives_what_python_gives(function):
    static = to_static(function)
    for values in INPUTS:
        x = dy2st.to_tensor(values)
        assert_same(comparable(function(x)), comparable(static(x)))
    assert len(static.program_cache) == 1


def grows(x, c):
    while x.mean() < c:
        x = x * 1.5 + 0.1
        if x.max() > 8:
            x = x - 1
    return x


def test_gradients_flow_through_the_turns_and_branches_that_are_taken():
    static = to_static(grows)
    for values in ([1.0, 2.0], [0.5, 7.0]):
        found = []
        for function in (grows, static):
            x = dy2st.to_tensor(values, stop_gradient=False)
            function(x, dy2st.to_tensor(20.0)).sum().backward()
            found.append(x.grad.numpy())
        np.testing.assert_allclose(found[0], found[1], rtol=1e-6)


def failing_assert(x):
    assert x.sum() > 0, "must be positive"
    return x


def test_a_failing_assert_keeps_its_class_and_message():
    static = to_static(failing_assert)
    static(dy2st.to_tensor([1.0]))
    with pytest.raises(AssertionError, match="must be positive"):
        static(dy2st.to_tensor([-1.0]))


def prints(x):
    print("sum", x.sum(), "of", 3, sep="|")
    return x


def test_print_prints_when_the_program_runs(capsys):
    static = to_static(prints)
    static(dy2st.to_tensor([1.0]))
    static(dy2st.to_tensor([2.0]))
    assert capsys.readouterr().out == "sum|1.0|of|3\nsum|2.0|of|3\n"


class Counter(dy2st.nn.Layer):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", dy2st.zeros([], "int64"))

    def forward(self, x):
        if x.sum() > 0:
            self.count = self.count + 1
        return x * self.count


def test_a_buffer_changed_in_a_branch_keeps_its_value_between_calls():
    net = to_static(Counter())
    x, y = dy2st.to_tensor([1.0]), dy2st.to_tensor([-1.0])
    assert [net(v).item() for v in (x, x, y, x)] == [1.0, 2.0, -2.0, 3.0]
    assert net.count.item() == 3


def raises_on_some_paths(x):
    if x.sum() > 10:
        raise ValueError("too large")
    y = x + 1
    if y.sum() < 0:
        y = y * 2
    return y


def raises_in_a_loop(x):
    while x.sum() < 20:
        x = x * 2
        if x.max() > 100:
            raise OverflowError("too far")
    return x


class OwnError(Exception):
    def __init__(self, code):
        super().__init__(code, "detail")


def raises_an_own_class(x):
    if x.sum() > 10:
        raise OwnError(3)
    return x


def test_raise_under_a_tensor_condition_raises_where_python_does():
    static = to_static(raises_on_some_paths)
    for values in ([1.0, 2.0], [-3.0, -1.0]):
        x = dy2st.to_tensor(values)
        np.testing.assert_array_equal(static(x).numpy(), raises_on_some_paths(x).numpy())
    with pytest.raises(ValueError, match="too large"):
        static(dy2st.to_tensor([10.0, 20.0]))
    looping = to_static(raises_in_a_loop)
    assert looping(dy2st.to_tensor([1.0, 2.0])).tolist() == [8.0, 16.0]
    with pytest.raises(OverflowError, match="too far"):
        looping(dy2st.to_tensor([-90.0, 80.0]))


def test_an_exception_class_of_the_user_is_raised_with_its_arguments():
    static = to_static(raises_an_own_class)
    assert static(dy2st.ones([1])).tolist() == [1.0]
    with pytest.raises(OwnError) as caught:
        static(dy2st.to_tensor([20.0]))
    assert caught.value.args == (3, "detail")


def test_a_list_of_the_program_is_changed_inside_of_expressions():
    def pops(x):
        items, total = [x, x + 1], x * 0
        while total.sum() < 3 and len(items) > 1:
            total = total + items.pop()
        return total

    for values in ([1.0, 2.0], [-1.0, -2.0]):
        x = dy2st.to_tensor(values)
        assert to_static(pops)(x).tolist() == pops(x).tolist()


def test_no_gradient_flows_through_a_number_of_python():
    def scaled(x):
        size = float(x.sum())
        if size > 0:
            size = size * 2
        return x * size

    for function in (scaled, to_static(scaled)):
        x = dy2st.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
        function(x).sum().backward()
        assert x.grad.tolist() == [12.0, 12.0, 12.0]


@pytest.mark.parametrize("kind", [type("Own", (dict,), {}), defaultdict])
def test_a_dict_of_a_class_of_its_own_is_returned(kind):
    def made(x):
        entries = kind()
        entries["a"] = x
        return entries

    found = to_static(made)(dy2st.ones([2]))
    assert type(found) is kind and found["a"].tolist() == [1.0, 1.0]


@pytest.mark.filterwarnings("ignore:overflow encountered")
def test_a_power_that_is_too_large_for_a_float_raises_as_in_python():
    def power(x):
        return (float(x) + 2) ** 300

    static = to_static(power)
    for number in (1.0, 1e6):
        expected = returned_or_raised(power, number)
        assert returned_or_raised(static, number) == expected


def returned_or_raised(function, number):
    try:
        return function(dy2st.to_tensor(number))
    except OverflowError as error:
        return str(error)
