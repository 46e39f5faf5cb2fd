"""Sums over whole numbers."""

from __future__ import annotations

import math
from typing import Any

from dy2st_runtime.ir import F


def whole_numbers(last: Any, like: Any) -> Any:
    """0, 1, ..., last before the axes and in the dtype of a tensor: (last + 1, 1, ..., 1)."""
    numbers = F.arange(0, F.cast(last, "int64") + 1)
    return F.reshape(F.cast(numbers, like.dtype), [-1, *([1] * like.ndim)])


def expectation(logs: Any, values: Any) -> Any:
    """The sum of exp(logs) * values over the first axis: nothing where logs are -inf."""
    return F.sum(F.exp(logs) * F.where(logs > -math.inf, values, 0.0), axis=0)


def times_log(factor: Any, x: Any) -> Any:
    """factor * log(x), with 0 * log(0) = 0."""
    is_zero = F.logical_and(factor == 0, x == 0)
    return factor * F.log(F.where(is_zero, F.ones_like(x), x))
