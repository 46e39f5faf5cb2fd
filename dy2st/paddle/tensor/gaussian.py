"""Draws random numbers by names that PaddlePaddle has in `tensor.random` alone."""

from __future__ import annotations

from typing import Any

from dy2st_runtime import ops


def gaussian(
    shape: Any,
    mean: float = 0.0,
    std: float = 1.0,
    seed: int = 0,
    dtype: Any = None,
    name: str | None = None,
) -> Any:
    """Normal random numbers of a shape; float32 by default.

    >>> gaussian([2, 3], mean=1.0, dtype="float64").dtype
    dtype('float64')
    """
    return ops.randn(shape, dtype) * std + mean
