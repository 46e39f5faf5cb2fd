"""Describes the values that a transform takes and gives: axes of one event, and range."""

from collections.abc import Sequence
from dy2st.paddle.distribution.variable import (
    Independent as _Independent,
    Positive as _Positive,
    Real as _Real,
    Stack as _Stack,
    Variable as _Variable,
)
from dy2st_runtime.ir.tensor import Tensor, TensorLike
from typing import Any

class Independent(_Independent, Variable):
    """Another variable, of which more axes are one event."""
    def __init__(self, base: Tensor, reinterpreted_batch_rank: int) -> None:
        """Take the variable and how many axes are added."""
    def constraint(self, value: TensorLike) -> Tensor:
        """Where all values of an event satisfy the constraint of the other variable."""
    @property
    def event_rank(self) -> int:
        """How many of the last axes are one event."""
    @property
    def is_discrete(self) -> bool:
        """Whether the values are whole numbers."""
class Positive(_Positive, Variable):
    """Numbers from 0 on."""
    def __init__(self, event_rank: int = 0) -> None:
        """Take the number of axes of an event."""
    def constraint(self, value: TensorLike) -> Tensor:
        """Where the values satisfy the constraint; ArgumentError if there is none."""
    @property
    def event_rank(self) -> int:
        """How many of the last axes are one event."""
    @property
    def is_discrete(self) -> bool:
        """Whether the values are whole numbers."""
class Real(_Real, Variable):
    """Any number."""
    def __init__(self, event_rank: int = 0) -> None:
        """Take the number of axes of an event."""
    def constraint(self, value: TensorLike) -> Tensor:
        """Where the values satisfy the constraint; ArgumentError if there is none."""
    @property
    def event_rank(self) -> int:
        """How many of the last axes are one event."""
    @property
    def is_discrete(self) -> bool:
        """Whether the values are whole numbers."""
class Stack(_Stack, Variable):
    """Variables side by side along an axis."""
    def __init__(self, vars: Sequence[Tensor], axis: int = 0) -> None:
        """Take the variables."""
    def constraint(self, value: TensorLike) -> Tensor:
        """Where the values of each satisfy its constraint."""
    @property
    def event_rank(self) -> int:
        """How many of the last axes are one event."""
    @property
    def is_discrete(self) -> bool:
        """Whether the values are whole numbers."""
class Variable(_Variable):
    """Events of `event_rank` axes whose values satisfy a constraint."""
    def __init__(self, is_discrete: bool = False, event_rank: int = 0, constraint: Any | None = None) -> None:
        """Keep them."""
    def constraint(self, value: TensorLike) -> Tensor:
        """Where the values satisfy the constraint; ArgumentError if there is none."""
    @property
    def event_rank(self) -> int:
        """How many of the last axes are one event."""
    @property
    def is_discrete(self) -> bool:
        """Whether the values are whole numbers."""
positive: Any
real: Any
