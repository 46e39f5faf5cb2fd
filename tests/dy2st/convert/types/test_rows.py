"""The row of a type is found by its class, or by that of a base."""

from __future__ import annotations

import array
import gc
import operator
import random
import re
from collections import ChainMap, Counter, OrderedDict, UserDict, defaultdict, deque
from copy import copy
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple
from weakref import proxy, ref

import numpy as np
import pytest

import dy2st
from dy2st.convert.types import info, kinds_of, row, same
from dy2st.convert.types.values import read_state, write_state
from dy2st.jit import to_static
from dy2st.static import InputSpec
from dy2st_runtime.ir import Tensor

X = dy2st.to_tensor([1.0, 2.0])
PAGE = Path(__file__).parents[4] / "docs" / "development.md"


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


EQUAL = {
    "timedelta": lambda: timedelta(days=1),
    "date": lambda: date(2024, 2, 29),
    "Decimal": lambda: Decimal("1.50"),
    "Fraction": lambda: Fraction(1, 3),
    "range": lambda: range(3),
    "dtype": lambda: np.dtype("int8"),
}


@pytest.mark.parametrize("make", EQUAL.values(), ids=EQUAL)
def test_a_new_object_with_the_same_value_is_no_reason_to_trace_anew(make):
    owner = SimpleNamespace(value=make())
    static = to_static(lambda x: (x * 2, str(owner.value)))
    for _ in range(3):
        owner.value = make()
        assert static(X)[1] == str(make())
    assert "traced again" not in str(static.report())


def test_decimals_that_are_written_otherwise_are_told_apart():
    assert not same(Decimal("1.5"), Decimal("1.50"))


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


ROW = re.search(r"^    (row\(timedelta,.*)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


def test_the_row_that_the_docs_show_is_that_of_the_type():
    kept = copy(info(timedelta))
    row(timedelta)
    assert not same(timedelta(1), timedelta(1))
    exec(ROW[1], {"row": row, "timedelta": timedelta, "operator": operator})  # type: ignore[index]
    assert vars(info(timedelta)) | {"base": None} == vars(kept) | {"base": None}
    assert same(timedelta(1), timedelta(1)) and not same(timedelta(1), timedelta(2))


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


def chained(x: Any) -> Any:
    names = ChainMap({"scale": x.sum()}, {"scale": x * 0, "shift": x})
    if x.sum() > 0:
        names["shift"] = names["scale"] * x
    for row_ in x:
        names["scale"] = names["scale"] + row_
    inner = names.new_child({"shift": x - 1})
    return [inner["scale"] * inner["shift"], len(inner), "shift" in names.maps[0], sorted(names)]


@pytest.mark.parametrize("sign", [1, -1])
def test_a_class_that_is_written_in_python_needs_no_row(sign):
    assert info(ChainMap).base is info(object)
    tensor, *rest = to_static(chained, [InputSpec([None], "float32")])(X * sign)
    wanted, *others = chained(X * sign)
    assert np.array_equal(tensor.numpy(), wanted.numpy())
    assert rest == others


class Counted:
    count: Any = 0.0


@pytest.mark.parametrize(
    "hold", [lambda one: frozenset({one}), lambda one: (slice(one),), lambda one: [one]]
)
def test_what_stands_in_a_value_from_outside_is_outside_too(hold):
    one = Counted()
    held = hold(one)

    def function(x: Any) -> Any:
        for found in held:
            found = getattr(found, "stop", found)
            found.count = found.count + 1.0
            found.last = x.sum()
        return x * one.count

    static = to_static(function)
    for count in (1.0, 2.0, 3.0):
        assert np.array_equal(static(X).numpy(), X.numpy() * count)
    assert one.count == 3.0 and float(one.last) == 3.0  # type: ignore[attr-defined]
