"""Describes the values that a transform takes and gives: axes of one event, and range."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dy2st.paddle.distribution import constraint as constraints
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F
from dy2st_runtime.lazy import public_dir


class Variable:
    """Events of `event_rank` axes whose values satisfy a constraint.

    >>> from dy2st.paddle.distribution.constraint import positive
    >>> counts = Variable(is_discrete=True, event_rank=0, constraint=positive)
    >>> counts.is_discrete, counts.event_rank
    (True, 0)
    >>> counts.constraint(dy2st.to_tensor([-1.0, 2.0])).tolist()
    [False, True]
    """

    def __init__(
        self,
        is_discrete: bool = False,
        event_rank: int = 0,
        constraint: constraints.Constraint | None = None,
    ) -> None:
        """Keep them."""
        self._is_discrete = is_discrete
        self._event_rank = event_rank
        self._constraint = constraint

    @property
    def is_discrete(self) -> bool:
        """Whether the values are whole numbers."""
        return self._is_discrete

    @property
    def event_rank(self) -> int:
        """How many of the last axes are one event."""
        return self._event_rank

    def constraint(self, value: Any) -> Any:
        """Where the values satisfy the constraint; ArgumentError if there is none."""
        if self._constraint is None:
            raise ArgumentError("this variable has no constraint")
        return self._constraint.check(value)


class Real(Variable):
    """Any number.

    >>> Real(event_rank=1).event_rank
    1
    """

    def __init__(self, event_rank: int = 0) -> None:
        """Take the number of axes of an event."""
        super().__init__(False, event_rank, constraints.real)


class Positive(Variable):
    """Numbers from 0 on.

    >>> Positive().constraint(dy2st.to_tensor([-1.0, 2.0])).tolist()
    [False, True]
    """

    def __init__(self, event_rank: int = 0) -> None:
        """Take the number of axes of an event."""
        super().__init__(False, event_rank, constraints.positive)


class Independent(Variable):
    """Another variable, of which more axes are one event.

    >>> rows = Independent(Positive(), 1)
    >>> rows.event_rank, rows.constraint(dy2st.to_tensor([[-1.0, 2.0], [1.0, 2.0]])).tolist()
    (1, [False, True])
    """

    def __init__(self, base: Variable, reinterpreted_batch_rank: int) -> None:
        """Take the variable and how many axes are added."""
        self._base = base
        self._reinterpreted_batch_rank = reinterpreted_batch_rank
        super().__init__(base.is_discrete, base.event_rank + reinterpreted_batch_rank)

    def constraint(self, value: Any) -> Any:
        """Where all values of an event satisfy the constraint of the other variable."""
        axes = list(range(-self._reinterpreted_batch_rank, 0))
        found = self._base.constraint(value)
        return F.all(found, axis=axes) if axes else found


class Stack(Variable):
    """Variables side by side along an axis.

    >>> both = Stack([Real(), Positive()])
    >>> both.constraint(dy2st.to_tensor([-1.0, -1.0])).tolist()
    [True, False]
    """

    def __init__(self, vars: Sequence[Variable], axis: int = 0) -> None:
        """Take the variables."""
        self._vars = vars
        self._axis = axis
        rank = max(entry.event_rank for entry in vars)
        is_inside = self._axis + rank < 0
        super().__init__(any(entry.is_discrete for entry in vars), rank + is_inside)

    def constraint(self, value: Any) -> Any:
        """Where the values of each satisfy its constraint."""
        parts = F.unstack(value, self._axis)
        checked = [var.constraint(part) for var, part in zip(self._vars, parts, strict=True)]
        return F.stack(checked, self._axis)


real = Real()
positive = Positive()

__dir__ = public_dir(__name__)
