"""Dropout of whole channels, and dropout for SELU."""

from __future__ import annotations

import math
from typing import Any

from dy2st_runtime.errors import ArgumentError, ShapeError
from dy2st_runtime.ir import F

# What alpha dropout puts in place of an element: the lower limit of SELU (Klambauer 2017).
_LOWEST = -1.6732632423543772 * 1.0507009873554805


def _alpha_dropout(x: Any, p: float, training: bool, mask_shape: Any) -> Any:
    if not 0 <= p <= 1:
        raise ArgumentError(f"alpha_dropout: p is a probability, not {p}")
    if not training or p == 0:
        return x
    if p == 1:
        return F.zeros_like(x)
    factor = 1.0 / math.sqrt((1 - p) * (1 + p * _LOWEST**2))
    kept = F.bernoulli(F.full(mask_shape, 1.0 - p, x.dtype))
    mixed = x * kept + (1.0 - kept) * _LOWEST
    return mixed * factor - factor * p * _LOWEST


def alpha_dropout(x: Any, p: float = 0.5, training: bool = True, name: str | None = None) -> Any:
    """Dropout that keeps mean and variance of what SELU gives (Klambauer 2017).

    >>> dy2st.nn.functional.alpha_dropout(dy2st.ones([2]), 0.5, training=False).tolist()
    [1.0, 1.0]
    """
    return _alpha_dropout(x, p, training, x.shape)


def feature_alpha_dropout(
    x: Any, p: float = 0.5, training: bool = True, name: str | None = None
) -> Any:
    """`alpha_dropout` of whole channels of (n, c, ...).

    >>> y = dy2st.nn.functional.feature_alpha_dropout(dy2st.ones([1, 2, 3]))
    >>> bool((y[0, 0] == y[0, 0, 0]).all())
    True
    """
    if x.ndim < 2:
        raise ShapeError(f"feature_alpha_dropout takes (n, c, ...), not the shape {x.shape}")
    return _alpha_dropout(x, p, training, [*x.shape[:2], *[1] * (x.ndim - 2)])


def dropout1d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """While training, zero whole channels of (n, c, l), or (c, l), with probability p.

    >>> y = dy2st.nn.functional.dropout1d(dy2st.ones([1, 4, 3]))
    >>> bool((y == y[:, :, :1]).all())
    True
    """
    if input.ndim not in (2, 3):
        raise ShapeError(f"dropout1d takes (n, c, l) or (c, l), not the shape {input.shape}")
    if inplace:
        raise ArgumentError("dropout1d gives a new tensor: leave inplace=True out")
    return F.dropout(input, p, list(range(input.ndim - 1)), training)


def dropout3d(
    x: Any,
    p: float = 0.5,
    training: bool = True,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Any:
    """While training, zero whole channels of (n, c, d, h, w) with probability p.

    >>> y = dy2st.nn.functional.dropout3d(dy2st.ones([1, 4, 2, 2, 2]))
    >>> bool((y == y[:, :, :1, :1, :1]).all())
    True
    """
    if x.ndim != 5 or data_format not in ("NCDHW", "NDHWC"):
        raise ShapeError(f"dropout3d takes (n, c, d, h, w) or NDHWC, not the shape {x.shape}")
    return F.dropout(x, p, [0, 1 if data_format == "NCDHW" else 4], training)
