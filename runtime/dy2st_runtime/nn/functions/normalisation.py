"""Normalisation over neighbouring channels."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.errors import ShapeError
from dy2st_runtime.ir import F
from dy2st_runtime.ops.short_floats import in_float32


@in_float32
def local_response_norm(
    x: Any,
    size: int,
    alpha: float = 1e-4,
    beta: float = 0.75,
    k: float = 1.0,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """x / (k + alpha * the mean of x**2 over `size` channels around)**beta.

    Channels past the ends count as zeros. ShapeError below three axes.

    >>> x = F.ones([1, 3, 1])
    >>> print(local_response_norm(x, 2, alpha=2.0, beta=1.0))
    [[[0.5       ]
      [0.33333334]
      [0.33333334]]]
    """
    if x.ndim < 3:
        raise ShapeError(f"local_response_norm takes (n, c, ...), not {x.shape}")
    if data_format[-1] == "C":
        y = local_response_norm(F.moveaxis(x, -1, 1), size, alpha, beta, k)
        return F.moveaxis(y, 1, -1)
    channels = x.shape[1]
    before, after = ([x.shape[0], n, *x.shape[2:]] for n in (size // 2, (size - 1) // 2))
    ends = [F.zeros(shape, x.dtype) for shape in (before, after)]
    squares = F.concat([ends[0], F.square(x), ends[1]], axis=1)
    total = squares[:, :channels]
    for i in range(1, size):
        total = total + squares[:, i : channels + i]
    return x / (total * (alpha / size) + k) ** beta


__all__ = ["local_response_norm"]
