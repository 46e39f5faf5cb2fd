"""Peephole4, Peephole5, SkipOutputSoftmax, and Peephole, which is several of them."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st.passes import (
    Module,
    Peephole,
    Peephole4,
    Peephole5,
    SkipOutputSoftmax,
)
from dy2st_runtime.ir import F, apply
from dy2st_runtime.ops.control_flow import cond


def result(t, program, *inputs):
    return t.run(program, [np.array(x, np.float32) for x in inputs])[0]


# -- Peephole4 ------------------------------------------------------------------------------------

TURNS = {
    "two axes": ((2, 3), (0, 2, 1)),
    "channels last": ((3, 2, 5), (0, 2, 3, 1)),
    "channels first": ((2, 5, 3), (0, 3, 1, 2)),
    "all moved": ((2, 3, 4), (0, 3, 2, 1)),
    "ones": ((1, 4, 1), (0, 2, 3, 1)),
    "four axes": ((2, 3, 2, 3), (0, 4, 1, 3, 2)),
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("batch", ["n", 1, 3])
@pytest.mark.parametrize("kind", TURNS)
def test_a_transpose_goes_into_the_weights(t, kind, batch, dtype):
    sizes, perm = TURNS[kind]
    w = (t.array(int(np.prod(sizes)), 7) * 4).astype(dtype)

    def build(x):
        return F.matmul(F.flatten(F.transpose(x, perm), 1), w)

    after = t.settled(Peephole4(), t.program_of(build, t.floats(batch, *sizes, dtype=dtype)))
    assert t.names(after) == ["reshape", "matmul"]


def test_other_users_of_the_weights_keep_theirs(t):
    w = t.array(6, 6)

    def build(x, y):
        return [F.matmul(F.flatten(F.transpose(x, [0, 2, 1]), 1), w), F.matmul(y, w)]

    after = t.settled(Peephole4(), t.program_of(build, t.floats("n", 2, 3), t.floats("n", 6)))
    assert "transpose" not in t.names(after)


def test_peephole4_works_inside_branches_and_loops(t):
    w = t.array(6, 6)

    def build(x):
        return t.nested(lambda x: F.matmul(flattened(x), w), x, x.shape[0], 6)

    after = t.settled(Peephole4(), t.program_of(build, t.floats("n", 2, 3)))
    assert "transpose" not in t.names(after)


def flattened(x, perm=(0, 2, 1)):
    return F.flatten(F.transpose(x, perm), 1)


KEPT_4 = {
    "a batch that is moved": lambda t, x, w: F.matmul(
        F.reshape(F.transpose(x, [1, 0, 2]), [2, 9]), w(9)
    ),
    "a batch that is flattened": lambda t, x, w: F.matmul(
        F.reshape(F.transpose(x, [0, 2, 1]), [9, 2]), w(2)
    ),
    "no constant": lambda t, x, w: F.matmul(flattened(x), F.transpose(flattened(F.exp(x)), [1, 0])),
    "a stack of products": lambda t, x, w: F.matmul(
        F.reshape(F.transpose(x, [0, 2, 1]), [3, 1, 6]), w(6)
    ),
    "a transpose with other users": lambda t, x, w: [
        (y := F.transpose(x, [0, 2, 1])),
        F.matmul(F.flatten(y, 1), w(6)),
    ],
    "a reshape with other users": lambda t, x, w: [(y := flattened(x)), F.matmul(y, w(6))],
    "no reshape": lambda t, x, w: F.matmul(F.transpose(x, [0, 2, 1]), w(2)),
    "an operator between": lambda t, x, w: F.matmul(F.relu(flattened(x)), w(6)),
    "weights on the left": lambda t, x, w: F.matmul(t.array(2, 3), flattened(x)),
}


@pytest.mark.parametrize("kind", KEPT_4)
def test_peephole4_leaves_other_things_alone(t, kind):
    def build(x):
        return KEPT_4[kind](t, x, lambda rows: t.array(rows, 4))

    t.untouched(Peephole4(), t.program_of(build, t.floats(3, 2, 3)))


# -- Peephole5 ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("batch", ["n", 1, 4])
def test_a_dense_layer_becomes_a_convolution(t, batch, dtype):
    w = t.array(5, 3, dtype=dtype)
    program = t.program_of(lambda x: F.matmul(x, w), t.floats(batch, 5, dtype=dtype))
    after = t.settled(Peephole5(), program)
    assert t.names(after) == ["reshape", "conv", "reshape"]
    assert after.outputs[0].type == program.outputs[0].type
    (convolution,) = [o for o in after.operators if o.name == "conv"]
    assert convolution.operands[1].shape == [3, 5, 1, 1]


@pytest.mark.parametrize(("threshold", "fires"), [(5, True), (4, False), (6, True)])
def test_the_threshold_is_inclusive(t, threshold, fires):
    program = t.program_of(lambda x: F.matmul(x, t.array(5, 3)), t.floats("n", 5))
    assert ("conv" in t.names(t.settled(Peephole5(threshold), program))) == fires


@pytest.mark.parametrize(("channels", "fires"), [(2048, True), (2049, False)])
def test_up_to_2048_input_channels_are_convolved(t, channels, fires):
    program = t.program_of(lambda x: F.matmul(x, t.array(channels, 1)), t.floats(2, channels))
    assert ("conv" in t.names(t.check(Peephole5(), program, seeds=1, rtol=1e-4))) == fires


KEPT_5 = {
    "three axes": (lambda t, x: F.matmul(F.reshape(x, [1, *x.shape]), t.array(4, 3)), "no matrix"),
    "a stack": (lambda t, x: F.matmul(x, t.array(2, 4, 3)), "no matrix"),
    "a vector": (lambda t, x: F.matmul(x, t.array(4)), "no matrix"),
    "integers": (
        lambda t, x: F.matmul(F.cast(x, "int64"), np.ones((4, 3), "int64")),
        "only floats",
    ),
    "no constant": (lambda t, x: F.matmul(x, F.transpose(x, [1, 0])), None),
    "constants": (
        lambda t, x: x + F.matmul(apply("constant", value=t.array(1, 4)), t.array(4, 4)),
        None,
    ),
}


@pytest.mark.parametrize("kind", KEPT_5)
def test_peephole5_leaves_other_things_alone(t, kind):
    function, reason = KEPT_5[kind]
    t.untouched(Peephole5(), t.program_of(lambda x: function(t, x), t.floats(2, 4)), reason)


def test_peephole5_works_inside_branches_and_loops(t):
    program = t.program_of(
        lambda x: t.nested(lambda x: F.matmul(x, t.array(3, 3)), x, *x.shape), t.floats("n", 3)
    )
    found = t.names(t.settled(Peephole5(), program))
    assert "matmul" not in found and "conv" in found


def test_a_product_over_no_channels_stays_correct(t):
    program = t.program_of(lambda x: F.matmul(x, np.zeros((0, 3), np.float32)), t.floats("n", 0))
    assert not result(t, t.check(Peephole5(), program), np.zeros((2, 0))).any()


# -- SkipOutputSoftmax ----------------------------------------------------------------------------


def skipped(t, program, **options):
    module = SkipOutputSoftmax(**options)(Module({"main": program}))
    return module.programs["main"], module.epilogues.get("main", {})


LAST = {
    "softmax": lambda x: apply("softmax", x, axis=1),
    "log_softmax": lambda x: apply("log_softmax", x, axis=0),
    "sigmoid": F.sigmoid,
}


@pytest.mark.parametrize("name", LAST)
def test_the_last_operator_goes_and_is_kept_for_the_host(t, name):
    program = t.program_of(lambda x: LAST[name](F.exp(x)), t.floats("n", 3))
    after, kept = skipped(t, program)
    assert t.names(after) == ["exp"] and list(kept) == [0] and kept[0][0] == name
    x = t.array(2, 3)
    (logits,) = t.run(after, [x])
    on_host = t.program_of(lambda y: apply(kept[0][0], y, **kept[0][1]), t.floats(2, 3))
    t.compare(t.run(program, [x]), t.run(on_host, [logits]))


def test_each_output_has_its_own_epilogue(t):
    program = t.program_of(
        lambda x: [F.exp(x), F.sigmoid(x), x, apply("softmax", F.tanh(x), axis=-1)], t.floats(2, 3)
    )
    after, kept = skipped(t, program)
    assert t.names(after) == ["exp", "tanh"]
    assert {index: name for index, (name, _) in kept.items()} == {1: "sigmoid", 3: "softmax"}
    assert after.outputs[1] is after.inputs[0] and after.outputs[2] is after.inputs[0]


@pytest.mark.parametrize("allowed", [False, True])
def test_an_argmax_goes_on_request(t, allowed):
    program = t.program_of(lambda x: F.argmax(F.exp(x), axis=1), t.floats("n", 3))
    after, kept = skipped(t, program, argmax=allowed)
    assert t.names(after) == ["exp"] + ["argmax"] * (not allowed)
    assert [name for name, _ in kept.values()] == ["argmax"] * allowed


KEPT_SOFTMAX = {
    "another user": lambda x: [(y := F.sigmoid(x)), y * 2.0],
    "two outputs": lambda x: [(y := F.sigmoid(x)), y],
    "not the last": lambda x: F.sigmoid(x) * 2.0,
    "in a branch": lambda x: cond(F.sum(x) > 0, lambda: [F.sigmoid(x)], lambda: [x]),
}


@pytest.mark.parametrize("kind", KEPT_SOFTMAX)
def test_an_operator_that_is_needed_stays(t, kind):
    program = t.program_of(KEPT_SOFTMAX[kind], t.floats("n", 3))
    after, kept = skipped(t, program)
    assert str(after) == str(program) and not kept


def test_a_second_application_does_not_forget_what_the_first_left_out(t):
    program = t.program_of(lambda x: F.sigmoid(apply("softmax", x, axis=1)), t.floats("n", 3))
    module = SkipOutputSoftmax()(SkipOutputSoftmax()(Module({"main": program})))
    assert module.epilogues["main"][0][0] == "sigmoid"
    assert t.names(module.programs["main"]) == ["softmax"]


# -- Peephole -------------------------------------------------------------------------------------


def test_a_scale_after_a_bias_ends_up_in_the_weights(t):
    def build(x):
        return F.relu(
            (F.conv2d(x, t.array(4, 3, 3, 3)) + t.array(4, 1, 1)) * t.array(4, 1, 1, seed=3)
        )

    after = t.settled(Peephole(), t.program_of(build, t.floats("n", 3, 6, 6)))
    found = t.names(after)
    assert found == ["conv", "add", "relu"] or found == ["conv", "relu"]


def test_what_pays_on_accelerators_alone_is_done_on_request(t):
    def build(x, y):
        return F.concat([F.matmul(x, t.array(3, 3)), x], axis=1) + y

    program = t.program_of(build, t.floats("n", 3), t.floats("n", 6))
    t.untouched(Peephole(), program)
    found = t.names(t.settled(Peephole(dense_to_conv=True, pad_residuals=True), program))
    assert "conv" in found and "pad" in found and "concat" not in found


def test_thirty_residual_blocks_stay_linear(t):
    def build(x):
        for i in range(30):
            y = (F.conv2d(x, t.array(4, 4, 1, 1, seed=i) * 0.3) + t.array(4, 1, 1)) * 0.5
            x = x + F.relu(y)
        return x

    program = t.program_of(build, t.floats(1, 4, 2, 2))
    found = t.names(t.settled(Peephole(), program, rtol=1e-4))
    assert found.count("conv") == 30 and "multiply" not in found


@pytest.mark.parametrize("pad_residuals", [False, True])
def test_a_constant_of_five_channels_meets_an_unknown_number(t, pad_residuals):
    def build(x, y):
        return (F.relu(x + t.array(5, 1)) * t.array(1, 5) + 1.0) * F.exp(y)

    program = t.program_of(build, t.floats("n", "m"), t.floats("n", "m"))
    t.settled(Peephole(dense_to_conv=True, pad_residuals=pad_residuals), program)
