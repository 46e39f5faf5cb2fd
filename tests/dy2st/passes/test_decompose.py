"""DecomposeOps, and MutateOpsForTraining, whose reference is the training step in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st.passes import (
    DecomposeOps,
    DecomposeOpsForInference,
    DecomposeOpsForTraining,
    Module,
    MutateOpsForTraining,
    Sequential,
)
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F, apply
from dy2st_runtime.ir.checks.verifier import verify
from dy2st_runtime.ops.control_flow import cond, while_loop
from tests.dy2st.passes.scales import s, w


def normed(x, *given, axis=1, epsilon=1e-3):
    """The operator itself."""
    return apply("batch_norm", x, *given, axis=axis, epsilon=epsilon)


def with_buffers(t, function, *types, channels=3, count=2, dtype="float32"):
    """A Program whose last inputs are the buffers `mean`, `variance`, `mean2`, ..."""
    statistics = [t.floats(channels, dtype=dtype)] * count
    program = t.program_of(function, *types, *statistics)
    own = len(types)
    tail, program.inputs = program.inputs[own:], program.inputs[:own]
    names = ("mean", "variance", "mean2", "variance2")
    program.buffers = dict(zip(names[:count], tail, strict=True))
    for name, variable in program.buffers.items():
        variable.name = name
    return verify(program)


# -- at inference -----------------------------------------------------------------------------------


@pytest.mark.parametrize("affine", [0, 1, 2])
@pytest.mark.parametrize(
    ("shape", "axis"), [((1, 3, 8, 8), 1), (("n", 4, 3), -1), ((3, "n"), 0), (("n", 3, "h"), -2)]
)
def test_batch_norm_becomes_four_steps(t, shape, axis, affine):
    given = [w(3), s(3), w(3, seed=1), w(3, seed=2)][: 2 + affine]
    program = t.program_of(lambda x: normed(x, *given, axis=axis), t.floats(*shape))
    after = t.check(DecomposeOps(), program)
    steps = [name for name in t.names(after) if name != "reshape"]
    assert steps == ["add", "sqrt", "subtract", "divide", "multiply", "add"][: 4 + affine]
    assert str(t.check.again) == str(after)


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_the_result_keeps_the_dtype_of_x(t, dtype):
    program = t.program_of(lambda x: normed(x, w(3), s(3)), t.floats("n", 3, dtype=dtype))
    after = t.check(DecomposeOps(), program, rtol=5e-3 if dtype == "float16" else 1e-6)
    assert after.outputs[0].tensor_type.dtype == dtype


@pytest.mark.parametrize("shape", [(2, 3), ("n", 3, "h"), ("n",)])
def test_a_shape_becomes_its_sizes(t, shape):
    program = t.program_of(lambda x: [F.shape(x), F.exp(x)], t.floats(*shape))
    after = t.check(DecomposeOps(), program)
    assert "shape" not in t.names(after) and "stack" in t.names(after)
    assert after.outputs[0].tensor_type == program.outputs[0].tensor_type
    assert str(t.check.again) == str(after)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: F.layer_norm(x, 3),
        lambda x: F.dropout(x, 0.5),
        lambda x: apply("shape", F.sum(x)),
        lambda x: F.softmax(x) + 1.0,
    ],
    ids=["layer_norm", "dropout", "shape of a number", "others"],
)
def test_everything_else_stays_at_inference(t, function):
    program = t.program_of(function, t.floats("n", 3))
    assert str(DecomposeOps()(program)) == str(program)


def test_it_works_inside_branches_and_loops(t):
    def build(x):
        def body(i, y):
            return [i + 1, F.tanh(normed(y, w(3), s(3)))]

        y = while_loop(lambda i, y: i < 2, body, [F.full([], 0, "int64"), x])[1]
        sizes = cond(F.sum(x) > 0, lambda: [F.shape(y)], lambda: [F.shape(y) * 2])
        return [y, *sizes]

    after = t.check(DecomposeOps(), t.program_of(build, t.floats("n", 3)))
    assert not {"batch_norm", "shape"} & set(t.names(after))


def test_statistics_of_the_batch_are_decomposed_as_they_are(t):
    def build(x):
        mean = F.mean(x, axis=[0])
        return normed(x, mean, F.mean(F.square(x - mean), axis=[0]))

    after = t.check(DecomposeOps(), t.program_of(build, t.floats("n", 3)), rtol=1e-4)
    assert "batch_norm" not in t.names(after)


def two_programs(t):
    def build(x):
        return normed(x, w(3), s(3))

    programs = [t.program_of(build, t.floats("n", 3), name=name) for name in ("main", "main1")]
    return Module({program.name: program for program in programs})


@pytest.mark.parametrize("made", [DecomposeOpsForInference, DecomposeOpsForTraining])
def test_a_name_selects_exactly_one_program(t, made):
    """`main` is not `main1`."""
    for name, changed in ((None, {"main", "main1"}), ("main", {"main"}), ("main1", {"main1"})):
        after = made(name)(two_programs(t))
        found = {k for k, p in after.programs.items() if "batch_norm" not in t.names(p)}
        assert found == changed


@pytest.mark.parametrize("made", [DecomposeOpsForInference, DecomposeOpsForTraining])
def test_a_name_that_nothing_has_is_an_error(t, made):
    with pytest.raises(ArgumentError, match="mian"):
        made("mian")(two_programs(t))


# -- training ---------------------------------------------------------------------------------------


def step(x, old, axis, momentum, unbiased, epsilon=1e-3):
    """y, and the new running mean and variance, in float64."""
    others = tuple(a for a in range(x.ndim) if a != axis)
    wide = x.astype(np.float64)
    mean, variance = wide.mean(others, keepdims=True), wide.var(others, keepdims=True)
    y = (wide - mean) / np.sqrt(variance + epsilon)
    count = x.size // x.shape[axis]
    observed = variance * (count / (count - 1) if unbiased else 1.0)
    batch = (mean.reshape(-1), observed.reshape(-1))
    return y, *(momentum * o + (1 - momentum) * b for o, b in zip(old, batch, strict=True))


@pytest.mark.parametrize("unbiased", [False, True])
@pytest.mark.parametrize("momentum", [0.9, 0.1])
@pytest.mark.parametrize(
    ("shape", "axis"),
    [((2, 3, 4, 5), 1), ((2, 4, 3), -1), (("n", 3), 1), (("n", 3, "h"), -2), ((3, "n"), 0)],
)
@pytest.mark.parametrize("made", [MutateOpsForTraining, DecomposeOpsForTraining])
def test_the_batch_gives_the_statistics_and_moves_the_running_ones(
    t, made, shape, axis, momentum, unbiased
):
    program = with_buffers(t, lambda x, *v: normed(x, *v, axis=axis), t.floats(*shape))
    before = str(program)
    after = verify(made(momentum=momentum, unbiased=unbiased)(program))
    assert str(program) == before and after.updates == ["mean", "variance"]
    assert ("batch_norm" in t.names(after)) == (made is MutateOpsForTraining)
    x = w(*[{"n": 5, "h": 2}.get(size, size) for size in shape]) * 2 + 1
    state = {"mean": w(3), "variance": s(3)}
    expected = step(x, state.values(), axis % x.ndim, momentum, unbiased)
    for left, right in zip(t.run(after, [x], state), expected, strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-4, atol=1e-5)


def test_the_same_running_statistics_move_once_for_every_use(t):
    """A norm that is called twice moves them twice, one after the other."""
    program = with_buffers(
        t, lambda x, z, *v: [normed(x, *v), normed(z, *v)], t.floats("n", 3), t.floats("m", 3)
    )
    after = verify(MutateOpsForTraining(0.5)(program))
    x, z, state = w(4, 3), w(5, 3) + 2, {"mean": w(3), "variance": s(3)}
    first = step(x, state.values(), 1, 0.5, False)
    second = step(z, first[1:], 1, 0.5, False)
    for left, right in zip(t.run(after, [x, z], state), (first[0], *second), strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("made", [MutateOpsForTraining, DecomposeOpsForTraining, DecomposeOps])
def test_what_is_recorded_keeps_the_place_in_the_source(t, made):
    program = with_buffers(t, normed, t.floats("n", 3))
    (old,) = [o.location for o in program.operators]
    assert old is not None and {o.location for o in made()(program).operators} == {old}


def test_two_norms_move_statistics_of_their_own(t):
    program = with_buffers(
        t, lambda x, a, b, c, d: normed(F.exp(normed(x, a, b)), c, d), t.floats(5, 3), count=4
    )
    after = verify(DecomposeOpsForTraining()(program))
    assert after.updates == ["mean", "variance", "mean2", "variance2"]
    x = w(5, 3)
    state = {"mean": w(3), "variance": s(3), "mean2": w(3, seed=1), "variance2": s(3) * 2}
    first = step(x, [state["mean"], state["variance"]], 1, 0.9, False)
    second = step(np.exp(first[0]), [state["mean2"], state["variance2"]], 1, 0.9, False)
    expected = (second[0], *first[1:], *second[1:])
    for left, right in zip(t.run(after, [x], state), expected, strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-4, atol=1e-4)


def test_a_norm_that_takes_the_batch_already_stays(t):
    def build(x):
        mean = F.mean(x, axis=[0])
        return normed(x, mean, F.mean(F.square(x - mean), axis=[0]))

    program = t.program_of(build, t.floats("n", 3))
    assert str(MutateOpsForTraining()(program)) == str(program)


def test_constant_statistics_stay(t):
    program = t.program_of(lambda x: normed(x, w(3), s(3)), t.floats("n", 3))
    assert str(MutateOpsForTraining()(program)) == str(program)


def test_layer_norm_becomes_arithmetic_for_training(t):
    program = t.program_of(lambda x: F.layer_norm(x, [4, 3], w(4, 3), w(4, 3)), t.floats("n", 4, 3))
    after = t.check(MutateOpsForTraining(), program, rtol=1e-4)
    assert "layer_norm" not in t.names(after)


def in_cond(x, mean, variance):
    return cond(F.sum(x) > 0, lambda: [normed(x, mean, variance)], lambda: [F.neg(x)])


def in_while(x, mean, variance):
    def body(i, y):
        return [i + 1, normed(y, mean, variance)]

    return while_loop(lambda i, y: i < 2, body, [F.full([], 0, "int64"), x])[1]


@pytest.mark.parametrize("build", [in_cond, in_while])
def test_running_statistics_inside_of_a_branch_or_loop_are_refused(t, build):
    program = with_buffers(t, build, t.floats("n", 3))
    with pytest.raises(ArgumentError, match=r"test_decompose.py.*move it out"):
        MutateOpsForTraining()(program)


@pytest.mark.parametrize("dtypes", [("float16", "float32"), ("float32", "float16")])
def test_running_statistics_keep_their_own_dtype(t, dtypes):
    x, own = dtypes
    program = with_buffers(t, normed, t.floats("n", 3, dtype=x), dtype=own)
    after = verify(DecomposeOpsForTraining(unbiased=True)(program))
    state = {"mean": w(3, dtype=own), "variance": s(3, dtype=own)}
    given = w(6, 3, dtype=x)
    found = t.run(after, [given], state)
    assert [f.dtype for f in found] == [np.dtype(x), np.dtype(own), np.dtype(own)]
    for left, right in zip(found, step(given, state.values(), 1, 0.9, True), strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-2, atol=1e-2)


def test_constant_statistics_inside_of_a_branch_stay(t):
    program = t.program_of(lambda x: in_cond(x, w(3), s(3)), t.floats("n", 3))
    assert str(MutateOpsForTraining()(program)) == str(program)


def test_a_mean_without_its_variance_is_refused(t):
    program = with_buffers(t, lambda x, mean: normed(x, mean, s(3)), t.floats("n", 3), count=1)
    with pytest.raises(ArgumentError, match="variance"):
        MutateOpsForTraining()(program)


def test_a_buffer_that_the_program_sets_itself_is_not_overwritten(t):
    program = with_buffers(
        t, lambda x, mean, variance: [normed(x, mean, variance), mean + 1.0], t.floats("n", 3)
    )
    program.updates = ["mean"]
    with pytest.raises(ArgumentError, match="mean"):
        MutateOpsForTraining()(verify(program))


def test_one_number_a_channel_has_no_unbiased_variance(t):
    program = with_buffers(t, normed, t.floats(1, 3))
    with pytest.raises(ArgumentError, match="unbiased"):
        MutateOpsForTraining(unbiased=True)(program)


def test_twice_is_once(t):
    program = with_buffers(t, normed, t.floats("n", 3))
    with_training = Sequential([MutateOpsForTraining()])
    once = with_training(program)
    assert str(with_training(once)) == str(once)
