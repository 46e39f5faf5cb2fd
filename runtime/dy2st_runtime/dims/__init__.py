"""Symbolic sizes: integers that are known when a Program runs."""

from dy2st_runtime.dims.conditions import Condition
from dy2st_runtime.dims.evaluation import (
    evaluate,
    substitute,
    substitute_condition,
    symbols,
    to_python,
)
from dy2st_runtime.dims.expression import Dim, Size, is_symbol, symbol
from dy2st_runtime.dims.facts import Contradiction, Facts
from dy2st_runtime.dims.in_force import conflict, count_steps, current, stages, using
from dy2st_runtime.dims.intervals import bounds
from dy2st_runtime.dims.operations import (
    broadcast_sizes,
    ceil_divide,
    difference,
    maximum,
    minimum,
)
from dy2st_runtime.dims.polynomial import product
from dy2st_runtime.dims.queries import (
    decided,
    divides,
    equal,
    is_total,
    less,
    less_equal,
    same_shape,
    simplified,
)
from dy2st_runtime.dims.requirements import (
    Constraint,
    broadcast,
    collect,
    require,
    require_equal,
)
from dy2st_runtime.dims.text import parse, parse_condition

__all__ = [
    "Condition",
    "Constraint",
    "Contradiction",
    "Dim",
    "Facts",
    "Size",
    "bounds",
    "broadcast",
    "broadcast_sizes",
    "ceil_divide",
    "collect",
    "conflict",
    "count_steps",
    "current",
    "decided",
    "difference",
    "divides",
    "equal",
    "evaluate",
    "is_symbol",
    "is_total",
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
    "simplified",
    "stages",
    "substitute",
    "substitute_condition",
    "symbol",
    "symbols",
    "to_python",
    "using",
]
