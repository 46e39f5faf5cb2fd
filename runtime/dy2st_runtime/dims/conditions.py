"""Conditions: comparisons of sizes that are not decided."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from dy2st_runtime.dims.expression import Dim, Size, undecided

NEGATED = {
    "==": "!=",
    "!=": "==",
    "<": ">=",
    ">=": "<",
    ">": "<=",
    "<=": ">",
    "in": "not in",
    "not in": "in",
    "broadcasts": "not broadcasts",
    "not broadcasts": "broadcasts",
}
MEANING: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "in": lambda left, right: left in right,
    "not in": lambda left, right: left not in right,
    "broadcasts": lambda left, right: left == right or 1 in (left, right),
    "not broadcasts": lambda left, right: left != right and 1 not in (left, right),
}


class Condition:
    """A comparison of sizes that is true for some values of the symbols and false for others.

    The relations "in" and "not in" have a tuple of sizes on their right; "a broadcasts b" holds for
    equal sizes, and where one of them is 1. Two Conditions are equal if they are written alike.

    >>> n = dy2st.dims.symbol("n")
    >>> condition = n > 3
    >>> condition, condition.negate(), condition.sizes
    (n > 3, n <= 3, (n, 3))
    """

    __slots__ = ("left", "mask", "relation", "right")

    def __init__(self, relation: str, left: Size, right: Any) -> None:
        """left relation right, `relation` as Python writes it."""
        assert relation in MEANING, relation
        self.relation, self.left, self.right = relation, left, right
        self.mask = 0  # a bit for every symbol inside, as in a Dim
        for size in self.sizes:
            self.mask |= size.mask if isinstance(size, Dim) else 0

    @property
    def sizes(self) -> tuple[Size, ...]:
        """Both sides, the right one size by size."""
        right = self.right if isinstance(self.right, tuple) else (self.right,)
        return (self.left, *right)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Condition) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        return self.relation, *(id(s) if isinstance(s, Dim) else (s,) for s in self.sizes)

    def __bool__(self) -> bool:
        """Refused: a Program must hold for both answers."""
        raise undecided(
            f"whether {self} holds is not known while the function is traced; write the `if` in a "
            "function that dy2st converts, or give the size a number or a range in the InputSpec"
        )

    def negate(self) -> Condition:
        """The opposite."""
        return Condition(NEGATED[self.relation], self.left, self.right)

    def __repr__(self) -> str:
        """As Python would write it."""
        right = self.right
        if isinstance(right, tuple):
            right = f"({', '.join(map(str, right))}{',' if len(right) == 1 else ''})"
        return f"{self.left} {self.relation} {right}"

    __str__ = __repr__
