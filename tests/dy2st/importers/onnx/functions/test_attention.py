"""Attention as the reference has it, for drawn attributes."""

import numpy as np
import pytest

from dy2st.errors import ArgumentError
from dy2st.importers.onnx.functions import attention as a
from dy2st_runtime.tensor import to_tensor
from tests.dy2st.importers.onnx.functions.reference import check
from tests.effort import effort


def drawn(seed):
    """The inputs of an Attention and its attributes."""
    draw = np.random.default_rng(seed)
    heads, groups = (int(n) for n in draw.integers(1, 4, 2))
    batch, queries, keys = draw.integers(1, 5, 3).tolist()
    size, value = 4, int(draw.integers(2, 5))
    how = draw.choice(["none", "past", "nonpad"])

    def numbers(*shape):
        return draw.normal(size=shape).astype("float32")

    q, k = numbers(batch, heads * groups, queries, size), numbers(batch, heads, keys, size)
    v, named, total = numbers(batch, heads, keys, value), {}, keys
    past = [None, None]
    if how == "past":
        past = [numbers(batch, heads, 3, size), numbers(batch, heads, 3, value)]
        total += 3
    lengths = None
    if how == "nonpad":
        lengths = draw.integers(0, keys + 1, batch).astype("int64")
    if draw.integers(2):
        q, k, v = (x.transpose(0, 2, 1, 3).reshape(batch, x.shape[2], -1) for x in (q, k, v))
        named = {"q_num_heads": heads * groups, "kv_num_heads": heads}
    mask = None
    if draw.integers(2):
        shapes = [(queries, total), (batch, 1, queries, total), (1, heads * groups, queries, total)]
        shape = shapes[draw.integers(3)]
        is_bool = draw.integers(2)
        mask = draw.random(shape) < 0.6 if is_bool else draw.normal(size=shape).astype("float32")
        mask = mask[..., : total - int(total > 1 and draw.integers(2))]
    if draw.integers(2):
        named["scale"] = 0.3
    if draw.integers(2):
        named["softcap"] = 2.0
    named["is_causal"] = int(draw.integers(2))
    for side in ("left", "right"):
        if not draw.integers(3):
            named[f"{side}_window_size"] = int(draw.integers(0, 3))
    named["qk_matmul_output_mode"] = int(draw.integers(0 if "softcap" not in named else 1, 4))
    return [q, k, v, mask, *past, lengths], named


@pytest.mark.parametrize("seed", range(effort(30, 1500)))
def test_any_attributes(seed):
    inputs, named = drawn(seed)
    names = [one is not None for one in inputs[3:]]
    unknown = {0: () if any(names) else (0,)}
    check("Attention", a.attention, *inputs, outputs=4, opset=25, unknown=unknown, **named)


def test_unknown_batch_lengths_and_masks():
    draw = np.random.default_rng(0)
    q, k, v = (draw.normal(size=(2, 3, n, 4)).astype("float32") for n in (5, 7, 7))
    mask = draw.random((5, 6)) < 0.8
    lengths = [lambda *x, **n: a.attention(*x, **n)[0]]
    for named in ({}, {"is_causal": 1}):
        unknown = {0: (0, 2), 1: (2,), 2: (2,), 3: (0, 1)}
        check("Attention", lengths[0], q, k, v, mask, unknown=unknown, opset=23, **named)


def test_softmax_in_another_precision():
    draw = np.random.default_rng(0)
    q, k, v = (draw.normal(size=(2, 3, 4, 4)).astype("float16") for _ in range(3))
    named = {"softmax_precision": np.dtype("float32")}
    check("Attention", a.attention, q, k, v, rtol=2e-3, atol=2e-3, opset=23, **named)


def test_a_gradient_of_rows_without_keys_is_finite():
    q, k, v = (to_tensor(np.ones((1, 1, 3, 2), "float32"), stop_gradient=False) for _ in range(3))
    mask = to_tensor(np.array([[True] * 3, [False] * 3, [True] * 3]))
    a.attention(q, k, v, mask)[0].sum().backward()
    for one in (q, k, v):
        assert np.isfinite(np.asarray(one.grad)).all()


@pytest.mark.parametrize("interleaved", [0, 1])
@pytest.mark.parametrize("turned", [0, 4])
@pytest.mark.parametrize("with_ids", [False, True])
@pytest.mark.parametrize("axes", [3, 4])
def test_positions_turn_vectors(axes, with_ids, turned, interleaved):
    draw = np.random.default_rng(2)
    batch, length, heads, size = 2, 3, 2, 6
    shape = (batch, heads, length, size) if axes == 4 else (batch, length, heads * size)
    x = draw.normal(size=shape).astype("float32")
    rows = (50, (turned or size) // 2) if with_ids else (batch, length, (turned or size) // 2)
    caches = [draw.normal(size=rows).astype("float32") for _ in range(2)]
    ids = draw.integers(0, 50, (batch, length)) if with_ids else None
    named = {"interleaved": interleaved, "rotary_embedding_dim": turned}
    if axes == 3:
        named["num_heads"] = heads
    both = {0: (0, 2 if axes == 4 else 1)}
    both.update({3: (0, 1)} if with_ids else {1: (0, 1), 2: (0, 1)})
    check("RotaryEmbedding", a.rotary_embedding, x, *caches, ids, unknown=both, **named)


@pytest.mark.parametrize("mode", ["linear", "circular"])
@pytest.mark.parametrize("axis", [-2, 1, 3])
def test_caches_are_written_from_an_index_on(axis, mode):
    draw = np.random.default_rng(3)
    cache = draw.normal(size=(2, 4, 4, 4)).astype("float32")
    shape = [2, 4, 4, 4]
    shape[axis] = 2
    update = draw.normal(size=shape).astype("float32")
    named = {"axis": axis, "mode": mode}
    check("TensorScatter", a.tensor_scatter, cache, update, opset=24, **named)
    start = np.array([1, 2 if mode == "linear" else 3])
    unknown = {0: (0,), 1: (0, axis), 2: (0,)}
    check(
        "TensorScatter", a.tensor_scatter, cache, update, start, opset=24, unknown=unknown, **named
    )


@pytest.mark.parametrize("activation", ["none", "silu", "swish"])
@pytest.mark.parametrize("length", [1, 5])
@pytest.mark.parametrize("given", [False, True])
def test_causal_convolutions_go_on(given, length, activation):
    draw = np.random.default_rng(4)
    x, w = draw.normal(size=(2, 3, length)), draw.normal(size=(3, 1, 4))
    rest = [draw.normal(size=3), draw.normal(size=(2, 3, 3))] if given else [None, None]
    inputs = [None if one is None else one.astype("float32") for one in (x, w, *rest)]
    named = {"outputs": 2, "opset": 27, "unknown": {0: (0, 2), 3: (0,)}, "activation": activation}
    check("CausalConvWithState", a.causal_conv_with_state, *inputs, **named)


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("rule", ["linear", "gated", "delta", "gated_delta"])
def test_a_running_state_is_read_and_written(rule, wide, groups):
    draw = np.random.default_rng(5)
    batch, length, heads, size, value = 2, 3, 2, 3, 4
    shapes = [heads * groups * size, heads * size, heads * value]
    inputs = [draw.normal(size=(batch, length, n)) for n in shapes]
    inputs.append(draw.normal(size=(batch, heads, size, value)) if wide else None)
    decay = -draw.random((batch, length, heads * (size if wide else 1)))
    beta = draw.random((batch, length, heads if wide else 1))
    inputs += [decay if "gated" in rule else None, beta if "delta" in rule else None]
    inputs = [None if one is None else one.astype("float32") for one in inputs]
    named = {"update_rule": rule, "q_num_heads": heads * groups, "kv_num_heads": heads}
    unknown = {n: (0, 1) for n in (0, 1, 2, 4, 5) if not wide}
    check("LinearAttention", a.linear_attention, *inputs, outputs=2, opset=27, unknown=unknown,
          **named)  # fmt: skip


def test_what_does_not_fit_is_refused():
    x = to_tensor(np.ones((1, 2, 4), "float32"))
    with pytest.raises(ArgumentError, match="q_num_heads"):
        a.attention(x, x, x)
    with pytest.raises(ArgumentError, match="decay"):
        a.linear_attention(x, x, x, update_rule="gated")
