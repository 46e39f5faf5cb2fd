"""Computes what a traced tensor holds where the trace knows it: of constants and sizes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dy2st_runtime.ir.data import data_of
from dy2st_runtime.ir.definition import Effect, lookup
from dy2st_runtime.ir.program import Operator, Variable
from dy2st_runtime.ir.refusals import needs_value
from dy2st_runtime.ir.tracing.tracer import current_tracer
from dy2st_runtime.ir.types import TensorType

Array = np.ndarray[Any, Any]

MOST_ELEMENTS = 100_000
DEEPEST = 30
"""How many operators in a row are computed."""


_INSTEAD = (
    "use dy2st's own functions on the tensor; a number is x.item() or float(x), a size x.shape[i]"
)


def array_of(variable: Variable, what: str, instead: str = _INSTEAD) -> Array:
    """A new array of what a tensor holds; TensorAsPython, with `what` was asked, if it is unknown.

    Of a tensor of sizes that are not known it is an array of objects: of the sizes.
    """
    tracer = current_tracer()
    now = variable if tracer is None else tracer.captured(variable)  # changed in place meanwhile?
    array = _known_array(now) if isinstance(now.type, TensorType) else None
    if array is None:
        raise needs_value(what, instead)
    return array


def _known_array(variable: Variable) -> Array | None:
    data = data_of(variable)
    if data is None:
        found = _computed(variable, DEEPEST)
        return None if found is None else found.copy()
    if all(isinstance(entry, (int, bool)) for entry in data.ravel()):
        return np.array(data.tolist(), variable.tensor_type.dtype).reshape(data.shape)
    return data.copy()


def _computed(variable: Variable, depth: int) -> Array | None:
    """The result of an operator whose operands are constants, or are computed of them."""
    maker, type = variable.maker, variable.type
    if not isinstance(maker, Operator) or not depth or not _is_small(type):
        return None
    if maker.name == "constant":
        return np.asarray(maker.attributes["value"])
    definition = lookup(maker.name)
    if maker.blocks or definition.kernel is None or definition.effect is not Effect.PURE:
        return None
    operands = [_computed(operand, depth - 1) for operand in maker.operands]
    is_plain = all(_is_plain(value) for value in maker.attributes.values())
    if any(operand is None for operand in operands) or not is_plain:
        return None
    with np.errstate(all="ignore"):
        results = definition.kernel(*operands, **maker.attributes)
    results = results if isinstance(results, tuple) else (results,)
    return np.asarray(results[maker.results.index(variable)])


def _is_small(type: Any) -> bool:
    if not isinstance(type, TensorType):
        return False
    sizes = [size for size in type.shape if isinstance(size, int)]
    return len(sizes) == type.rank and math.prod(sizes) <= MOST_ELEMENTS


def _is_plain(value: Any) -> bool:
    """Whether an attribute has no size that is unknown."""
    if isinstance(value, tuple):
        return all(_is_plain(entry) for entry in value)
    known = (bool, int, float, str, np.dtype, np.ndarray, np.generic)
    return value is None or isinstance(value, known)
