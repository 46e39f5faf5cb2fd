"""Parts of transformers as one function each: against NumPy, converted with unknown sizes."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
from dy2st import incubate
from dy2st.paddle.incubate import nn
from dy2st.paddle.incubate.nn import functional as fused
from dy2st.static import InputSpec

RANDOM = np.random.default_rng(0)


def array(*shape):
    return RANDOM.standard_normal(shape).astype("float32")


def tensors(*arrays):
    return [None if value is None else dy2st.to_tensor(value) for value in arrays]


def layer_norm(x, scale=1.0, bias=0.0, epsilon=1e-5):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + epsilon) * scale + bias


def softmax(x):
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


X, RESIDUAL = array(2, 3, 8), array(2, 3, 8)
SCALE, SHIFT, BIAS = array(8), array(8), array(8)


def test_products_have_a_bias_and_an_activation():
    weight, bias = array(8, 4), array(4)
    expected = X @ weight + bias
    found = fused.fused_linear(*tensors(X, weight, bias))
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-4, atol=1e-5)
    found = fused.fused_linear(*tensors(X, weight.T.copy(), bias), transpose_weight=True)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-4, atol=1e-5)
    found = fused.fused_matmul_bias(*tensors(X.swapaxes(1, 2).copy(), weight), transpose_x=True)
    np.testing.assert_allclose(found.numpy(), X @ weight, rtol=1e-4, atol=1e-5)
    given = tensors(X, weight, bias)
    found = fused.fused_linear_activation(*given, activation="relu")
    np.testing.assert_allclose(found.numpy(), np.maximum(expected, 0), rtol=1e-4, atol=1e-5)
    assert fused.fused_linear_activation(*given, activation="gelu").shape == [2, 3, 4]
    with pytest.raises(dy2st.errors.ArgumentError, match="gelu, relu or none"):
        fused.fused_linear_activation(*given, activation="tanh")


def test_layer_norms_are_of_a_sum():
    x, scale, shift, bias, residual = tensors(X, SCALE, SHIFT, BIAS, RESIDUAL)
    found, rest, mean, deviation = fused.fused_layer_norm(
        x, scale, shift, 1e-5, 0.5, 2, bias, residual
    )
    total = X + BIAS + 0.5 * RESIDUAL
    np.testing.assert_allclose(found.numpy(), layer_norm(total, SCALE, SHIFT), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(rest.numpy(), total, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(mean.numpy(), total.mean(-1).ravel(), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(deviation.numpy(), 1 / total.std(-1).ravel(), rtol=1e-4)
    only = fused.fused_layer_norm(x, None, None, 1e-5, 0.5, 2, bias, residual)[0]
    np.testing.assert_allclose(only.numpy(), total, rtol=1e-5, atol=1e-6)
    flat = array(24)
    found = fused.fused_layer_norm(x, dy2st.to_tensor(flat), None, 1e-5)[0].numpy()
    np.testing.assert_allclose(
        found.reshape(2, 24), layer_norm(X.reshape(2, 24), flat), rtol=1e-4, atol=1e-5
    )
    with pytest.raises(dy2st.errors.ArgumentError, match="leaves the bias out"):
        fused.fused_layer_norm(x, scale, shift, 1e-5, bias=bias)


def test_root_mean_square_norms_are_of_a_sum():
    x, scale, shift, bias, residual = tensors(X, SCALE, SHIFT, BIAS, RESIDUAL)
    for axis in (2, -1):
        found, rest = fused.fused_rms_norm(x, scale, shift, 1e-6, axis, bias, residual)
        total = X + BIAS + RESIDUAL
        expected = total / np.sqrt((total**2).mean(-1, keepdims=True) + 1e-6) * SCALE + SHIFT
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(rest.numpy(), total, rtol=1e-5, atol=1e-6)


def test_dropout_is_before_a_sum():
    x, y = tensors(X, RESIDUAL)
    found = fused.fused_dropout_add(x, y, 0.3, training=False)
    np.testing.assert_allclose(found.numpy(), X + RESIDUAL, rtol=1e-6)
    dropped = (fused.fused_dropout_add(x, y, 0.5) - y).numpy()
    is_kept = np.abs(dropped) > 1e-6
    np.testing.assert_allclose(dropped[is_kept], 2 * X[is_kept], rtol=1e-4, atol=1e-5)
    layer = nn.FusedBiasDropoutResidualLayerNorm(8)
    layer.eval()
    np.testing.assert_allclose(layer(x, y).numpy(), layer_norm(X + RESIDUAL), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("are_neighbours", [True, False])
@pytest.mark.parametrize("time_major", [False, True])
@pytest.mark.parametrize("given", ["nothing", "waves", "positions"])
def test_pairs_are_turned_by_their_position(are_neighbours, time_major, given):
    q, k = array(2, 5, 3, 8), array(2, 5, 3, 8)
    positions = np.array([[4, 2, 0, 1, 3], [0, 1, 2, 3, 4]])
    if given != "positions":
        positions = np.tile(np.arange(5), (2, 1))
    angles = np.arange(7)[:, None] * 10000.0 ** (-np.arange(0, 8, 2) / 8)
    wide = np.repeat(angles, 2, -1) if are_neighbours else np.concatenate([angles, angles], -1)
    waves = {}
    if given != "nothing":
        waves = {"sin": np.sin(wide)[None, :, None], "cos": np.cos(wide)[None, :, None]}
        waves = {name: dy2st.to_tensor(wave.astype("float32")) for name, wave in waves.items()}
    if given == "positions":
        waves["position_ids"] = dy2st.to_tensor(positions)

    def turned(x):
        first, second = (x[..., ::2], x[..., 1::2]) if are_neighbours else np.split(x, 2, -1)
        z = (first + 1j * second) * np.exp(1j * angles[positions])[:, :, None]
        if are_neighbours:
            return np.stack([z.real, z.imag], -1).reshape(x.shape)
        return np.concatenate([z.real, z.imag], -1)

    order = (1, 0, 2, 3) if time_major else (0, 1, 2, 3)
    given_q, given_k = (dy2st.to_tensor(x.transpose(order).copy()) for x in (q, k))
    found = fused.fused_rotary_position_embedding(
        given_q,
        given_k,
        use_neox_rotary_style=are_neighbours,
        time_major=time_major,
        **waves,
    )
    assert found[2] is None
    for one, x in zip(found, (q, k), strict=False):
        np.testing.assert_allclose(one.numpy().transpose(order), turned(x), rtol=1e-4, atol=1e-5)


def attention(x, weight, bias, mask=None, heads=2):
    size = x.shape[-1] // heads
    parts = np.einsum("bsn,thdn->tbhsd", x, weight) + bias[:, None, :, None]
    query, key, value = parts
    scores = query @ key.swapaxes(-1, -2) / np.sqrt(size)
    weights = softmax(scores if mask is None else scores + mask)
    return (weights @ value).transpose(0, 2, 1, 3).reshape(x.shape)


@pytest.mark.parametrize("is_before", [True, False])
def test_attention_stands_between_norm_and_residual(is_before):
    weight, bias, linear, linear_bias = array(3, 2, 4, 8), array(3, 2, 4), array(8, 8), array(8)
    mask = np.where(np.tri(3, dtype=bool), 0, -1e9).astype("float32")
    norm = {"ln_scale": SCALE, "ln_bias": SHIFT}
    names = {f"pre_{name}" if is_before else name: value for name, value in norm.items()}
    found = fused.fused_multi_head_attention(
        *tensors(X, weight, linear),
        is_before,
        **{name: dy2st.to_tensor(value) for name, value in names.items()},
        qkv_bias=dy2st.to_tensor(bias),
        linear_bias=dy2st.to_tensor(linear_bias),
        attn_mask=dy2st.to_tensor(mask),
        training=False,
    )
    start = layer_norm(X, SCALE, SHIFT) if is_before else X
    expected = X + attention(start, weight, bias, mask) @ linear + linear_bias
    expected = expected if is_before else layer_norm(expected, SCALE, SHIFT)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-3, atol=1e-4)


def test_a_cache_goes_before_and_is_given_back():
    weight, linear = tensors(array(3, 2, 4, 8), array(8, 8))
    x = dy2st.to_tensor(array(2, 5, 8))
    causal = np.where(np.tri(5, dtype=bool), 0, -1e9).astype("float32")
    options = {"training": False, "pre_layer_norm": True}
    whole = fused.fused_multi_head_attention(
        x, weight, linear, attn_mask=dy2st.to_tensor(causal), **options
    )
    cache = dy2st.zeros([2, 2, 2, 0, 4])
    for step in range(5):
        found, cache = fused.fused_multi_head_attention(
            x[:, step : step + 1], weight, linear, cache_kv=cache, **options
        )
        expected = whole[:, step : step + 1].numpy()
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-3, atol=1e-4)
    assert cache.shape == [2, 2, 2, 5, 4]


def test_one_matrix_is_another_form_of_the_weights():
    weight, bias, linear = array(3, 2, 4, 8), array(3, 2, 4), array(8, 8)
    whole = fused.fused_multi_head_attention(
        *tensors(X, weight, linear), qkv_bias=dy2st.to_tensor(bias), training=False
    )
    flat = weight.reshape(24, 8).T.copy()
    found = fused.fused_multi_head_attention(
        *tensors(X, flat, linear),
        qkv_bias=dy2st.to_tensor(bias.reshape(24)),
        training=False,
        num_heads=2,
        transpose_qkv_wb=True,
    )
    np.testing.assert_allclose(found.numpy(), whole.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("is_before", [True, False])
def test_layers_are_converted_with_unknown_sizes(is_before):
    layer = nn.FusedTransformerEncoderLayer(8, 2, 16, normalize_before=is_before)
    layer.eval()
    values = {name: value.numpy() for name, value in layer.state_dict().items()}
    call = dy2st.jit.to_static(
        layer.forward, input_spec=[InputSpec([None, None, 8], "float32", "x")]
    )
    for shape in ((2, 3, 8), (1, 5, 8)):
        x = array(*shape)
        found = call(dy2st.to_tensor(x)).numpy()
        start = layer_norm(x) if is_before else x
        middle = attention(start, values["fused_attn.qkv_weight"], np.zeros((3, 2, 4)))
        middle = x + middle @ values["fused_attn.linear_weight"]
        middle = middle if is_before else layer_norm(middle)
        start = layer_norm(middle) if is_before else middle
        hidden = np.maximum(start @ values["ffn._linear1_weight"], 0)
        expected = middle + hidden @ values["ffn._linear2_weight"]
        expected = expected if is_before else layer_norm(expected)
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)


def test_what_has_no_composite_is_refused():
    with pytest.raises(dy2st.errors.ArgumentError, match="nranks"):
        nn.FusedMultiHeadAttention(8, 2, nranks=2)
    layer = nn.FusedMultiHeadAttention(8, 2)
    with pytest.raises(dy2st.errors.ArgumentError, match="query alone"):
        layer(*tensors(X, RESIDUAL, RESIDUAL))


# -- single functions ------------------------------------------------------------------------------


SCORES = np.random.default_rng(0).standard_normal((2, 3, 4, 4)).astype("float32")


def test_a_mask_is_added_before_softmax():
    mask = np.where(np.random.default_rng(1).random((2, 1, 4, 4)) > 0.5, 0, -1e4).astype("float32")
    found = incubate.softmax_mask_fuse(dy2st.to_tensor(SCORES), dy2st.to_tensor(mask))
    np.testing.assert_allclose(found.numpy(), softmax(SCORES + mask), rtol=1e-5)


def test_what_is_above_the_diagonal_is_not_seen():
    call = dy2st.jit.to_static(
        incubate.softmax_mask_fuse_upper_triangle,
        input_spec=[dy2st.static.InputSpec([None, 3, None, None], "float32", "x")],
    )
    seen = np.where(np.tri(4, dtype=bool), SCORES, -np.inf)
    np.testing.assert_allclose(call(dy2st.to_tensor(SCORES)).numpy(), softmax(seen), rtol=1e-5)


def test_messages_have_an_older_name():
    index = dy2st.to_tensor([0, 1])
    found = incubate.graph_send_recv(dy2st.to_tensor([1.0, 2.0]), index, index[[1, 0]], "max")
    assert found.tolist() == [2, 1]


@pytest.mark.parametrize("ways, expected", [((2, "none"), SCORES), ((0, "sum"), SCORES.sum())])
def test_a_loss_is_taken_as_it_is(ways, expected):
    for way in ways:
        found = incubate.identity_loss(dy2st.to_tensor(SCORES), way).numpy()
        np.testing.assert_allclose(found, expected, rtol=1e-4)
    with pytest.raises(dy2st.errors.ArgumentError, match="none, sum or mean"):
        incubate.identity_loss(dy2st.to_tensor(SCORES), 3)
