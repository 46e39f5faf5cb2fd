"""Operators against NumPy in float64, SciPy, and onnxruntime: independent of our kernels."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
import pytest
import scipy.signal
import scipy.special

import dy2st_runtime as rt
from dy2st_runtime import ops
from dy2st_runtime.errors import DTypeError
from dy2st_runtime.ir import DEFINITIONS, TensorType
from dy2st_runtime.nn import functional as F

RNG = np.random.default_rng(0)


def tensor(*shape, low=-2.0, high=2.0, dtype="float32"):
    return RNG.uniform(low, high, shape).astype(dtype)


SHAPES = [((2, 3), (2, 3)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((), (2,)), ((0, 3), (1, 3))]
BINARY = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide,
    "maximum": np.maximum, "minimum": np.minimum, "pow": np.power, "remainder": np.remainder,
    "floor_divide": np.floor_divide, "atan2": np.arctan2, "equal": np.equal,
    "less_than": np.less, "greater_equal": np.greater_equal, "logical_and": np.logical_and,
}  # fmt: skip


@pytest.mark.parametrize("shapes", SHAPES)
@pytest.mark.parametrize("name", BINARY)
def test_binary_operators_against_float64(name, shapes):
    x, y = (tensor(*shape, low=0.5, high=3.0) for shape in shapes)
    expected = BINARY[name](x.astype("float64"), y.astype("float64"))
    found = getattr(ops, name)(rt.to_tensor(x), rt.to_tensor(y))
    np.testing.assert_allclose(found.numpy(), expected, rtol=2e-6)


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2)])
@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("name", ["sum", "mean", "prod", "max", "min", "any", "all"])
def test_reductions_against_float64(name, axis, keepdim):
    array = tensor(2, 3, 4)
    axes = list(axis) if isinstance(axis, tuple) else axis
    found = getattr(ops, name)(rt.to_tensor(array), axis=axes, keepdim=keepdim)
    expected = getattr(np, name)(array.astype("float64"), axis=axis, keepdims=keepdim)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-5, atol=1e-6)


def test_reductions_that_numpy_and_scipy_know_by_other_names():
    array = tensor(3, 4)
    x = rt.to_tensor(array)
    wide = array.astype("float64")
    np.testing.assert_allclose(
        ops.logsumexp(x, axis=1).numpy(), scipy.special.logsumexp(wide, axis=1), rtol=1e-6
    )
    np.testing.assert_allclose(ops.var(x, axis=0).numpy(), wide.var(0, ddof=1), rtol=1e-5)
    np.testing.assert_allclose(ops.std(x, unbiased=False).numpy(), wide.std(), rtol=1e-5)
    for p in (1, 2, 3, float("inf")):
        np.testing.assert_allclose(
            ops.norm(x, p=p, axis=1).numpy(), np.linalg.norm(wide, p, axis=1), rtol=1e-5
        )


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((2, 3), (3, 4)),
        ((3,), (3,)),
        ((5, 2, 3), (3, 4)),
        ((2, 1, 2, 3), (4, 3, 2)),
        ((0, 3), (3, 2)),
    ],
)
def test_matmul_against_float64(left, right):
    x, y = tensor(*left), tensor(*right)
    expected = np.matmul(x.astype("float64"), y.astype("float64"))
    np.testing.assert_allclose(
        ops.matmul(rt.to_tensor(x), rt.to_tensor(y)).numpy(), expected, rtol=1e-5, atol=1e-6
    )


def run_onnx(operator, inputs, **attributes):
    """One operator in onnxruntime."""
    names = [f"x{i}" for i in range(len(inputs))]
    node = onnx.helper.make_node(operator, names, ["y"], **attributes)
    values = [
        onnx.helper.make_tensor_value_info(
            n, onnx.helper.np_dtype_to_tensor_dtype(a.dtype), list(a.shape)
        )
        for n, a in zip(names, inputs, strict=True)
    ]
    out = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)
    graph = onnx.helper.make_graph([node], "g", values, [out])
    model = onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=10
    )
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(None, dict(zip(names, inputs, strict=True)))[0]


@pytest.mark.parametrize(
    ("shape", "weight", "stride", "padding", "dilation", "groups"),
    [
        ((2, 3, 8, 8), (4, 3, 3, 3), 1, 1, 1, 1),
        ((1, 4, 9, 7), (6, 2, 3, 2), 2, [1, 0], 1, 2),
        ((2, 4, 8, 8), (4, 1, 3, 3), 1, [1, 1], 2, 4),
        ((1, 2, 5, 5), (3, 2, 1, 1), 3, 0, 1, 1),
        ((0, 3, 8, 8), (4, 3, 3, 3), 1, 1, 1, 1),
    ],
)
def test_conv2d_against_onnxruntime(shape, weight, stride, padding, dilation, groups):
    x, w, b = tensor(*shape), tensor(*weight), tensor(weight[0])
    found = F.conv2d(
        rt.to_tensor(x), rt.to_tensor(w), rt.to_tensor(b), stride, padding, dilation, groups
    ).numpy()
    pads = [padding] * 2 if isinstance(padding, int) else padding
    if not shape[0]:
        assert found.shape == (0, 4, 8, 8)
        return
    expected = run_onnx(
        "Conv", [x, w, b], strides=[stride] * 2, pads=[*pads, *pads],
        dilations=[dilation] * 2, group=groups,
    )  # fmt: skip
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("stride", "padding", "output_padding", "groups"), [(1, 0, 0, 1), (2, 1, 1, 1), (3, 1, 0, 2)]
)
def test_conv2d_transpose_against_onnxruntime(stride, padding, output_padding, groups):
    x, w = tensor(2, 4, 5, 6), tensor(4, 3, 3, 3)
    found = F.conv2d_transpose(
        rt.to_tensor(x), rt.to_tensor(w), None, stride, padding, output_padding, groups=groups
    )
    expected = run_onnx(
        "ConvTranspose", [x, w], strides=[stride] * 2, pads=[padding] * 4,
        output_padding=[output_padding] * 2, group=groups,
    )  # fmt: skip
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("ceil_mode", [False, True])
@pytest.mark.parametrize(("kernel", "stride", "padding"), [(2, 2, 0), (3, 2, 1), (3, 1, 1)])
def test_pools_against_onnxruntime(kernel, stride, padding, ceil_mode):
    x = tensor(2, 3, 7, 8)
    geometry = {
        "kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": [padding] * 4,
        "ceil_mode": int(ceil_mode),
    }  # fmt: skip
    found = F.max_pool2d(rt.to_tensor(x), kernel, stride, padding, ceil_mode=ceil_mode)
    np.testing.assert_array_equal(found.numpy(), run_onnx("MaxPool", [x], **geometry))
    found = F.avg_pool2d(rt.to_tensor(x), kernel, stride, padding, ceil_mode=ceil_mode)
    expected = run_onnx("AveragePool", [x], **geometry)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-5, atol=1e-6)


def test_norms_against_onnxruntime():
    x, scale, bias = tensor(2, 4, 3, 3), tensor(4), tensor(4)
    mean, variance = tensor(4), tensor(4, low=0.5)
    found = F.batch_norm(*map(rt.to_tensor, (x, mean, variance, scale, bias)))
    expected = run_onnx("BatchNormalization", [x, scale, bias, mean, variance], epsilon=1e-5)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-4, atol=1e-5)
    found = F.instance_norm(rt.to_tensor(x), weight=rt.to_tensor(scale), bias=rt.to_tensor(bias))
    expected = run_onnx("InstanceNormalization", [x, scale, bias], epsilon=1e-5)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-4, atol=1e-5)
    y, w, b = tensor(2, 5, 6), tensor(6), tensor(6)
    found = F.layer_norm(*map(rt.to_tensor, (y,)), 6, rt.to_tensor(w), rt.to_tensor(b))
    expected = run_onnx("LayerNormalization", [y, w, b], axis=-1, epsilon=1e-5)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax_against_scipy(name):
    array = tensor(3, 5, low=-40.0, high=40.0)
    found = getattr(F, name)(rt.to_tensor(array)).numpy()
    expected = getattr(scipy.special, name)(array.astype("float64"), -1)
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-5)


def test_cross_entropy_against_its_formula():
    logits, label = tensor(6, 4), RNG.integers(0, 4, 6)
    weight = tensor(4, low=0.5)
    log_p = scipy.special.log_softmax(logits.astype("float64"), -1)
    rows = -log_p[np.arange(6), label]
    x, y = rt.to_tensor(logits), rt.to_tensor(label)
    assert F.cross_entropy(x, y).item() == pytest.approx(rows.mean(), rel=1e-6)
    assert F.cross_entropy(x, y.unsqueeze(1)).item() == pytest.approx(rows.mean(), rel=1e-6)
    weighted = (rows * weight[label]).sum() / weight[label].sum()
    found = F.cross_entropy(x, y, weight=rt.to_tensor(weight)).item()
    assert found == pytest.approx(weighted, rel=1e-5)
    kept = rows[label != 2].mean()
    assert F.cross_entropy(x, y, ignore_index=2).item() == pytest.approx(kept, rel=1e-5)
    smooth = 0.9 * rows.mean() - 0.1 * log_p.mean(-1).mean()
    assert F.cross_entropy(x, y, label_smoothing=0.1).item() == pytest.approx(smooth, rel=1e-5)


def test_random_numbers_repeat_with_the_seed_and_have_their_moments():
    for draw, mean, std in (
        (lambda: ops.rand([20000]), 0.5, 12**-0.5),
        (lambda: ops.randn([20000]), 0.0, 1.0),
        (lambda: ops.normal(2.0, 3.0, [20000]), 2.0, 3.0),
    ):
        ops.seed(7)
        first = draw().numpy()
        ops.seed(7)
        np.testing.assert_array_equal(first, draw().numpy())
        assert abs(first.mean() - mean) < 0.1 and abs(first.std() - std) < 0.1
    assert sorted(ops.randperm(10).tolist()) == list(range(10))
    ones = F.dropout(ops.ones([10000]), 0.25).numpy()
    assert set(np.unique(ones)) <= {np.float32(0), np.float32(1 / 0.75)}
    assert abs((ones == 0).mean() - 0.25) < 0.03


@pytest.mark.parametrize("name", ["neg", "sign"])
def test_functions_of_numbers_refuse_bools(name):
    with pytest.raises(DTypeError, match="cast"):
        getattr(ops, name)(rt.to_tensor([True, False]))


def test_the_square_of_bools_counts_them():
    definition, x = DEFINITIONS["square"], np.array([True, False])
    assert ops.square(rt.to_tensor(x)).dtype == np.square(x).dtype
    assert definition.infer(TensorType("bool", (2,))).dtype == np.square(x).dtype
