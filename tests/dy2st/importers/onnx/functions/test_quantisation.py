"""Quantised numbers as the reference has them, for drawn attributes and shapes."""

import numpy as np
import pytest

from dy2st.importers.onnx.functions import quantisation as q
from tests.dy2st.importers.onnx.functions.reference import check

RANDOM = np.random.default_rng(5)
INTEGERS = ["uint8", "int8", "uint16", "int16"]


def numbers(*shape, dtype="float32", spread=40.0):
    return (RANDOM.normal(size=shape) * spread).astype(dtype)


def integers(*shape, dtype="uint8"):
    low, high = q.RANGES[dtype]
    return RANDOM.integers(max(low, -128), min(high, 255) + 1, shape).astype(dtype)


def scales(*shape, dtype="float32"):
    return RANDOM.uniform(0.05, 2.0, shape).astype(dtype)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize(
    ("shape", "scaled", "named"),
    [
        ((3, 4), (), {}),
        ((3, 4), (1,), {}),
        ((3, 4, 2), (4,), {}),
        ((3, 4, 2), (2,), {"axis": -1}),
        ((5,), (5,), {"axis": 0}),
        ((3, 7), (3, 3), {"axis": 1, "block_size": 3}),
        ((4, 2, 2), (2, 2, 2), {"axis": 0, "block_size": 2}),
    ],
)
def test_integers_are_quantised_by_tensor_axis_and_block(shape, scaled, named, dtype):
    scale, zero = scales(*scaled), integers(*scaled, dtype=dtype)
    check("QuantizeLinear", q.quantize_linear, numbers(*shape), scale, zero, **named)
    check(
        "DequantizeLinear", q.dequantize_linear, integers(*shape, dtype=dtype), scale, zero, **named
    )


def test_what_is_beyond_is_the_outermost_integer_and_halves_are_even():
    x = np.array([-1e12, -3.0, -1.0, 1.0, 3.0, 1e12, np.inf, -np.inf], "float32")
    expected = [np.array([0, 5, 7, 7, 9, 255, 255, 0], "uint8")]  # 7 and -1.5, -0.5, 0.5, 1.5
    check("", q.quantize_linear, x, np.float32(2), np.uint8(7), expected=expected)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_scales_decide_the_precision(dtype):
    x, scale = numbers(3, 4, dtype=dtype), scales(4, dtype=dtype)
    check("QuantizeLinear", q.quantize_linear, x, scale, output_dtype=np.dtype("int8"))
    check("DequantizeLinear", q.dequantize_linear, integers(3, 4), scale)
    wide = np.dtype("float32")
    check("DequantizeLinear", q.dequantize_linear, integers(3, 4), scale, output_dtype=wide)
    check("QuantizeLinear", q.quantize_linear, x, scale, integers(4), precision=wide)


@pytest.mark.parametrize("shape", [(1,), (3, 4), (2, 3, 2)])
@pytest.mark.parametrize("offset", [-100.0, 0.0, 100.0])
def test_scales_are_found_from_the_numbers(shape, offset):
    x = numbers(*shape) + np.float32(offset)
    check("DynamicQuantizeLinear", q.dynamic_quantize_linear, x, outputs=3)


def test_zeros_alone_have_a_scale():
    check("DynamicQuantizeLinear", q.dynamic_quantize_linear, np.zeros(3, "float32"), outputs=3)


@pytest.mark.parametrize("kinds", [("uint8", "uint8"), ("int8", "int8"), ("uint8", "int8")])
@pytest.mark.parametrize("shapes", [((3, 4), (4, 2)), ((2, 3, 4), (4, 2)), ((1, 700), (700, 2))])
def test_products_of_integers_are_exact(shapes, kinds):
    a, b = (integers(*shape, dtype=kind) for shape, kind in zip(shapes, kinds, strict=True))
    zeros = [integers(dtype=kind) for kind in kinds]
    check("MatMulInteger", q.matmul_integer, a, b)
    check("MatMulInteger", q.matmul_integer, a, b, *zeros)
    check("MatMulInteger", q.matmul_integer, a, b, zeros[0], integers(2, dtype=kinds[1]))
    ends = np.float32(30), integers(dtype=kinds[0])
    given = a, np.float32(0.1), zeros[0], b, np.float32(0.3), zeros[1]
    check("QLinearMatMul", q.qlinear_matmul, *given, *ends, atol=1)


def test_zero_points_may_be_of_rows():
    a, b = integers(3, 4), integers(4, 2)
    zeros = integers(3)
    expected = (a.astype(int) - zeros.astype(int)[:, None]) @ b.astype(int)
    check("", q.matmul_integer, a, b, zeros, expected=[expected.astype("int32")])


@pytest.mark.parametrize("seed", range(12))
def test_convolutions_of_integers(seed):
    draw = np.random.default_rng(seed)
    axes, group = int(draw.integers(1, 3)), int(draw.integers(1, 3))
    kinds = draw.choice(["uint8", "int8"], 2)
    x = integers(2, 2 * group, *draw.integers(5, 8, axes), dtype=kinds[0])
    w = integers(2 * group, 2, *draw.integers(1, 4, axes), dtype=kinds[1])
    named = {"group": group, "strides": draw.integers(1, 3, axes).tolist()}
    named["dilations"] = draw.integers(1, 3, axes).tolist()
    if seed % 2:
        named["pads"] = draw.integers(0, 3, 2 * axes).tolist()
    else:
        named["auto_pad"] = str(draw.choice(["VALID", "NOTSET"]))
    zeros = [integers(dtype=kinds[0]), integers(dtype=kinds[1])]
    unknown = {0: (0, *range(2, 2 + axes))}
    check("ConvInteger", q.conv_integer, x, w, *zeros, unknown=unknown, **named)
    many = axes == 2 and bool(draw.integers(2))
    scale = scales(2 * group) if many else scales()
    bias = draw.integers(-100, 100, 2 * group).astype("int32")
    inputs = [x, np.float32(0.1), zeros[0], w, scale, zeros[1], np.float32(20), zeros[0], bias]
    check("QLinearConv", q.qlinear_conv, *inputs, unknown=unknown, atol=1, **named)


def test_sums_that_a_float_does_not_hold_are_exact():
    x, w = np.full((1, 300, 4, 4), 255, "uint8"), np.full((2, 300, 3, 3), 127, "int8")
    w[0, 0, 0, 0] = 126
    check("ConvInteger", q.conv_integer, x, w, unknown={0: (0, 2, 3)})
    check("ConvInteger", q.conv_integer, x, w, pads=[1, 1, 1, 1], dilations=[1, 1], strides=[2, 2])
