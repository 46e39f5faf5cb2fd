"""Checks that values of a variable are in its range."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.ir import F
from dy2st_runtime.lazy import public_dir


class Constraint:
    """A condition on values: a class of one's own writes `__call__`, which says where it holds.

    >>> class Even(Constraint):
    ...     def __call__(self, value):
    ...         return value % 2 == 0
    >>> Even().check(dy2st.to_tensor([1, 2])).tolist()
    [False, True]
    """

    def __call__(self, value: Any) -> Any:
        """Where it holds."""
        raise NotImplementedError(f"{type(self).__name__} has no __call__")

    def check(self, value: Any) -> Any:
        """The same as calling it."""
        return self(value)


class Real(Constraint):
    """No NaN.

    >>> Real()(dy2st.to_tensor([1.0, float("nan")])).tolist()
    [True, False]
    """

    def __call__(self, value: Any) -> Any:
        """Where it holds."""
        return F.equal(value, value)


class Range(Constraint):
    """From `lower` to `upper`, both included.

    >>> Range(0.0, 1.0)(dy2st.to_tensor([0.5, 2.0])).tolist()
    [True, False]
    """

    def __init__(self, lower: Any, upper: Any) -> None:
        """Take the ends."""
        self._lower, self._upper = lower, upper

    def __call__(self, value: Any) -> Any:
        """Where it holds."""
        return F.logical_and(value >= self._lower, value <= self._upper)


class Positive(Constraint):
    """From 0 on.

    >>> Positive()(dy2st.to_tensor([-1.0, 0.0])).tolist()
    [False, True]
    """

    def __call__(self, value: Any) -> Any:
        """Where it holds."""
        return value >= 0


class Simplex(Constraint):
    """Not negative, with the sum 1 along the last axis.

    >>> Simplex()(dy2st.to_tensor([[0.5, 0.5], [0.5, 0.6]])).tolist()
    [True, False]
    """

    def __call__(self, value: Any) -> Any:
        """Where it holds, of each event."""
        is_one = F.abs(F.sum(value, axis=-1) - 1) < 1e-6
        return F.logical_and(F.all(value >= 0, axis=-1), is_one)


real = Real()
positive = Positive()
simplex = Simplex()

__dir__ = public_dir(__name__)
