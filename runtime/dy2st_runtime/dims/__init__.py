"""Symbolic sizes: integers that are known when a Program runs."""

from dy2st_runtime.dims.arithmetic import (
    bounds,
    broadcast_sizes,
    ceil_divide,
    divides,
    equal,
    less,
    less_equal,
    maximum,
    minimum,
    product,
    same_shape,
)
from dy2st_runtime.dims.conditions import (
    Condition,
    Constraint,
    broadcast,
    collect,
    evaluate,
    require,
    require_equal,
    substitute,
    symbols,
    to_python,
)
from dy2st_runtime.dims.expression import Dim, Size, is_symbol, symbol
from dy2st_runtime.dims.text import parse, parse_condition

__all__ = [
    "Condition",
    "Constraint",
    "Dim",
    "Size",
    "bounds",
    "broadcast",
    "broadcast_sizes",
    "ceil_divide",
    "collect",
    "divides",
    "equal",
    "evaluate",
    "is_symbol",
    "less",
    "less_equal",
    "maximum",
    "minimum",
    "parse",
    "parse_condition",
    "product",
    "require",
    "require_equal",
    "same_shape",
    "substitute",
    "symbol",
    "symbols",
    "to_python",
]
