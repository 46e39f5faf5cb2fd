"""Symbolic sizes: integers that are known when a Program runs.

Read in this order: `expression.py` (a Dim: a polynomial over atoms, one object a form),
`polynomial.py` and `operations.py` (its arithmetic), `intervals.py`, `samples.py`,
`inequalities.py` and `order.py` (proofs that a size is never negative), `facts.py` (what is known
beside the ranges), `queries.py` (equal, less, divides: True, False, or None for unknown; what is
not proved is required). The canonical form depends on declared ranges alone, never on facts.

A search for a proof counts its steps, so an answer never depends on the machine. All proofs of a
trace share one number of steps; behind it, what takes more than one look stays unknown. What an
example refutes is not searched for: an example that was hard to find is kept, since it mostly
refutes the next question too. A search that is not short follows no goal that an example refutes.

The constraints of a trace are the facts in force while it goes on. A branch knows its condition
besides, and a nested Block what it has required; leaving it forgets them. Sizes of two branches
join to a symbol between both; one that changes in a loop keeps what every iteration keeps. At the
end types are written as the facts make them, and a constraint that equalities have made certain is
dropped, unless it says which operand a minimum is. Where facts contradict each other nothing runs:
every size is as it must be there, and only ranks and dtypes are checked, so a branch may stay that
a later line rules out.

What was assumed is known in the form in which it was stated (`assumptions.py`). So the verifier
asks the constraints of a Program before it proves anything, just as the trace did.
"""

from dy2st_runtime.dims.conditions import Condition
from dy2st_runtime.dims.evaluation import (
    evaluate,
    substitute,
    substitute_condition,
    symbols,
    to_python,
)
from dy2st_runtime.dims.expression import Dim, Size, is_symbol, symbol
from dy2st_runtime.dims.facts import (
    Contradiction,
    Facts,
    conflict,
    count_steps,
    current,
    stages,
    using,
)
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
    Constraint,
    broadcast,
    collect,
    decided,
    divides,
    equal,
    is_total,
    less,
    less_equal,
    require,
    require_equal,
    same_shape,
    simplified,
)
from dy2st_runtime.dims.text import parse, parse_condition
from dy2st_runtime.lazy import public_dir

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
__dir__ = public_dir(__name__)
