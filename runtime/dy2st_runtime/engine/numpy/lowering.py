"""Writes some kernel calls in shorter forms, where types and attributes are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dy2st_runtime.dims import product
from dy2st_runtime.ir.program import Operator
from dy2st_runtime.ir.types import TensorType

Form = tuple[Any, str]
"""A function, and the text of its call in which {} stands for the name of the function."""


def lowered(operator: Operator, operands: Sequence[str]) -> Form | None:
    """A shorter form of an operator's call, None if its kernel is called as it is."""
    form = _FORMS.get(operator.name)
    return None if form is None else form(operator, operands)


def _whole(operator: Operator) -> TensorType | None:
    """The type of the operand if the reduction is over all axes and keeps none."""
    type = operator.operands[0].type
    if not isinstance(type, TensorType) or operator.attributes["keepdim"]:
        return None
    if type.is_floating and type.dtype.itemsize == 2:  # their kernels compute in float32
        return None
    return type if operator.attributes["axis"] == tuple(range(type.rank)) else None


def _mean(operator: Operator, operands: Sequence[str]) -> Form | None:
    type = _whole(operator)
    if type is None or type.dtype.kind != "f" or type.dtype.itemsize < 4:
        return None
    count = product(type.shape)
    if not isinstance(count, int) or count == 0:
        return None
    return np.add.reduce, f"{{}}({operands[0]}, None) / {count}"


def _sum(operator: Operator, operands: Sequence[str]) -> Form | None:
    type = _whole(operator)
    if type is None or type.dtype.kind == "u":  # of which NumPy's sum has no sign either
        return None
    return np.add.reduce, f"{{}}({operands[0]}, None)"


def _reduction(function: Any) -> Callable[[Operator, Sequence[str]], Form | None]:
    def form(operator: Operator, operands: Sequence[str]) -> Form | None:
        if _whole(operator) is None:
            return None
        return function, f"{{}}({operands[0]}, None)"

    return form


_FORMS: dict[str, Callable[[Operator, Sequence[str]], Form | None]] = {
    "mean": _mean,
    "sum": _sum,
    "max": _reduction(np.maximum.reduce),
    "min": _reduction(np.minimum.reduce),
    "any": _reduction(np.logical_or.reduce),
    "all": _reduction(np.logical_and.reduce),
}
