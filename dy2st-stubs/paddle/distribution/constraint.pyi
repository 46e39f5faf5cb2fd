"""Checks that values of a variable are in its range."""

from dy2st.paddle.distribution.constraint import (
    Constraint as _Constraint,
    Positive as _Positive,
    Range as _Range,
    Real as _Real,
    Simplex as _Simplex,
)
from dy2st_runtime.ir.tensor import Tensor, TensorLike
from typing import Any

class Constraint(_Constraint):
    """A condition on values: a class of one's own writes `__call__`, which says where it holds."""
    def check(self, value: TensorLike) -> Tensor:
        """The same as calling it."""
class Positive(_Positive, Constraint):
    """From 0 on."""
    def check(self, value: TensorLike) -> Tensor:
        """The same as calling it."""
class Range(_Range, Constraint):
    """From `lower` to `upper`, both included."""
    def __init__(self, lower: float, upper: float) -> None:
        """Take the ends."""
    def check(self, value: TensorLike) -> Tensor:
        """The same as calling it."""
class Real(_Real, Constraint):
    """No NaN."""
    def check(self, value: TensorLike) -> Tensor:
        """The same as calling it."""
class Simplex(_Simplex, Constraint):
    """Not negative, with the sum 1 along the last axis."""
    def check(self, value: TensorLike) -> Tensor:
        """The same as calling it."""
positive: Any
real: Any
simplex: Any
