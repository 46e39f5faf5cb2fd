"""Pooling as its definition has it, and torch's where ONNX's reference is wrong."""

import itertools
import math

import numpy as np
import pytest

from dy2st.importers.onnx.functions.pooling import average_pool, lp_pool, max_pool, max_unpool
from dy2st_runtime.tensor import to_tensor
from tests.dy2st.importers.onnx.functions.reference import check
from tests.effort import effort


def drawn(seed):
    """An image and the attributes of its windows."""
    draw = np.random.default_rng(seed)
    axes = int(draw.integers(1, 4))
    kernel = draw.integers(1, 4, axes).tolist()
    named = {"kernel_shape": kernel}
    if draw.integers(2):
        named["strides"] = draw.integers(1, 4, axes).tolist()
    if draw.integers(2):
        named["dilations"] = draw.integers(1, 3, axes).tolist()
    if draw.integers(2):
        named["pads"] = [int(draw.integers(0, k)) for k in kernel * 2]
    named["ceil_mode"] = int(draw.integers(2))
    if not draw.integers(4):
        named.pop("pads", None)
        named["ceil_mode"] = 0
        named["auto_pad"] = str(draw.choice(["SAME_UPPER", "SAME_LOWER", "VALID"]))
    shape = (2, 2, *draw.integers(5, 8, axes).tolist())
    return draw.normal(size=shape).astype("float32"), named


def lines(size, kernel, stride, dilation, before, after, ceil_mode, auto_pad):
    """The indices that each window has along one axis, also those outside of the image."""
    reach = dilation * (kernel - 1) + 1
    if auto_pad.startswith("SAME"):
        total = max((math.ceil(size / stride) - 1) * stride + reach - size, 0)
        before = total // 2 if auto_pad == "SAME_UPPER" else total - total // 2
        after = total - before
    room = (size + before + after - reach) / stride
    count = (math.ceil(room) if ceil_mode else math.floor(room)) + 1
    if ceil_mode and (count - 1) * stride >= size + before:
        count -= 1
    places = [[n * stride - before + k * dilation for k in range(kernel)] for n in range(count)]
    return [[p for p in line if p < size + after] for line in places]


def by_windows(x, function, kernel_shape, strides=None, dilations=None, pads=None, ceil_mode=0,
               auto_pad="NOTSET"):  # fmt: skip
    """`function` of the places in each window, those beyond the image too."""
    axes = x.ndim - 2
    strides, dilations = strides or [1] * axes, dilations or [1] * axes
    pads = pads or [0] * 2 * axes
    geometry = zip(x.shape[2:], kernel_shape, strides, dilations, pads[:axes], pads[axes:])
    all_lines = [lines(*one, ceil_mode, auto_pad) for one in geometry]
    result = np.zeros((*x.shape[:2], *map(len, all_lines)))
    for place in np.ndindex(*result.shape):
        image = x[place[0], place[1]]
        cut = [all_lines[axis][n] for axis, n in enumerate(place[2:])]
        result[place] = function(image, list(itertools.product(*cut)), place)
    return result


def is_inside(image, place):
    return all(0 <= n < size for n, size in zip(place, image.shape, strict=True))


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("seed", range(effort(15, 200)))
def test_the_largest_elements_and_their_places(seed, order):
    x, named = drawn(seed)

    def place(image, inside, at):
        found = max((p for p in inside if is_inside(image, p)), key=lambda p: image[p])
        start = (at[0] * x.shape[1] + at[1]) * image.size
        index = found[::-1] if order else found
        return start + np.ravel_multi_index(index, image.shape[::-1] if order else image.shape)

    def largest(image, inside, _):
        return max(image[p] for p in inside if is_inside(image, p))

    expected = [by_windows(x, largest, **named).astype("float32")]
    check("", max_pool, x, expected=expected, **named)
    expected.append(by_windows(x, place, **named).astype("int64"))
    named.update(storage_order=order)
    check("", lambda x, **n: max_pool(x, outputs=2, **n), x, outputs=2, expected=expected, **named)


@pytest.mark.parametrize("counted", [0, 1])
@pytest.mark.parametrize("seed", range(effort(15, 200)))
def test_means_count_the_pads_if_asked_for(seed, counted):
    x, named = drawn(seed)

    def mean(image, inside, _):
        values = [image[p] if is_inside(image, p) else 0.0 for p in inside
                  if counted or is_inside(image, p)]  # fmt: skip
        return sum(values) / len(values)

    expected = [by_windows(x, mean, **named).astype("float32")]
    named.update(count_include_pad=counted)
    check("", average_pool, x, expected=expected, atol=1e-5, **named)


@pytest.mark.parametrize("p", [1, 2, 3])
@pytest.mark.parametrize("seed", range(effort(6, 100)))
def test_norms_of_windows(seed, p):
    x, named = drawn(seed)

    def norm(image, inside, _):
        return sum(abs(image[q]) ** p for q in inside if is_inside(image, q)) ** (1 / p)

    expected = [by_windows(x, norm, **named).astype("float32")]
    check("", lp_pool, x, expected=expected, p=p, rtol=1e-4, **named)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "float16", "float64"])
def test_other_numbers_are_pooled(dtype):
    x = np.arange(24).reshape(1, 1, 4, 6).astype(dtype)
    check("MaxPool", max_pool, x, kernel_shape=[2, 3], dilations=[2, 2])


@pytest.mark.parametrize("named", [{}, {"output_shape": [1, 1, 5, 5]}])
def test_what_was_pooled_is_put_back(named):
    x = np.array([[[[5, 6], [7, 8]]]], "float32")
    places = np.array([[[[5, 7], [13, 15]]]], "int64")
    shape = np.array(named["output_shape"], "int64") if named else None
    window = {"kernel_shape": [2, 2], "strides": [2, 2]}
    check("MaxUnpool", max_unpool, x, places, shape, known=(2,), **window)


def test_a_gradient_goes_to_the_largest_through_holes():
    x = to_tensor(np.array([[[1.0, 5.0, 2.0, 3.0]]], "float32"), stop_gradient=False)
    max_pool(x, kernel_shape=[2], dilations=[2]).sum().backward()
    np.testing.assert_array_equal(x.grad, [[[0, 1, 1, 0]]])
