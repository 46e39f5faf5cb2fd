"""CanonicalizeConcatPos: what goes before a concat, with which constants, and what stays after."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st.passes import CanonicalizeConcatPos, FoldConstant, Sequential
from dy2st_runtime.ir import F, Kind, apply
from dy2st_runtime.ops.control_flow import cond, while_loop
from tests.dy2st.passes.making import dtype_for, names_of

PASS = CanonicalizeConcatPos()


def join(*parts, axis=1):
    return F.concat(parts, axis=axis)


def ends_with_concat(program, axis):
    (last,) = program.outputs
    assert last.maker.name == "concat" and last.maker.attributes["axis"] % last.ndim == axis
    return last.maker.operands


@pytest.mark.parametrize("name", sorted(names_of(Kind.ELEMENTWISE)))
def test_every_elementwise_operator_goes_before_a_concat(t, name):
    dtype = {"bitwise_not": "int64", "logical_not": "bool"}.get(name, "float32")
    dtypes = {"cast": "float64", "bitcast": "int32"}
    attributes = {"dtype": np.dtype(dtypes[name])} if name in dtypes else {}
    program = t.program_of(
        lambda a, b: apply(name, join(a, b), **attributes),
        t.floats("n", 2, dtype=dtype),
        t.floats("n", 3, dtype=dtype),
    )
    with np.errstate(all="ignore"):
        after = t.settled(PASS, program)
    assert t.names(after) == [name, name, "concat"]
    assert after.outputs[0].type == program.outputs[0].type


AXES = {
    "the first": (0, [("n", 3), ("m", 3)]),
    "the second": (1, [(2, "n"), (2, 4)]),
    "the last": (-1, [("n", 2, 3), ("n", 2, 1)]),
    "of three parts": (1, [("n", 2), ("n", 1), ("n", 3)]),
    "with an empty part": (1, [("n", 2), ("n", 0)]),
}


@pytest.mark.parametrize("kind", AXES)
def test_any_axis_will_do_for_elementwise_operators(t, kind):
    axis, shapes = AXES[kind]
    types = [t.floats(*shape) for shape in shapes]
    program = t.program_of(lambda *parts: F.sigmoid(join(*parts, axis=axis) * 2.0), *types)
    after = t.settled(PASS, program)
    parts = ends_with_concat(after, axis % len(shapes[0]))
    assert [v.maker.name for v in parts] == ["sigmoid"] * len(shapes)


def test_parts_that_are_inputs_constants_and_results_are_all_kept(t):
    def build(x, y):
        a, _ = F.split(y, 2, axis=1)
        return F.relu(join(x, t.array(2, 2), F.exp(x), a))

    after = t.settled(PASS, t.program_of(build, t.floats(2, 3), t.floats(2, 4)))
    assert len(ends_with_concat(after, 1)) == 4 and t.names(after).count("relu") == 4


def test_the_same_part_twice_stays_twice(t):
    after = t.settled(PASS, t.program_of(lambda x: F.relu(join(x, x)), t.floats("n", 2)))
    assert len(ends_with_concat(after, 1)) == 2


SHAPES = [(), (1,), (5,), (1, 5), (2, 1), (2, 5)]


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", sorted(names_of(Kind.BROADCAST) - {"where"}))
def test_constants_are_cut_into_parts(t, name, shape, place):
    dtype = "bool" if "logical" in name else dtype_for(name)
    numbers = t.array(*shape, low=0.5) * (3 if dtype == "int64" else 1)
    operand = (numbers > 0.9) if dtype == "bool" else numbers.astype(dtype)

    def build(a, b):
        x = join(a, b)
        x = F.abs(x) + 0.5 if name == "pow" else x
        return apply(name, x, operand) if place else apply(name, operand, x)

    program = t.program_of(build, t.floats(2, 2, dtype=dtype), t.floats(2, 3, dtype=dtype))
    after = t.settled(PASS, program)
    assert [v.maker.name for v in ends_with_concat(after, 1)] == [name, name]


@pytest.mark.parametrize("shape", [(5, 1, 1), (1, 5, 1, 1), (1, 1, 1), (4, 4), (5, 4, 4)], ids=str)
def test_constants_by_channel_are_cut_into_parts(t, shape):
    program = t.program_of(
        lambda a, b: F.relu(join(a, b) * t.array(*shape) + t.array(*shape, seed=1)),
        t.floats("n", 2, 4, 4),
        t.floats("n", 3, 4, 4),
    )
    after = t.settled(PASS, program)
    assert [v.maker.name for v in ends_with_concat(after, 1)] == ["relu", "relu"]


@pytest.mark.parametrize("dtype", ["float64", "float16", "int8", "int64"])
def test_dtypes_stay(t, dtype):
    numbers = (t.array(5) * 3).astype(dtype)
    types = [t.floats("n", size, dtype=dtype) for size in (2, 3)]
    after = t.settled(PASS, t.program_of(lambda a, b: F.neg(join(a, b) + numbers), *types))
    assert len(ends_with_concat(after, 1)) == 2 and after.outputs[0].dtype == np.dtype(dtype)


SPATIAL = {
    "max pool": lambda x: F.max_pool2d(x, 2, stride=2),
    "max pool, padded": lambda x: F.max_pool2d(x, 3, stride=2, padding=1),
    "average pool": lambda x: F.avg_pool2d(x, 2, stride=2),
    "average pool, padded": lambda x: F.avg_pool2d(x, 3, stride=1, padding=1),
    "global pool": lambda x: F.adaptive_avg_pool2d(x, 1),
    "mean": lambda x: F.mean(x, axis=[2, 3], keepdim=True),
    "mean of one axis": lambda x: F.mean(x, axis=[-1], keepdim=True),
    "max": lambda x: F.max(x, axis=[2], keepdim=True),
    "sum": lambda x: F.sum(x, axis=[2, 3], keepdim=True),
    "pad": lambda x: F.pad(x, [1, 1, 2, 0]),
    "pad with a value": lambda x: F.pad(x, [1, 0, 0, 2], value=3.0),
    "pad by reflection": lambda x: F.pad(x, [1, 1, 2, 0], mode="reflect"),
    "resizing": lambda x: F.interpolate(x, scale_factor=2),
    "rows that are chosen": lambda x: F.index_select(x, np.array([1, 0, 1]), axis=2),
    "activation, pad and pool": lambda x: F.max_pool2d(F.pad(F.relu(x), [1, 1, 1, 1]), 2),
}


@pytest.mark.parametrize("kind", SPATIAL)
def test_what_works_within_channels_goes_before_a_concat_of_channels(t, kind):
    types = t.floats("n", 2, 6, 6), t.floats("n", 3, 6, 6)
    program = FoldConstant()(t.program_of(lambda a, b: SPATIAL[kind](join(a, b)), *types))
    after = t.settled(PASS, program)
    assert len(ends_with_concat(after, 1)) == 2
    assert after.outputs[0].type == program.outputs[0].type


def test_channels_last_pools_need_the_layout_pass_first(t):
    def build(a, b):
        return F.avg_pool2d(join(a, b, axis=3), 2, stride=2, data_format="NHWC")

    t.check(PASS, t.program_of(build, t.floats("n", 4, 4, 2), t.floats("n", 4, 4, 3)))


OVER_CHANNELS = {
    "mean": lambda x: F.mean(x, axis=[1, 2], keepdim=True),
    "max": lambda x: F.max(x, axis=[1], keepdim=True),
    "mean of all": lambda x: F.mean(x, keepdim=True),
    "pad": lambda x: apply("pad", x, pads=((0, 0), (1, 0), (0, 0), (0, 0))),
    "an axis that goes": lambda x: F.mean(x, axis=[2, 3]),
    "softmax": lambda x: apply("softmax", x, axis=1),
    "transpose": lambda x: F.transpose(x, [0, 2, 3, 1]),
    "reshape": lambda x: F.flatten(x, 1),
    "unsqueeze": lambda x: F.unsqueeze(x, 1),
    "slice": lambda x: x[:, 1:3],
    "split": lambda x: F.split(x, [1, 4], axis=1)[1],
    "flip": lambda x: F.flip(x, axis=[1]),
    "channels that are chosen": lambda x: F.index_select(x, np.array([4, 0]), axis=1),
    "elements that are chosen": lambda x: x[:, np.array([4, 0]), np.array([1, 2])],
    "convolution": lambda x: F.conv2d(x, np.ones((2, 5, 1, 1), np.float32)),
    "a value": lambda x: x + F.sum(x),
    "a larger constant": lambda x: x + np.ones((2, 1, 1, 1, 1), np.float32),
    "argmax": lambda x: F.argmax(x, axis=1),
    "where": lambda x: F.where(np.array([True, False] * 3), x, 0.0),
}


@pytest.mark.parametrize("kind", OVER_CHANNELS)
def test_what_reaches_over_channels_stays(t, kind):
    types = t.floats(2, 2, 6, 6), t.floats(2, 3, 6, 6)
    t.untouched(PASS, t.program_of(lambda a, b: OVER_CHANNELS[kind](join(a, b)), *types))


@pytest.mark.parametrize("axis", [0, 2, 3])
@pytest.mark.parametrize("kind", ["max pool, padded", "average pool", "mean", "pad"])
def test_what_works_within_channels_stays_after_a_concat_of_other_axes(t, kind, axis):
    program = t.program_of(
        lambda a, b: SPATIAL[kind](join(a, b, axis=axis)), *[t.floats(2, 3, 4, 4)] * 2
    )
    after = t.check(PASS, program)
    pooled = [o for o in after.operators if o.name in ("max_pool", "window_sum", "mean", "pad")]
    assert [o.operands[0].maker.name for o in pooled] == ["concat"]


USES = {
    "an output": lambda x: [x, F.relu(x)],
    "another operator": lambda x: [F.relu(x), F.exp(x)],
    "the same twice": lambda x: x * x,
    "a branch": lambda x: cond(F.sum(x) > 0, lambda: [F.relu(x)], lambda: [F.exp(x)]),
    "a loop": lambda x: while_loop(
        lambda i: F.sum(i) < F.sum(x), lambda i: [i + F.sum(x)], [F.sum(F.relu(x))]
    ),
}


@pytest.mark.parametrize("kind", USES)
def test_a_concat_with_other_users_stays(t, kind):
    types = t.floats("n", 2), t.floats("n", 3)
    t.untouched(PASS, t.program_of(lambda a, b: USES[kind](join(a, b)), *types))


def test_a_concat_of_one_part_stays(t):
    t.untouched(PASS, t.program_of(lambda a: F.relu(join(a)), t.floats("n", 2)))


def test_concats_of_concats_come_last_together(t):
    def build(a, b):
        return F.tanh(join(F.relu(join(a, b)), F.exp(join(b, a))) * t.array(10))

    after = t.settled(PASS, t.program_of(build, t.floats("n", 2), t.floats("n", 3)))
    found = t.names(after)
    assert found[-1] == "concat" and found.index("concat") > found.index("tanh")
    assert (found.count("tanh"), found.count("relu"), found.count("exp")) == (4, 2, 2)


def test_a_long_chain_goes_before_the_concat(t):
    def build(a, b):
        x = join(a, b)
        for i in range(20):
            x = F.relu(x) if i % 2 else x + t.array(5, seed=i)
        return x

    after = t.settled(PASS, t.program_of(build, t.floats("n", 2), t.floats("n", 3)))
    assert t.names(after).count("concat") == 1 and t.names(after)[-1] == "concat"


def test_many_parts_are_all_treated(t):
    program = t.program_of(lambda *xs: F.relu(join(*xs) * t.array(40)), *[t.floats(2, 1)] * 40)
    assert len(ends_with_concat(t.settled(PASS, program), 1)) == 40


def test_it_works_inside_branches_and_loops(t):
    def inner(x):
        return F.relu(join(x, F.exp(x)) + t.array(6))

    program = t.program_of(lambda x: t.nested(inner, x, x.shape[0], 6), t.floats("n", 3))
    found = t.names(t.settled(PASS, program))
    assert found.count("relu") == 2 and found.index("relu") < found.index("concat")


def test_an_average_pool_of_two_sums_becomes_two_pools(t):
    """The one case that the original is tested with: its concat is along the channels."""

    def build(x, y):
        return F.avg_pool2d(join(x + y, x - y), 2, stride=2)

    program = t.program_of(build, *[t.floats(1, 3, 6, 6)] * 2)
    after = t.settled(Sequential([PASS, FoldConstant()]), program)
    assert t.names(after).count("window_sum") == 2 and t.names(after)[-1] == "concat"
