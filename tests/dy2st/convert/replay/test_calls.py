"""Functions that are traced, called again and again, beside Python."""

from __future__ import annotations

import copy
import functools
from collections import OrderedDict, deque

import numpy as np
import pytest

import dy2st
from dy2st import to_static


class Point:
    def __init__(self, x):
        self.x, self.y = x, 0


def tensor(*values):
    return dy2st.to_tensor(np.array(values, "float32"))


def shown(value):
    """The value with arrays in place of tensors."""
    if isinstance(value, dy2st.Tensor):
        return "tensor", value.numpy().tolist(), str(value.dtype)
    if isinstance(value, dict):
        return type(value).__name__, [(key, shown(one)) for key, one in value.items()]
    if isinstance(value, (list, tuple, deque)):
        return type(value).__name__, [shown(one) for one in value]
    return (type(value).__name__, shown(vars(value))) if isinstance(value, Point) else value


def a_list(x):
    return [x + 1, x * 2, 3, "text"]


def a_dict_in_order(x):
    return OrderedDict(b=x, a=[x + 1])


def an_object(x):
    return Point(x + 1)


def a_deque(x):
    return deque([x, 1], maxlen=2)


def a_number(x):
    return len([v for v in x if v > 0])


def one_of_two(x):
    return None if x.sum() > 0 else x + 1


def a_list_of_a_length(x):
    return [v * 2 for v in x if v > 0]


RESULTS = (
    *(a_list, a_dict_in_order, an_object),
    *(a_deque, a_number, one_of_two, a_list_of_a_length),
)


@pytest.mark.parametrize("function", RESULTS, ids=lambda function: function.__name__)
def test_the_result_is_the_one_of_python(function):
    static = to_static(function)
    for x in (tensor(1, -2, 3), tensor(-1, -2, -3), tensor(2, 2, 2)):
        assert shown(static(x)) == shown(function(x))


def test_an_object_that_is_made_is_another_one_at_each_call():
    static = to_static(an_object)
    first, second = static(tensor(1)), static(tensor(1))
    assert first is not second


def test_a_list_that_is_met_twice_is_one_list():
    @to_static
    def f(x):
        inner = [x]
        return inner, inner

    first, second = f(tensor(1))
    assert first is second


def test_an_argument_that_is_returned_is_the_argument():
    @to_static
    def f(x):
        return x, [x]

    x = tensor(1)
    first, (second,) = f(x)
    assert first is x and second is x


class Counter:
    def __init__(self):
        self.count, self.log, self.cache, self.seen = 0, [], {}, set()

    def appends(self, x):
        self.log.append(x * 2)
        return x

    def extends_by_two(self, x):
        self.log.extend([x, 1])
        return x

    def sets_keys(self, x):
        self.cache["last"] = x
        if "first" not in self.cache:
            self.cache["first"] = 1
        return x

    def deletes_and_sets(self, x):
        self.cache["k"] = 1
        del self.cache["k"]
        return x

    def assigns_the_first(self, x):
        self.log[0] = x
        return x

    def begins_anew(self, x):
        self.log = [x]
        return x


METHODS = (
    *("appends", "extends_by_two", "sets_keys"),
    *("deletes_and_sets", "assigns_the_first", "begins_anew"),
)


@pytest.mark.parametrize("name", METHODS)
def test_every_call_writes_what_python_writes(name):
    plain = Counter()
    plain.log.append("before")
    static = copy.deepcopy(plain)
    call = to_static(getattr(static, name))
    for x in (tensor(1), tensor(2), tensor(3)):
        assert shown(call(x)) == shown(getattr(plain, name)(x))
        assert shown(vars(static)) == shown(vars(plain))


def test_what_is_appended_to_is_not_read():
    log = []

    @to_static
    def f(x):
        log.append(x)
        return x

    for _ in range(3):
        f(tensor(1))
    assert len(log) == 3
    assert len(f.program_cache) == 1


def test_what_is_written_before_the_run_raises_is_written_once():
    log = []

    @to_static
    def f(x):
        log.append(x)
        if x.sum() > 10:
            raise ValueError("large")
        return x

    f(tensor(1))
    with pytest.raises(ValueError, match="large"):
        f(tensor(11))
    assert [float(one) for one in log] == [1.0, 11.0]


def test_a_variable_of_a_closure_and_a_global_are_set():
    total = None

    def f(x):
        nonlocal total
        total = x if total is None else total + x
        return total

    static = to_static(f)
    found = [static(tensor(1)), static(tensor(2)), static(tensor(3))]
    assert [shown(one) for one in found] == [shown(tensor(v)) for v in (1, 3, 6)]
    assert shown(total) == shown(tensor(6))


class Net(dy2st.nn.Layer):
    def __init__(self):
        super().__init__()
        self.register_buffer("h", dy2st.zeros([2]))
        self.linear = dy2st.nn.Linear(2, 2)

    def forward(self, x):
        self.h = self.h + x
        y = self.linear(self.h)
        return y * 2 if self.training else y


def test_a_buffer_goes_on_from_call_to_call_without_a_new_trace():
    net = Net()
    plain, static = net, to_static(copy.deepcopy(net))
    for x in (tensor(1, 2), tensor(3, 4), tensor(5, 6)):
        assert shown(static(x)) == shown(plain(x))
    assert len(static.forward.program_cache) == 1
    assert shown(static.h) == shown(plain.h)


def test_a_program_that_is_saved_keeps_its_buffer(tmp_path):
    net = to_static(Net())
    net.eval()
    expected = [net(tensor(1, 2)), net(tensor(3, 4))]
    net.h = dy2st.zeros([2])
    dy2st.jit.save(net, str(tmp_path / "net"))
    loaded = dy2st.jit.load(str(tmp_path / "net"))
    found = [loaded(tensor(1, 2)), loaded(tensor(3, 4))]
    assert [shown(one) for one in found] == [shown(one) for one in expected]


def test_a_cache_of_the_user_is_asked_once_a_use():
    @functools.lru_cache
    def scale(n):
        return float(n)

    static = to_static(lambda x: x * scale(2) + scale(3) + scale(3))
    for _ in range(3):
        assert static(dy2st.ones([1])).tolist() == [8.0]
    assert tuple(scale.cache_info())[:2] == (7, 2)
