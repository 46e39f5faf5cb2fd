"""Draws what parameters then shift and scale, and sums over whole numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dy2st_runtime.dims import Size
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F
from dy2st_runtime.tensor import to_tensor


def standard_normal(shape: Sequence[Size], dtype: Any, seed: int = 0) -> Any:
    """Normal numbers with mean 0 and deviation 1; any seed but 0 fixes them."""
    if seed == 0:
        return F.randn(shape, dtype)
    return _fixed(np.random.default_rng(seed).standard_normal, shape, dtype)


def standard_uniform(shape: Sequence[Size], dtype: Any, seed: int = 0) -> Any:
    """Uniform numbers in [0, 1); any seed but 0 fixes them."""
    if seed == 0:
        return F.rand(shape, dtype)
    return _fixed(np.random.default_rng(seed).random, shape, dtype)


def open_uniform(shape: Sequence[Size], dtype: Any) -> Any:
    """Uniform numbers in (0, 1), of which logarithms may be taken."""
    kind = np.finfo(dtype)
    return F.clip(F.rand(shape, dtype), float(kind.tiny), 1 - float(kind.epsneg))


def _fixed(draw: Any, shape: Sequence[Size], dtype: Any) -> Any:
    if not all(isinstance(size, int) for size in shape):
        raise ArgumentError(
            f"a seed fixes samples of known sizes alone, not of {list(shape)}: "
            "call dy2st.seed(...) instead, and sample without a seed"
        )
    return to_tensor(np.asarray(draw(tuple(shape))), dtype=dtype)


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
