"""Look-up tables, dropout and attention: functions of `nn.functional`."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.dims import equal, require
from dy2st_runtime.errors import ArgumentError, DTypeError
from dy2st_runtime.ir import F, public
from dy2st_runtime.ir.arguments import normalize_axes, pair
from dy2st_runtime.ir.dispatch import as_copy
from dy2st_runtime.ir.tracing.python_numbers import check
from dy2st_runtime.ops.control_flow import cond
from dy2st_runtime.ops.convolve import channels_back, channels_first
from dy2st_runtime.ops.rules import require_places


@public
def embedding(
    x: Any,
    weight: Any,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    sparse: bool = False,
    scale_grad_by_freq: bool = False,
    name: str | None = None,
) -> Any:
    """weight[x]: integers (...), (rows, width) -> (..., width).

    The row `padding_idx` gives zeros and gets no gradient. Rows whose norm is above `max_norm` are
    scaled down to it. Gradients are never `sparse`.

    Raises IndexError for a row that the weight does not have.

    >>> weight = dy2st.to_tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> dy2st.nn.functional.embedding(dy2st.to_tensor([2, 0]), weight).tolist()
    [[5.0, 6.0], [1.0, 2.0]]
    """
    if scale_grad_by_freq:
        raise ArgumentError(
            "embedding has no scale_grad_by_freq: divide by how often each index occurs in a hook"
        )
    if x.dtype.kind not in "iu":
        raise DTypeError(f"embedding takes integers, not {x.dtype}")
    rows = F.gather(weight, require_places("embedding: the row", x, weight.shape[0]), 0)
    if max_norm is not None:
        size = F.detach(F.norm(rows, norm_type, axis=-1, keepdim=True))
        rows = rows * F.minimum(max_norm / F.maximum(size, 1e-7), 1.0)
    if padding_idx is None:
        return rows
    pad = padding_idx + weight.shape[0] if padding_idx < 0 else padding_idx
    hit = F.unsqueeze(F.equal(x, pad), [x.ndim])
    return F.where(hit, F.zeros_like(rows), rows)


@public
def dropout(
    x: Any,
    p: float = 0.5,
    axis: Any = None,
    training: bool = True,
    inplace: bool = False,
    mode: str = "upscale_in_train",
    name: str | None = None,
) -> Any:
    """While training, zero with probability p: (...,) -> (...,).

    'upscale_in_train' divides what is left by 1 - p; 'downscale_in_infer' multiplies by 1 - p
    when not training. With `axis` whole slices are zeroed: the mask varies along these axes only.

    >>> x = dy2st.nn.functional.dropout(dy2st.ones([100]), p=0.5)
    >>> bool(((x == 0) | (x == 2)).all())
    True
    >>> dy2st.nn.functional.dropout(dy2st.ones([2]), training=False).tolist()
    [1.0, 1.0]
    """
    is_decided = getattr(p, "number", None) is not None  # by the run
    if not is_decided and not 0 <= p <= 1:
        raise ArgumentError(f"dropout: p is a probability, not {p}")
    if mode not in ("upscale_in_train", "downscale_in_infer"):
        raise ArgumentError(f"dropout: mode {mode!r} is not known")
    upscale = mode == "upscale_in_train"
    if is_decided:
        is_one = F.logical_and(F.greater_equal(p, 0), F.less_equal(p, 1))
        check(is_one, ArgumentError("dropout: p is a probability, from 0 to 1"))
    if not training:
        return x if upscale else x * (1.0 - p)
    if not is_decided and p == 0:
        return x
    shape = list(x.shape)
    if axis is not None:
        kept = normalize_axes(axis, x.ndim)
        shape = [size if a in kept else 1 for a, size in enumerate(shape)]

    def masked() -> Any:
        mask = F.bernoulli(F.full(shape, 1.0 - p, x.dtype))
        if not upscale or (not is_decided and p == 1):
            return x * mask
        # The mask of p = 1 is zeros, which stay zeros.
        return x * (mask / (1.0 - p + F.equal(p, 1) * 1.0 if is_decided else 1.0 - p))

    # Where p is 0 nothing is drawn.
    return cond(F.equal(p, 0), lambda: [x], lambda: [masked()])[0] if is_decided else masked()


@public
def dropout2d(
    x: Any,
    p: float = 0.5,
    training: bool = True,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """While training, zero whole channels with probability p: (...,) -> (...,).

    >>> x = dy2st.nn.functional.dropout2d(dy2st.ones([1, 50, 2, 2]), p=0.5)
    >>> bool((x.max([2, 3]) == x.min([2, 3])).all())
    True
    """
    return dropout(x, p, [0, 1] if data_format == "NCHW" else [0, 3], training)


@public
def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    training: bool = True,
    backend: str | None = None,
    scale: float | None = None,
    enable_gqa: bool = True,
    name: str | None = None,
) -> Any:
    """softmax(scale * q k' + mask) v: (n, l, heads, d) three times -> (n, l, heads, d).

    The scale is 1 / sqrt(d) by default. Keys and values may have fewer heads, each of them for
    several heads of the query. `backend` says nothing: there is one.

    `attn_mask` is added to the scores, or says as bools what counts; it broadcasts to (n, heads,
    l, l). With `is_causal` each place sees those up to itself alone.

    >>> q, v = dy2st.zeros([1, 2, 1, 4]), dy2st.to_tensor([1.0, 3.0]).reshape([1, 2, 1, 1])
    >>> attention = dy2st.nn.functional.scaled_dot_product_attention
    >>> attention(q, q, v).flatten().tolist(), attention(q, q, v, is_causal=True).flatten().tolist()
    ([2.0, 2.0], [1.0, 2.0])
    """
    q, k, v = (F.transpose(part, [0, 2, 1, 3]) for part in (query, key, value))
    if enable_gqa and equal(k.shape[1], q.shape[1]) is False:
        k, v = (F.repeat_interleave(part, q.shape[1] // part.shape[1], 1) for part in (k, v))
    scores = F.matmul(
        q * (query.shape[-1] ** -0.5 if scale is None else scale), k, transpose_y=True
    )
    if is_causal:
        rows = F.unsqueeze(F.arange(q.shape[2]), [1])
        scores = F.where(F.less_equal(F.arange(k.shape[2]), rows), scores, float("-inf"))
    if attn_mask is not None:
        is_bool = attn_mask.dtype.kind == "b"
        scores = F.where(attn_mask, scores, float("-inf")) if is_bool else scores + attn_mask
    weights = dropout(F.softmax(scores, -1), dropout_p, training=training)
    return F.transpose(F.matmul(weights, v), [0, 2, 1, 3])


@public
def pixel_shuffle(
    x: Any, upscale_factor: int, data_format: str = "NCHW", name: str | None = None
) -> Any:
    """(n, c*r*r, h, w) -> (n, c, h*r, w*r); with "NHWC" the channels come last.

    >>> x = dy2st.to_tensor([1.0, 2.0, 3.0, 4.0]).reshape([1, 4, 1, 1])
    >>> dy2st.nn.functional.pixel_shuffle(x, 2).tolist()
    [[[[1.0, 2.0], [3.0, 4.0]]]]
    """
    x, is_last = channels_first(x, data_format, 2)
    (r,), (n, c, h, w) = pair(upscale_factor, 1, "upscale_factor"), x.shape
    require(c % (r * r) == 0, f"pixel_shuffle: {c} channels are no multiple of {r * r}")
    x = F.reshape(x, [n, c // (r * r), r, r, h, w])
    y = F.reshape(F.transpose(x, [0, 1, 4, 2, 5, 3]), [n, c // (r * r), h * r, w * r])
    return as_copy(channels_back(y, is_last))
