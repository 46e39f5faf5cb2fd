"""ToNCHWLayout and ToNHWCLayout: transposes are carried on and cancel, and the signature stays."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from dy2st.passes import (
    EliminateDeadCode,
    FoldConstant,
    Peephole4,
    Sequential,
    ToNCHWLayout,
    ToNHWCLayout,
    explain,
)
from dy2st.passes.layout import moved_elements
from dy2st_runtime.ir import F, Kind, apply
from dy2st_runtime.ops.control_flow import cond
from tests.dy2st.passes.making import dtype_for, names_of

TO_NCHW, TO_NHWC = (0, 3, 1, 2), (0, 2, 3, 1)
FIRST = Sequential([EliminateDeadCode(), ToNCHWLayout(), EliminateDeadCode()])
LAST = Sequential([EliminateDeadCode(), ToNHWCLayout(), EliminateDeadCode()])


def turns(program):
    return [o.attributes["perm"] for o in program.block.walk() if o.name == "transpose"]


def turned(function):
    """A function of the transposed data, between two transposes."""
    return lambda x, *more: F.transpose(function(F.transpose(x, TO_NHWC), *more), TO_NCHW)


def conv(t, x, out=4, seed=0, size=3, **options):
    groups = options.get("groups", 1)
    w = t.array(out, x.shape[-1] // groups, size, size, seed=seed)
    return F.conv2d(x, w, padding=size // 2, data_format="NHWC", **options)


# -- what transposes go through -------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", sorted(names_of(Kind.ELEMENTWISE) - {"assign", "bitwise_not", "logical_not"})
)
def test_transposes_go_through_every_elementwise_operator(t, name):
    dtypes = {"cast": "float64", "bitcast": "int32"}
    attributes = {"dtype": np.dtype(dtypes[name])} if name in dtypes else {}
    program = t.program_of(turned(lambda x: apply(name, x, **attributes)), t.floats("n", 3, 4, 5))
    with np.errstate(all="ignore"):
        after = t.settled(FIRST, program, rtol=0)
    assert t.names(after) == [name]


@pytest.mark.parametrize("dtype", ["bool", "int64"])
def test_transposes_go_through_other_dtypes(t, dtype):
    name = "logical_not" if dtype == "bool" else "bitwise_not"
    program = t.program_of(turned(lambda x: apply(name, x)), t.floats(2, 3, 4, 5, dtype=dtype))
    assert t.names(t.settled(FIRST, program)) == [name]


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("shape", [(), (1,), (3,), (5, 3), (4, 1, 1), (2, 4, 5, 3)], ids=str)
def test_constants_are_transposed(t, shape, swapped):
    numbers = t.array(*shape)

    def build(x):
        return numbers - x if swapped else x - numbers

    program = t.program_of(turned(build), t.floats(2, 3, 4, 5))
    assert t.names(t.settled(FIRST, program, rtol=0)) == ["subtract"]


@pytest.mark.parametrize("name", sorted(names_of(Kind.BROADCAST) - {"where"}))
def test_two_transposed_operands_are_transposed_once(t, name):
    dtype = "bool" if "logical" in name else dtype_for(name)

    def build(x, y):
        both = apply(name, F.transpose(x, TO_NHWC), F.transpose(y, TO_NHWC))
        return F.transpose(both, TO_NCHW)

    program = t.program_of(build, *[t.floats("n", 3, 4, 5, dtype=dtype)] * 2)
    with np.errstate(all="ignore"):
        assert t.names(t.settled(FIRST, program, rtol=0)) == [name]


def test_a_choice_is_transposed_as_a_whole(t):
    def build(x):
        y = F.transpose(x, TO_NHWC)
        return F.transpose(F.where(y > 0.5, y, t.array(3)), TO_NCHW)

    after = t.settled(FIRST, t.program_of(build, t.floats("n", 3, 4, 5)), rtol=0)
    assert t.names(after) == ["greater_than", "where"]


@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("axes", [[1, 2], [3], [1], [0, 3], [1, 2, 3], [0, 1, 2, 3]], ids=str)
@pytest.mark.parametrize("name", ["mean", "sum", "max", "min", "prod"])
def test_axes_of_reductions_are_renamed(t, name, axes, keepdim):
    def build(x):
        return getattr(F, name)(F.transpose(x, TO_NHWC), axis=axes, keepdim=keepdim)

    program = t.program_of(build, t.floats(2, 3, 4, 5))
    after = t.check(FIRST, program)
    assert moved_elements(after) <= moved_elements(program)
    assert after.outputs[0].type == program.outputs[0].type
    if not keepdim:
        reduction = [o for o in after.operators if o.name == name][0]
        assert reduction.operands[0] is after.inputs[0]


@pytest.mark.parametrize("perm", list(permutations(range(3))), ids=str)
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_every_permutation_is_carried_on(t, perm, axis):
    def build(x):
        y = F.transpose(x, perm)
        y = F.sum(F.exp(y), axis=axis) + F.max(y, axis=[axis])
        return F.concat([y, y * t.array(1)], axis=1)

    t.check(FIRST, t.program_of(build, t.floats(2, 3, 4)))


AXES = {
    "softmax": lambda t, x: apply("softmax", x, axis=3),
    "softmax of the first": lambda t, x: apply("softmax", x, axis=1),
    "log_softmax": lambda t, x: apply("log_softmax", x, axis=3),
    "pad": lambda t, x: apply("pad", x, pads=((0, 0), (1, 2), (0, 3), (0, 1)), value=2.0),
    "pad by reflection": lambda t, x: apply(
        "pad", x, pads=((0, 0), (1, 2), (0, 3), (0, 0)), mode="reflect"
    ),
    "resizing": lambda t, x: F.interpolate(x, scale_factor=2, data_format="NHWC"),
    "index": lambda t, x: F.index_select(x, np.array([2, 0, 0]), axis=1),
    "batch norm": lambda t, x: F.batch_norm(
        x, t.array(3), t.array(3, low=0.5), t.array(3), t.array(3), data_format="NHWC"
    ),
    "concat": lambda t, x: F.concat([x, F.exp(x)], axis=3),
    "concat of rows": lambda t, x: F.concat([x, x, F.exp(x)], axis=1),
}


@pytest.mark.parametrize("kind", AXES)
def test_axes_of_other_operators_are_renamed(t, kind):
    program = t.program_of(turned(lambda x: AXES[kind](t, x)), t.floats("n", 3, 4, 5))
    after = t.settled(Sequential([FoldConstant(), FIRST]), program)
    assert turns(after) == []


STOPS = {
    "a reshape": lambda x, y: F.flatten(x, 1),
    "a product": lambda x, y: F.matmul(x, np.ones((3, 2), "f4")),
    "a slice": lambda x, y: x[:, 1:],
    "a value that is not turned": lambda x, y: x + y,
    "a constant with more axes": lambda x, y: x + np.ones((2, 1, 1, 1, 1), "f4"),
}


@pytest.mark.parametrize("kind", STOPS)
def test_other_operators_keep_the_transpose_before_them(t, kind):
    program = t.program_of(
        lambda x, y: F.exp(STOPS[kind](F.transpose(x, TO_NHWC), y)),
        t.floats("n", 3, 4, 5),
        t.floats("n", 4, 5, 3),
    )
    after = t.settled(FIRST, program)
    assert turns(after) == [TO_NHWC]
    assert [o.name for o in after.operators if o.name != "constant"][0] == "transpose"


def test_parts_that_are_transposed_in_two_ways_stay(t):
    def build(x):
        return F.concat([F.transpose(x, [0, 2, 1]), F.transpose(x, [1, 0, 2])], axis=2)

    t.check(FIRST, t.program_of(build, t.floats(3, 3, 3)))


# -- whole models ---------------------------------------------------------------------------------


def network(t):
    """Written with channels last: depthwise, pools, pad, a residual, a global mean, a dense layer."""

    def build(x):
        y = F.relu(conv(t, x, 8) + t.array(8))
        y = F.max_pool2d(y, 2, data_format="NHWC")
        z = F.relu(conv(t, y, 8, seed=1, groups=8) * t.array(8) + t.array(1, 1, 1, 8))
        z = F.concat([y + z, conv(t, z, 8, seed=2, size=1)], axis=3)
        z = F.pad(z, [1, 1, 1, 1], data_format="NHWC")
        z = F.avg_pool2d(z, 2, data_format="NHWC")
        z = apply("softmax", z, axis=3)
        return F.matmul(F.mean(z, axis=[1, 2]), t.array(16, 5))

    return build


def test_a_network_of_channels_last_is_transposed_once(t):
    program = t.program_of(network(t), t.floats("n", 8, 8, 3))
    assert len(turns(program)) == 10
    after = t.settled(FIRST, program)
    assert turns(after) == [TO_NCHW]
    assert after.operators[0].name == "transpose"
    assert after.inputs[0].type == program.inputs[0].type
    assert after.outputs[0].type == program.outputs[0].type


def test_an_output_with_channels_last_is_transposed_back(t):
    program = t.program_of(lambda x: F.relu(conv(t, x)), t.floats("n", 8, 8, 3))
    assert turns(t.settled(FIRST, program)) == [TO_NCHW, TO_NHWC]


def test_a_flattened_layer_takes_the_last_transpose_into_its_weights(t):
    def build(x):
        return F.matmul(F.flatten(F.relu(conv(t, x)), 1), t.array(4 * 4 * 4, 3))

    program = t.program_of(build, t.floats("n", 4, 4, 3))
    assert turns(t.check(FIRST, program)) == [TO_NCHW, TO_NHWC]
    assert turns(t.check(Sequential([FIRST, Peephole4()]), program)) == [TO_NCHW]


def test_an_input_with_two_users_and_one_of_another_rank_are_kept(t):
    def build(x, y):
        z = F.relu(conv(t, x, 3)) + x
        return F.matmul(F.mean(z, axis=[1, 2]), t.array(3, 4)) + y

    program = t.program_of(build, t.floats("n", 6, 6, 3), t.floats("n", 4))
    after = t.settled(FIRST, program)
    assert [v.type for v in after.inputs] == [v.type for v in program.inputs]
    assert len(turns(after)) <= len(turns(program))


@pytest.mark.parametrize("dtype", ["float64", "float16"])
def test_dtypes_stay(t, dtype):
    def build(x):
        w = t.array(4, 3, 1, 1, dtype=dtype)
        return F.relu(F.conv2d(x, w, data_format="NHWC")) * t.array(4, dtype=dtype)

    program = t.program_of(build, t.floats(2, 4, 4, 3, dtype=dtype))
    assert t.settled(FIRST, program, rtol=1e-2).outputs[0].dtype == np.dtype(dtype)


def test_a_model_with_channels_first_stays(t):
    def build(x):
        y = F.relu(F.conv2d(x, t.array(4, 3, 3, 3)) + t.array(4, 1, 1))
        return F.mean(F.max_pool2d(y, 2), axis=[2, 3])

    t.untouched(ToNCHWLayout(), t.program_of(build, t.floats("n", 3, 8, 8)))


def test_a_transpose_stays_where_more_elements_would_be_moved(t):
    def build(x):
        return F.transpose(x, [1, 0]) + t.array(50, 4, 4)

    program = t.program_of(lambda x: F.concat([F.transpose(x, [1, 0])] * 8, axis=0), t.floats(4, 4))
    t.untouched(ToNCHWLayout(), program)
    assert any("more elements" in entry.reason for entry in explain(ToNCHWLayout(), program))
    t.untouched(ToNCHWLayout(), t.program_of(build, t.floats(4, 4)))


def test_transposes_cancel_inside_branches_and_loops(t):
    def inner(x):
        return turned(lambda y: F.relu(y) * t.array(3))(x)

    program = t.program_of(lambda x: t.nested(inner, x, *x.shape), t.floats("n", 3, 4, 5))
    assert turns(t.settled(FIRST, program)) == []


def test_an_output_and_a_branch_still_see_the_transposed_value(t):
    def build(x):
        y = F.transpose(x, TO_NHWC)
        return [y, *cond(F.sum(x) > 0, lambda: [F.relu(y)], lambda: [y]), F.exp(y)]

    program = t.program_of(build, t.floats("n", 3, 4, 5))
    after = t.check(FIRST, program)
    assert [v.type for v in after.outputs] == [v.type for v in program.outputs]


# -- channels last --------------------------------------------------------------------------------


def test_what_is_between_convolutions_works_with_channels_last(t):
    def build(x):
        y = F.relu(F.conv2d(x, t.array(8, 3, 3, 3), padding=1) + t.array(8, 1, 1))
        y = F.max_pool2d(y, 2)
        y = F.exp(F.conv2d(y, t.array(8, 1, 3, 3), groups=8))
        return F.mean(F.concat([y, y], axis=1) * t.array(16, 1, 1), axis=[2, 3])

    after = t.settled(LAST, t.program_of(build, t.floats("n", 3, 8, 8)))
    assert t.names(after) == [
        *("conv", "transpose", "add", "relu", "transpose", "max_pool", "conv"),
        *("transpose", "exp", "concat", "multiply", "mean"),
    ]
    assert turns(after) == [TO_NHWC, TO_NCHW, TO_NHWC]
    (mean,) = [o for o in after.operators if o.name == "mean"]
    assert mean.attributes["axis"] == (1, 2)


def test_a_network_of_channels_last_keeps_its_layout(t):
    program = t.program_of(network(t), t.floats("n", 8, 8, 3))
    after = t.settled(LAST, program)
    assert len(turns(after)) <= len(turns(EliminateDeadCode()(program)))
    elementwise = [o for o in after.operators if o.name in ("relu", "softmax")]
    assert [o.results[0].shape[3] for o in elementwise] == [8, 8, 16]


def test_there_and_back_is_one_transpose(t):
    program = t.program_of(network(t), t.floats("n", 8, 8, 3))
    both = Sequential([LAST, FIRST, FoldConstant()])
    assert turns(t.check(both, program)) == [TO_NCHW]


@pytest.mark.parametrize("shape", [(3, 16), (3, 4, 4, 4)], ids=["one axis", "three axes"])
def test_convolutions_of_other_ranks_stay(t, shape):
    def build(x):
        w = t.array(2, 3, *[1] * (len(shape) - 1))
        return F.relu(F.conv1d(x, w) if len(shape) == 2 else F.conv3d(x, w))

    t.untouched(ToNHWCLayout(), t.program_of(build, t.floats("n", *shape)))


def test_channels_last_inside_branches_and_loops(t):
    def inner(x):
        return F.relu(F.conv2d(x, t.array(3, 3, 1, 1)))

    program = t.program_of(lambda x: t.nested(inner, x, *x.shape), t.floats("n", 3, 4, 5))
    assert turns(t.settled(LAST, program)) == [TO_NHWC, TO_NCHW]
