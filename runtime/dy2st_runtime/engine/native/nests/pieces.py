"""Collects the members of an operator that has several of them in a nest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dy2st_runtime.dims import Size, product
from dy2st_runtime.engine.native.nests.axes import Axis, Places, Use, aligned, new_axes
from dy2st_runtime.engine.native.nests.members import Member
from dy2st_runtime.engine.native.nests.views import seen
from dy2st_runtime.engine.native.text.lanes import BOOL, INT64
from dy2st_runtime.ir.program import Operator, Variable
from dy2st_runtime.ir.types import DType, Shape, TensorType

Piece = tuple[Variable, Places]
"""A value, and along which axes of the nest it runs."""

_QUESTIONS = ("less_than", "less_equal", "equal")


class Pieces:
    """Members while they are written; the last one gives the operator's result."""

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self.members: list[Member] = []
        shaped = operator.operands[0] if operator.operands else operator.results[0]
        self.axes = new_axes(shaped.tensor_type.shape)

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

    def size(self, size: Size) -> Piece:
        """A size as a number."""
        return self._said(INT64, (), number=size)

    def position(self, axis: Axis | None) -> Piece:
        """The place along an axis."""
        return self.size(0) if axis is None else self._said(INT64, (axis,))

    def _said(self, dtype: DType, places: Places, number: Any = None) -> Piece:
        shape = tuple([axis.size for axis in places if axis is not None])
        made = Variable(TensorType(dtype, shape), self.operator.block)
        self.members.append(Member(made, [], places, number=number))
        return made, places

    def read(self, use: Use, places: Places) -> Piece:
        """A tensor as it is read."""
        made = Variable(use.variable.tensor_type, self.operator.block)
        self.members.append(Member(made, [use], places))
        return made, places

    def check(self, piece: Piece) -> None:
        """Let the operator fail unless this is true everywhere."""
        assert self.members[-1].variable is piece[0], "what is checked has just been made"
        self.members[-1].is_check = True

    def apply(self, name: str, *operands: Piece, **attributes: Any) -> Piece:
        """An elementwise operator; the operand with most axes gives the shape."""
        widest = max(operands, key=lambda piece: len(piece[1]))
        shape = widest[0].tensor_type.shape
        dtype = attributes.get("dtype", operands[-1][0].tensor_type.dtype)
        dtype = BOOL if name in _QUESTIONS else dtype
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

    def end(self, places: Places | None = None) -> bool:
        """Let the last member give what the operator gives."""
        last = self.members[-1]
        last.variable = self.operator.results[0]
        last.result = last.result if places is None else places
        return True


__all__ = ["Piece", "Pieces"]
