"""How much a region computes: whether a plan pays for sizes that may never come again."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from dy2st_runtime.dims import Dim, evaluate, is_symbol, symbols
from dy2st_runtime.engine.native.convolution.regions import Region
from dy2st_runtime.ir.program import Operator, Variable

_FEW = 20_000_000
"""So many products take NumPy as much longer than oneDNN as a primitive takes to be made."""


def is_much(region: Region, shapes: Mapping[Variable, Sequence[int]]) -> bool:
    """Whether a plan for operands of these shapes pays for the first call."""
    sizes: dict[Dim, int] = {}
    for variable, shape in shapes.items():
        pairs = zip(variable.tensor_type.shape, shape, strict=True)
        sizes.update((own, size) for own, size in pairs if isinstance(own, Dim) and is_symbol(own))
    convolutions = [one for one in region.operators if one.name.startswith("conv")]
    total = math.fsum(_products(one, sizes) for one in convolutions)
    return total >= _FEW * len(convolutions)


def _products(operator: Operator, sizes: Mapping[Dim, int]) -> float:
    """How many numbers are multiplied; infinitely many where sizes do not tell."""
    read, weights = (operand.tensor_type.shape for operand in operator.operands[:2])
    made = operator.results[0].tensor_type.shape
    # Of each pair of elements one is at a place, the other in a filter.
    places, filters = (weights, made) if operator.name == "conv_weight" else (made, weights)
    if operator.name == "conv_transpose":
        places = read
    told = (*places, *filters[1:])
    if any(symbol not in sizes for symbol in symbols(told)):
        return math.inf
    return float(math.prod([int(evaluate(size, sizes)) for size in told]))


__all__ = ["is_much"]
