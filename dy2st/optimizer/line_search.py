"""PaddlePaddle's private search along a direction, on tensors: that of LBFGS."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.optimizer.line_search import strong_wolfe
from dy2st_runtime.tensor import to_tensor


def _strong_wolfe(
    obj_func: Callable[[Any, Any, Any], tuple[Any, Any]],
    xk: Any,
    alpha: Any,
    d: Any,
    loss: Any,
    grad: Any,
    gtd: Any,
    c1: float = 1e-4,
    c2: float = 0.9,
    tolerance_change: float = 1e-9,
    max_ls: int = 25,
) -> tuple[Any, Any, Any, int]:
    """Loss, gradient and length of a step, and how often `obj_func(xk, alpha, d)` was called."""
    if (c1, c2, tolerance_change, max_ls) != (1e-4, 0.9, 1e-9, 25):
        raise ArgumentError("_strong_wolfe: the constants are those of LBFGS")
    flat = np.asarray(d).ravel()

    def at(far: float) -> tuple[float, Any]:
        value, gradient = obj_func(xk, far, d)
        return float(value), np.asarray(gradient).ravel()

    start = (float(loss), np.asarray(grad).ravel())
    far, value, gradient, count = strong_wolfe(at, flat, float(alpha), start, float(gtd))
    return value, to_tensor(gradient.reshape(np.shape(grad))), far, count


__all__: list[str] = []
