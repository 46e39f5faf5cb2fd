"""Distances and products of pairs of vectors."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.ir import F
from dy2st_runtime.ops.short_floats import in_float32


@in_float32
def pairwise_distance(
    x: Any,
    y: Any,
    p: float = 2.0,
    epsilon: float = 1e-6,
    keepdim: bool = False,
    name: str | None = None,
) -> Any:
    """(n, d), (n, d) -> (n,): (sum |x - y + epsilon|**p)**(1/p).

    >>> print(pairwise_distance(F.zeros([1, 2]), F.ones([1, 2]), 1.0, 0.0))
    [2.]
    """
    return F.norm(x - y + epsilon, p, -1, keepdim)


@in_float32
def bilinear(x1: Any, x2: Any, weight: Any, bias: Any = None, name: str | None = None) -> Any:
    """y[k] = x1 @ weight[k] @ x2 + bias[k]: (n, a), (n, b), (out, a, b) -> (n, out).

    >>> bilinear(F.ones([2, 3]), F.ones([2, 4]), F.ones([5, 3, 4])).shape
    [2, 5]
    """
    products = F.matmul(F.unsqueeze(x1, [0]), weight)  # (out, n, b)
    y = F.transpose(F.sum(products * x2, axis=-1), [1, 0])
    return y if bias is None else y + bias
