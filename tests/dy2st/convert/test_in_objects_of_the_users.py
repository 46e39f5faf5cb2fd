"""`n in obj` of objects without `__contains__` goes through them, as far as Python does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import dy2st
from dy2st.jit import to_static
from dy2st.static import InputSpec
from tests.dy2st.catalogue.comparing import comparable

INPUTS = ([1.0], [-2.0], [3.0], [2.0], [0.0, 0.0])


class Numbers:
    def __init__(self, n: int) -> None:
        self.n = n

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.n))


class Counted:
    seen = 0

    def __iter__(self) -> Iterator[int]:
        for number in range(4):
            self.seen += 1
            yield number


class ByIndex:
    def __getitem__(self, index: int) -> int:
        if index > 3:
            raise IndexError
        return index * 2


def by_either(x: Any) -> Any:
    n = int(x.sum())
    return n in Numbers(4), n in ByIndex(), n not in ByIndex(), 9 in Numbers(4), 4 in ByIndex()


def as_far_as_python(x: Any) -> Any:
    counted = Counted()
    found = int(x.sum()) in counted
    return found, counted.seen


def decides(x: Any) -> Any:
    return x + 1 if int(x.sum()) in ByIndex() else x


def of_a_tensor(x: Any) -> Any:
    return x.sum() in Numbers(3), 2.0 in (v for v in x)


@pytest.mark.parametrize("sizes", [None, [None]], ids=["known", "unknown"])
@pytest.mark.parametrize("function", [by_either, as_far_as_python, decides, of_a_tensor])
def test_an_item_is_met_where_python_meets_it(function: Any, sizes: Any) -> None:
    spec = None if sizes is None else [InputSpec(sizes, "float32")]
    static = to_static(function, input_spec=spec)
    for values in INPUTS:
        x = dy2st.to_tensor(values)
        assert comparable(static(x)) == comparable(function(x))
