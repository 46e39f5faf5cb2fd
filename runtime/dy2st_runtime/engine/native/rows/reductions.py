"""Rows of reductions: what is carried from element to element, and what comes of it at the end.

Each lane carries a state of its own; at the end the halves of the vector are put together until one
lane is left. So a sum of floats is made of as many sums as there are lanes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from dy2st_runtime.dims import Size
from dy2st_runtime.engine.native.text.lanes import BOOL, FLOAT64, INT64, NATIVE, DType, Lanes, Value
from dy2st_runtime.ir.program import Operator

State = list[Value]


class Reduction(NamedTuple):
    """How a reduction is written.

    begin    dtype -> the numbers that a lane starts with, and their dtypes
    element  (lanes, element, its place among the columns) -> the state of one element
    join     (lanes, state, later state) -> both together
    end      (lanes, state, dtype of the result, number of elements) -> the result
    """

    begin: Callable[[DType], list[tuple[object, DType]]]
    element: Callable[[Lanes, Value, Value], State]
    join: Callable[[Lanes, State, State], State]
    end: Callable[[Lanes, State, DType, Value], Value]
    places: bool = False  # whether it asks for places


def _own_dtype(dtype: DType) -> DType:
    return INT64 if dtype.kind in "iub" else dtype


def _first(lanes: Lanes, state: State, dtype: DType, count: Value) -> Value:
    return lanes.cast(state[0], dtype)


def _arithmetic(
    start: int, dtype_of: Callable[[DType], DType], join: Callable[[Lanes, Value, Value], Value]
) -> Reduction:
    """Of numbers in the dtype that `dtype_of` the elements' gives."""
    return Reduction(
        begin=lambda dtype: [(start, dtype_of(dtype))],
        element=lambda lanes, x, place: [lanes.cast(x, dtype_of(x.dtype))],
        join=lambda lanes, one, other: [join(lanes, one[0], other[0])],
        end=_first,
    )


def _add(lanes: Lanes, one: Value, other: Value) -> Value:
    return lanes.either(one, other) if one.dtype.kind == "b" else lanes.add(one, other)


def _mean(dtype_of: Callable[[DType], DType]) -> Reduction:
    def end(lanes: Lanes, state: State, dtype: DType, count: Value) -> Value:
        whole = Lanes(lanes.function, 1).cast(count, state[0].dtype)
        return lanes.cast(lanes.divide(state[0], lanes.splat(whole)), dtype)

    return _arithmetic(0, dtype_of, Lanes.add)._replace(end=end)


def limit(dtype: DType, largest: bool) -> object:
    """The first that no other is beyond: the least number for max."""
    if dtype.kind == "b":
        return largest
    if dtype.kind == "f":
        return np.inf if largest else -np.inf
    limits = np.iinfo(dtype)
    return limits.max if largest else limits.min


def _extreme(join: Callable[[Lanes, Value, Value], Value], largest: bool) -> Reduction:
    return Reduction(
        begin=lambda dtype: [(limit(dtype, largest), dtype)],
        element=lambda lanes, x, place: [x],
        join=lambda lanes, one, other: [join(lanes, other[0], one[0])],
        end=_first,
    )


def _truths(start: bool, join: Callable[[Lanes, Value, Value], Value]) -> Reduction:
    return Reduction(
        begin=lambda dtype: [(start, BOOL)],
        element=lambda lanes, x, place: [lanes.truth(x)],
        join=lambda lanes, one, other: [join(lanes, one[0], other[0])],
        end=_first,
    )


def _place(relation: str, largest: bool) -> Reduction:
    """The first place of the extreme; of NaN the first."""

    def join(lanes: Lanes, one: State, other: State) -> State:
        (x, at), (y, there) = one, other
        better = lanes.compare(relation, y, x)
        equal = lanes.compare("eq", x, y)
        if x.dtype.kind == "f":
            has, new = lanes.is_nan(x), lanes.is_nan(y)
            better = lanes.either(better, lanes.both(new, lanes.invert(has)))
            equal = lanes.either(equal, lanes.both(new, has))
        earlier = lanes.both(equal, lanes.compare("lt", there, at))
        better = lanes.either(better, earlier)
        return [lanes.select(better, y, x), lanes.select(better, there, at)]

    return Reduction(
        begin=lambda dtype: [(limit(dtype, not largest), dtype), (2**63 - 1, INT64)],
        element=lambda lanes, x, place: [x, place],
        join=join,
        end=lambda lanes, state, dtype, count: lanes.cast(state[1], dtype),
        places=True,
    )


REDUCTIONS: dict[str, Reduction] = {
    # Floats are added in float64: of a million float32 a lane loses three digits.
    "sum": _arithmetic(0, lambda dtype: FLOAT64 if dtype.kind == "f" else INT64, Lanes.add),
    "prod": _arithmetic(1, _own_dtype, Lanes.multiply),
    "sum_to": _arithmetic(0, lambda dtype: FLOAT64 if dtype.kind == "f" else dtype, _add),
    "mean": _mean(lambda dtype: FLOAT64),
    "max": _extreme(Lanes.maximum, False),
    "min": _extreme(Lanes.minimum, True),
    "any": _truths(False, Lanes.either),
    "all": _truths(True, Lanes.both),
    "argmax": _place("gt", True),
    "argmin": _place("lt", False),
}
"""The rows by the names of their operators."""

_SHORT = 1024
"""Of so many elements a sum loses no digits that count: they are added in their own dtype."""

_OF_SHORT = {
    "sum": _arithmetic(0, _own_dtype, Lanes.add),
    "sum_to": _arithmetic(0, lambda dtype: dtype, _add),
    "mean": _mean(lambda dtype: dtype if dtype.kind == "f" else FLOAT64),
}


def reduction_of(name: str, count: Size) -> Reduction:
    """The row of an operator for so many elements."""
    is_short = isinstance(count, int) and count <= _SHORT
    return (is_short and _OF_SHORT.get(name)) or REDUCTIONS[name]


def has_reduction(operator: Operator) -> bool:
    """Whether machine code has this reduction for its dtype."""
    if operator.name not in REDUCTIONS:
        return False
    variables = (operator.operands[0], operator.results[0])
    return all(variable.tensor_type.dtype in NATIVE for variable in variables)


def halves(lanes: Lanes, state: Sequence[Value]) -> tuple[Lanes, State, State]:
    """The lower and the upper half of the lanes."""
    half = lanes.lanes // 2
    narrow = Lanes(lanes.function, half)
    if half == 1:
        low, high = ([_lane(lanes, x, place) for x in state] for place in (0, 1))
        return narrow, low, high
    low, high = [], []
    for value in state:
        wide = lanes.type(value.dtype)
        for part, start in ((low, 0), (high, half)):
            chosen = ", ".join(f"i32 {start + lane}" for lane in range(half))
            text = f"shufflevector {wide} {value.text}, {wide} poison, <{half} x i32> <{chosen}>"
            part.append(narrow.let(text, value.dtype))
    return narrow, low, high


def _lane(lanes: Lanes, x: Value, place: int) -> Value:
    text = f"extractelement {lanes.type(x.dtype)} {x.text}, i64 {place}"
    return Lanes(lanes.function, 1).let(text, x.dtype)


__all__ = [
    "REDUCTIONS",
    "Reduction",
    "State",
    "halves",
    "has_reduction",
    "limit",
    "reduction_of",
]
