"""Draws what parameters then shift and scale; the same numbers for the same seed."""

from __future__ import annotations

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
