"""Defines what is known of an elementwise operator's machine code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from dy2st_runtime.engine.native.text.lanes import DType, Lanes, Value

Emit = Callable[[Lanes, Sequence[Value], Mapping[str, Any], DType], Value]
Takes = Callable[[Sequence[DType], Mapping[str, Any]], bool]


class Row(NamedTuple):
    """How an operator is written.

    emit   (lanes, operands, attributes, dtype of the result) -> the result
    cost   about as many instructions a vector of float32
    takes  whether it is written for these dtypes of the operands, all native, and attributes
    """

    emit: Emit
    cost: int
    takes: Takes = lambda dtypes, attributes: True


def of_result(write: Callable[..., Value]) -> Emit:
    """`write(lanes, *operands)` in the dtype of the result."""

    def emit(
        lanes: Lanes, operands: Sequence[Value], attributes: Mapping[str, Any], dtype: DType
    ) -> Value:
        return write(lanes, *(lanes.cast(operand, dtype) for operand in operands))

    return emit


def of_operands(write: Callable[..., Value]) -> Emit:
    """`write(lanes, *operands)` in the dtype of the operands, which gives that of the result."""

    def emit(
        lanes: Lanes, operands: Sequence[Value], attributes: Mapping[str, Any], dtype: DType
    ) -> Value:
        return write(lanes, *operands)

    return emit


def with_attributes(write: Callable[..., Value]) -> Emit:
    """`write(lanes, *operands, **attributes)` in the dtype of the result."""

    def emit(
        lanes: Lanes, operands: Sequence[Value], attributes: Mapping[str, Any], dtype: DType
    ) -> Value:
        return write(lanes, *(lanes.cast(operand, dtype) for operand in operands), **attributes)

    return emit


def are(kinds: str) -> Takes:
    """Whether the dtypes of all operands are of these kinds: "iu"."""
    return lambda dtypes, attributes: all(dtype.kind in kinds for dtype in dtypes)


__all__ = ["Emit", "Row", "Takes", "are", "of_operands", "of_result", "with_attributes"]
