"""Finds the axis of an input whose size gives the value of a symbol."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from dy2st_runtime.dims import Dim, Size, is_symbol, substitute, symbols
from dy2st_runtime.ir.program import Program, Variable
from dy2st_runtime.ir.types import TensorType


class Solved(NamedTuple):
    """A size `factor * symbol + offset`, which gives the symbol."""

    symbol: Dim
    factor: int
    offset: int

    def value(self, real: int) -> int:
        """The symbol for a real size; another size than `real` may come of it: compare."""
        return (real - self.offset) // self.factor


class Origin(NamedTuple):
    """The axis of a Variable that binds a symbol."""

    variable: Variable
    axis: int
    solved: Solved


def solved(size: Size) -> Solved | None:
    """How a size gives the value of a symbol, None if it does not."""
    if not isinstance(size, Dim):
        return None
    if is_symbol(size):
        return Solved(size, 1, 0)
    found = symbols(size)
    if len(found) != 1:
        return None
    (symbol,) = found
    try:
        offset, one = substitute(size, {symbol: 0}), substitute(size, {symbol: 1})
    except ArithmeticError:  # a division by the symbol
        return None
    assert isinstance(offset, int) and isinstance(one, int)
    factor = one - offset
    # Forms are unique: this is all that the size is made of.
    return Solved(symbol, factor, offset) if factor and symbol * factor + offset is size else None


def origins(variables: Iterable[Variable]) -> dict[Dim, Origin]:
    """Where the symbols of a Program's parameters come from, in their order.

    An axis that is the symbol comes before one that is a multiple of it.
    """
    found: dict[Dim, Origin] = {}
    later: dict[Dim, Origin] = {}
    for variable in variables:
        if not isinstance(variable.type, TensorType):
            continue
        for axis, size in enumerate(variable.type.shape):
            known = solved(size)
            if known is not None:
                place = found if known.symbol is size else later
                place.setdefault(known.symbol, Origin(variable, axis, known))
    for symbol, origin in later.items():
        found.setdefault(symbol, origin)
    return found


def input_sizes(program: Program, shapes: Sequence[Sequence[int]]) -> dict[Dim, int]:
    """The values of all symbols that the inputs bind, for inputs of these shapes."""
    place = {variable: index for index, variable in enumerate(program.inputs)}
    return {
        symbol: origin.solved.value(shapes[place[origin.variable]][origin.axis])
        for symbol, origin in origins(program.inputs).items()
    }


__all__ = ["Origin", "Solved", "input_sizes", "origins", "solved"]
