"""Attention and what goes with it: rotated positions, caches, attention with a running state."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dy2st.errors import ArgumentError
from dy2st.importers.onnx.functions.late import as_float, as_whole
from dy2st.importers.onnx.functions.recurrent import LONGEST
from dy2st_runtime.dims import Size, equal
from dy2st_runtime.ir import F, apply
from dy2st_runtime.nn.scan import scan


def attention(
    Q: Any,
    K: Any,
    V: Any,
    attn_mask: Any = None,
    past_key: Any = None,
    past_value: Any = None,
    nonpad_kv_seqlen: Any = None,
    *,
    is_causal: int = 0,
    kv_num_heads: int | None = None,
    left_window_size: int = -1,
    q_num_heads: int | None = None,
    qk_matmul_output_mode: int = 0,
    right_window_size: int = -1,
    scale: float | None = None,
    softcap: float = 0.0,
    softmax_precision: Any = None,
) -> tuple[Any, Any, Any, Any]:
    """Y, the keys and values with those of before, and the scores of (batch, heads, q, k).

    Inputs of 4 axes are (batch, heads, length, size), of 3 (batch, length, heads * size). A row
    that may attend no key is 0.
    """
    if (past_key is None) != (past_value is None):
        raise ArgumentError("Attention: past_key and past_value come together")
    packed = Q.ndim == 3
    q = _heads_first(Q, q_num_heads)
    k, v = _heads_first(K, kv_num_heads), _heads_first(V, kv_num_heads)
    if past_key is not None:
        k, v = F.concat([past_key, k], axis=2), F.concat([past_value, v], axis=2)
    present = k, v
    groups = q.shape[1] // k.shape[1]
    k, v = _repeated(k, groups), _repeated(v, groups)
    factor: Any = scale
    if not scale:
        size = q.shape[3]
        factor = size**-0.5 if isinstance(size, int) else F.cast(as_float(size) ** -0.5, q.dtype)
    if q.dtype.itemsize == 2:  # products of 16 bits overflow, so both sides are made smaller
        q, k = q * factor**0.5, k * factor**0.5
    else:
        q = q * factor
    scores = F.matmul(q, k, transpose_y=True)
    shown = [scores]
    if softcap > 0:
        scores = F.tanh(scores / softcap) * softcap
    shown.append(scores)
    # The place of the first query among the keys: behind those of before, or such that the last
    # query meets the last key that is no padding.
    offset: Any = 0 if past_key is None else past_key.shape[2]
    if nonpad_kv_seqlen is not None:
        ends = F.reshape(F.cast(nonpad_kv_seqlen, "int64"), [-1, 1, 1, 1])
        offset = ends - as_whole(q.shape[2]) if past_key is None else offset
    window = (left_window_size, 0 if is_causal else right_window_size)
    allowed = _near(q.shape[2], k.shape[2], offset, window)
    if nonpad_kv_seqlen is not None:
        allowed = _both(allowed, F.less_than(F.arange(k.shape[2]), ends))
    # Where each row surely has a key the softmax needs no care for rows of -inf alone.
    bias, certain = _bias(attn_mask, allowed, k.shape[2], q.dtype)
    certain = certain and nonpad_kv_seqlen is None and left_window_size < 0
    scores = scores if bias is None else scores + bias
    shown.append(scores)
    weights = _weights(scores, None if certain else bias, softmax_precision)
    shown.append(weights)
    y = F.cast(F.matmul(F.cast(weights, v.dtype), v), Q.dtype)
    if packed:
        y = F.transpose(y, [0, 2, 1, 3])
        y = F.reshape(y, [*y.shape[:2], y.shape[2] * y.shape[3]])
    return y, *present, F.cast(shown[qk_matmul_output_mode], Q.dtype)


def _heads_first(x: Any, heads: int | None) -> Any:
    """(batch, length, heads * size) -> (batch, heads, length, size)."""
    if x.ndim == 4:
        return x
    if not heads:
        raise ArgumentError("Attention: inputs of 3 axes need q_num_heads and kv_num_heads")
    apart = F.reshape(x, [x.shape[0], x.shape[1], heads, x.shape[2] // heads])
    return F.transpose(apart, [0, 2, 1, 3])


def _repeated(x: Any, times: Size) -> Any:
    """Every head so often, side by side."""
    if equal(times, 1) is True:
        return x
    n, heads, length, size = x.shape
    wide = F.expand(F.unsqueeze(x, [2]), [n, heads, times, length, size])
    return F.reshape(wide, [n, heads * times, length, size])


def _near(queries: Size, keys: Size, offset: Any, window: tuple[int, int]) -> Any:
    """Whether a key lies in the window of a query; None if all do."""
    left, right = window
    if left < 0 and right < 0:
        return None
    place = F.unsqueeze(F.arange(queries), [1]) + as_whole(offset)
    key, allowed = F.arange(keys), None
    if right >= 0:
        allowed = F.less_equal(key, place + right)
    if left >= 0:
        allowed = _both(allowed, F.greater_equal(key, place - left))
    return allowed


def _both(left: Any, right: Any) -> Any:
    return right if left is None else F.logical_and(left, right)


def _bias(mask: Any, allowed: Any, keys: Size, dtype: Any) -> tuple[Any, bool]:
    """What is added to the scores, and whether each row is certain to have a key."""
    certain = mask is None
    if mask is not None and equal(mask.shape[-1], keys) is not True:
        is_bool = mask.dtype == "bool"
        last = F.cast(mask, "float32") if is_bool else mask
        room = [0, 0] * (mask.ndim - 1) + [0, keys - mask.shape[-1]]
        last = F.pad(last, room, value=0.0 if is_bool else -np.inf)
        mask = F.cast(last, "bool") if is_bool else last
    if mask is not None and mask.dtype == "bool":
        allowed, mask = _both(allowed, mask), None
    if allowed is None:
        return mask, certain
    zero = F.zeros([], dtype) if mask is None else F.cast(mask, dtype)
    return F.where(allowed, zero, F.full([], -np.inf, dtype)), certain


def _weights(scores: Any, bias: Any, precision: Any) -> Any:
    """The softmax of scores; a row whose bias is -inf all along is 0."""
    exact = scores.dtype if precision is None else np.dtype(precision)
    if precision is None and exact.itemsize == 2:
        exact = np.dtype("float32")
    wide = F.cast(scores, exact)
    if bias is None:
        return F.softmax(wide, axis=-1)
    # A softmax of nothing but -inf would be NaN.
    lost = F.equal(F.max(bias, axis=-1, keepdim=True), -np.inf)
    weights = F.softmax(F.where(lost, F.zeros([], exact), wide), axis=-1)
    return F.where(lost, F.zeros([], exact), weights)


def rotary_embedding(
    X: Any,
    cos_cache: Any,
    sin_cache: Any,
    position_ids: Any = None,
    *,
    interleaved: int = 0,
    num_heads: int = 0,
    rotary_embedding_dim: int = 0,
) -> Any:
    """X of (batch, heads, length, size), or (batch, length, heads * size), rotated by position."""
    x, heads_axis = X, 1
    if X.ndim == 3:
        if not num_heads:
            raise ArgumentError("RotaryEmbedding: an input of 3 axes needs num_heads")
        x = F.reshape(X, [X.shape[0], X.shape[1], num_heads, X.shape[2] // num_heads])
        heads_axis = 2
    caches = [cos_cache, sin_cache]
    if position_ids is not None:
        shape, places = [*position_ids.shape, cos_cache.shape[-1]], F.flatten(position_ids)
        caches = [F.reshape(F.gather(cache, places), shape) for cache in caches]
    cos, sin = (F.unsqueeze(cache, [heads_axis]) for cache in caches)
    size = x.shape[3]
    width = rotary_embedding_dim or size
    part = x if equal(width, size) is True else F.slice(x, [3], [0], [width])
    if interleaved:
        pairs = F.reshape(part, [*part.shape[:3], width // 2, 2])
        first, second = (F.squeeze(half, [4]) for half in F.split(pairs, 2, axis=4))
    else:
        first, second = F.split(part, 2, axis=3)
    real, imaginary = cos * first - sin * second, sin * first + cos * second
    if interleaved:
        y = F.reshape(F.stack([real, imaginary], axis=4), part.shape)
    else:
        y = F.concat([real, imaginary], axis=3)
    if part is not x:
        y = F.concat([y, F.slice(x, [3], [width], [size])], axis=3)
    return F.reshape(y, X.shape) if X.ndim == 3 else y


def tensor_scatter(
    past_cache: Any,
    update: Any,
    write_indices: Any = None,
    *,
    axis: int = -2,
    mode: str = "linear",
) -> Any:
    """A cache with the update written along an axis, from an index of each sample on."""
    if mode not in ("linear", "circular"):
        raise ArgumentError(f"TensorScatter: mode is linear or circular, not {mode!r}")
    axis %= past_cache.ndim
    steps = F.arange(update.shape[axis])
    if write_indices is not None:
        steps = F.unsqueeze(F.cast(write_indices, "int64"), [1]) + steps
    else:
        steps = F.unsqueeze(steps, [0])
    if mode == "circular":
        steps = F.remainder(steps, as_whole(past_cache.shape[axis]))
    shape: list[Any] = [1] * update.ndim
    shape[0], shape[axis] = steps.shape[0], update.shape[axis]
    places = F.broadcast_to(F.reshape(steps, shape), update.shape)
    return F.put_along_axis(past_cache, places, update, axis, broadcast=False)


def causal_conv_with_state(
    input: Any,
    weight: Any,
    bias: Any = None,
    past_state: Any = None,
    *,
    activation: str = "none",
) -> tuple[Any, Any]:
    """Each channel of (batch, channels, length) with its filter; the inputs that the next needs."""
    if activation not in ("none", "silu", "swish"):
        raise ArgumentError(f"the activation is none, silu or swish, not {activation!r}")
    batch, channels, length = input.shape
    reach = weight.shape[2] - 1
    before = F.zeros([batch, channels, reach], input.dtype) if past_state is None else past_state
    wide = F.concat([before, input], axis=2)
    one: dict[str, Any] = {"strides": (1,), "pads": ((0, 0),), "dilations": (1,)}
    y = apply("conv", wide, weight, **one, groups=channels)
    if bias is not None:
        y = y + F.reshape(bias, [1, channels, 1])
    if activation != "none":
        y = F.cast(F.silu(F.cast(y, "float32")), y.dtype) if y.dtype.itemsize == 2 else F.silu(y)
    return y, F.slice(wide, [2], [length], [length + reach])


_GATED = ("gated", "gated_delta")
_DELTA = ("delta", "gated_delta")


def linear_attention(
    query: Any,
    key: Any,
    value: Any,
    past_state: Any = None,
    decay: Any = None,
    beta: Any = None,
    *,
    chunk_size: int = 64,
    kv_num_heads: int = 1,
    q_num_heads: int = 1,
    scale: float = 0.0,
    update_rule: str = "gated_delta",
) -> tuple[Any, Any]:
    """Attention by a state (batch, heads, k size, v size) that each step changes and reads."""
    if update_rule not in ("linear", "delta", *_GATED):
        known = "linear, gated, delta or gated_delta"
        raise ArgumentError(f"LinearAttention: update_rule is {known}, not {update_rule!r}")
    for name, given, rules in (("decay", decay, _GATED), ("beta", beta, _DELTA)):
        if (given is not None) != (update_rule in rules):
            raise ArgumentError(f"LinearAttention: {name} goes with {' and '.join(rules)} alone")
    batch, length, width = query.shape
    size, values = width // q_num_heads, value.shape[2] // kv_num_heads
    groups = q_num_heads // kv_num_heads
    parts = [(query, groups * size), (key, size), (value, values)]
    if decay is not None:
        parts.append((decay, decay.shape[2] // kv_num_heads))
    if beta is not None:
        if equal(beta.shape[2], kv_num_heads) is not True:
            beta = F.expand(beta, [batch, length, kv_num_heads])
        parts.append((beta, 1))
    exact = query.dtype if query.dtype.itemsize > 4 else np.dtype("float32")
    packed = [F.reshape(F.cast(x, exact), [batch, length, kv_num_heads, each]) for x, each in parts]
    steps = F.transpose(F.concat(packed, axis=3), [1, 0, 2, 3])
    sections = [each for _, each in parts]
    factor = scale or 1.0 / math.sqrt(size)

    def step(x: Any, state: Any) -> tuple[Any, Any]:
        q, k, v, *rest = F.split(x, sections, axis=2)
        if update_rule in _GATED:
            state = state * F.exp(F.unsqueeze(rest[0], [3]))
        v = F.unsqueeze(v, [2])
        if update_rule in _DELTA:
            v = F.unsqueeze(rest[-1], [3]) * (v - F.matmul(F.unsqueeze(k, [2]), state))
        state = state + F.unsqueeze(k, [3]) * v
        rows = F.reshape(q, [batch, kv_num_heads, groups, size])
        return F.matmul(rows, state) * factor, state

    if past_state is None:
        first = F.zeros([batch, kv_num_heads, size, values], exact)
    else:
        first = F.cast(past_state, exact)
    y, last = scan(step, steps, first, longest=LONGEST)
    y = F.reshape(F.transpose(y, [1, 0, 2, 3, 4]), [batch, length, q_num_heads * values])
    kept = query.dtype if past_state is None else past_state.dtype
    return F.cast(y, query.dtype), F.cast(last, kept)


__all__ = [
    "attention",
    "causal_conv_with_state",
    "linear_attention",
    "rotary_embedding",
    "tensor_scatter",
]
