"""ForwardFoldScaleAxis: scales before weights, which every reader must be able to take."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st.passes import FoldConstant, FoldScaleAxis, ForwardFoldScaleAxis, Sequential
from dy2st_runtime.ir import F, apply
from dy2st_runtime.ops.control_flow import cond, while_loop
from tests.dy2st.passes.scales import conv, conv6, s, w

IMAGE = ("n", 4, 6, 6)


def two_readers(x):
    y = F.relu(x * s(4, 1, 1) - w(4, 1, 1))
    return [conv6(y), conv(y, w(4, 1, 3, 3), groups=4), F.matmul(F.mean(y, axis=[2, 3]), w(4, 2))]


FIRES = {
    "(c, 1, 1)": lambda x: conv6(x * w(4, 1, 1)),
    "(1, c, 1, 1)": lambda x: conv6(x * w(1, 4, 1, 1)),
    "one number": lambda x: conv6(x * w()),
    "on the left": lambda x: conv6(F.multiply(w(4, 1, 1), x)),
    "zero": lambda x: conv6(x * np.float32([1, 0, -2, 0]).reshape(4, 1, 1)),
    "own bias": lambda x: conv6(x * w(4, 1, 1), bias=w(6)),
    "relu": lambda x: conv6(F.relu(x * s(4, 1, 1))),
    "relu and bias": lambda x: conv6(F.relu(x * s(4, 1, 1)) + w(4, 1, 1)),
    "bias and relu": lambda x: conv6(F.relu(x * s(4, 1, 1) + w(4, 1, 1))),
    "one number and another": lambda x: conv6(x * s() + w()),
    "negative and bias": lambda x: conv6(x * -s(4, 1, 1) + w(4, 1, 1)),
    "taken off": lambda x: conv6(x * s(4, 1, 1) - w(1, 4, 1, 1)),
    "taken from": lambda x: conv6(w(4, 1, 1, seed=1) - x * s(4, 1, 1)),
    "several readers": two_readers,
    "max_pool": lambda x: conv6(F.max_pool2d(x * s(4, 1, 1), 3, 1, 1)),
    "window_sum": lambda x: conv6(
        apply("window_sum", x * w(4, 1, 1), kernel=(2, 2), strides=(1, 1), pads=((0, 0),) * 2)
    ),
    "zeros around": lambda x: conv6(F.pad(x * w(4, 1, 1), [1, 1, 1, 1])),
    "padding of the convolution": lambda x: conv6(x * w(4, 1, 1), pad=1),
    "channels last": lambda x: F.matmul(F.transpose(x * w(4, 1, 1), [0, 2, 3, 1]), w(4, 5)),
    "mean of space": lambda x: F.matmul(F.mean(x * w(4, 1, 1), axis=[2, 3]), w(4, 5)),
    "mean of the first axis": lambda x: F.matmul(F.mean(x * w(6), axis=1), w(6, 5)),
    "groups": lambda x: conv(x * w(4, 1, 1), w(6, 2, 3, 3), groups=2),
    "depthwise": lambda x: conv(x * w(4, 1, 1), w(4, 1, 3, 3), groups=4),
    "depthwise, two filters": lambda x: conv(x * w(4, 1, 1), w(8, 1, 3, 3), groups=4),
    "geometry": lambda x: conv6(x * w(4, 1, 1), stride=2, dilation=2),
    "conv1d": lambda x: conv(F.flatten(x, 2) * w(4, 1), w(5, 4, 3)),
    "conv3d": lambda x: conv(F.unsqueeze(x, [4]) * w(4, 1, 1, 1), w(5, 4, 3, 3, 1)),
    "matmul": lambda x: F.matmul(x * w(6), w(6, 5)),
    "matmul of a batch of weights": lambda x: F.matmul(x * w(6), w(4, 6, 5)),
    "two scales": lambda x: conv6(F.relu(x * s(4, 1, 1)) * w(4, 1, 1)),
}


@pytest.mark.parametrize("build", FIRES.values(), ids=FIRES)
def test_a_scale_before_weights_goes_into_them(t, build):
    after = t.check(ForwardFoldScaleAxis(), t.program_of(build, t.floats(*IMAGE)))
    assert "multiply" not in t.names(after)
    assert str(t.check.again) == str(after)


LEAKY = {
    "one operator": (F.leaky_relu, 0),
    "a choice": (lambda x: F.where(x > 0, x, x * 0.01), 1),
    "by channel": (lambda x: F.prelu(x, w(4)), 1),
}


@pytest.mark.parametrize("kind", LEAKY)
def test_a_scale_passes_leaky_relu(t, kind):
    function, slopes = LEAKY[kind]

    def build(x):
        y = x * s(4, 1, 1)
        return conv6(function(y)), conv6(y, 1)

    program = t.program_of(build, t.floats(*IMAGE))
    after = t.check(Sequential([FoldConstant(), ForwardFoldScaleAxis()]), program)
    assert t.names(after).count("multiply") == slopes
    assert str(t.check.again) == str(after)


@pytest.mark.parametrize(("number", "factor"), [(1e-310, 1.0), (1e-200, 1e-200), (1e200, 1e200)])
@pytest.mark.parametrize("summand", [0.0, 1e10])
def test_scales_beyond_float64_stay(t, number, factor, summand):
    weights = w(6, 4, 3, 3, dtype="float64") * factor
    scale = np.full((4, 1, 1), number)
    program = t.program_of(
        lambda x: conv(x * scale + np.full((4, 1, 1), summand), weights),
        t.floats(*IMAGE, dtype="float64"),
    )
    assert str(ForwardFoldScaleAxis()(program)) == str(program)


def test_a_constant_on_the_way_is_divided(t):
    """x * s + b becomes (x + b / s) * s."""
    eye = np.eye(2, dtype=np.float32)
    program = t.program_of(
        lambda x: F.matmul(x * np.float32([2, 4]) + np.float32([3, 1]), eye), t.floats(1, 2)
    )
    after = t.check(ForwardFoldScaleAxis(), program)
    found = [o.attributes["value"].tolist() for o in after.block.operators if o.name == "constant"]
    assert found == [[[1.5, 0.25]], [[2.0, 0.0], [0.0, 4.0]]]


def test_a_product_of_every_place_lets_a_scale_pass(t):
    program = t.program_of(lambda x: conv6(x * s(4, 1, 1) * w(4, 6, 6)), t.floats(*IMAGE))
    after = t.check(ForwardFoldScaleAxis(), program)
    assert t.names(after) == ["multiply", "conv"]
    kept = [o.attributes["value"] for o in after.block.operators if o.name == "constant"]
    assert any(np.array_equal(array, w(4, 6, 6)) for array in kept)


def test_nothing_is_divided_by_zero(t):
    """x = [1, 2], s = [0, 2], b = [3, 1], w = [1, 1]: 8 and not NaN."""
    program = t.program_of(
        lambda x: F.matmul(x * np.float32([0, 2]) + np.float32([3, 1]), np.ones((2, 1), "f4")),
        t.floats(1, 2),
    )
    after = t.check(FoldScaleAxis(), program)
    assert t.names(after) == ["multiply", "add", "matmul"]
    assert t.run(after, [np.float32([[1, 2]])])[0].tolist() == [[8]]


@pytest.mark.parametrize(("dtype", "rtol"), [("float64", 1e-13), ("float16", 1e-2)])
def test_weights_keep_their_dtype(t, dtype, rtol):
    def build(x):
        return conv(F.relu(x * s(4, 1, 1, dtype=dtype)), w(6, 4, 3, 3, dtype=dtype))

    program = t.program_of(build, t.floats(*IMAGE, dtype=dtype))
    assert t.names(t.check(ForwardFoldScaleAxis(), program, rtol=rtol)) == ["relu", "conv"]


def times(numbers, function=lambda y: y, seed=0):
    scale = np.broadcast_to(np.float32(numbers), [4]).reshape(4, 1, 1).copy()
    return lambda x: conv6(function(x * scale), seed)


def also(function):
    """The scaled value is read by something else too."""

    def build(x):
        y = x * s(4, 1, 1)
        return [conv6(y), function(y)]

    return build


def with_places(x):
    values, places = F.max_pool2d(x * s(4, 1, 1), 2, return_mask=True)
    return [conv6(values), places]


def slope_is_read(x):
    y = x * s(4, 1, 1)
    other = y * 0.1
    return conv6(F.where(y > 0, y, other)), other


def wide_slope(x):
    y = F.mean(x, 1, keepdim=True) * s()
    return conv6(F.where(y > 0, y, y * w(4, 1, 1)))


def in_cond(y):
    return cond(F.sum(y) > 0, lambda: [conv6(y)], lambda: [F.neg(conv6(y))])[0]


def in_while(y):
    first = [F.full([], 0, "int64"), F.zeros_like(y)]
    return while_loop(lambda i, z: i < 2, lambda i, z: [i + 1, z + y], first)[1]


LEFT_ALONE = {
    "negative before relu": times(-0.5, F.relu),
    "one zero before relu": times([1, 2, 0, 1], F.relu),
    "negative before max_pool": times(-0.5, lambda y: F.max_pool2d(y, 2)),
    "one zero before a sum": times([1, 2, 0, 1], lambda y: y + w(4, 1, 1)),
    "negative before leaky relu": times(-0.5, F.leaky_relu),
    "the slope's product is used": slope_is_read,
    "the slope is wider than its value": wide_slope,
    "nan": times(np.nan),
    "infinite": times(np.inf),
    "too large": times(3e38),
    "below all normal numbers": times(1e-40),
    "too small to divide by": times(1e-38, lambda y: y + 1e3 * w(4, 1, 1)),
    "relu6": times(2, F.relu6),
    "clip": times(2, lambda y: F.clip(y, -1, 1)),
    "tanh": times(2, F.tanh),
    "sigmoid": times(2, F.sigmoid),
    "softmax": times(2, lambda y: F.softmax(y, 1)),
    "padded by ones": times(2, lambda y: F.pad(y, [1, 1, 1, 1], value=1.0)),
    "padded channels": times([1, 2, 3, 4], lambda y: F.pad(y, [0, 0, 1, 1, 0, 0, 0, 0])),
    "mean of channels": lambda x: conv6(F.mean(x * s(4, 1, 1), axis=1, keepdim=True)),
    "along a width": lambda x: conv6(x * s(6)),
    "of every place": lambda x: conv6(x * s(4, 6, 6)),
    "no constant": lambda x: conv6(x * F.mean(x)),
    "wider than its value": lambda x: conv6(F.mean(x, axis=1, keepdim=True) * s(4, 1, 1)),
    "also an operand": also(F.exp),
    "also an output": also(lambda y: y),
    "also added": also(lambda y: conv6(y) + F.mean(y)),
    "also read by weights that are no constants": also(
        lambda y: conv(y, F.reshape(F.exp(y)[0], [9, 4, 2, 2]))
    ),
    "also in a branch": also(in_cond),
    "also in a loop": also(in_while),
    "also along another axis": also(lambda y: F.matmul(y, w(6, 5))),
    "places of max_pool are used": with_places,
    "it is the bias": lambda x: conv(x, w(6, 4, 3, 3), bias=F.exp(x[0, 0, 0]) * s()),
    "along the width of windows": lambda x: F.matmul(F.max_pool2d(x * s(6), 3, 1, 1), w(6, 5)),
    "it is the weights": lambda x: conv(w(2, 4, 9, 9), (x * s(4, 1, 1))[:1]),
    "matmul with itself": lambda x: (lambda y: F.matmul(y, y))(x * s(6)),
    "an input is added": lambda x: conv6(x * s(4, 1, 1) + x),
    "a sum that broadcasts": lambda x: conv6(F.mean(x, 2, True) * s(4, 1, 1) + w(4, 6, 1)),
    "conv_transpose": lambda x: F.conv2d_transpose(x * s(4, 1, 1), w(4, 6, 3, 3)),
    "no weights": lambda x: F.relu(x * s(4, 1, 1)),
    "matmul along rows": lambda x: F.matmul(x * s(6, 1), w(6, 5)),
    "matmul with a vector": lambda x: F.matmul(x * s(6), w(6)),
    "cast": lambda x: F.matmul(F.cast(x * s(6), "float64"), w(6, 5, dtype="float64")),
}


@pytest.mark.parametrize("build", LEFT_ALONE.values(), ids=LEFT_ALONE)
def test_a_scale_stays_where_it_would_be_wrong(t, build):
    program = t.program_of(build, t.floats(*IMAGE))
    assert str(ForwardFoldScaleAxis()(program)) == str(program)


def test_scales_fold_inside_branches_and_loops(t):
    def build(x):
        def body(i, y):
            return [i + 1, conv(F.relu(y * s(4, 1, 1)), w(4, 4, 3, 3), pad=1)]

        y = while_loop(lambda i, y: i < 2, body, [F.full([], 0, "int64"), x])[1]
        return cond(F.sum(x) > 0, lambda: [conv6(y * w(4, 1, 1))], lambda: [conv6(y)])

    chain = Sequential([FoldConstant(), ForwardFoldScaleAxis()])
    after = t.check(chain, t.program_of(build, t.floats(*IMAGE)), rtol=1e-4)
    assert "multiply" not in t.names(after) and t.names(after).count("conv") == 3


def test_a_scale_between_weights_goes_backward_first(t):
    weights = {seed: w(4, 4, 3, 3, seed=seed) for seed in (0, 1)}
    program = t.program_of(
        lambda x: conv(conv(x, weights[0]) * w(4, 1, 1), weights[1]), t.floats(*IMAGE)
    )
    after = t.check(FoldScaleAxis(), program)
    kept = [o.attributes["value"] for o in after.block.operators if o.name == "constant"]
    assert t.names(after) == ["conv", "conv"]
    assert not np.array_equal(kept[0], weights[0]) and np.array_equal(kept[1], weights[1])


def test_what_cannot_go_backward_goes_forward(t):
    """A pre-activation block: norm, relu, convolution, and the sum with what came in."""

    def build(x):
        for seed in range(3):
            y = F.relu(x * s(4, 1, 1) + w(4, 1, 1, seed=seed))
            x = conv(y, w(4, 4, 3, 3, seed=seed), pad=1) + x
        return x

    after = t.check(FoldScaleAxis(), t.program_of(build, t.floats(*IMAGE)), rtol=1e-4)
    assert t.names(after) == ["add", "relu", "conv", "add"] * 3
