"""Has the rows of comparisons, logic, choice by element, and what copies or converts."""

from __future__ import annotations

import math
from collections.abc import Callable

from dy2st_runtime.engine.native.rows.row import Row, of_operands, of_result
from dy2st_runtime.engine.native.text.lanes import BOOL, Lanes, Value
from dy2st_runtime.ir.types import DType


def _compare(relation: str) -> Row:
    return Row(of_operands(lambda lanes, x, y: lanes.compare(relation, x, y)), 1)


def _bits(lanes: Lanes, x: Value, dtype: DType) -> Value:
    """The bits of a number as another one; a bool has those of the integer that it is."""
    return lanes.cast(x, dtype) if x.dtype == BOOL else lanes.bits(x, dtype)


def _of_truths(write: Callable[..., Value]) -> Row:
    """In bools: what is not 0 is true, NaN too."""
    return Row(of_result(write), 1)


def _of_floats(write: Callable[..., Value], of_integers: bool) -> Row:
    """A question that integers answer at once."""

    def asked(lanes: Lanes, x: Value) -> Value:
        return write(lanes, x) if x.dtype.kind == "f" else lanes.constant(of_integers, BOOL)

    return Row(of_operands(asked), 2)


def _angle(lanes: Lanes, x: Value) -> Value:
    """Of real numbers: pi of negative ones, else 0; NaN of NaN."""
    zero, pi = lanes.constant(0, x.dtype), lanes.constant(math.pi, x.dtype)
    angle = lanes.select(lanes.compare("lt", x, zero), pi, zero)
    return lanes.select(lanes.is_nan(x), x, angle)


_SAME = Row(of_result(lambda lanes, x: x), 0)

LOGIC = {
    "equal": _compare("eq"),
    "not_equal": _compare("ne"),
    "less_than": _compare("lt"),
    "less_equal": _compare("le"),
    "greater_than": _compare("gt"),
    "greater_equal": _compare("ge"),
    "logical_and": _of_truths(Lanes.both),
    "logical_or": _of_truths(Lanes.either),
    "logical_xor": _of_truths(Lanes.differ),
    "logical_not": _of_truths(Lanes.invert),
    "isnan": _of_floats(Lanes.is_nan, False),
    "isinf": _of_floats(
        lambda lanes, x: lanes.compare("eq", lanes.magnitude(x), lanes.constant(math.inf, x.dtype)),
        False,
    ),
    "isfinite": _of_floats(
        lambda lanes, x: lanes.compare("lt", lanes.magnitude(x), lanes.constant(math.inf, x.dtype)),
        True,
    ),
    "where": Row(
        lambda lanes, operands, attributes, dtype: lanes.select(
            lanes.truth(operands[0]), lanes.cast(operands[1], dtype), lanes.cast(operands[2], dtype)
        ),
        1,
    ),
    "cast": _SAME._replace(cost=1),
    "bitcast": Row(lambda lanes, operands, attributes, dtype: _bits(lanes, operands[0], dtype), 0),
    "assign": _SAME,
    "detach": _SAME,
    "straight_through": Row(of_result(lambda lanes, x, source: x), 0),
    "hooked": Row(of_operands(lambda lanes, x: x), 0),
    "real": _SAME,
    "conj": _SAME,
    "imag": Row(of_result(lambda lanes, x: lanes.constant(0, x.dtype)), 0),
    "angle": Row(of_result(_angle), 4),
}

__all__ = ["LOGIC"]
