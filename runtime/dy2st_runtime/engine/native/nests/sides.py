"""Finds the memory and the strides of the operands of a product of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dy2st_runtime.dims import Size, product
from dy2st_runtime.engine.native.nests.identity import same
from dy2st_runtime.ir.program import Operator, Variable


@dataclass(frozen=True)
class Side:
    """An operand: the tensor whose memory it is, its leading axes, strides of rows and columns."""

    variable: Variable
    shape: tuple[Size, ...]
    row: Size
    column: Size

    @property
    def matrix(self) -> Size:
        """How many elements lie between two matrices."""
        return product(self.shape[-2:])


def is_product(operator: Operator) -> bool:
    """Whether it is a product of matrices that is computed without Python."""
    if operator.name != "matmul":
        return False
    left, right = (operand.tensor_type for operand in operator.operands)
    return left.dtype == right.dtype and left.dtype.name in ("float32", "float64")


def sides(operator: Operator) -> tuple[Side, Side]:
    """Both operands, as matrices."""
    left, right = operator.operands
    return _side(left, (1, *left.tensor_type.shape)), _side(right, (*right.tensor_type.shape, 1))


def is_single(operator: Operator) -> bool:
    """Whether all its rows are those of one product: leading axes of `a` are, if `b` has none."""
    left, right = sides(operator)
    if len(right.shape) != 2:
        return False
    return left.row is left.shape[-1] or len(left.shape) == 2


def product_axes(operator: Operator) -> tuple[Size, ...]:
    """The sizes of a product: those of its result, and how many products each sum has."""
    return (*operator.results[0].tensor_type.shape, operator.operands[0].tensor_type.shape[-1])


def read_by(operator: Operator) -> Sequence[Variable]:
    """The values that an operator reads where it is no part of a nest."""
    if not is_product(operator):
        return operator.operands
    return [side.variable for side in sides(operator)]


def _side(variable: Variable, as_matrix: tuple[Size, ...]) -> Side:
    shape = variable.tensor_type.shape
    if len(shape) == 1:
        return Side(variable, as_matrix, as_matrix[1], 1)
    base, is_transposed = same(variable), False
    while (below := _transposed(base)) is not None:
        base, is_transposed = same(below), not is_transposed
    return Side(base, shape, 1, shape[-2]) if is_transposed else Side(base, shape, shape[-1], 1)


def _transposed(variable: Variable) -> Variable | None:
    """The tensor of which this one has the last two axes exchanged."""
    maker = variable.maker
    if not isinstance(maker, Operator) or maker.name != "transpose":
        return None
    order = list(maker.attributes["perm"])
    rank = len(order)
    return maker.operands[0] if order == [*range(rank - 2), rank - 1, rank - 2] else None


__all__ = ["Side", "is_product", "is_single", "product_axes", "read_by", "sides"]
