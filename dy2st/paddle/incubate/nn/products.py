"""Multiplies matrices, with a bias and an activation."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F
from dy2st_runtime.nn import functional


def fused_matmul_bias(
    x: Any,
    y: Any,
    bias: Any = None,
    transpose_x: bool = False,
    transpose_y: bool = False,
    name: str | None = None,
) -> Any:
    """x @ y + bias: (..., n, k) @ (k, m) + (m,) -> (..., n, m).

    >>> x, y = dy2st.ones([1, 3]), dy2st.ones([3, 2])
    >>> dy2st.incubate.nn.functional.fused_matmul_bias(x, y, dy2st.ones([2])).tolist()
    [[4.0, 4.0]]
    """
    found = F.matmul(x, y, transpose_x, transpose_y)
    return found if bias is None else found + bias


def fused_linear(
    x: Any,
    weight: Any,
    bias: Any = None,
    transpose_weight: bool = False,
    name: str | None = None,
) -> Any:
    """x @ weight + bias, with the weight (in, out), or (out, in) with `transpose_weight`.

    >>> x, y = dy2st.ones([1, 3]), dy2st.ones([3, 2])
    >>> dy2st.incubate.nn.functional.fused_linear(x, y, dy2st.ones([2])).tolist()
    [[4.0, 4.0]]
    """
    return fused_matmul_bias(x, weight, bias, False, transpose_weight)


def fused_linear_activation(
    x: Any,
    y: Any,
    bias: Any,
    trans_x: bool = False,
    trans_y: bool = False,
    activation: str | None = None,
) -> Any:
    """gelu(x @ y + bias), relu of it, or itself.

    >>> x, y = dy2st.ones([1, 3]), dy2st.ones([3, 2])
    >>> linear = dy2st.incubate.nn.functional.fused_linear_activation
    >>> linear(x, -y, dy2st.ones([2]), activation="relu").tolist()
    [[0.0, 0.0]]
    """
    return activated(fused_matmul_bias(x, y, bias, trans_x, trans_y), activation or "none")


def activated(x: Any, activation: str) -> Any:
    """gelu(x), relu(x) or x, by name."""
    if activation == "none":
        return x
    if activation not in ("gelu", "relu"):
        raise ArgumentError(f"the activation is gelu, relu or none, not {activation!r}")
    return functional.gelu(x) if activation == "gelu" else F.relu(x)
