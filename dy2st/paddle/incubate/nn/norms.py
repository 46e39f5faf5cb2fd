"""Normalises after a bias, dropout and a residual."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F
from dy2st_runtime.ir.arguments import normalize_axis
from dy2st_runtime.nn import functional


def fused_dropout_add(
    x: Any,
    y: Any,
    p: float = 0.5,
    training: bool = True,
    mode: str = "upscale_in_train",
    name: str | None = None,
) -> Any:
    """dropout(x) + y.

    >>> x = dy2st.ones([2])
    >>> dy2st.incubate.nn.functional.fused_dropout_add(x, x, training=False).tolist()
    [2.0, 2.0]
    """
    return functional.dropout(x, p, training=training, mode=mode) + y


def fused_bias_dropout_residual_layer_norm(
    x: Any,
    residual: Any,
    bias: Any = None,
    ln_scale: Any = None,
    ln_bias: Any = None,
    dropout_rate: float = 0.5,
    ln_epsilon: float = 1e-5,
    training: bool = True,
    mode: str = "upscale_in_train",
    name: str | None = None,
) -> Any:
    """layer_norm(residual + dropout(x + bias)) over the last axis.

    >>> x = dy2st.to_tensor([[1.0, 3.0]])
    >>> norm = dy2st.incubate.nn.functional.fused_bias_dropout_residual_layer_norm
    >>> print(norm(x, x, training=False)[0].round(3))
    [-1.  1.]
    """
    moved = x if bias is None else x + bias
    joined = fused_dropout_add(moved, residual, dropout_rate, training, mode)
    return functional.layer_norm(joined, joined.shape[-1:], ln_scale, ln_bias, ln_epsilon)


def fused_layer_norm(
    x: Any,
    norm_weight: Any,
    norm_bias: Any,
    epsilon: float,
    residual_alpha: float = 1.0,
    begin_norm_axis: int = 1,
    bias: Any = None,
    residual: Any = None,
    quant_scale: float = -1,
    quant_round_type: float = 0,
    quant_max_bound: float = 0,
    quant_min_bound: float = 0,
) -> tuple[Any, Any, Any, Any]:
    """The layer norm of x + bias + residual_alpha * residual over the axes from one on.

    Gives the norm, that sum (empty without a residual), and of each row of the sum the mean and
    1 / sqrt(variance + epsilon). Without weight and bias of the norm it is the sum alone.

    >>> import dy2st
    >>> ones = dy2st.ones([2])
    >>> fused_layer_norm(dy2st.to_tensor([[1.0, 3.0]]), ones, ones, 0.0)[0].tolist()
    [[0.0, 2.0]]
    """
    _require(quant_scale, bias, residual)
    joined = _joined(x, bias, residual, residual_alpha)
    empty = F.zeros([0], x.dtype)
    if norm_weight is None and norm_bias is None:
        if residual is None:
            raise ArgumentError("a norm without weight and bias is nn.functional.layer_norm")
        return joined, empty, empty, empty
    rows = _rows(joined, begin_norm_axis)
    mean = F.mean(rows, axis=-1, keepdim=True)
    scale = F.rsqrt(F.mean(F.square(rows - mean), axis=-1, keepdim=True) + epsilon)
    found = F.reshape(_scaled((rows - mean) * scale, norm_weight, norm_bias), list(x.shape))
    rest = empty if residual is None else joined
    return found, rest, F.squeeze(mean, -1), F.squeeze(scale, -1)


def fused_rms_norm(
    x: Any,
    norm_weight: Any,
    norm_bias: Any,
    epsilon: float,
    begin_norm_axis: int = 1,
    bias: Any = None,
    residual: Any = None,
    quant_scale: float = -1,
    quant_round_type: float = 0,
    quant_max_bound: float = 0,
    quant_min_bound: float = 0,
) -> tuple[Any, Any]:
    """x / sqrt(mean(x**2) + epsilon) * weight + bias of x + bias + residual; and that sum.

    The mean is over the axes from one on; the sum is empty without a residual.

    >>> x, weight, bias = dy2st.full([1, 2], 3.0), dy2st.ones([2]), dy2st.zeros([2])
    >>> y, _ = dy2st.incubate.nn.functional.fused_rms_norm(x, weight, bias, 0.0)
    >>> y.tolist()
    [[1.0, 1.0]]
    """
    _require(quant_scale, bias, residual)
    joined = _joined(x, bias, residual, 1.0)
    rows = _rows(joined, begin_norm_axis)
    scale = F.rsqrt(F.mean(F.square(rows), axis=-1, keepdim=True) + epsilon)
    found = _scaled(rows * scale, norm_weight, norm_bias)
    rest = F.zeros([0], x.dtype) if residual is None else joined
    return F.reshape(found, list(x.shape)), rest


def _require(quant_scale: float, bias: Any, residual: Any) -> None:
    if quant_scale > 0:
        raise ArgumentError("norms that round to int8 are not here: leave quant_scale out")
    if bias is not None and residual is None:
        raise ArgumentError(
            "PaddlePaddle leaves the bias out where there is no residual: leave it out, or add it "
            "to x before"
        )


def _joined(x: Any, bias: Any, residual: Any, alpha: float) -> Any:
    moved = x if bias is None else x + bias
    return moved if residual is None else moved + residual * alpha


def _rows(x: Any, begin: int) -> Any:
    """Rows of all that is normalised together."""
    start = normalize_axis(begin, x.ndim, "begin_norm_axis")
    rows = F.flatten(x, start_axis=start) if start < x.ndim - 1 else x
    rows = F.flatten(rows, stop_axis=start - 1) if start > 1 else rows
    return rows if start else F.unsqueeze(rows, 0)


def _scaled(x: Any, weight: Any, bias: Any) -> Any:
    found = x if weight is None else x * weight
    return found if bias is None else found + bias
