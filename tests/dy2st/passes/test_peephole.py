"""Peephole1 to Peephole3: where they fire, where not, and what comes out."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st.passes import (
    Peephole,
    Peephole1,
    Peephole2,
    Peephole3,
    Sequential,
)
from dy2st_runtime.ir import F
from dy2st_runtime.ops.control_flow import cond


def result(t, program, *inputs):
    return t.run(program, [np.array(x, np.float32) for x in inputs])[0]


# -- Peephole1 ------------------------------------------------------------------------------------


def conv(x, out=4, seed=1):
    return F.conv2d(x, np.random.default_rng(seed).standard_normal((out, x.shape[1], 3, 3)))


def scaled(make, c1, c2, swapped=False):
    if swapped:
        return lambda x: c2 * (c1 + make(x))
    return lambda x: (make(x) + c1) * c2


CONVS = {
    "conv": lambda t: lambda x: F.conv2d(x, t.array(4, 3, 3, 3)),
    "transposed": lambda t: lambda x: F.conv2d_transpose(x, t.array(3, 4, 3, 3)),
    "strided": lambda t: lambda x: F.conv2d(x, t.array(4, 3, 3, 3), stride=2, padding=1),
    "one axis": lambda t: lambda x: F.conv1d(F.reshape(x, [x.shape[0], 3, 36]), t.array(4, 3, 3)),
}


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("kind", CONVS)
def test_a_scale_goes_before_a_bias(t, kind, swapped):
    make = CONVS[kind](t)
    shape = (4, 1) if kind == "one axis" else (4, 1, 1)
    function = scaled(make, t.array(*shape, seed=2), t.array(*shape, seed=3), swapped)
    after = t.settled(Peephole1(), t.program_of(function, t.floats("n", 3, 6, 6)))
    found = [name for name in t.names(after) if name in ("add", "multiply")]
    assert found[-1] == "add" and found.count("multiply") == 2
    (last,) = after.outputs
    assert {v.maker.name for v in last.maker.operands} == {"multiply"}


@pytest.mark.parametrize("second", [(), (1,), (4, 1, 1), (1, 4, 1, 1), (2, 1, 1, 1, 1)], ids=str)
@pytest.mark.parametrize("first", [(), (4, 1, 1), (1, 4, 1, 1), (6, 6)], ids=str)
def test_a_scale_goes_before_a_bias_of_any_shape(t, first, second):
    c1, c2 = t.array(*first, seed=2), t.array(*second, seed=3)
    make = scaled(lambda x: F.conv2d(x, t.array(4, 3, 1, 1)), c1, c2)
    program = t.program_of(make, t.floats("n", 3, 6, 6))
    after = t.settled(Peephole1(), program)
    assert after.outputs[0].maker.name == "add"
    assert after.outputs[0].type == program.outputs[0].type


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("bias", "factor"), [(-1.0, np.inf), (1.0, -np.inf), (-3e38, 2.0)])
def test_a_scale_that_makes_infinities_stays_behind_the_bias(t, bias, factor):
    c1, c2 = np.full((1, 1, 1), bias, "f"), np.full((1, 1, 1), factor, "f")
    make = scaled(lambda x: F.conv2d(x, np.ones((1, 1, 1, 1), "f")), c1, c2)
    program = t.program_of(make, t.floats(1, 1, 1, 1))
    t.untouched(Peephole1(), program, "may be inf - inf")


def test_peephole1_gives_the_vector_worked_by_hand(t):
    w = np.array([1, -2, 3], np.float32).reshape(3, 1, 1, 1)
    c1 = np.array([0.5, 1, -1], np.float32).reshape(3, 1, 1)
    c2 = np.array([2, -1, 0.5], np.float32).reshape(3, 1, 1)
    program = t.program_of(scaled(lambda x: F.conv2d(x, w), c1, c2), t.floats(1, 1, 1, 1))
    for pass_ in (Peephole1(), Peephole()):
        after = t.check(pass_, program)
        assert str(after) != str(program)
        assert result(t, after, [[[[1]]]]).ravel().tolist() == [3, 1, 1]


@pytest.mark.parametrize("make", [lambda: Sequential([Peephole1()]), Peephole])
def test_a_scale_goes_before_a_bias_that_is_computed_of_constants(t, make):
    bias, factor = t.array(4, seed=2), t.array(2, 2, seed=3)

    def build(x):
        kernel = F.reshape(t.array(4, 27), [4, 3, 3, 3])
        moved = F.conv2d(x, kernel) + F.reshape(bias, [1, 4, 1, 1])
        return moved * F.exp(F.reshape(factor, [4, 1, 1]))

    after = t.check(make(), t.program_of(build, t.floats("n", 3, 6, 6)))
    assert after.outputs[0].maker.name == "add"


def test_peephole1_keeps_float64(t):
    def build(x):
        return (
            F.conv2d(x, t.array(2, 2, 1, 1, dtype="float64")) + t.array(2, 1, 1, dtype="float64")
        ) * 3.0

    after = t.settled(Peephole1(), t.program_of(build, t.floats(1, 2, 3, 3, dtype="float64")))
    assert after.outputs[0].maker.name == "add"
    assert after.outputs[0].dtype == np.float64


def test_peephole1_works_inside_branches_and_loops(t):
    def inner(x):
        return (F.conv2d(x, np.ones((3, 3, 1, 1), np.float32)) + 0.5) * t.array(3, 1, 1)

    program = t.program_of(lambda x: t.nested(inner, x, *x.shape), t.floats("n", 3, 2, 2))
    after = t.settled(Peephole1(), program)
    assert t.names(after).count("multiply") == 2 * t.names(program).count("multiply")


KEPT_1 = {
    "a scale that is no constant": lambda t, x, y: (conv(x) + 1.0) * y,
    "a bias that is no constant": lambda t, x, y: (conv(x) + y) * 2.0,
    "a residual": lambda t, x, y: (conv(x) + conv(x, seed=2)) * 2.0,
    "no convolution": lambda t, x, y: (F.relu(conv(x)) + 1.0) * 2.0,
    "a difference": lambda t, x, y: (conv(x) - t.array(4, 1, 1)) * 2.0,
    "a scale before the bias": lambda t, x, y: conv(x) * 2.0 + 1.0,
}


@pytest.mark.parametrize("kind", KEPT_1)
def test_peephole1_leaves_other_things_alone(t, kind):
    types = t.floats("n", 3, 6, 6), t.floats("n", 4, 4, 4)
    t.untouched(Peephole1(), t.program_of(lambda x, y: KEPT_1[kind](t, x, y), *types))


SHARED = {
    "an output": lambda inner, outer: [inner, outer],
    "another operator": lambda inner, outer: F.relu(inner) + outer,
    "a branch": lambda inner, outer: cond(
        F.sum(outer) > 0, lambda: [F.relu(inner)], lambda: [outer]
    ),
}


@pytest.mark.parametrize("where", ["the sum", "the convolution"])
@pytest.mark.parametrize("use", SHARED)
def test_peephole1_leaves_values_with_other_users_alone(t, use, where):
    def build(x):
        y = conv(x)
        total = y + t.array(4, 1, 1)
        return SHARED[use](total if where == "the sum" else y, total * t.array(4, 1, 1, seed=2))

    t.untouched(Peephole1(), t.program_of(build, t.floats("n", 3, 6, 6)), "has other users")


# -- Peephole2 ------------------------------------------------------------------------------------

ROWS = {
    "add": lambda x, a, b: (x + a) + b,
    "add, constants first": lambda x, a, b: b + (a + x),
    "multiply": lambda x, a, b: (x * a) * b,
    "multiply, constants first": lambda x, a, b: b * (a * x),
    "subtract": lambda x, a, b: (x - a) - b,
}
SHAPES = [
    ((3,), (3,)),
    ((), (3,)),
    ((3,), ()),
    ((2, 1, 1), (3,)),
    ((1,), (2, 2, 3)),
    ((2, 1), (1, 3)),
]


@pytest.mark.parametrize("dtype", ["int64", "int32", "int8", "uint8"])
@pytest.mark.parametrize("kind", ROWS)
def test_integer_constants_in_a_row_become_one(t, kind, dtype):
    a, b = np.array([100, 7, 3], dtype), np.array([100, 50, 2], dtype)
    after = t.settled(
        Peephole2(), t.program_of(lambda x: ROWS[kind](x, a, b), t.floats("n", 3, dtype=dtype))
    )
    (last,) = after.outputs
    assert last.maker.name == kind.split(",")[0]
    assert any(v is after.inputs[0] for v in last.maker.operands)


@pytest.mark.parametrize(("first", "second"), SHAPES, ids=str)
@pytest.mark.parametrize("kind", ROWS)
def test_float_constants_of_any_shape_become_one_where_that_is_allowed(t, kind, first, second):
    a, b = t.array(*first, seed=1), t.array(*second, seed=2)
    program = t.program_of(
        lambda x: ROWS[kind](x, a, b),
        t.floats("n", 3) if len(first + second) < 4 else t.floats(2, 3),
    )
    after = t.settled(Peephole2(reassociate=True), program)
    assert after.outputs[0].type == program.outputs[0].type
    assert any(v is after.inputs[0] for v in after.outputs[0].maker.operands)
    t.untouched(Peephole2(), program, "reassociate")


def test_the_option_of_the_context_allows_floats(t):
    program = t.program_of(lambda x: (x + t.array(3)) + t.array(3, seed=1), t.floats("n", 3))
    after = t.check(Peephole2(), program, config={"reassociate": True})
    assert str(after) != str(program)
    after = t.check(Peephole2(reassociate=False), program, config={"reassociate": True})
    assert str(after) == str(program)


def test_peephole2_gives_the_vectors_worked_by_hand(t):
    c1, c2 = np.array([2.5, -0.5, 1.5], np.float32), np.array([0, -0.5, -1], np.float32)
    program = t.program_of(lambda x: (x + c1) + c2, t.floats(3))
    after = t.check(Peephole2(reassociate=True), program)
    assert result(t, after, [1, -2, 3]).tolist() == [3.5, -3, 3.5]


def test_floats_are_not_reassociated_unless_allowed(t):
    program = t.program_of(lambda x: (x + np.float32(-1e8)) + np.float32(1), t.floats())
    assert result(t, Peephole2()(program), 1e8) == 1
    assert result(t, Peephole2(reassociate=True)(program), 1e8) == 0


def test_integers_wrap_as_before(t):
    program = t.program_of(lambda x: (x * np.int8(2)) * np.int8(1), t.floats(1, dtype="int8"))
    after = t.check(Peephole2(), program)
    assert t.run(after, [np.array([100], np.int8)])[0].tolist() == [-56]
    wide = t.program_of(lambda x: (x + np.int8(100)) + np.int8(100), t.floats(1, dtype="int8"))
    assert t.run(Peephole2()(wide), [np.array([1], np.int8)])[0].tolist() == [-55]


@pytest.mark.parametrize("dtype", ["int32", "int8"])
def test_python_numbers_in_a_row_keep_the_dtype(t, dtype):
    program = t.program_of(lambda x: x + 100 + 100, t.floats("n", dtype=dtype))
    after = t.settled(Peephole2(), program)
    assert after.outputs[0].dtype == np.dtype(dtype)
    assert any(v is after.inputs[0] for v in after.outputs[0].maker.operands)


def test_a_long_row_becomes_one(t):
    def build(x):
        for i in range(1, 6):
            x = x + np.array([i, -i, 2], "int64")
        return x

    after = t.settled(Peephole2(), t.program_of(build, t.floats("n", 3, dtype="int64")))
    assert any(v is after.inputs[0] for v in after.outputs[0].maker.operands)


KEPT_2 = {
    "add and multiply": lambda x, y: (x + 1) * 2,
    "subtract and add": lambda x, y: (x - 1) + 2,
    "a value": lambda x, y: (x + y) + 2,
    "a value at the end": lambda x, y: (x + 2) + y,
    "a constant less a value": lambda x, y: 2 - (1 - x),
    "an inner output": lambda x, y: [(z := x + 3) + 4, z],
}


@pytest.mark.parametrize("kind", KEPT_2)
def test_peephole2_leaves_other_things_alone(t, kind):
    program = t.program_of(lambda x, y: KEPT_2[kind](x, y), *[t.floats("n", dtype="int64")] * 2)
    t.untouched(Peephole2(), program)


# -- Peephole3 ------------------------------------------------------------------------------------

PARTS = {
    "channels": (1, [("n", 2, 3, 3), ("n", 5, 3, 3)]),
    "three parts": (1, [("n", 2, 3), ("n", 1, 3), ("n", 4, 3)]),
    "the last axis": (-1, [("n", 2), ("n", 4)]),
    "the first axis": (0, [(2, 3), (4, 3)]),
    "sizes not known": (1, [(2, "n"), (2, "m")]),
    "one part": (0, [(4, 3)]),
}


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("kind", PARTS)
def test_a_residual_is_added_to_padded_parts(t, kind, swapped):
    axis, shapes = PARTS[kind]
    rank = len(shapes[0])

    def build(*parts):
        joined = F.concat(parts, axis=axis)
        y = F.exp(F.flip(F.concat(parts, axis=axis), axis=[rank - 1]))
        return y + joined if swapped else joined + y

    program = t.program_of(build, *[t.floats(*shape) for shape in shapes])
    after = t.settled(Peephole3(), program)
    found = t.names(after)
    assert found.count("pad") == found.count("add") == len(shapes)
    assert found.count("concat") == t.names(program).count("concat") - 1


def test_a_sum_of_two_concats_needs_neither(t):
    def build(a, b):
        return F.concat([a, b], axis=1) + F.concat([F.relu(b), F.exp(a)], axis=1)

    after = t.settled(Peephole3(), t.program_of(build, t.floats("n", 2), t.floats("n", 2)))
    assert t.names(after).count("pad") == 4 and "concat" not in t.names(after)


def test_peephole3_gives_plus_zero_for_minus_zero(t):
    program = t.program_of(
        lambda a, b, y: F.concat([a, b]) + y, t.floats(1), t.floats(1), t.floats(2)
    )
    after = t.check(Peephole3(), program)
    assert np.signbit(result(t, program, [-0.0], [1], [-0.0, 2])).tolist() == [True, False]
    found = result(t, after, [-0.0], [1], [-0.0, 2])
    assert found.tolist() == [0, 3] and not np.signbit(found).any()


@pytest.mark.parametrize("dtype", ["float64", "int8", "int64"])
def test_peephole3_keeps_dtypes(t, dtype):
    types = [t.floats("n", size, dtype=dtype) for size in (2, 3, 5)]
    program = t.program_of(lambda a, b, y: F.concat([a, b], axis=1) + y, *types)
    after = t.settled(Peephole3(), program)
    assert "concat" not in t.names(after) and after.outputs[0].dtype == np.dtype(dtype)


def test_peephole3_works_inside_branches_and_loops(t):
    def build(x):
        def inner(x):
            return F.concat([F.relu(x), F.exp(x)], axis=1) + F.tile(x, [1, 2])

        return t.nested(inner, x, x.shape[0], 6)

    after = t.settled(Peephole3(), t.program_of(build, t.floats("n", 3)))
    assert t.names(after).count("pad") == 2 and t.names(after, constants=True).count("while") == 1


KEPT_3 = {
    "a constant": (lambda a, b, y: F.concat([a, b], axis=1) + np.ones((2, 5), "f4"), "no residual"),
    "broadcast": (lambda a, b, y: F.concat([a, b], axis=1) + F.sum(y), "broadcast"),
    "broadcast rows": (lambda a, b, y: F.concat([a, b], axis=1) + y[:1], "broadcast"),
    "an output": (lambda a, b, y: [(z := F.concat([a, b], axis=1)), z + y], "other users"),
    "twice": (lambda a, b, y: (z := F.concat([a, b], axis=1)) + z, "other users"),
    "a product": (lambda a, b, y: F.concat([a, b], axis=1) * y, None),
}


@pytest.mark.parametrize("kind", KEPT_3)
def test_peephole3_leaves_other_things_alone(t, kind):
    function, reason = KEPT_3[kind]
    types = t.floats(2, 2), t.floats(2, 3), t.floats(2, 5)
    t.untouched(Peephole3(), t.program_of(function, *types), reason)
