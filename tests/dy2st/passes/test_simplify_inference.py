"""SimplifyInference: normalisations as arithmetic that convolutions take in, dropout as nothing."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st.passes import (
    FoldBias,
    FoldConstant,
    FoldScaleAxis,
    FreezeParameters,
    Sequential,
    SimplifyInference,
)
from dy2st_runtime.ir import F, apply
from dy2st_runtime.ops.control_flow import cond, while_loop
from dy2st_runtime.ops.generator import seed
from tests.dy2st.passes.scales import s, w

NORMS = {"batch_norm", "layer_norm"}
FOLD = [SimplifyInference(), FoldConstant(), FoldScaleAxis()]


def norm(x, axis=1, affine=2, epsilon=1e-3, dtype="float32"):
    """A batch_norm with weight and bias, weight alone, or nothing."""
    c = x.shape[axis]
    given = [w(c, dtype=dtype), s(c, dtype=dtype), w(c, seed=1, dtype=dtype), w(c, seed=2)]
    given[3] = given[3].astype(dtype)
    return apply("batch_norm", x, *given[: 2 + affine], axis=axis, epsilon=epsilon)


def conv(x, out=6, seed=0, groups=1):
    """A convolution of 3 x 3."""
    return F.conv2d(x, w(out, x.shape[1] // groups, 3, 3, seed=seed), groups=groups)


@pytest.mark.parametrize("affine", [0, 1, 2])
@pytest.mark.parametrize(
    ("shape", "axis"),
    [
        (("n", 4), 1),
        (("n", 4, 5), 1),
        (("n", 4, "h", 3), 1),
        (("n", 5, 3, 4), 3),
        ((4, "n", 3, 2), 0),
        (("n", 4, 2, 2, 3), 1),
    ],
)
def test_batch_norm_becomes_one_product_and_one_sum(t, shape, axis, affine):
    program = t.program_of(lambda x: norm(x, axis, affine), t.floats(*shape))
    after = t.check(Sequential([SimplifyInference(), FoldConstant()]), program)
    assert t.names(after) == ["multiply", "add"]


@pytest.mark.parametrize("axis", [-1, -3])
def test_a_negative_axis_counts_from_the_end(t, axis):
    program = t.program_of(lambda x: norm(x, axis), t.floats("n", 3, 4, 5))
    after = t.check(Sequential([SimplifyInference(), FoldConstant()]), program)
    assert t.names(after) == ["multiply", "add"]


def test_the_numbers_are_those_of_the_formula(t):
    program = t.program_of(lambda x: norm(x, epsilon=0.5), t.floats(2, 3, 2))
    x = w(2, 3, 2, seed=7)
    mean, variance, weight, bias = (
        v.astype(np.float64)[:, None] for v in (w(3), s(3), w(3, seed=1), w(3, seed=2))
    )
    expected = (x - mean) / np.sqrt(variance + 0.5) * weight + bias
    found = t.run(t.check(SimplifyInference(), program), [x])[0]
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_three_norms_of_the_first_axis_with_dropout_between(t):
    def build(x):
        for _ in range(3):
            x = F.dropout(norm(x, 0, epsilon=0.01), 0.25)
        return x

    program = t.program_of(build, t.floats(4, "n", 3, 3))
    after = t.check(Sequential([SimplifyInference(), FoldConstant()]), program)
    assert t.names(after) == ["multiply", "add"] * 3


@pytest.mark.parametrize(
    ("statistics", "rtol"), [("float16", 1e-2), ("float32", 4e-3), ("float64", 4e-3)]
)
def test_half_floats_are_scaled_in_half_floats(t, statistics, rtol):
    program = t.program_of(
        lambda x: norm(x, dtype=statistics), t.floats("n", 4, 3, dtype="float16")
    )
    after = t.check(SimplifyInference(), program, rtol=rtol)
    assert after.outputs[0].tensor_type.dtype == np.float16


@pytest.mark.parametrize(("mean", "is_taken_off_first"), [(1.0, False), (1e2, False), (1e4, True)])
def test_large_means_are_taken_off_before_digits_cancel(t, mean, is_taken_off_first):
    statistics = [np.full(3, mean, "float32"), np.ones(3, "float32")]
    program = t.program_of(
        lambda x: apply("batch_norm", x, *statistics, w(3), w(3), axis=1, epsilon=0.0),
        t.floats("n", 3),
    )
    after = Sequential([SimplifyInference(), FoldConstant()])(program)
    first = "subtract" if is_taken_off_first else "multiply"
    assert t.names(after)[0] == first
    x = (w(50, 3) + mean).astype(np.float32)
    exact = (x.astype(np.float64) - mean) * w(3) + w(3)
    assert np.abs(t.run(after, [x])[0] - exact).max() < 1e-4


@pytest.mark.parametrize(
    "function",
    [
        lambda x: F.layer_norm(x, 6),
        lambda x: F.layer_norm(x, [4, 6], w(4, 6), w(4, 6), 0.1),
        lambda x: F.layer_norm(x, 6, s(6)),
        lambda x: F.layer_norm(x, 6, bias=w(6)),
        lambda x: F.group_norm(x, 2, 1e-3, w(4), w(4)),
        lambda x: F.group_norm(x, 3, 1e-3, w(6), w(6), data_format="NLC"),
        lambda x: F.instance_norm(x, weight=w(4), bias=w(4)),
    ],
    ids=["layer", "two axes", "weight", "bias", "group", "group, channels last", "instance"],
)
def test_other_norms_become_arithmetic(t, function):
    after = t.check(SimplifyInference(), t.program_of(function, t.floats("n", 4, 6)), rtol=1e-4)
    assert not NORMS & set(t.names(after))


def test_layer_norm_stays_whole_for_engines_that_have_it(t):
    program = t.program_of(lambda x: F.layer_norm(norm(x), 6), t.floats("n", 4, 6))
    after = t.check(SimplifyInference(layer_norm=False), program)
    assert NORMS & set(t.names(after)) == {"layer_norm"}


def test_statistics_of_the_batch_are_simplified_too(t):
    """A training Program's batch_norm computes just that with what it is given."""

    def build(x):
        mean = F.mean(x, axis=[0, 2])
        variance = F.mean(F.square(x - F.reshape(mean, [1, -1, 1])), axis=[0, 2])
        return apply("batch_norm", x, mean, variance, axis=1, epsilon=1e-3)

    after = t.check(SimplifyInference(), t.program_of(build, t.floats("n", 4, 6)), rtol=1e-4)
    assert not NORMS & set(t.names(after))


# -- dropout --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "function",
    [
        lambda x: F.dropout(x, 0.3),
        lambda x: F.dropout(x, 0.3, axis=[0, 1]),
        lambda x: F.dropout2d(x, 0.9),
        lambda x: F.multiply(F.bernoulli(F.full(x.shape, 0.5, "float32")) / 0.5, x),
    ],
    ids=["elements", "slices", "channels", "on the left"],
)
@pytest.mark.parametrize("shape", [("n", 4, 6, 5), (2, 3, 4, 5)], ids=["unknown", "known"])
@pytest.mark.parametrize("first", [[], [FoldConstant()]], ids=["at once", "folded before"])
def test_dropout_is_nothing(t, function, shape, first):
    program = t.program_of(function, t.floats(*shape))
    after = Sequential([*first, SimplifyInference()])(program)
    assert t.names(after) == [] and after.outputs[0] is after.inputs[0]


NO_DROPOUT = {
    "another rate": lambda x: x * (F.bernoulli(F.full(x.shape, 0.5, "float32")) / 0.25),
    "rates by channel": lambda x: (
        x * (F.bernoulli(F.full(x.shape, 0.5, "float32")) / np.float32([0.5, 0.4]))
    ),
    "no rate": lambda x: x * F.bernoulli(F.full(x.shape, 0.5, "float32")),
    "a rate of its own for each": lambda x: x * (F.bernoulli(F.abs(x)) / 0.5),
    "a wider mask": lambda x: (
        F.mean(x, 1, keepdim=True) * (F.bernoulli(F.full(x.shape, 0.5, "float32")) / 0.5)
    ),
    "a sum": lambda x: x + F.bernoulli(F.full(x.shape, 0.5, "float32")) / 0.5,
    "all is dropped": lambda x: F.dropout(x, 1.0),
    "downscale_in_infer": lambda x: F.dropout(x, 0.3, mode="downscale_in_infer"),
}


@pytest.mark.parametrize("build", NO_DROPOUT.values(), ids=NO_DROPOUT)
@pytest.mark.parametrize("rows", ["n", 3])
def test_random_numbers_that_are_no_dropout_stay(t, build, rows):
    program = t.program_of(build, t.floats(rows, 2))
    assert str(SimplifyInference()(program)) == str(program)
    after = Sequential([FoldConstant(), SimplifyInference()])(program)
    results = []
    for candidate in (program, after):
        seed(3)
        results.append(t.run(candidate, [w(3, 2)])[0])
    np.testing.assert_array_equal(*results)


def test_a_mask_that_is_read_stays_for_its_reader(t):
    def build(x):
        mask = F.bernoulli(F.full(x.shape, 0.5, "float32")) / 0.5
        return [x * mask, mask]

    program = t.program_of(build, t.floats("n", 2))
    assert str(SimplifyInference()(program)) == str(program)


# -- where it stands, and what it is for ------------------------------------------------------------


def test_norms_are_simplified_inside_branches_and_loops(t):
    def build(x):
        initial = [F.full([], 0, "int64"), x]
        y = while_loop(lambda i, y: i < 2, lambda i, y: [i + 1, F.tanh(norm(y))], initial)[1]
        return cond(F.sum(x) > 0, lambda: [norm(y)], lambda: [F.layer_norm(y, 3)])

    after = t.check(SimplifyInference(), t.program_of(build, t.floats("n", 4, 3)), rtol=1e-4)
    assert not NORMS & set(t.names(after))


@pytest.mark.parametrize("affine", [0, 1, 2])
@pytest.mark.parametrize("channels_last", [False, True])
def test_a_batch_norm_goes_into_the_convolution_before_it(t, affine, channels_last):
    def build(x):
        y = F.transpose(conv(x), [0, 2, 3, 1]) if channels_last else conv(x)
        return norm(y, 3 if channels_last else 1, affine)

    after = t.check(Sequential(FOLD), t.program_of(build, t.floats("n", 4, 6, 6)), rtol=1e-4)
    assert t.names(after) == ["conv", *["transpose"][: int(channels_last)], "add"]


@pytest.mark.parametrize(
    "build",
    [
        lambda x: norm(conv(x, 6, groups=2)),
        lambda x: norm(conv(x, 8, groups=4)),
        lambda x: norm(F.conv2d_transpose(x, w(4, 3, 2, 2), groups=2)),
        lambda x: norm(F.conv2d(x, w(6, 4, 3, 3), w(6))),
    ],
    ids=["groups", "depthwise, two filters", "conv_transpose", "bias"],
)
def test_convolution_bias_and_batch_norm_are_one_operator(t, build):
    program = t.program_of(build, t.floats("n", 4, 6, 6))
    after = t.check(Sequential([*FOLD, FoldBias()]), program, rtol=1e-4)
    assert len(t.names(after)) == 1


def test_frozen_statistics_fold_and_others_are_computed(t):
    def build(x, mean, variance):
        return apply("batch_norm", conv(x), mean, variance, axis=1, epsilon=1e-3)

    program = t.program_of(build, t.floats("n", 4, 6, 6), t.floats(6), t.floats(6))
    for name in ("variance", "mean"):
        program.buffers = {name: program.inputs.pop(), **program.buffers}
    state = {"mean": w(6), "variance": s(6)}
    assert "multiply" in t.names(t.check(Sequential(FOLD), program, state, rtol=1e-4))
    after = t.check(Sequential([FreezeParameters(), *FOLD]), program, state, rtol=1e-4)
    assert t.names(after) == ["conv", "add"]


def test_a_batch_norm_behind_a_convolution_with_other_users_stays_outside(t):
    def build(x):
        y = conv(x)
        return [norm(y), F.exp(y)]

    after = t.check(Sequential(FOLD), t.program_of(build, t.floats("n", 4, 6, 6)), rtol=1e-4)
    assert sorted(t.names(after)) == ["add", "conv", "exp", "multiply"]


def test_twice_is_once(t):
    program = t.program_of(lambda x: F.layer_norm(norm(conv(x)), 4), t.floats("n", 4, 6, 6))
    after = t.check(SimplifyInference(), program, rtol=1e-4)
    assert str(t.check.again) == str(after)
