"""Computes the two halves of a layer of a transformer."""

from __future__ import annotations

from typing import Any

from dy2st.paddle.incubate.nn.products import activated, fused_matmul_bias
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F
from dy2st_runtime.nn import functional


def fused_feedforward(
    x: Any,
    linear1_weight: Any,
    linear2_weight: Any,
    linear1_bias: Any = None,
    linear2_bias: Any = None,
    ln1_scale: Any = None,
    ln1_bias: Any = None,
    ln2_scale: Any = None,
    ln2_bias: Any = None,
    dropout1_rate: float = 0.5,
    dropout2_rate: float = 0.5,
    activation: str = "relu",
    ln1_epsilon: float = 1e-5,
    ln2_epsilon: float = 1e-5,
    pre_layer_norm: bool = False,
    training: bool = True,
    mode: str = "upscale_in_train",
    ring_id: int = -1,
    add_residual: bool = True,
    name: str | None = None,
) -> Any:
    """x + dropout(linear2(dropout(activation(linear1(x))))), with a layer norm before or after.

    Before with `pre_layer_norm`, by ln1; else after, by ln2. (b, s, n) -> (b, s, n).

    Parameters
    ----------
    linear1_weight, linear1_bias
        (n, k) and (k,), of the first linear layer.
    linear2_weight, linear2_bias
        (k, n) and (n,), of the second.
    ln1_scale, ln1_bias, ln1_epsilon
        The norm before, with `pre_layer_norm`.
    ln2_scale, ln2_bias, ln2_epsilon
        The norm after.
    dropout1_rate, dropout2_rate
        Probabilities behind the activation, and of the result.
    add_residual
        Add x to the result.

    Examples
    --------
    >>> x, one, two = dy2st.ones([1, 2, 4]), dy2st.ones([4, 8]), dy2st.ones([8, 4])
    >>> dy2st.incubate.nn.functional.fused_feedforward(x, one, two, training=False).shape
    [1, 2, 4]
    """
    found = _normed(x, ln1_scale, ln1_bias, ln1_epsilon) if pre_layer_norm else x
    found = activated(fused_matmul_bias(found, linear1_weight, linear1_bias), activation)
    found = functional.dropout(found, dropout1_rate, training=training, mode=mode)
    found = fused_matmul_bias(found, linear2_weight, linear2_bias)
    found = functional.dropout(found, dropout2_rate, training=training, mode=mode)
    found = x + found if add_residual else found
    return found if pre_layer_norm else _normed(found, ln2_scale, ln2_bias, ln2_epsilon)


def fused_multi_head_attention(
    x: Any,
    qkv_weight: Any,
    linear_weight: Any,
    pre_layer_norm: bool = False,
    pre_ln_scale: Any = None,
    pre_ln_bias: Any = None,
    ln_scale: Any = None,
    ln_bias: Any = None,
    pre_ln_epsilon: float = 1e-5,
    qkv_bias: Any = None,
    linear_bias: Any = None,
    cache_kv: Any = None,
    attn_mask: Any = None,
    dropout_rate: float = 0.5,
    attn_dropout_rate: float = 0.5,
    ln_epsilon: float = 1e-5,
    training: bool = True,
    mode: str = "upscale_in_train",
    ring_id: int = -1,
    add_residual: bool = True,
    num_heads: int = -1,
    transpose_qkv_wb: bool = False,
    name: str | None = None,
) -> Any:
    """x + dropout(linear(attention(x))), with a layer norm before or after: (b, s, n) -> (b, s, n).

    qkv_weight (3, heads, size, n) and qkv_bias (3, heads, size), or (n, 3 * n) and (3 * n,) with
    `transpose_qkv_wb` and `num_heads`. attn_mask is added to the scores (b, heads, s, s).
    cache_kv (2, b, heads, t, size): keys and values before these; given back with these added.

    >>> x, qkv, out = dy2st.ones([1, 3, 4]), dy2st.ones([3, 2, 2, 4]), dy2st.ones([4, 4])
    >>> attend = dy2st.incubate.nn.functional.fused_multi_head_attention
    >>> attend(x, qkv, out, training=False).shape
    [1, 3, 4]
    """
    found = _normed(x, pre_ln_scale, pre_ln_bias, pre_ln_epsilon) if pre_layer_norm else x
    # weight (n, 3 * heads * size), bias, and the number of heads
    if transpose_qkv_wb:
        if num_heads <= 0:
            raise ArgumentError("num_heads is above 0 with transpose_qkv_wb")
        weight, bias, heads = qkv_weight, qkv_bias, num_heads
    else:
        count = qkv_weight.shape[1]
        flat = F.transpose(F.flatten(qkv_weight, stop_axis=2), [1, 0])
        weight, bias, heads = flat, None if qkv_bias is None else F.flatten(qkv_bias), count
    parts = F.reshape(fused_matmul_bias(found, weight, bias), [*x.shape[:2], 3, heads, -1])
    query, key, value = F.unstack(F.transpose(parts, [2, 0, 3, 1, 4]), 0)
    if cache_kv is not None:
        key, value = F.concat([cache_kv[0], key], axis=2), F.concat([cache_kv[1], value], axis=2)
    scores = F.matmul(query * query.shape[-1] ** -0.5, key, transpose_y=True)
    scores = F.softmax(scores if attn_mask is None else scores + attn_mask, axis=-1)
    scores = functional.dropout(scores, attn_dropout_rate, training=training, mode=mode)
    joined = F.flatten(F.transpose(F.matmul(scores, value), [0, 2, 1, 3]), start_axis=2)
    found = fused_matmul_bias(joined, linear_weight, linear_bias)
    found = functional.dropout(found, dropout_rate, training=training, mode=mode)
    found = x + found if add_residual else found
    found = found if pre_layer_norm else _normed(found, ln_scale, ln_bias, ln_epsilon)
    return found if cache_kv is None else (found, F.stack([key, value], axis=0))


def _normed(x: Any, scale: Any, bias: Any, epsilon: float) -> Any:
    return functional.layer_norm(x, x.shape[-1:], scale, bias, epsilon)
