"""BackwardFoldScaleAxis and FoldScaleAxis: scales behind weights; the forward way has its own file.

Every case that must not fire has one reason; its weights are random, so a wrong fold shows.
"""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest

from dy2st.passes import (
    BackwardFoldScaleAxis,
    FoldConstant,
    FoldScaleAxis,
    FreezeParameters,
    PassContext,
    Sequential,
    explain,
)
from dy2st_runtime.ir import F, apply
from dy2st_runtime.ops.control_flow import cond, while_loop
from tests.dy2st.passes.scales import conv, conv6, s, w

IMAGE = ("n", 4, 6, 6)


def channels_last(x):
    return F.transpose(x, [0, 2, 3, 1])


def residual(x):
    y = F.relu(conv6(x) + w(6, 1, 1))
    z = F.relu(conv6(x, 1) * s(6, 1, 1) + w(6, 1, 1, seed=2))
    return (y + z) * s(1, 6, 1, 1)


FIRES = {
    "(c, 1, 1)": lambda x: conv6(x) * s(6, 1, 1),
    "(1, c, 1, 1)": lambda x: conv6(x) * s(1, 6, 1, 1),
    "one number": lambda x: conv6(x) * s(),
    "(1,)": lambda x: conv6(x) * s(1),
    "(1, 1, 1, 1)": lambda x: conv6(x) * s(1, 1, 1, 1),
    "on the left": lambda x: F.multiply(s(6, 1, 1), conv6(x)),
    "negative": lambda x: conv6(x) * w(6, 1, 1),
    "zero": lambda x: conv6(x) * np.float32([0, 1, 2, 3, 0, -1]).reshape(6, 1, 1),
    "bias operand": lambda x: conv6(x, bias=w(6)) * w(6, 1, 1),
    "bias operand by one number": lambda x: conv6(x, bias=w(6)) * np.float32(-2.5),
    "bias added": lambda x: (conv6(x) + w(6, 1, 1)) * w(1, 6, 1, 1),
    "bias of every place": lambda x: (conv6(x) + w(6, 4, 4)) * w(6, 1, 1),
    "one number added": lambda x: (conv6(x) + 0.75) * w(6, 1, 1),
    "one number added, times another": lambda x: (conv6(x) + w()) * s(),
    "taken from a constant": lambda x: (w(6, 1, 1, seed=3) - conv6(x)) * w(6, 1, 1),
    "neg": lambda x: F.neg(conv6(x)) * w(6, 1, 1),
    "divide": lambda x: (conv6(x) / s(6, 1, 1)) * w(6, 1, 1),
    "relu": lambda x: F.relu(conv6(x) + w(6, 1, 1)) * s(6, 1, 1),
    "max_pool": lambda x: F.max_pool2d(conv6(x), 3, 1, 1) * s(6, 1, 1),
    "avg_pool": lambda x: F.avg_pool2d(conv6(x), 2) * w(6, 1, 1),
    "zeros around": lambda x: F.pad(conv6(x), [0, 0, 0, 0, 1, 2, 0, 1]) * w(6, 1, 1),
    "reflected": lambda x: F.pad(conv6(x), [1, 1, 1, 1], mode="reflect") * w(6, 1, 1),
    "channels last": lambda x: channels_last(conv6(x)) * w(6),
    "mean of space": lambda x: F.mean(conv6(x), axis=[2, 3]) * w(6),
    "mean, kept": lambda x: F.mean(conv6(x), axis=[2, 3], keepdim=True) * w(1, 6, 1, 1),
    "sum of the batch": lambda x: F.sum(conv6(x), axis=0) * w(6, 1, 1),
    "sum of a width": lambda x: F.sum(conv6(x), axis=3) * w(6, 1),
    "max of space": lambda x: F.max(conv6(x), axis=[2, 3]) * s(6),
    "residual": residual,
    "difference": lambda x: (conv6(x) - conv6(x, 1)) * w(6, 1, 1),
    "concat of channels": lambda x: (
        F.concat([conv6(x), conv(x, w(2, 4, 3, 3))], axis=1) * w(8, 1, 1)
    ),
    "concat in space": lambda x: F.concat([conv6(x), conv6(x, 1)], axis=-1) * w(6, 1, 1),
    "groups": lambda x: conv(x, w(6, 2, 3, 3), groups=2) * w(6, 1, 1),
    "depthwise": lambda x: conv(x, w(4, 1, 3, 3), groups=4) * w(4, 1, 1),
    "depthwise, two filters": lambda x: conv(x, w(8, 1, 3, 3), groups=4) * w(8, 1, 1),
    "geometry": lambda x: conv6(x, stride=2, dilation=2, pad=2) * w(6, 1, 1),
    "conv1d": lambda x: conv(F.flatten(x, 2), w(5, 4, 3), w(5)) * w(5, 1),
    "conv3d": lambda x: conv(F.unsqueeze(x, [4]), w(5, 4, 3, 3, 1), w(5)) * w(5, 1, 1, 1),
    "conv_transpose": lambda x: F.conv2d_transpose(x, w(4, 6, 3, 3), stride=2) * w(6, 1, 1),
    "conv_transpose, groups": lambda x: F.conv2d_transpose(x, w(4, 3, 3, 3), groups=2) * w(6, 1, 1),
    "matmul": lambda x: F.matmul(x, w(6, 5)) * w(5),
    "matmul and bias": lambda x: F.relu(F.matmul(x, w(6, 5)) + w(5)) * s(5),
    "matmul by one number": lambda x: F.matmul(x, w(6, 5)) * np.float32(-3),
    "matmul of a batch of weights": lambda x: F.matmul(x, w(4, 6, 5)) * w(5),
    "matmul, rows of the left": lambda x: F.matmul(w(5, 6), x) * w(5, 1),
    "two scales": lambda x: F.relu(conv6(x) * w(6, 1, 1)) * s(6, 1, 1) * s(),
    "two convolutions in a row": lambda x: conv6(F.relu(conv6(x)) * s(6, 1, 1), 1) * w(6, 1, 1),
}


@pytest.mark.parametrize("build", FIRES.values(), ids=FIRES)
def test_a_scale_behind_weights_goes_into_them(t, build):
    after = t.check(BackwardFoldScaleAxis(), t.program_of(build, t.floats(*IMAGE)))
    assert "multiply" not in t.names(after)
    assert str(t.check.again) == str(after)


LEAKY = {
    "one operator": (F.leaky_relu, 0),
    "a choice": (lambda x: F.where(x > 0, x, x * 0.01), 1),
    "by channel": (lambda x: F.prelu(x, w(6)), 1),
}


@pytest.mark.parametrize("kind", LEAKY)
def test_a_scale_passes_leaky_relu(t, kind):
    function, slopes = LEAKY[kind]

    program = t.program_of(lambda x: function(conv6(x)) * s(6, 1, 1), t.floats(*IMAGE))
    after = t.check(Sequential([FoldConstant(), BackwardFoldScaleAxis()]), program)
    assert t.names(after).count("multiply") == slopes


@pytest.mark.parametrize(("dtype", "rtol"), [("float64", 1e-14), ("float16", 4e-3)])
def test_weights_keep_their_dtype(t, dtype, rtol):
    def build(x):
        y = conv(x, w(6, 4, 3, 3, dtype=dtype)) + w(6, 1, 1, dtype=dtype)
        return y * s(6, 1, 1, dtype=dtype)

    program = t.program_of(build, t.floats(*IMAGE, dtype=dtype))
    after = t.check(BackwardFoldScaleAxis(), program, rtol=rtol)
    assert t.names(after) == ["conv", "add"]


def test_bfloat16_is_a_float(t):
    dtype = pytest.importorskip("ml_dtypes").bfloat16
    program = t.program_of(
        lambda x: F.matmul(x, w(6, 5, dtype=dtype)) * s(5, dtype=dtype), t.floats(2, 6, dtype=dtype)
    )
    after = BackwardFoldScaleAxis()(program)
    (weights,) = [o.attributes["value"] for o in after.block.operators if o.name == "constant"]
    assert t.names(after) == ["matmul"]
    expected = w(6, 5, dtype=dtype).astype(float) * s(5, dtype=dtype).astype(float)
    np.testing.assert_array_equal(weights, expected.astype(dtype))


def test_a_padded_mean_folds_once_its_divisors_are_constants(t):
    program = t.program_of(lambda x: F.avg_pool2d(conv6(x), 3, 1, 1) * w(6, 1, 1), t.floats(*IMAGE))
    assert "multiply" in t.names(t.check(BackwardFoldScaleAxis(), program))
    after = t.check(Sequential([FoldConstant(), BackwardFoldScaleAxis()]), program)
    assert t.names(after) == ["conv", "window_sum", "divide"]


def test_products_are_rounded_once(t):
    weights, scale = w(6, 4, 1, 1), w(6, 1, 1)
    program = t.program_of(lambda x: conv(x, weights) * scale, t.floats(*IMAGE))
    after = t.check(BackwardFoldScaleAxis(), program)
    (found,) = [o.attributes["value"] for o in after.block.operators if o.name == "constant"]
    wide = weights.astype(np.float64) * scale.reshape(6, 1, 1, 1)
    np.testing.assert_array_equal(found, wide.astype(np.float32))


def test_digits_lost_near_zero_count_by_channel_only(t):
    """Half floats below 6e-5 lose digits; beside larger weights of their channel that is nothing."""
    weights = w(6, 4, 1, 1, dtype="float16")
    weights[:, 0] = 1e-4
    program = t.program_of(
        lambda x: conv(x, weights) * np.float16(0.3), t.floats(*IMAGE, dtype="float16")
    )
    assert t.names(t.check(BackwardFoldScaleAxis(), program, rtol=4e-3)) == ["conv"]


def scaled_by(numbers, function=F.relu):
    scale = np.broadcast_to(np.float32(numbers), [6]).reshape(6, 1, 1).copy()
    return lambda x: function(conv6(x)) * scale


def also(function):
    """The value before the scale is read by something else too."""

    def build(x):
        y = conv6(x)
        return [y * s(6, 1, 1), function(y)]

    return build


def in_cond(x):
    y = conv6(x)
    return [y * s(6, 1, 1), *cond(F.sum(x) > 0, lambda: [F.exp(y)], lambda: [F.neg(y)])]


def in_while(x):
    y = conv6(x)
    first = [F.full([], 0, "int64"), F.zeros_like(y)]
    looped = while_loop(lambda i, z: i < 2, lambda i, z: [i + 1, z + y], first)
    return [y * s(6, 1, 1), looped[1]]


def pooled_with_places(x):
    values, places = F.max_pool2d(conv6(x), 2, return_mask=True)
    return [values * s(6, 1, 1), places]


def slope_is_read(x):
    y = conv6(x)
    other = y * 0.1
    return [F.where(y > 0, y, other) * s(6, 1, 1), other]


def wide_slope(x):
    y = F.matmul(x, w(6, 1))
    return F.where(y > 0, y, y * s(5)) * s(5)


def sum_of_two_signs(x):
    return (conv6(x) + F.relu(conv6(x, 1))) * -s(6, 1, 1)


LEFT_ALONE = {
    "negative through relu": scaled_by(-0.5),
    "one negative through relu": scaled_by([1, 2, -1, 1, 1, 1]),
    "one zero through relu": scaled_by([1, 2, 0, 1, 1, 1]),
    "negative through max_pool": scaled_by(-0.5, lambda y: F.max_pool2d(y, 2)),
    "negative through leaky relu": scaled_by(-0.5, F.leaky_relu),
    "negative through max": lambda x: F.max(conv6(x), axis=[2, 3]) * -s(6),
    "negative, one way without relu": sum_of_two_signs,
    "nan": scaled_by(np.nan, F.assign),
    "infinite": scaled_by(np.inf, F.assign),
    "too large": scaled_by(3e38, F.assign),
    "below all normal numbers": scaled_by(1e-40, F.assign),
    "one below all normal numbers": scaled_by([1, 2, 3, 4, 5, 1e-40], F.assign),
    "relu6": scaled_by(2, F.relu6),
    "clip": scaled_by(2, lambda y: F.clip(y, -1, 1)),
    "tanh": scaled_by(2, F.tanh),
    "sigmoid": scaled_by(2, F.sigmoid),
    "gelu": scaled_by(2, F.gelu),
    "softmax": scaled_by(2, lambda y: F.softmax(y, 1)),
    "reshape": lambda x: F.reshape(conv6(x), [-1, 6, 16]) * s(6, 1),
    "padded by ones": lambda x: F.pad(conv6(x), [1, 1, 1, 1], value=1.0) * s(6, 1, 1),
    "padded channels": lambda x: F.pad(conv6(x), [0, 0, 1, 1, 0, 0, 0, 0]) * s(8, 1, 1),
    "along a width": lambda x: conv6(x) * s(4),
    "of every place": lambda x: conv6(x) * s(6, 4, 4),
    "channels of another order": lambda x: F.transpose(conv6(x), [0, 2, 1, 3]) * s(4, 1, 1),
    "no constant": lambda x: conv6(x) * F.mean(x),
    "weights are no constant": lambda x: conv(x, F.exp(F.reshape(x[0], [9, 4, 2, 2]))) * s(9, 1, 1),
    "also an operand": also(F.exp),
    "also an output": also(lambda y: y),
    "also in a branch": in_cond,
    "also in a loop": in_while,
    "also in the sum": lambda x: (lambda y: (y + y) * s(6, 1, 1))(conv6(x)),
    "also in the concat": lambda x: (lambda y: F.concat([y, y], 3) * s(6, 1, 1))(conv6(x)),
    "places of max_pool are used": pooled_with_places,
    "the slope's product is used": slope_is_read,
    "the slope is wider than its value": wide_slope,
    "an input is added": lambda x: (conv(x, w(4, 4, 3, 3), pad=1) + x) * s(4, 1, 1),
    "a bias that is no constant": lambda x: (conv6(x) + F.mean(x)) * s(6, 1, 1),
    "a sum that broadcasts": lambda x: (conv6(x) + conv(x, w(6, 4, 6, 6))) * s(6, 1, 1),
    "a product that broadcasts": lambda x: (conv(x, w(1, 4, 3, 3)) * w(6, 1, 1)) * s(6, 1, 1),
    "along the width of windows": lambda x: F.max_pool2d(F.matmul(x, w(6, 5)), 3, 1, 1) * s(5),
    "bent elsewhere than at zero": lambda x: (
        lambda y: F.where(y > 1, y, y * np.float32(0.1)) * s(6, 1, 1)
    )(conv6(x)),
    "wider than its value": lambda x: conv(x, w(1, 4, 3, 3)) * s(6, 1, 1),
    "nothing to scale": lambda x: (
        x,
        apply("full", shape=(2, 3), value=1, dtype=np.dtype("float32")) * s(3),
    ),
    "no weights": lambda x: F.relu(x) * s(4, 1, 1),
    "matmul along rows": lambda x: F.matmul(x, w(6, 5)) * s(6, 1),
    "matmul with a vector": lambda x: F.matmul(x, w(6)) * s(6),
    "far away": lambda x: reduce(lambda y, _: F.neg(y), range(70), conv6(x)) * s(6, 1, 1),
}


@pytest.mark.parametrize("build", LEFT_ALONE.values(), ids=LEFT_ALONE)
def test_a_scale_stays_where_it_would_be_wrong(t, build):
    program = t.program_of(build, t.floats(*IMAGE))
    assert str(BackwardFoldScaleAxis()(program)) == str(program)


def test_a_parameter_as_scale_is_left_until_it_is_frozen(t):
    program = t.program_of(lambda x, scale: conv6(x) * scale, t.floats(*IMAGE), t.floats(6, 1, 1))
    program.parameters["scale"] = program.inputs.pop()
    program.trainable["scale"] = True
    state = {"scale": s(6, 1, 1)}
    assert "multiply" in t.names(t.check(BackwardFoldScaleAxis(), program, state))
    both = Sequential([FreezeParameters(), BackwardFoldScaleAxis()])
    assert t.names(t.check(both, program, state)) == ["conv"]


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_a_cast_stops_a_scale(t, dtype):
    def build(x):
        return F.cast(conv6(x), dtype) * s(6, 1, 1, dtype=dtype)

    program = t.program_of(build, t.floats(*IMAGE))
    assert str(t.check(BackwardFoldScaleAxis(), program)) == str(program)


def test_integers_are_left_for_they_wrap(t):
    """int8: 100 * 2 is -56."""
    program = t.program_of(
        lambda x: F.matmul(x, np.int8([[100]])) * np.int8(2), t.floats(1, 1, dtype="int8")
    )
    after = t.check(BackwardFoldScaleAxis(), program)
    assert str(after) == str(program)
    assert t.run(after, [np.int8([[1]])])[0].tolist() == [[-56]]


def test_the_sign_of_a_scale_counts_in_both_branches_of_a_sum(t):
    """c1 = [1, 1], c2 = [2, -3], s = [-1, -2]: [-3, -2] and not [-1, 4]."""
    eye = np.eye(2, dtype=np.float32)
    program = t.program_of(
        lambda a, b: (F.matmul(a, eye) + F.relu(F.matmul(b, eye))) * np.float32([-1, -2]),
        t.floats(1, 2),
        t.floats(1, 2),
    )
    inputs = [np.float32([[1, 1]]), np.float32([[2, -3]])]
    for found in (program, t.check(BackwardFoldScaleAxis(), program)):
        assert t.run(found, inputs)[0].tolist() == [[-3, -2]]


def test_relu6_is_no_relu(t):
    """min(4 * 2, 6) = 6 is not 2 * min(4, 6) = 8."""
    program = t.program_of(
        lambda x: F.relu6(F.matmul(x, np.float32([[1]])) * np.float32(2)), t.floats(1, 1)
    )
    assert t.run(t.check(FoldScaleAxis(), program), [np.float32([[4]])])[0].tolist() == [[6]]


def test_scales_fold_inside_branches_and_loops(t):
    def build(x):
        def body(i, y):
            return [i + 1, F.relu(conv(y, w(4, 4, 3, 3), pad=1)) * s(4, 1, 1)]

        y = while_loop(lambda i, y: i < 2, body, [F.full([], 0, "int64"), x])[1]
        return cond(F.sum(x) > 0, lambda: [conv6(y) * w(6, 1, 1)], lambda: [conv6(y)])

    after = t.check(
        Sequential([FoldConstant(), BackwardFoldScaleAxis()]),
        t.program_of(build, t.floats(*IMAGE)),
    )
    assert "multiply" not in t.names(after) and t.names(after).count("conv") == 3


def test_weights_that_others_read_stay_for_them(t):
    shared = w(6, 4, 3, 3)

    def build(x):
        weights = apply("constant", value=shared)
        return [conv(x, weights) * w(6, 1, 1), conv(F.exp(x), weights)]

    after = t.check(BackwardFoldScaleAxis(), t.program_of(build, t.floats(*IMAGE)))
    assert t.names(after, constants=True).count("constant") == 2


def test_a_chain_of_residual_blocks_folds_every_scale_of_its_own(t):
    def build(x):
        for seed in range(3):
            x = F.relu(conv(x, w(4, 4, 3, 3, seed=seed), pad=1) * w(4, 1, 1, seed=seed)) + x
        return x

    after = t.check(FoldScaleAxis(), t.program_of(build, t.floats(*IMAGE)), rtol=1e-4)
    assert "multiply" not in t.names(after)


def test_it_is_of_level_three(t):
    program = t.program_of(FIRES["relu"], t.floats(*IMAGE))
    chain = Sequential([FoldScaleAxis()])
    assert str(t.check(chain, program, opt_level=2)) == str(program)
    assert t.names(t.check(chain, program, opt_level=3)) == ["conv", "add", "relu"]


def test_it_says_why_a_scale_stays(t):
    program = t.program_of(scaled_by(-1.0), t.floats(*IMAGE))
    with PassContext():
        (found,) = explain(BackwardFoldScaleAxis(), program)
    assert found.reason == "only positive scales pass `relu`"
