"""FoldBias and CanonicalizeOps, which is the other way round."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st.passes import CanonicalizeOps, FoldBias, FoldConstant, Sequential
from dy2st_runtime.ir import F, apply
from dy2st_runtime.ops.control_flow import cond, while_loop
from tests.dy2st.passes.scales import conv, conv6, w

IMAGE = ("n", 4, 6, 6)


FOLDS = {
    "(c, 1, 1)": lambda x: conv6(x) + w(6, 1, 1),
    "(1, c, 1, 1)": lambda x: conv6(x) + w(1, 6, 1, 1),
    "on the left": lambda x: F.add(w(6, 1, 1), conv6(x)),
    "by the function": lambda x: F.conv2d(x, w(6, 4, 3, 3), w(6)),
    "groups": lambda x: conv(x, w(6, 2, 3, 3), groups=2) + w(6, 1, 1),
    "depthwise, two filters": lambda x: conv(x, w(8, 1, 3, 3), groups=4) + w(8, 1, 1),
    "geometry": lambda x: conv(x, w(6, 4, 3, 3), stride=2, pad=1) + w(6, 1, 1),
    "one channel": lambda x: conv(x, w(1, 4, 3, 3)) + w(1, 1, 1),
    "conv1d": lambda x: conv(F.flatten(x, 2), w(5, 4, 3)) + w(5, 1),
    "conv3d": lambda x: conv(F.unsqueeze(x, [4]), w(5, 4, 3, 3, 1)) + w(1, 5, 1, 1, 1),
    "conv_transpose": lambda x: F.conv2d_transpose(x, w(4, 5, 3, 3), w(5)),
    "conv_transpose, groups": lambda x: F.conv2d_transpose(x, w(4, 3, 3, 3), w(6), groups=2),
    "second bias": lambda x: conv6(x, bias=w(6)) + w(6, 1, 1),
    "two additions": lambda x: (conv6(x) + w(6, 1, 1)) + w(1, 6, 1, 1),
}


@pytest.mark.parametrize("build", FOLDS.values(), ids=FOLDS)
def test_an_addition_by_channel_becomes_the_bias(t, build):
    after = t.check(FoldBias(), t.program_of(build, t.floats(*IMAGE)), rtol=1e-5)
    assert [n for n in t.names(after) if n not in ("reshape", "flatten")] in (
        ["conv"],
        ["conv_transpose"],
        ["unsqueeze", "conv"],
    )
    assert str(t.check.again) == str(after)


def test_the_bias_is_a_vector_of_the_same_numbers(t):
    after = t.check(FoldBias(), t.program_of(FOLDS["(1, c, 1, 1)"], t.floats(*IMAGE)))
    (operator,) = [o for o in after.operators if o.name == "conv"]
    np.testing.assert_array_equal(
        operator.operands[2].maker.attributes["value"], w(1, 6, 1, 1).reshape(6)
    )


def test_a_bias_may_be_computed_after_the_convolution(t):
    def build(x, b):
        y = conv6(x)
        return y + F.reshape(F.exp(b), [6, 1, 1])

    after = t.check(FoldBias(), t.program_of(build, t.floats(*IMAGE), t.floats(6)))
    assert t.names(after) == ["exp", "reshape", "reshape", "conv"]


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_other_floats_fold_too(t, dtype):
    program = t.program_of(
        lambda x: conv(x, w(6, 4, 3, 3, dtype=dtype)) + w(6, 1, 1, dtype=dtype),
        t.floats(*IMAGE, dtype=dtype),
    )
    assert t.names(t.check(FoldBias(), program, rtol=1e-2)) == ["conv"]


def also(function):
    def build(x):
        y = conv6(x)
        return [y + w(6, 1, 1), function(y)]

    return build


def in_cond(y):
    return cond(F.sum(y) > 0, lambda: [F.exp(y)], lambda: [F.neg(y)])[0]


LEFT_ALONE = {
    "one number": lambda x: conv6(x) + np.float32(0.5),
    "(1,)": lambda x: conv6(x) + w(1),
    "one number for all channels": lambda x: conv6(x) + w(1, 1, 1),
    "along a width": lambda x: conv6(x) + w(4),
    "along a height": lambda x: conv6(x) + w(4, 1),
    "of every place": lambda x: conv6(x) + w(6, 4, 4),
    "of every sample": lambda x: conv6(x[:2]) + w(2, 6, 1, 1),
    "a wider sum": lambda x: conv6(x[:1]) + w(3, 6, 1, 1),
    "channels that broadcast": lambda x: conv(x, w(1, 4, 3, 3)) + w(6, 1, 1),
    "subtracted": lambda x: conv6(x) - w(6, 1, 1),
    "multiplied": lambda x: conv6(x) * w(6, 1, 1),
    "another dtype": lambda x: conv6(x) + w(6, 1, 1, dtype="float64"),
    "another dtype behind a bias": lambda x: conv6(x, bias=w(6)) + w(6, 1, 1, dtype="float64"),
    "a second bias too large": lambda x: (
        conv6(x, bias=np.full(6, 3e38, "f4")) + np.full((6, 1, 1), 3e38, "f4")
    ),
    "a second bias that is computed": lambda x: (
        conv6(x, bias=w(6)) + F.mean(F.exp(x), axis=[0, 2, 3])[0] * w(6, 1, 1)
    ),
    "behind relu": lambda x: F.relu(conv6(x)) + w(6, 1, 1),
    "behind matmul": lambda x: F.matmul(x, w(6, 5)) + w(4, 1, 1),
    "also an operand": also(F.exp),
    "also an output": also(lambda y: y),
    "also in a branch": also(in_cond),
    "a residual": lambda x: conv(x, w(4, 4, 3, 3), pad=1) + x,
}


@pytest.mark.parametrize("build", LEFT_ALONE.values(), ids=LEFT_ALONE)
def test_what_is_no_bias_stays_an_addition(t, build):
    program = t.program_of(build, t.floats(*IMAGE))
    assert str(FoldBias()(program)) == str(program)


EXPANDS = {
    "conv": lambda x: conv6(x, bias=w(6)),
    "conv1d": lambda x: conv(F.flatten(x, 2), w(5, 4, 3), w(5)),
    "conv3d": lambda x: conv(F.unsqueeze(x, [4]), w(5, 4, 3, 3, 1), w(5)),
    "groups": lambda x: conv(x, w(6, 2, 3, 3), w(6), groups=2),
    "a bias that is computed": lambda x: conv6(x, bias=F.exp(F.reshape(x[0, 0, 0], [6]))),
    "conv_transpose": lambda x: apply(
        "conv_transpose", x, w(4, 5, 3, 3), w(5), sizes=(8, 8), strides=(1, 1),
        pads=((0, 0),) * 2, dilations=(1, 1), groups=1,
    ),
}  # fmt: skip


@pytest.mark.parametrize("build", EXPANDS.values(), ids=EXPANDS)
def test_a_bias_becomes_an_addition_again(t, build):
    program = t.program_of(build, t.floats(*IMAGE))
    after = t.check(CanonicalizeOps(), program)
    assert t.names(after)[-1] == "add"
    assert all(len(o.operands) == 2 for o in after.operators if o.name.startswith("conv"))
    assert after.outputs[0].tensor_type == program.outputs[0].tensor_type
    assert str(t.check.again) == str(after)


def test_a_convolution_without_bias_stays(t):
    program = t.program_of(conv6, t.floats(*IMAGE))
    assert str(CanonicalizeOps()(program)) == str(program)


def test_the_two_passes_undo_each_other(t):
    program = t.program_of(lambda x: F.relu(conv6(x, bias=w(6))), t.floats(*IMAGE))
    chain = Sequential([CanonicalizeOps(), FoldConstant(), FoldBias()])
    after = t.check(chain, program, rtol=0)
    assert str(after) == str(program)


def test_both_work_inside_branches_and_loops(t):
    def build(x):
        def body(i, y):
            return [i + 1, F.tanh(conv(y, w(4, 4, 3, 3), pad=1) + w(4, 1, 1))]

        y = while_loop(lambda i, y: i < 2, body, [F.full([], 0, "int64"), x])[1]
        return cond(F.sum(x) > 0, lambda: [conv6(y) + w(6, 1, 1)], lambda: [conv6(y, bias=w(6))])

    program = t.program_of(build, t.floats(*IMAGE))
    folded = [o for o in t.check(FoldBias(), program).block.walk() if o.name == "conv"]
    assert [len(o.operands) for o in folded] == [3, 3, 3]
    expanded = [o for o in t.check(CanonicalizeOps(), program).block.walk() if o.name == "conv"]
    assert [len(o.operands) for o in expanded] == [2, 2, 2]


@pytest.mark.parametrize(("made", "level"), [(FoldBias, 2), (CanonicalizeOps, 3)])
def test_they_are_of_levels_two_and_three(t, made, level):
    build = FOLDS["(c, 1, 1)"] if made is FoldBias else EXPANDS["conv"]
    program = t.program_of(build, t.floats(*IMAGE))
    chain = Sequential([made()])
    assert str(t.check(chain, program, opt_level=level - 1)) == str(program)
    assert str(t.check(chain, program, opt_level=level)) != str(program)
