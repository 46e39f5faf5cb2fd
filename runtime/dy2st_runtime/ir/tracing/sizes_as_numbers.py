"""Arithmetic of sizes whose result is no size, `n / 2` or `n * 0.5`: recorded as of numbers."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from dy2st_runtime.dims.expression import OPERATIONS
from dy2st_runtime.ir.location import user_location
from dy2st_runtime.ir.tracing.tracer import current_tracer

_PYTHON: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "truediv": operator.truediv,
    "floordiv": operator.floordiv,
    "modulo": operator.mod,
    "pow": operator.pow,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _number_of_sizes(operation: str, operands: tuple[Any, Any]) -> Any:
    """n / 2 or n * 0.5, recorded as numbers of Python; None outside of a trace."""
    tracer = current_tracer()
    if tracer is None:
        return None
    left, right = (tracer.number(value) for value in operands)
    return _PYTHON[operation](left, right)


OPERATIONS["number"] = _number_of_sizes
OPERATIONS["place"] = lambda: None if current_tracer() is None else user_location()
