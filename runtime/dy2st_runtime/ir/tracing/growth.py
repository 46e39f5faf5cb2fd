"""Bounds the growth of a Program: operators that a line makes, and formulas of sizes.

A Program has no functions, and holds every path: what is called in both branches of an `if`, many
deep, or a list that is one element longer on each of many paths, grows beyond all measure.
"""

from __future__ import annotations

import os
from collections import Counter

from dy2st_runtime.dims import Dim, Size, bounds, current
from dy2st_runtime.errors import UnsupportedSyntax
from dy2st_runtime.ir.fresh_symbols import fresh_symbol
from dy2st_runtime.ir.program import Operator
from dy2st_runtime.ir.types import ArrayType, ValueType

# DY2ST_MOST_A_LINE: so many operators, operands and results one line of code may have in branches
# that stand in branches of branches.
MOST_A_LINE = int(os.environ.get("DY2ST_MOST_A_LINE", "20000"))
_DEPTH = 3


class Growth:
    """What each line has made so far of one Program."""

    def __init__(self) -> None:
        """Nothing."""
        self.made: Counter[tuple[str, int]] = Counter()

    def note(self, operator: Operator) -> None:
        """Count an operator; raises UnsupportedSyntax if its line has made too many."""
        at = operator.location
        if operator.block.parent is None or at is None or not _is_deep(operator):
            return
        line = at.file, at.line
        self.made[line] += 1 + len(operator.operands) + len(operator.results)
        if self.made[line] > MOST_A_LINE:
            raise UnsupportedSyntax(
                f"this line makes more than {MOST_A_LINE:,} operators and values in nested "
                "branches",
                at=at,
                why="a Program holds every path: a function that both branches of an `if` call, "
                "and a list that each iteration may leave longer, grow with every call or "
                "iteration, twofold or worse",
                hint="compute a tensor under a condition and choose by where(); write a loop over "
                "a tensor or a range(t) of one, in which lists may grow; call the function once "
                "after the `if`. The bound is DY2ST_MOST_A_LINE in the environment",
            )


def _is_deep(operator: Operator) -> bool:
    block = operator.block
    for _ in range(_DEPTH):
        if block.parent is None:
            return False
        block = block.parent
    return True


HEAVIEST_SIZE, DEEPEST_SIZE = 200, 16
"""How many symbols, written out, a formula of a size may have, and how deep it may nest."""


def lightened(type: ValueType) -> ValueType:
    """The type with a new symbol for each size whose formula has become too long to be of use."""
    if isinstance(type, ArrayType):
        return type
    for size in type.shape:
        if size.__class__ is not int and _is_heavy(size):
            return type.with_shape(
                fresh_symbol("size", max(0, bounds(size, current())[0] or 0))
                if _is_heavy(size)
                else size
                for size in type.shape
            )
    return type


def _is_heavy(size: Size) -> bool:
    return isinstance(size, Dim) and (size.weight > HEAVIEST_SIZE or size.depth > DEEPEST_SIZE)
