"""Attention against NumPy, pair by pair."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
from dy2st.nn.functional import flashmask_attention, sparse_attention
from dy2st.nn.functional.flash_attention import (
    flash_attention,
    flash_attn_qkvpacked,
    flash_attn_unpadded,
    scaled_dot_product_attention,
)
from dy2st.static import InputSpec
from dy2st_runtime.errors import ArgumentError, ShapeError
from tests.runtime.nn.of_paddle.cases import wave

Q, K, V = (wave(2, 5, 4, 3, phase=phase) for phase in (0.0, 1.0, 2.0))
ROW, COLUMN = np.arange(5)[:, None], np.arange(5)


def reference(q, k, v, seen, scale=None):
    """softmax(q k') v of what is seen: (n, l, heads, d), seen (..., l, s)."""
    k, v = (np.repeat(x, q.shape[2] // x.shape[2], axis=2) for x in (k, v))
    scores = np.einsum("nlhd,nshd->nhls", q, k) * (q.shape[3] ** -0.5 if scale is None else scale)
    weights = np.exp(scores) * np.broadcast_to(seen, scores.shape)
    total = weights.sum(-1, keepdims=True)
    weights = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    return np.einsum("nhls,nshd->nlhd", weights, v), weights


def close(given, expected):
    np.testing.assert_allclose(given.numpy(), expected, rtol=2e-5, atol=2e-6)


def tensors(*arrays):
    return [dy2st.to_tensor(array) for array in arrays]


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("heads", [4, 2])
def test_all_pairs_that_are_seen_have_their_share(causal, heads):
    seen = ROW >= COLUMN if causal else np.ones((5, 5), bool)
    k, v = K[:, :, :heads], V[:, :, :heads]
    out, weights = reference(Q, k, v, seen, 0.7)
    given = flash_attention(
        *tensors(Q, k, v), causal=causal, return_softmax=True, softmax_scale=0.7
    )
    close(given[0], out)
    close(given[1], weights)
    assert flash_attention(*tensors(Q, k, v))[1] is None


def test_queries_keys_and_values_may_come_in_one():
    packed = wave(2, 5, 4, 2, 3)
    out, _ = reference(packed[:, :, :2].reshape(2, 5, 4, 3), packed[:, :, 2], packed[:, :, 3], 1)
    close(flash_attn_qkvpacked(*tensors(packed))[0], out)


@pytest.mark.parametrize("causal", [False, True])
def test_sequences_one_behind_the_other_do_not_see_each_other(causal):
    q, k, v = (wave(6, 2, 3, phase=phase) for phase in (0.0, 1.0, 2.0))
    starts = [0, 2, 6]
    out = flash_attn_unpadded(
        *tensors(q, k, v, np.array(starts, "int32"), np.array(starts, "int32")), 4, 4, 0.5,
        causal=causal,
    )[0]  # fmt: skip
    for low, high in zip(starts, starts[1:], strict=False):
        seen = np.tril(np.ones((high - low,) * 2)) if causal else np.ones((high - low,) * 2)
        one = reference(*(x[None, low:high] for x in (q, k, v)), seen, 0.5)[0][0]
        close(out[low:high], one)


def test_keys_hide_from_queries():
    def rows(*columns):
        return np.stack(columns, -1).astype("int32")[None, None].repeat(2, 0)

    start, end = np.array([3, 2, 5, 4, 5]), np.array([4, 5, 5, 5, 5])
    low, high = np.array([0, 0, 1, 2, 0]), np.array([0, 1, 2, 3, 2])
    after, between = ROW >= start, (ROW >= start) & (ROW < end)
    hidden = {
        (True, 1): (rows(start), after | (ROW < COLUMN)),
        (True, 2): (rows(start, end), between | (ROW < COLUMN)),
        (False, 2): (rows(start, high), after | (ROW < high)),
        (False, 4): (rows(start, end, low, high), between | (ROW >= low) & (ROW < high)),
    }
    for (causal, _), (indices, mask) in hidden.items():
        out = flashmask_attention(*tensors(Q, K, V, indices), causal=causal)
        close(out, reference(Q, K, V, ~mask)[0])
    by_head = np.tile(rows(start), (1, 2, 1, 1))
    close(
        flashmask_attention(*tensors(Q, K, V, by_head), causal=True),
        reference(Q, K, V, ~hidden[True, 1][1])[0],
    )


@pytest.mark.parametrize("causal", [False, True])
def test_a_window_hides_what_is_far(causal):
    seen = (COLUMN >= ROW - 1) & (COLUMN <= ROW + (0 if causal else 2))
    out = flashmask_attention(*tensors(Q, K, V), causal=causal, window_size=(1, 2))
    close(out, reference(Q, K, V, seen)[0])


def test_a_query_that_sees_nothing_gives_0_and_has_no_slope():
    q, k, v = tensors(Q, K, V)
    q.stop_gradient = False
    nothing = dy2st.zeros([2, 1, 5, 1], "int32")
    out = flashmask_attention(q, k, v, nothing, causal=True)
    out.sum().backward()
    assert not out.numpy().any() and not q.grad.numpy().any()


def test_one_program_serves_all_lengths():
    spec = InputSpec([None, None, 4, 3], "float32")
    converted = dy2st.to_static(
        lambda q, k, v: flash_attention(q, k, v, causal=True)[0], input_spec=[spec] * 3
    )
    close(converted(*tensors(Q, K, V)), reference(Q, K, V, ROW >= COLUMN)[0])
    close(converted(*tensors(Q[:, :2], K[:, :2], V[:, :2])),
          reference(Q[:, :2], K[:, :2], V[:, :2], (ROW >= COLUMN)[:2, :2])[0])  # fmt: skip


def test_what_is_not_there_is_refused():
    q, k, v = tensors(Q, K, V)
    with pytest.raises(ArgumentError, match="attn_mask"):
        sparse_attention(q, k, v, None, None)
    with pytest.raises(ArgumentError, match="output alone"):
        flashmask_attention(q, k, v, return_softmax_lse=True)
    with pytest.raises(ShapeError, match="k being 2 or 4"):
        flashmask_attention(q, k, v, dy2st.zeros([2, 1, 5, 1], "int32"))
    with pytest.raises(ShapeError, match="heads"):
        flash_attention(q, k[:, :, :3], v[:, :, :3])
    assert scaled_dot_product_attention(q, k, v).shape == [2, 5, 4, 3]
