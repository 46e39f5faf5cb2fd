"""How much one line of the user's code makes of a Program, which has branches in branches.

A Program has no functions, and holds every path: what is called in both branches of an `if`, many
deep, or a list that is one element longer on each of many paths, grows beyond all measure.
"""

from __future__ import annotations

import os
from collections import Counter

from dy2st_runtime.errors import Location, UnsupportedSyntax
from dy2st_runtime.ir.program import Operator

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
            raise _too_many(at)


def _is_deep(operator: Operator) -> bool:
    block = operator.block
    for _ in range(_DEPTH):
        if block.parent is None:
            return False
        block = block.parent
    return True


def _too_many(at: Location) -> UnsupportedSyntax:
    return UnsupportedSyntax(
        f"this line makes more than {MOST_A_LINE:,} operators and values in nested branches",
        at=at,
        why="a Program holds every path: a function that both branches of an `if` call, and a list "
        "that each iteration may leave longer, grow with every call or iteration, twofold or worse",
        hint="compute a tensor under a condition and choose by where(); write a loop over a tensor "
        "or a range(t) of one, in which lists may grow; call the function once after the `if`. "
        "The bound is DY2ST_MOST_A_LINE in the environment",
    )
