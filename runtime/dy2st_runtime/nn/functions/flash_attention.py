"""The functions of `nn.functional.flash_attention`: exact attention, whatever computes it.

All take (n, l, heads, d), or all sequences one behind the other: (total, heads, d).
"""

from __future__ import annotations

from typing import Any

from dy2st_runtime.dims import equal, require
from dy2st_runtime.errors import ArgumentError, ShapeError
from dy2st_runtime.ir import F
from dy2st_runtime.ops.embedding import scaled_dot_product_attention

__all__ = [
    "flash_attention",
    "flash_attn_qkvpacked",
    "flash_attn_unpadded",
    "flashmask_attention",
    "scaled_dot_product_attention",
    "sparse_attention",
]


def flash_attention(
    query: Any,
    key: Any,
    value: Any,
    dropout: float = 0.0,
    causal: bool = False,
    return_softmax: bool = False,
    *,
    fixed_seed_offset: Any = None,
    rng_name: str = "",
    training: bool = True,
    name: str | None = None,
    softmax_scale: float | None = None,
) -> tuple[Any, Any]:
    """softmax(scale * q k') v, and the softmax, (n, heads, l, s), or None (Dao 2022).

    With `causal` a place sees those up to its own. What is random comes from the one generator:
    the arguments about seeds say nothing.

    >>> out, weights = flash_attention(*[F.ones([1, 3, 2, 4])] * 3, causal=True)
    >>> out.shape, weights
    ([1, 3, 2, 4], None)
    """
    mask = _up_to_own(query.shape[1], key.shape[1]) if causal else None
    out, weights = _attention(query, key, value, mask, softmax_scale, dropout, training)
    return out, weights if return_softmax else None


def flash_attn_qkvpacked(
    qkv: Any,
    dropout: float = 0.0,
    causal: bool = False,
    return_softmax: bool = False,
    *,
    fixed_seed_offset: Any = None,
    rng_name: str = "",
    training: bool = True,
    name: str | None = None,
) -> tuple[Any, Any]:
    """`flash_attention` of queries, keys and values in one: (n, l, groups + 2, heads, d).

    The last two are key and value; every group has a query for each of their heads.

    >>> out, _ = dy2st.nn.functional.flash_attn_qkvpacked(dy2st.ones([1, 3, 3, 2, 4]))
    >>> out.shape
    [1, 3, 2, 4]
    """
    if qkv.ndim != 5:
        raise ShapeError(f"flash_attn_qkvpacked takes (n, l, groups + 2, heads, d): {qkv.shape}")
    n, length, parts, heads, width = qkv.shape
    query = F.reshape(qkv[:, :, : parts - 2], [n, length, (parts - 2) * heads, width])
    key, value = qkv[:, :, parts - 2], qkv[:, :, parts - 1]
    return flash_attention(query, key, value, dropout, causal, return_softmax, training=training)


def flash_attn_unpadded(
    query: Any,
    key: Any,
    value: Any,
    cu_seqlens_q: Any,
    cu_seqlens_k: Any,
    max_seqlen_q: Any,
    max_seqlen_k: Any,
    scale: float,
    dropout: float = 0.0,
    causal: bool = False,
    return_softmax: bool = False,
    fixed_seed_offset: Any = None,
    rng_name: str = "",
    training: bool = True,
    name: str | None = None,
) -> tuple[Any, Any]:
    """`flash_attention` of sequences of several lengths, one behind the other: (total, heads, d).

    `cu_seqlens` say where each begins, and at last where all end: [0, 3, 7]. With `causal` the last
    places of queries and keys see each other. All pairs of places are scored.
    """
    own, other = _places(query, cu_seqlens_q), _places(key, cu_seqlens_k)
    mask = F.equal(F.unsqueeze(own[0], [1]), other[0])
    if causal:
        mask = F.logical_and(mask, F.less_equal(F.unsqueeze(own[1], [1]), other[1]))
    q, k, v = (F.unsqueeze(part, [0]) for part in (query, key, value))
    out, weights = _attention(q, k, v, mask, scale, dropout, training)
    return F.squeeze(out, 0), F.squeeze(weights, 0) if return_softmax else None


def _places(x: Any, starts: Any) -> tuple[Any, Any]:
    """The sequence of every place, and how far the place is from its end: both (total,)."""
    places, ends = F.arange(x.shape[0]), F.cast(starts[1:], "int64")
    sequence = F.searchsorted(ends, places, right=True)
    return sequence, F.gather(ends, sequence) - places


def flashmask_attention(
    query: Any,
    key: Any,
    value: Any,
    startend_row_indices: Any = None,
    *,
    dropout: float = 0.0,
    causal: bool = False,
    window_size: Any = None,
    return_softmax_lse: bool = False,
    return_seed_offset: bool = False,
    fixed_seed_offset: Any = None,
    rng_name: str = "",
    training: bool = True,
    name: str | None = None,
    softmax_scale: float | None = None,
    block_mask: Any = None,
) -> Any:
    """Attention where each key says which queries do not see it: (n, l, heads, d) -> the same.

    `startend_row_indices` is (n, 1 or heads, s, k). Causal: k = 1 hides the key from the query
    `start` on, k = 2 from `start` to `end`. Else: k = 2 hides it from `start` on and before `end`,
    k = 4 from `start` to `end` twice. `window_size` lets a query see so many keys before and after
    its own. A query that sees nothing gives 0 (Wang 2024).

    >>> x, starts = dy2st.ones([1, 3, 2, 4]), dy2st.full([1, 1, 3, 1], 3, "int32")
    >>> dy2st.nn.functional.flashmask_attention(x, x, x, starts, causal=True).shape
    [1, 3, 2, 4]
    """
    if return_softmax_lse or return_seed_offset or block_mask is not None:
        raise ArgumentError("flashmask_attention gives the output alone, and has no block_mask")
    if window_size is not None and startend_row_indices is not None:
        raise ArgumentError("flashmask_attention: window_size or startend_row_indices, not both")
    length, other = query.shape[1], key.shape[1]
    mask = _up_to_own(length, other) if causal else None
    if window_size is not None:
        # (l, s): which keys are not too far before, nor, unless it is causal, behind.
        before, after = [window_size] * 2 if isinstance(window_size, int) else window_size
        ahead = F.arange(other) - F.unsqueeze(F.arange(length), [1])
        near = F.greater_equal(ahead, -before)
        window = near if causal else F.logical_and(near, F.less_equal(ahead, after))
        mask = _both(mask, window)
    if startend_row_indices is not None:
        mask = _both(mask, _shown(startend_row_indices, length, query.shape[2], causal))
    return _attention(query, key, value, mask, softmax_scale, dropout, training)[0]


def _shown(rows: Any, length: Any, heads: Any, causal: bool) -> Any:
    """(n, heads, l, s): which keys each query sees."""
    if rows.ndim != 4 or rows.shape[3] not in ((1, 2) if causal else (2, 4)):
        raise ShapeError(
            f"flashmask_attention: startend_row_indices is (n, heads, s, k), k being "
            f"{'1 or 2' if causal else '2 or 4'}, not {rows.shape}"
        )
    if equal(rows.shape[1], 1) is not True:
        rows = _for_heads(rows, heads, 1)
    bounds = [F.unsqueeze(F.cast(rows[..., i], "int64"), [2]) for i in range(rows.shape[3])]
    query = F.unsqueeze(F.arange(length), [1])
    hidden = F.greater_equal(query, bounds[0])
    if len(bounds) == 4 or (causal and len(bounds) == 2):
        hidden = F.logical_and(hidden, F.less_than(query, bounds[1]))
    if len(bounds) == 4:
        above = F.greater_equal(query, bounds[2])
        hidden = F.logical_or(hidden, F.logical_and(above, F.less_than(query, bounds[3])))
    elif not causal:
        hidden = F.logical_or(hidden, F.less_than(query, bounds[1]))
    return F.logical_not(hidden)


def sparse_attention(
    query: Any,
    key: Any,
    value: Any,
    sparse_csr_offset: Any,
    sparse_csr_columns: Any,
    key_padding_mask: Any = None,
    attn_mask: Any = None,
    name: str | None = None,
) -> Any:
    """Refused: there are no kernels that skip what a mask hides.

    >>> dy2st.nn.functional.sparse_attention(*[None] * 5)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    dy2st_runtime.errors.ArgumentError: sparse_attention is not there: call scaled...
    """
    raise ArgumentError(
        "sparse_attention is not there: call scaled_dot_product_attention with a bool attn_mask, "
        "True where the offsets and columns name a pair"
    )


def _attention(
    query: Any,
    key: Any,
    value: Any,
    mask: Any,
    scale: float | None,
    dropout: float,
    training: bool,
) -> tuple[Any, Any]:
    """The output, and the weights (n, heads, l, s); what is masked everywhere gives 0."""
    for part in (query, key, value):
        if part.ndim != 4:
            raise ShapeError(f"attention takes (n, l, heads, d), not the shape {part.shape}")
    q, k, v = (F.transpose(part, [0, 2, 1, 3]) for part in (query, key, value))
    k, v = (_for_heads(part, q.shape[1], 1) for part in (k, v))
    factor = query.shape[3] ** -0.5 if scale is None else scale
    scores = F.matmul(q * factor, k, transpose_y=True)
    if mask is not None:
        scores = F.where(mask, scores, float("-inf"))
        seen = F.any(mask, axis=-1, keepdim=True)
        # A row of -inf alone has no softmax, and no slope.
        weights = F.softmax(F.where(seen, scores, F.zeros_like(scores)), -1)
        weights = F.where(seen, weights, F.zeros_like(weights))
    else:
        weights = F.softmax(scores, -1)
    weights = F.dropout(weights, dropout, training=training)
    return F.transpose(F.matmul(weights, v), [0, 2, 1, 3]), weights


def _for_heads(x: Any, heads: Any, axis: int) -> Any:
    """Every head so often that there are as many as the queries have."""
    own = x.shape[axis]
    if equal(own, heads) is True:
        return x
    require(heads % own == 0, f"attention: {heads} heads of queries and {own} of keys")
    return F.repeat_interleave(x, heads // own, axis)


def _up_to_own(length: Any, other: Any) -> Any:
    """(l, s): whether a key is not behind the query."""
    return F.less_equal(F.arange(other), F.unsqueeze(F.arange(length), [1]))


def _both(one: Any, two: Any) -> Any:
    return two if one is None else F.logical_and(one, two)
