"""Operators that are several members of a nest: normalisations and softmax, taken apart.

Each is written as its kernel is, so the numbers differ from the kernel's by rounding alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dy2st_runtime.dims import product
from dy2st_runtime.engine.native.axes import Places, aligned, new_axes
from dy2st_runtime.engine.native.lanes import FLOAT32, FLOAT64
from dy2st_runtime.engine.native.members import Member, is_native
from dy2st_runtime.engine.native.views import seen
from dy2st_runtime.ir.program import Operator, Variable
from dy2st_runtime.ir.types import DType, Shape, TensorType

Piece = tuple[Variable, Places]
"""A value, and along which axes of the nest it runs."""


def taken_apart(operator: Operator) -> list[Member] | None:
    """The members that an operator is made of; None if it is not taken apart."""
    rule = _RULES.get(operator.name)
    if rule is None or not all(is_native(v) for v in (*operator.operands, *operator.results)):
        return None
    pieces = _Pieces(operator)
    return pieces.members if rule(pieces, operator) else None


class _Pieces:
    """Members while they are written; the last one gives the operator's result."""

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self.members: list[Member] = []
        self.axes = new_axes(operator.operands[0].tensor_type.shape)

    def operand(self, index: int) -> Piece:
        """An operand of the operator that is brought to the shape of the first."""
        variable = self.operator.operands[index]
        whole = self.operator.operands[0].tensor_type.shape
        places = aligned(variable.tensor_type.shape, whole, self.axes)
        assert places is not None, "an operand that is not of the shape of the first"
        return variable, places

    def number(self, value: float, dtype: DType) -> Piece:
        """A constant."""
        maker = Operator("constant", [], {"value": np.asarray(value, dtype)}, self.operator.block)
        return Variable(TensorType(dtype, ()), maker), ()

    def apply(self, name: str, *operands: Piece, **attributes: Any) -> Piece:
        """An elementwise operator; the operand with most axes gives the shape."""
        widest = max(operands, key=lambda piece: len(piece[1]))
        shape = widest[0].tensor_type.shape
        dtype = attributes.get("dtype", widest[0].tensor_type.dtype)
        return self._made(name, operands, attributes, widest[1], shape, dtype)

    def reduce(self, name: str, piece: Piece, axes: Sequence[int]) -> Piece:
        """A reduction that keeps its axes, of size 1."""
        variable, places = piece
        reduced = tuple([axis for i in axes if (axis := places[i]) is not None])
        left = tuple([None if i in axes else axis for i, axis in enumerate(places)])
        own = variable.tensor_type.shape
        shape = tuple([1 if i in axes else size for i, size in enumerate(own)])
        attributes = {"axis": tuple(axes), "keepdim": True}
        made = self._made(name, [piece], attributes, left, shape, variable.tensor_type.dtype)
        self.members[-1].reduced = reduced
        self.members[-1].count = product([axis.size for axis in reduced])
        return made

    def _made(
        self,
        name: str,
        operands: Sequence[Piece],
        attributes: dict[str, Any],
        places: Places,
        shape: Shape,
        dtype: DType,
    ) -> Piece:
        values = [variable for variable, _ in operands]
        operator = Operator(name, values, attributes, self.operator.block)
        operator.results = [Variable(TensorType(dtype, shape), operator)]
        uses = [seen(variable, own) for variable, own in operands]
        self.members.append(Member(operator.results[0], uses, places, operator))
        return operator.results[0], places

    def end(self) -> bool:
        """Let the last member give what the operator gives."""
        self.members[-1].variable = self.operator.results[0]
        return True


def _shifted(pieces: _Pieces, operator: Operator) -> tuple[Piece, list[int]] | None:
    """x minus the largest of its row, and the axis of rows; None if rows have one element."""
    axis, x = operator.attributes["axis"], pieces.operand(0)
    axes = [axis] if isinstance(axis, int) else list(axis)
    if all(pieces.axes[axis] is None for axis in axes) or not x[0].tensor_type.is_floating:
        return None
    return pieces.apply("subtract", x, pieces.reduce("max", x, axes)), axes


def _softmax(pieces: _Pieces, operator: Operator) -> bool:
    shifted = _shifted(pieces, operator)
    if shifted is None:
        return False
    powers = pieces.apply("exp", shifted[0])
    total = pieces.apply("reciprocal", pieces.reduce("sum", powers, shifted[1]))
    pieces.apply("multiply", powers, total)
    return pieces.end()


def _log_softmax(pieces: _Pieces, operator: Operator) -> bool:
    shifted = _shifted(pieces, operator)
    if shifted is None:
        return False
    total = pieces.reduce("sum", pieces.apply("exp", shifted[0]), shifted[1])
    pieces.apply("subtract", shifted[0], pieces.apply("log", total))
    return pieces.end()


def _layer_norm(pieces: _Pieces, operator: Operator) -> bool:
    rank, dtype = len(pieces.axes), operator.results[0].tensor_type.dtype
    axes = list(range(rank - operator.attributes["axes"], rank))
    if all(pieces.axes[axis] is None for axis in axes):
        return False
    operands = [pieces.operand(index) for index in range(len(operator.operands))]
    if any(own[0].tensor_type.dtype != dtype for own in operands):
        operands = [pieces.apply("cast", own, dtype=dtype) for own in operands]
    x = operands[0]
    centred = pieces.apply("subtract", x, pieces.reduce("mean", x, axes))
    squares = pieces.apply("square", centred)
    y = pieces.apply("multiply", centred, _inverse(pieces, pieces.reduce("mean", squares, axes)))
    for name, own in zip(("multiply", "add"), operands[1:], strict=False):
        y = pieces.apply(name, y, own)
    return pieces.end()


def _inverse(pieces: _Pieces, variance: Piece) -> Piece:
    """1 / sqrt(variance + epsilon)."""
    dtype = variance[0].tensor_type.dtype
    epsilon = pieces.number(pieces.operator.attributes["epsilon"], dtype)
    return pieces.apply("rsqrt", pieces.apply("add", variance, epsilon))


def _batch_norm(pieces: _Pieces, operator: Operator) -> bool:
    """x times a factor, plus a shift, which are one for each channel."""
    dtypes = {operand.tensor_type.dtype for operand in operator.operands}
    channel = pieces.axes[operator.attributes["axis"]]
    if len(dtypes) > 1 or dtypes.isdisjoint((FLOAT32, FLOAT64)) or channel is None:
        return False
    by_channel: list[Piece] = [(v, (channel,)) for v in operator.operands[1:]]
    mean, variance, *rest = by_channel
    factor = _inverse(pieces, variance)
    if rest:
        factor = pieces.apply("multiply", factor, rest[0])
    shift = pieces.apply("multiply", mean, factor)
    shift = pieces.apply("subtract", rest[1], shift) if rest[1:] else pieces.apply("neg", shift)
    x = pieces.operand(0)
    pieces.apply("add", pieces.apply("multiply", x, factor), shift)
    return pieces.end()


_RULES: dict[str, Callable[[_Pieces, Operator], bool]] = {
    "softmax": _softmax,
    "log_softmax": _log_softmax,
    "layer_norm": _layer_norm,
    "batch_norm": _batch_norm,
}

__all__ = ["taken_apart"]
