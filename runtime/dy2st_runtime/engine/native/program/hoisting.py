"""Computes products of a loop ahead: of rows of a tensor that the loop takes one by one.

    for t in range(n):
        z = xs[t] @ w + h @ u        # xs and w are the same in all iterations

A product of many rows reads `w` once for all of them. So where one row follows the one before, the
rows behind it are multiplied with it, or those in front where the loop goes backwards: each time
twice as many as the time before. What a loop that ends early has no use for is then no more than
what it has used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dy2st_runtime.dims import product
from dy2st_runtime.engine.native.nests.sides import is_product, is_single, sides
from dy2st_runtime.ir.program import Block, Operator, Variable
from dy2st_runtime.ir.types import TensorType

_MOST_ROWS, _MOST_BYTES = 64, 1 << 20
"""Of what is made ahead: no more rows make a product faster."""

_FEW_ROWS, _LEAST_BYTES = 8, 1 << 14
"""Of a product of no more rows most of the time goes into reading `w`, if that is so large."""


@dataclass(frozen=True, eq=False)
class Ahead:
    """What a product of a loop takes, and where the products are kept.

    whole    the tensor whose rows are taken; `index` says which, along `axis`.
    rows     of one such part; `count` of them are made at most.
    room     what is made of them.
    """

    whole: Variable
    index: Variable
    axis: int
    rows: int
    count: int
    room: Variable


def ahead_of(operator: Operator, iteration: Block, carried: int) -> Ahead | None:
    """How a product in the iteration of a loop is made ahead; None if it is not.

    Of the parameters of an iteration the first ones are carried on, all others are the same in
    each.
    """
    if not is_product(operator) or not is_single(operator):
        return None
    left, right = sides(operator)
    maker, same = left.variable.maker, iteration.parameters[carried:]
    is_index = isinstance(maker, Operator) and maker.name == "index" and maker.block is iteration
    if not is_index or not isinstance(maker, Operator) or not _is_among(right.variable, same):
        return None
    (whole, *indices), axes = maker.operands, maker.attributes["axes"]
    types = [index.tensor_type for index in indices]
    is_number = len(types) == 1 and types[0].rank == 0 and types[0].dtype == "int64"
    if not is_number or not _is_among(whole, same):
        return None
    lead = product(whole.tensor_type.shape[: axes[0]])
    sizes = (left.column, lead, product(left.shape[:-1]), right.shape[-1], left.shape[-1])
    known = [one for one in sizes if isinstance(one, int)]
    if len(known) < len(sizes) or known[0] != 1 or known[1] != 1:
        return None
    rows, columns, inner = known[2:]
    dtype = operator.results[0].dtype
    bytes = columns * dtype.itemsize
    if not 0 < rows <= _FEW_ROWS or inner * bytes < _LEAST_BYTES:
        return None
    count = min(_MOST_ROWS // rows, _MOST_BYTES // (rows * bytes))
    if count < 2:
        return None
    room = Variable(TensorType(dtype, (count * rows, columns)), operator.block)
    return Ahead(whole, indices[0], axes[0], rows, count, room)


def _is_among(variable: Variable, variables: Sequence[Variable]) -> bool:
    return any(variable is one for one in variables)


__all__ = ["Ahead", "ahead_of"]
