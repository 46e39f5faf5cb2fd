"""Rows of reductions: what is carried from element to element, and what comes of it at the end.

Each lane carries a state of its own; at the end the halves of the vector are put together until one
lane is left. So a sum of floats is made of as many sums as there are lanes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from dy2st_runtime.engine.native.text.lanes import BOOL, INT64, NATIVE, DType, Lanes, Value
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


def _sum_dtype(dtype: DType) -> DType:
    return INT64 if dtype.kind in "iub" else dtype


def _first(lanes: Lanes, state: State, dtype: DType, count: Value) -> Value:
    return state[0]


def _arithmetic(start: int, join: Callable[[Lanes, Value, Value], Value]) -> Reduction:
    return Reduction(
        begin=lambda dtype: [(start, _sum_dtype(dtype))],
        element=lambda lanes, x, place: [lanes.cast(x, _sum_dtype(x.dtype))],
        join=lambda lanes, one, other: [join(lanes, one[0], other[0])],
        end=_first,
    )


def _sum_to(lanes: Lanes, one: State, other: State) -> State:
    if one[0].dtype.kind == "b":
        return [lanes.either(one[0], other[0])]
    return [lanes.add(one[0], other[0])]


def _mean_dtype(dtype: DType) -> DType:
    return dtype if dtype.kind == "f" else np.dtype("float64")


def _mean_end(lanes: Lanes, state: State, dtype: DType, count: Value) -> Value:
    return lanes.divide(state[0], lanes.splat(Lanes(lanes.function, 1).cast(count, dtype)))


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
    "sum": _arithmetic(0, Lanes.add),
    "prod": _arithmetic(1, Lanes.multiply),
    "sum_to": Reduction(
        begin=lambda dtype: [(0, dtype)],
        element=lambda lanes, x, place: [x],
        join=_sum_to,
        end=_first,
    ),
    "mean": Reduction(
        begin=lambda dtype: [(0, _mean_dtype(dtype))],
        element=lambda lanes, x, place: [lanes.cast(x, _mean_dtype(x.dtype))],
        join=lambda lanes, one, other: [lanes.add(one[0], other[0])],
        end=_mean_end,
    ),
    "max": _extreme(Lanes.maximum, False),
    "min": _extreme(Lanes.minimum, True),
    "any": _truths(False, Lanes.either),
    "all": _truths(True, Lanes.both),
    "argmax": _place("gt", True),
    "argmin": _place("lt", False),
}
"""The rows by the names of their operators."""


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


__all__ = ["REDUCTIONS", "Reduction", "State", "halves", "has_reduction", "limit"]
