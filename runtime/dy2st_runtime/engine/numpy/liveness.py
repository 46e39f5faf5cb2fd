"""After which operator a value is not needed any more."""

from __future__ import annotations

from dy2st_runtime.ir.program import Block, Operator, Variable


def last_uses(block: Block) -> dict[Operator, list[Variable]]:
    """For every Operator the Variables that are read there for the last time, or never."""
    kept = set(block.yields)
    last: dict[Variable, Operator] = {}
    for operator in block.operators:
        for variable in (*operator.results, *operator.operands):
            last[variable] = operator
    freed: dict[Operator, list[Variable]] = {}
    for variable, operator in last.items():
        if variable not in kept:
            freed.setdefault(operator, []).append(variable)
    return freed
