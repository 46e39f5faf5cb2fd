"""Match: tells how a pattern fits at one place of a Program."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

import numpy as np

from dy2st.passes.patterns.pattern import Operation, Pattern, Through, shown
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import Operator, Variable


class NoMatch(Exception):
    """Raised by a rule that leaves an operator alone; it says why, if it is asked.

    The first argument has a place, {}, for each of the others.
    """

    def __str__(self) -> str:
        """The reason in words."""
        return reason_of(*self.args)


def reason_of(reason: str, *entries: Any) -> str:
    """A reason with its entries in words."""
    return reason.format(*map(shown, entries)) if entries else reason


class Match:
    """What a pattern has bound: `match[x]` is the Variable that the pattern x stands for."""

    def __init__(self, uses: Mapping[Variable, int], is_explained: bool = False):
        """`uses` says how often every value is read."""
        self.values: dict[Pattern, Variable] = {}
        self.operators: dict[Pattern, Operator] = {}
        self.paths: dict[Through, list[Operator]] = {}
        self.uses = uses
        self.is_explained = is_explained
        self.nearest = ""
        self._bound = -1

    def __getitem__(self, pattern: Pattern) -> Variable:
        """The Variable that a pattern stands for; ArgumentError if it stands for none."""
        if pattern not in self.values:
            raise ArgumentError(
                "the match has nothing for this pattern: it is optional or an alternative and not "
                "there, or another object than that of the rule: `.shared()` makes a new one"
            )
        return self.values[pattern]

    def has(self, pattern: Pattern) -> bool:
        """Whether an optional operator is there."""
        return pattern in self.values

    def array(self, pattern: Pattern) -> np.ndarray[Any, Any]:
        """The value of a constant."""
        maker = self[pattern].maker
        assert isinstance(maker, Operator)
        value: np.ndarray[Any, Any] = maker.attributes["value"]
        return value

    def attributes(self, pattern: Operation) -> dict[str, Any]:
        """The attributes of a matched operator."""
        self[pattern]
        return self.operators[pattern].attributes

    def path(self, pattern: Through) -> list[Operator]:
        """The operators on the way of a `through`, the last first."""
        return self.paths[pattern]

    def require(self, condition: bool | None, reason: str, *entries: Any) -> None:
        """Leave the place alone unless a condition is known to hold.

        `entries` stand in the places {} of the reason, which is put into words on demand alone.
        """
        if not condition:
            raise NoMatch(reason, *entries)

    def fail(self, reason: str, *entries: Any) -> NoReturn:
        """Leave the place alone."""
        raise NoMatch(reason, *entries)

    def miss(self, reason: str, *entries: Any) -> None:
        """Note why a pattern does not fit, if anybody wants to know.

        The reason that is kept is that of the way on which most was bound already.
        """
        if self.is_explained and len(self.values) > self._bound:
            self._bound, self.nearest = len(self.values), reason_of(reason, *entries)

    def is_used_once(self, variable: Variable) -> bool:
        """Whether one operator reads a value, once."""
        return self.uses.get(variable, 0) == 1

    def outside_use(self, roots: Iterable[Variable]) -> Variable | None:
        """A value of an inner operator that somebody outside of the match reads too.

        Then the matched roots do not dominate it, and it would have to be computed twice.
        """
        own: dict[Variable, int] = {}
        inside = set(self.operators.values())
        for path in self.paths.values():
            inside.update(path)
        for operator in inside:
            for operand in operator.operands:
                own[operand] = own.get(operand, 0) + 1
        roots = set(roots)
        for pattern, operator in self.operators.items():
            if isinstance(pattern, Operation) and pattern.is_shared:
                continue
            for result in operator.results:
                if result not in roots and self.uses.get(result, 0) != own.get(result, 0):
                    return result
        return None


__all__ = ["Match", "NoMatch"]
