"""Calls of one function, in all the ways to give it its arguments, each after others."""

from __future__ import annotations

import struct
from collections import OrderedDict, namedtuple
from datetime import date
from decimal import Decimal

import numpy as np
import pytest

import dy2st
from dy2st.jit import to_static
from dy2st_runtime.errors import ArgumentError

Pair = namedtuple("Pair", "left right")


def tensors(*numbers):
    return [dy2st.to_tensor([float(number)]) for number in numbers]


def difference(x, y, factor=1):
    return (x - y) * factor


def called_twice(function, *calls):
    """What the calls give when they are made the second time, as numbers."""
    static = to_static(function)
    for args, kwargs in calls:
        static(*args, **kwargs)
    return [static(*args, **kwargs).item() for args, kwargs in calls], static


def test_names_in_another_order_are_the_same_arguments():
    x, y = tensors(5, 3)
    calls = [((x, y), {}), ((), {"x": x, "y": y}), ((), {"y": y, "x": x}), ((x,), {"y": y})]
    found, static = called_twice(difference, *calls)
    assert found == [2.0] * 4
    assert len(static.program_cache) == 1


def test_one_tensor_under_two_names_in_another_order_and_then_two():
    x, y = tensors(5, 3)
    static = to_static(difference)
    assert static(y=x, x=x).item() == 0.0
    assert static(y=y, x=x).item() == 2.0
    assert static(y=x, x=y).item() == -2.0


def test_numbers_that_are_equal_and_of_other_types_are_other_arguments():
    x, y = tensors(5, 3)

    def kind(x, y, factor):
        return x - y if isinstance(factor, bool) else y - x if isinstance(factor, int) else x + y

    found, _ = called_twice(kind, *[((x, y, factor), {}) for factor in (True, 1, 1.0)])
    assert found == [2.0, -2.0, 8.0]


def test_the_sign_of_zero_counts():
    (x,) = tensors(5)

    def signed(x, zero):
        return x if struct.pack("d", zero)[-1] else -x

    found, _ = called_twice(signed, ((x, 0.0), {}), ((x, -0.0), {}))
    assert found == [-5.0, 5.0]


def test_a_default_that_is_set_anew_counts():
    x, y = tensors(5, 3)

    def scaled(x, y, factor=1, *, more=2):
        return (x - y) * factor * more

    static = to_static(scaled)
    assert [static(x, y).item() for _ in range(2)] == [4.0] * 2
    scaled.__defaults__ = (3,)
    assert [static(x, y).item() for _ in range(2)] == [12.0] * 2
    scaled.__kwdefaults__["more"] = 5
    assert [static(x, y).item() for _ in range(2)] == [30.0] * 2


def test_a_default_that_changes_counts():
    x, y = tensors(5, 3)
    factors = [2]

    def scaled(x, y, held=factors):
        return (x - y) * held[0]

    static = to_static(scaled)
    assert [static(x, y).item() for _ in range(2)] == [4.0] * 2
    factors[0] = 7
    assert [static(x, y).item() for _ in range(2)] == [14.0] * 2


def test_a_default_tensor_is_an_argument():
    x, y = tensors(5, 3)

    def less(x, y=y):
        return x - y

    static = to_static(less)
    assert [static(x).item() for _ in range(2)] == [2.0] * 2
    assert static(x, x).item() == 0.0
    y.set_value(np.array([1.0], np.float32))
    assert static(x).item() == 4.0


@pytest.mark.parametrize(
    ("hold", "kind"),
    [
        (lambda x, y: [x, [y, 3]], "list"),
        (lambda x, y: (x, (y, 3)), "tuple"),
        (lambda x, y: Pair(x, (y, 3)), "named tuple"),
    ],
)
def test_tensors_in_containers(hold, kind):
    x, y, z = tensors(5, 3, 1)

    def inner(pair):
        left, (right, factor) = pair
        return (left - right) * factor

    calls = [((hold(x, y),), {}), ((hold(y, z),), {}), ((), {"pair": hold(x, z)})]
    found, static = called_twice(inner, *calls)
    assert found == [6.0, 6.0, 12.0]
    assert len(static.program_cache) == 1, f"a Program for each {kind}"


@pytest.mark.parametrize("kind", [dict, OrderedDict])
def test_tensors_in_dicts(kind):
    x, y = tensors(5, 3)

    def inner(held):
        return held["x"] - held["y"]

    found, static = called_twice(inner, ((kind(x=x, y=y),), {}), ((kind(x=y, y=x),), {}))
    assert found == [2.0, -2.0]
    assert len(static.program_cache) == 1
    assert static(kind(y=y, x=x)).item() == 2.0


def test_a_named_tuple_is_no_tuple():
    x, y = tensors(5, 3)

    def inner(pair):
        return pair[0] - pair[1] if isinstance(pair, Pair) else pair[1] - pair[0]

    found, _ = called_twice(inner, ((Pair(x, y),), {}), (((x, y),), {}))
    assert found == [2.0, -2.0]


def test_arrays_and_tensors_are_one():
    x, y = tensors(5, 3)
    calls = [((x, y), {}), ((x.numpy(), y), {}), ((x,), {"y": y.numpy()})]
    found, static = called_twice(difference, *calls)
    assert found == [2.0] * 3
    assert len(static.program_cache) == 1


def test_another_object_is_another_argument():
    class Factor:
        def __init__(self, number):
            self.number = number

    (x,) = tensors(5)
    one, two = Factor(1), Factor(2)

    def scaled(x, factor):
        return x * factor.number

    found, static = called_twice(scaled, ((x, one), {}), ((x, two), {}))
    assert found == [5.0, 10.0]
    two.number = 3
    assert static(x, factor=two).item() == 15.0


@pytest.mark.parametrize(
    "make", [lambda n: date(2020, 1, n), Decimal, lambda n: complex(n, 1), lambda n: range(1, n)]
)
def test_another_object_that_no_code_can_tell_from_one_is_the_same_argument(make):
    (x,) = tensors(5)

    def scaled(x, value):
        return x * len(str(value)) if value == make(12) else x

    found, static = called_twice(scaled, *[((x, make(n)), {}) for n in (11, 12, 11)])
    assert found == [5.0, 5.0 * len(str(make(12))), 5.0]
    assert len(static.program_cache) == 2


def test_names_that_options_take():
    x, y = tensors(5, 3)

    def optional(x, sign=1, **others):
        return (x - others["y"]) * sign if "y" in others else x

    found, _ = called_twice(
        optional, ((x,), {"y": y}), ((x,), {"y": x, "sign": 2}), ((x,), {"sign": 2, "y": y})
    )
    assert found == [2.0, 0.0, 4.0]


def test_a_call_that_does_not_fit_is_refused_after_one_that_does():
    x, y = tensors(5, 3)
    static = to_static(difference)
    static(x, y)
    with pytest.raises(TypeError, match="missing"):
        static(x)
    with pytest.raises(TypeError, match="multiple values"):
        static(x, y, x=y)
    with pytest.raises(ArgumentError, match="not a tensor"):
        static(np.array(["a"]), y)


def test_a_call_that_writes_and_raises_is_written_as_python_does():
    x, y = tensors(5, 3)
    seen = []

    def kept(x, most):
        seen.append(most)
        if x.sum() > most:
            raise ValueError("too large")
        return x

    static = to_static(kept)
    assert [static(y, 4) is y for _ in range(2)] == [True] * 2
    for _ in range(2):
        with pytest.raises(ValueError, match="too large"):
            static(x, 4)
    assert seen == [4] * 4


def test_whether_gradients_are_asked_for_counts_where_the_function_asks():
    x, y = tensors(5, 3)

    def asks(x, y, factor):
        return x * factor if x.stop_gradient else y * factor

    static = to_static(asks)
    assert [static(x, y, factor=2).item() for _ in range(2)] == [10.0] * 2
    x.stop_gradient = False
    assert [static(x, y, factor=2).item() for _ in range(2)] == [6.0] * 2
    x.stop_gradient = True
    assert static(x, y, factor=2).item() == 10.0
