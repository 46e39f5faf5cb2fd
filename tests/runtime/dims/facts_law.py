"""Random facts: what was assumed is known, in whatever order, and whatever is assumed after it.

python -m tests.runtime.dims.facts_law 3000          # seeds 0 to 2999, with a summary
"""

from __future__ import annotations

import argparse
import random
import sys

from dy2st_runtime.dims import (
    Condition,
    Contradiction,
    Dim,
    Facts,
    ceil_divide,
    decided,
    maximum,
    minimum,
    simplified,
    symbol,
    using,
)
from dy2st_runtime.dims.operations import broadcast_forms

NAMES = "abcde"
RELATIONS = ("==", "==", "!=", "<", "<=", ">", ">=", "in", "not in", "broadcasts", "not broadcasts")


class Drawing:
    """Draws sizes and facts as programs with unknown shapes have them."""

    def __init__(self, draw: random.Random):
        """Draw the ranges of the symbols."""
        self.random = draw
        self.symbols = [symbol(name, self.random.choice([0, 0, 1])) for name in NAMES]

    def size(self, depth: int):
        """A random size: Dims and numbers under all operations."""
        draw = self.random
        if depth == 0 or draw.random() < 0.2:
            return draw.choice([*self.symbols, *self.symbols, draw.randint(0, 9)])
        one, other = self.size(depth - 1), self.size(depth - 1)
        number = draw.choice([2, 3, 4, 8])
        kind = draw.randrange(10)
        if kind == 9:
            return broadcast_forms((one, other)) if isinstance(one, Dim) else one
        table = [one + other, one - other, one * other, one * number, one // number]
        table += [one % number, minimum(one, other), maximum(one, other)]
        return [*table, ceil_divide(one, number)][kind]

    def fact(self) -> Condition | None:
        """A random condition, None if it is one of numbers."""
        relation = self.random.choice(RELATIONS)
        left, right = self.size(2), self.size(self.random.choice([0, 1, 2]))
        if relation in ("in", "not in"):
            right = (self.random.choice([1, right]), right, self.size(0))
            sizes = (left, *right)
        else:
            sizes = (left, right)
        if relation == "==" and self.random.random() < 0.3:
            left, right = left % self.random.choice([2, 3, 4]), 0
            sizes = (left, right)
        return Condition(relation, left, right) if any(isinstance(s, Dim) for s in sizes) else None


def check(draw: random.Random) -> int:
    """How many facts were assumed and found known; AssertionError where one is not."""
    drawing = Drawing(draw)
    conditions = [c for _ in range(draw.randint(1, 5)) if (c := drawing.fact()) is not None]
    facts, known = Facts(), []
    for condition in conditions:
        inner = facts.inside()
        try:
            inner.assume(condition)
        except (Contradiction, ZeroDivisionError):
            continue
        facts = inner
        known.append(condition)
        with using(facts):
            simplified(drawing.size(3))
            for earlier in known:
                assert decided(earlier) is True, (known, earlier)
                assert decided(earlier.negate()) is False, (known, earlier)
    return len(known)


def main() -> int:
    """Check many seeds; print how many facts were known, and every one that was not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, help="how many sequences of facts")
    parser.add_argument("--from", dest="first", type=int, default=0, help="the first seed")
    options = parser.parse_args()
    facts = failed = 0
    for seed in range(options.first, options.first + options.count):
        try:
            facts += check(random.Random(seed))
        except Exception as error:
            failed += 1
            print(f"seed {seed}: {type(error).__name__}: {error}"[:600])
    print(f"{options.count} sequences, {facts} facts known, {failed} sequences failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
