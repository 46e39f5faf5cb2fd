"""The row of a type is found by its class, or by that of a base."""

from __future__ import annotations

import array
import gc
import random
from collections import Counter, OrderedDict, UserDict, defaultdict, deque
from typing import Any, NamedTuple
from weakref import proxy, ref

import numpy as np
import pytest

import dy2st
from dy2st.convert.types import info, kinds_of, row, same
from dy2st.convert.types.containers import read_state, write_state
from dy2st.jit import to_static
from dy2st_runtime.ir import Tensor

X = dy2st.to_tensor([1.0, 2.0])


class Pair(NamedTuple):
    first: Any
    second: Any


class Named(dict[str, Any]):
    def items(self) -> Any:
        raise AssertionError("what is held is read past this")


class Stack(deque[Any]):
    pass


def test_a_class_has_the_row_of_its_first_base_with_one():
    assert info(Named).base is info(dict)
    assert info(type(X)).is_traced and info(type(X)).base is info(Tensor)
    assert info(UserDict).base is info(object)


def test_classes_derived_from_containers_are_no_containers_of_pythons():
    assert info(dict).is_container and not info(Named).is_container
    assert (info(Named).family, info(Named).state) == ("object", "derived")


def test_namedtuples_are_taken_apart_into_their_fields():
    one = info(Pair)
    assert one.is_value and one.make(Pair, [1, 2], (), None) == Pair(1, 2)


HOLDING = [
    {"b": 1, "a": 2},
    OrderedDict(b=1, a=2),
    defaultdict(list, {"a": [1]}),
    Counter("abca"),
    [1, 2],
    deque([1, 2], maxlen=2),
    {1, 2},
    bytearray(b"abc"),
    array.array("d", [1.0, 2.0]),
    np.arange(3),
    Named(a=1),
    Stack([1, 2]),
    random.Random(3),
]


@pytest.mark.parametrize("owner", HOLDING, ids=lambda one: type(one).__name__)
def test_what_an_object_holds_can_be_put_back(owner):
    before = read_state(owner)
    if hasattr(owner, "clear"):
        owner.clear()
    elif isinstance(owner, random.Random):
        owner.random()
    else:
        owner[0] = 7
    write_state(owner, before)
    assert repr(read_state(owner)) == repr(before)


@pytest.mark.parametrize(
    ("left", "right"),
    [(0.0, -0.0), (1, True), (0j, -0j), ((0.0,), (-0.0,)), (frozenset({1}), frozenset({1.0}))],
)
def test_what_equals_may_still_be_told_apart(left, right):
    assert left == right and not same(left, right)


def test_what_does_not_equal_may_be_the_same():
    nan = float("nan")
    assert same(nan, float("nan")) and same((1, (nan,)), (1, (float("nan"),)))
    assert same(Pair(1, "a"), Pair(1, "a")) and same(slice(0.5), slice(0.5))


def test_a_class_lives_no_longer_for_that_its_row_was_asked_for():
    class Mine(list[Any]):
        pass

    info(Mine)
    gone = ref(Mine)
    del Mine
    gc.collect()
    assert gone() is None


def test_a_row_that_comes_later_holds_for_derived_classes():
    class Base:
        pass

    class Derived(Base):
        pass

    assert info(Derived).base is info(object)
    row(Base, family="late")
    assert info(Derived).base is info(Base) and Base in kinds_of("late")


def test_what_a_proxy_stands_for_is_read_and_changed():
    class Held:
        scale: Any = 2.0

    owner = Held()
    seen = proxy(owner)

    def function(x: Any) -> Any:
        if x.sum() > 0:
            seen.scale = seen.scale * x
        return seen.scale + owner.scale

    assert np.array_equal(to_static(function)(X).numpy(), [4.0, 8.0])
    assert np.array_equal(owner.scale.numpy(), [2.0, 4.0])


def test_a_method_that_is_changed_is_seen_through_a_proxy():
    class Scaled:
        def scale(self) -> float:
            return 2.0

    owner = Scaled()
    seen = proxy(owner)
    static = to_static(lambda x: x * seen.scale())
    assert np.array_equal(static(X).numpy(), [2.0, 4.0])
    Scaled.scale = lambda self: 3.0  # type: ignore[method-assign]
    assert np.array_equal(static(X).numpy(), [3.0, 6.0])
