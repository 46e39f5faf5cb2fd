"""Bounds the growth of a Program: the operators that a line makes.

It also knows the loops that have made many operators, since each iteration was recorded.

A Program holds every path: what both branches of an `if` call, many deep, grows beyond all measure
where it is no function of the Program, and so does a list that is longer on each of many paths.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from dy2st_runtime.errors import Location, UnsupportedSyntax
from dy2st_runtime.ir.location import user_location
from dy2st_runtime.ir.program import Block, Operator

# DY2ST_MOST_A_LINE: so many operators, operands and results one line of code may have in branches
# that stand in branches of branches.
MOST_A_LINE = int(os.environ.get("DY2ST_MOST_A_LINE", "20000"))
_DEPTH = 3


MANY_UNROLLED, FEW_ITERATIONS = 500, 4
"""The operators of an unrolled loop that are worth a word, unless its iterations are as few."""


STAYS_A_LOOP = (
    "it stays one loop where the number of iterations is not known while tracing: a size that is "
    "None in an InputSpec, or an int that is given as a tensor"
)


class Unrolled(NamedTuple):
    """A loop whose iterations were recorded one after the other, and where it begins."""

    at: Location | None
    iterations: int
    operators: int

    def __str__(self) -> str:
        """`the loop of model.py:12: 32 iterations, 1,216 operators`."""
        of = f" of {self.at.shown_file}:{self.at.line}" if self.at else ""
        return f"the loop{of}: {self.iterations} iterations, {self.operators:,} operators"


class Growth:
    """What each line has made so far of one Program, and loops that were unrolled."""

    def __init__(self) -> None:
        """Nothing."""
        self.made: Counter[tuple[str, int]] = Counter()
        self.unrolled: dict[Location | None, Unrolled] = {}
        self.counted = 0  # the operators of these loops

    def unrolling(self, block: Block) -> Callable[[Block, int], None]:
        """Note where a loop begins; what is returned takes where it ends, and its iterations."""
        at, first, counted = user_location(), len(block.operators), self.counted

        def end(last: Block, iterations: int) -> None:
            if last is not block or len(block.operators) == first:
                return
            inside = (inner for one in block.operators[first:] for inner in one.blocks)
            count = len(block.operators) - first + sum(1 for b in inside for _ in b.walk())
            own = count - (self.counted - counted)  # without the loops inside that have made many
            if own > MANY_UNROLLED and iterations > FEW_ITERATIONS:
                self.counted += own
                known = self.unrolled.get(at)
                if known is None or known.operators < own:
                    self.unrolled[at] = Unrolled(at, iterations, own)

        return end

    def note(self, operator: Operator) -> None:
        """Count an operator; raises UnsupportedSyntax if its line has made too many."""
        at = operator.location
        if at is None or not _is_deep(operator):
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
