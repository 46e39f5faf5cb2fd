"""What a user trains on: gradients of Programs are those of eager calls, and of differences."""

import numpy as np
import pytest

from dy2st.importers.onnx.functions import attention as a
from dy2st.importers.onnx.functions import fourier, grids, pooling, quantisation, regions
from dy2st.importers.onnx.functions import recurrent as r
from dy2st.importers.onnx.functions.resize import resize
from dy2st.importers.recording import layer_of, record
from dy2st_runtime.dims import symbol
from dy2st_runtime.ir import F
from dy2st_runtime.ir.types import TensorType
from dy2st_runtime.tensor import to_tensor

RANDOM = np.random.default_rng(7)


def numbers(*shape):
    return (RANDOM.normal(size=shape) * 0.4).astype("float32")


ROIS = to_tensor(np.array([[0.4, 0.6, 3.2, 4.1], [1.0, 0.3, 3.9, 2.2]], "float32"))
IMAGES = to_tensor(np.array([0, 1]))
CASES = {
    "lstm of few steps": (lambda x, w, u: r.lstm(x, w, u)[0], (3, 2, 4), (1, 20, 4), (1, 20, 5)),
    "lstm of many steps": (
        lambda x, w, u: r.lstm(x, w, u, direction="bidirectional")[0],
        *((20, 2, 4), (2, 20, 4), (2, 20, 5)),
    ),
    "gru": (lambda x, w, u: r.gru(x, w, u)[0], (3, 2, 4), (1, 15, 4), (1, 15, 5)),
    "attention": (
        lambda q, k, v: a.attention(q, k, v, is_causal=1, softcap=2.0)[0],
        *((2, 4, 3, 4), (2, 2, 3, 4), (2, 2, 3, 5)),
    ),
    "linear attention": (
        lambda q, k, v: a.linear_attention(
            q, k, v, update_rule="linear", q_num_heads=2, kv_num_heads=1
        )[0],
        *((2, 3, 8), (2, 3, 4), (2, 3, 5)),
    ),
    "resize": (lambda x: resize(x, None, [1.0, 1.0, 1.7, 0.6], mode="cubic"), (2, 1, 4, 5)),
    "antialias": (
        lambda x: resize(x, None, [1.0, 1.0, 0.5, 0.6], mode="linear", antialias=1),
        (2, 1, 4, 5),
    ),
    "grid": (lambda x, g: grids.grid_sample(x, g, mode="cubic"), (2, 2, 4, 5), (2, 3, 2, 2)),
    "means": (
        lambda x: pooling.average_pool(x, kernel_shape=[2, 2], dilations=[2, 1], ceil_mode=1),
        (2, 2, 5, 4),
    ),
    "norms": (lambda x: pooling.lp_pool(x, kernel_shape=[2, 2], p=3), (2, 2, 5, 4)),
    "boxes": (
        lambda x: regions.roi_align(x, ROIS, IMAGES, output_height=2, output_width=2),
        (2, 2, 5, 6),
    ),
    "offsets": (regions.deform_conv, (2, 2, 4, 4), (3, 2, 2, 2), (2, 8, 3, 3)),
    "windows": (lambda x: regions.col2im(x, [4, 5], [2, 2]), (2, 8, 12)),
    "channels": (lambda x: regions.lrn(x, size=3, alpha=0.5), (2, 5, 3)),
    "frequencies": (lambda x: fourier.dft(x, 7, onesided=1), (2, 5, 1)),
    "scales": (lambda x, s: quantisation.dequantize_linear(x, s), (3, 4), (4,)),
}


@pytest.mark.parametrize("name", CASES)
def test_gradients_of_programs_are_those_of_differences(name):
    function, *shapes = CASES[name]
    arrays = [numbers(*shape) for shape in shapes]
    state = {f"w{n}": array for n, array in enumerate(arrays)}
    shape = function(*map(to_tensor, arrays)).shape
    weight = to_tensor(RANDOM.normal(size=shape).astype("float32"))

    def loss(factor, *tensors):
        return F.sum(function(*tensors) * weight) * factor

    one = {"factor": TensorType("float32", (symbol("n", minimum=0),))}
    program = record("one", one, state, set(state), lambda x, s: [F.sum(loss(x[0], *s.values()))])
    model = layer_of(program, state)
    model.train()
    factor = np.ones(1, "float32")
    for _ in range(2):  # by the tape first, then by a Program of gradients
        for parameter in model.parameters():
            parameter.clear_gradient()
        model(factor).backward()
    found = [np.asarray(parameter.grad) for parameter in model.parameters()]
    wide = [array.astype("float64") for array in arrays]
    for n, gradient in enumerate(found):
        step = RANDOM.normal(size=arrays[n].shape) * 1e-6
        ends = []
        for sign in (1, -1):
            moved = [w + sign * step if n == k else w for k, w in enumerate(wide)]
            ends.append(float(loss(to_tensor(np.ones(1)), *map(to_tensor, moved)).item()))
        expected = (ends[0] - ends[1]) / 2
        assert np.sum(gradient * step) == pytest.approx(expected, rel=2e-3, abs=2e-9)
