"""Gives outputs that are one number again and again as views, as gradients are that were cleared.

Code would write them out at each call, for all parameters of a step of training. An array of one
number, which nobody can write to, is made once instead: NumPy's engine gives such arrays, too.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from dy2st_runtime.engine.native.nests.identity import same
from dy2st_runtime.ir.clone import clone
from dy2st_runtime.ir.definition import lookup
from dy2st_runtime.ir.program import Operator, Program, Variable
from dy2st_runtime.ir.types import TensorType

Array = np.ndarray[Any, Any]

_CONSTANT = ("full", "constant")
_DROPPED = (*_CONSTANT, "broadcast_to", "assign", "detach")


def without_repeated(program: Program) -> tuple[Program, dict[int, Array]]:
    """The Program without such outputs, and their arrays by the places that they had."""
    yields = program.block.yields
    outputs = yields[: len(yields) - len(program.updates)]
    arrays = {place: _repeated(variable) for place, variable in enumerate(outputs)}
    found = {place: array for place, array in arrays.items() if array is not None}
    if not found:
        return program, {}
    made = clone(program)
    dropped = [made.block.yields[place] for place in found]
    made.block.yields = [one for n, one in enumerate(made.block.yields) if n not in found]
    # Remove what made these values alone.
    uses = Counter(value for operator in made.block.operators for value in operator.operands)
    uses.update(made.block.yields)
    gone: set[int] = set()
    while dropped:
        maker = dropped.pop().maker
        if not isinstance(maker, Operator) or maker.name not in _DROPPED or id(maker) in gone:
            continue
        if not any(uses[result] for result in maker.results):
            gone.add(id(maker))
            uses.subtract(maker.operands)
            dropped += maker.operands
    made.block.operators = [one for one in made.block.operators if id(one) not in gone]
    return made, found


def _repeated(variable: Variable) -> Array | None:
    """The array of one number that a value is; None if it is none, or its sizes are not known."""
    maker = same(variable).maker
    if not isinstance(maker, Operator) or maker.name != "broadcast_to":
        return None
    source, sizes = same(maker.operands[0]), _sizes(variable)
    number = _number(source)
    return None if number is None or sizes is None else np.broadcast_to(number, sizes)


def _number(variable: Variable) -> Array | None:
    """The number that a constant of one element is."""
    maker, sizes = variable.maker, _sizes(variable)
    if not isinstance(maker, Operator) or maker.name not in _CONSTANT:
        return None
    if sizes is None or any(size != 1 for size in sizes):
        return None
    kernel = lookup(maker.name).kernel
    assert kernel is not None
    return np.asarray(kernel(**maker.attributes)).reshape(())


def _sizes(variable: Variable) -> list[int] | None:
    """The sizes of a tensor, if all are known."""
    shape = variable.type.shape if isinstance(variable.type, TensorType) else (None,)
    sizes = [size for size in shape if isinstance(size, int)]
    return sizes if len(sizes) == len(shape) else None


__all__ = ["without_repeated"]
