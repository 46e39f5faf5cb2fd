"""CombineParallelConv2D, Dense and BatchMatmul: what is joined, how far it goes on, what stays."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st.passes import (
    CombineParallelBatchMatmul,
    CombineParallelConv2D,
    CombineParallelDense,
    EliminateCommonSubexpr,
    EliminateDeadCode,
    FoldConstant,
    FoldScaleAxis,
    Sequential,
    SimplifyAlgebra,
)
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F, apply
from dy2st_runtime.ops.control_flow import cond

Conv, Dense, Batch = CombineParallelConv2D, CombineParallelDense, CombineParallelBatchMatmul


def made(program, name):
    return [o for o in program.block.walk() if o.name == name]


def convs(t, x, widths, size=1, bias=False, **options):
    parts = []
    for i, out in enumerate(widths):
        y = F.conv2d(x, t.array(out, x.shape[1], size, size, seed=i), **options)
        if bias:
            y = apply("conv", *y.maker.operands, t.array(out, seed=i + 9), **y.maker.attributes)
        parts.append(y)
    return parts


def products(t, x, widths, rows=None, dtype="float32"):
    rows = rows or x.shape[-1]
    return [F.matmul(x, t.array(rows, n, seed=i, dtype=dtype)) for i, n in enumerate(widths)]


# -- convolutions ---------------------------------------------------------------------------------


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("options", [{}, {"stride": 2}, {"padding": 1}, {"dilation": 2}], ids=str)
@pytest.mark.parametrize("widths", [(4, 4, 4), (4, 8, 7), (1, 2, 1, 3)], ids=str)
def test_convolutions_of_the_same_data_become_one(t, widths, options, bias):
    program = t.program_of(
        lambda x: convs(t, x, widths, 3, bias, **options), t.floats("n", 3, 7, 7)
    )
    program = EliminateDeadCode()(program)
    after = t.settled(Conv(), program)
    assert t.names(after) == ["conv", "split"]
    assert made(after, "conv")[0].operands[1].shape[0] == sum(widths)
    assert made(after, "split")[0].attributes == {"sections": widths, "axis": 1}


def test_another_kernel_size_and_a_pool_stay_beside(t):
    def build(x):
        ones = convs(t, x, (4, 8, 7))
        return [*ones, *convs(t, x, (2,), 3, padding=1), F.max_pool2d(x, 3, stride=1, padding=1)]

    after = t.settled(Conv(), t.program_of(build, t.floats("n", 3, 7, 7)))
    assert sorted(t.names(after)) == ["conv", "conv", "max_pool", "split"]


def test_a_scale_and_relu_come_along_and_an_addition_to_one_stays(t):
    def build(x):
        parts = [y * t.array(y.shape[1], 1, 1, seed=5) for y in convs(t, x, (4, 8, 4))]
        parts = [F.relu(part) for part in parts]
        return [parts[0] + 1.0, *parts[1:]]

    after = t.settled(Conv(), t.program_of(build, t.floats("n", 3, 7, 7)))
    assert t.names(after) == ["conv", "multiply", "relu", "split", "add"]


def test_several_levels_of_branches_are_joined_one_by_one(t):
    w = t.array(2, 6, 1, 1)

    def build(x):
        for _ in range(4):
            x = F.relu(F.concat([F.conv2d(x, w) for _ in range(3)], axis=1))
        return x

    after = t.settled(Conv(), t.program_of(build, t.floats("n", 6, 3, 3)), rtol=1e-4)
    assert t.names(after) == ["conv", "split", "concat", "relu"] * 4


GEOMETRIES = {
    "strides": lambda t, x: [*convs(t, x, (2, 3)), *convs(t, x, (2,), stride=2)],
    "padding": lambda t, x: [*convs(t, x, (2, 3)), *convs(t, x, (2,), padding=1)],
    "dilations": lambda t, x: [*convs(t, x, (2, 3), 3), *convs(t, x, (2,), 3, dilation=2)],
    "kernel sizes": lambda t, x: [*convs(t, x, (2, 3)), *convs(t, x, (2,), 3)],
    "data": lambda t, x: [*convs(t, x, (2, 3)), *convs(t, F.relu(x), (2,))],
    "groups": lambda t, x: [F.conv2d(x, t.array(4, 2, 1, 1, seed=i), groups=2) for i in range(3)],
    "depthwise": lambda t, x: [
        F.conv2d(x, t.array(4, 1, 3, 3, seed=i), groups=4) for i in range(3)
    ],
    "too few": lambda t, x: convs(t, x, (2, 3)),
    "some with a bias": lambda t, x: [*convs(t, x, (2, 3)), *convs(t, x, (2,), bias=True)],
    "transposed": lambda t, x: [
        F.conv2d_transpose(x, t.array(4, 2, 1, 1, seed=i)) for i in range(3)
    ],
    "one axis": lambda t, x: [
        F.conv1d(F.reshape(x, [2, 4, 49]), t.array(2, 4, 1, seed=i)) for i in range(3)
    ],
    "weights computed": lambda t, x: [
        F.conv2d(x, F.reshape(F.mean(x, axis=[0, 2, 3]), [1, 4, 1, 1]) * float(i + 2))
        for i in range(3)
    ],
}


@pytest.mark.parametrize("kind", GEOMETRIES)
def test_convolutions_that_differ_stay(t, kind):
    program = t.program_of(lambda x: GEOMETRIES[kind](t, x), t.floats(2, 4, 7, 7))
    t.untouched(Conv(), EliminateDeadCode()(program))


@pytest.mark.parametrize(("least", "joined"), [(2, True), (3, True), (4, False)])
@pytest.mark.parametrize("pass_", [Conv, Dense, Batch])
def test_the_number_of_branches_decides(t, pass_, least, joined):
    builds = {
        Conv: lambda x: convs(t, x, (1, 2, 3)),
        Dense: lambda x: products(t, x, (1, 2, 3)),
        Batch: lambda x: [F.matmul(x, t.array(3, 5, n)) for n in (1, 2, 3)],
    }
    program = t.program_of(
        builds[pass_], t.floats("n", 3, 5, 5) if pass_ is not Batch else t.floats(3, 2, 5)
    )
    assert ("split" in t.names(t.settled(pass_(least), program))) == joined


@pytest.mark.parametrize("pass_", [Conv, Dense, Batch])
def test_there_must_be_two_branches_at_least(pass_):
    with pytest.raises(ArgumentError, match="2 branches or more"):
        pass_(1)


# -- products -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("shape", [("n", 4), (3, 3, 4), (2, "n", 4), (2, 3, "n", 4)], ids=str)
@pytest.mark.parametrize("widths", [(3, 3, 3), (1, 2, 3), (1, 1, 1), (4, 8, 16)], ids=str)
def test_products_with_the_same_data_become_one(t, shape, widths, dtype):
    program = t.program_of(
        lambda x: products(t, x, widths, dtype=dtype), t.floats(*shape, dtype=dtype)
    )
    after = t.settled(Dense(), program)
    assert t.names(after) == ["matmul", "split"]
    (split,) = made(after, "split")
    assert split.attributes == {"sections": widths, "axis": len(shape) - 1}
    assert [v.type for v in after.outputs] == [v.type for v in program.outputs]


# Two constants that follow the three branches, of widths 1, 2 and 3 after data (n, 5, 4).
BIASES = {
    "vectors": lambda n: (n,),
    "one number": lambda n: (),
    "one element": lambda n: (1,),
    "rows": lambda n: (5, 1),
    "rows and columns": lambda n: (5, n),
    "as many axes": lambda n: (1, 1, n),
    "one here, many there": lambda n: (n,) if n > 2 else (1,),
    "axes here, none there": lambda n: (5, n) if n == 2 else (),
}


@pytest.mark.parametrize("kind", BIASES)
def test_constants_that_follow_come_along(t, kind):
    def build(x):
        parts = products(t, x, (1, 2, 3))
        parts = [y + t.array(*BIASES[kind](n + 1), seed=n) for n, y in enumerate(parts)]
        return [F.relu(t.array(*BIASES[kind](n + 1), seed=7) * y) for n, y in enumerate(parts)]

    program = t.program_of(build, t.floats("n", 5, 4))
    after = t.settled(Dense(), program)
    assert t.names(after) == ["matmul", "add", "multiply", "relu", "split"]
    assert [v.type for v in after.outputs] == [v.type for v in program.outputs]


FOLLOWERS = {
    "a cast": lambda y, n, t: F.cast(y, "float64"),
    "a comparison": lambda y, n, t: F.logical_not(y > t.array(n)),
    "a number on the left": lambda y, n, t: 1.0 - y,
    "a power": lambda y, n, t: F.abs(y) ** 2.0,
    "a choice of constants": lambda y, n, t: F.where(y > 0.0, t.array(n), t.array(n, seed=1)),
}


@pytest.mark.parametrize("kind", FOLLOWERS)
def test_other_elementwise_operators_come_along(t, kind):
    def build(x):
        return [FOLLOWERS[kind](y, n, t) for n, y in enumerate(products(t, x, (1, 2, 3)), start=1)]

    program = t.program_of(build, t.floats("n", 4))
    after = t.settled(Dense(), program)
    assert t.names(after)[-1] == "split"
    assert 3 * (len(t.names(after)) - 1) == len(t.names(program))


ENDS = {
    "a reshape": (lambda y, n, t: F.reshape(y, [-1]), []),
    "a reduction": (lambda y, n, t: F.sum(y, axis=1), []),
    "another operator": (lambda y, n, t: F.relu(y) if n == 2 else F.exp(y), []),
    "other attributes": (lambda y, n, t: F.cast(y, "float64" if n == 1 else "int64"), []),
    "no constant": (lambda y, n, t: y + F.sum(y), []),
    "the same twice": (lambda y, n, t: y * y, []),
    "several users": (lambda y, n, t: F.where(y < 0.0, y * 0.5, y), []),
    "a wider constant": (lambda y, n, t: F.relu(y) + t.array(n if n > 1 else 5), ["relu"]),
    "more axes": (lambda y, n, t: F.relu(y) + t.array(3, 1, 1), ["relu"]),
    "operands in another place": (lambda y, n, t: 1.0 - y if n == 1 else y - 1.0, []),
}


@pytest.mark.parametrize("kind", ENDS)
def test_what_the_branches_do_not_have_in_common_stays_behind_the_split(t, kind):
    function, along = ENDS[kind]

    def build(x):
        return [function(y, n, t) for n, y in enumerate(products(t, x, (1, 2, 3)), start=1)]

    after = t.settled(Dense(), t.program_of(build, t.floats(4, 4)))
    assert t.names(after)[: 2 + len(along)] == ["matmul", *along, "split"]


def test_constants_that_fix_or_repeat_an_unknown_size_stay_behind_the_split(t):
    def build(x):
        parts = products(t, x, (1, 2, 3), rows=4)
        return [F.relu(y) + t.array(5, n) for n, y in enumerate(parts, start=1)]

    program = t.program_of(build, t.floats("n", "m"))
    assert [str(c.constraint.condition) for c in program.constraints] == ["m == 4", "n in (1, 5)"]
    after = t.settled(Dense(), program)
    assert t.names(after) == ["matmul", "relu", "split", "add", "add", "add"]


USES = {
    "an output": lambda y: [y, F.relu(y)],
    "two operators": lambda y: [F.relu(y), F.exp(y)],
    "a branch": lambda y: cond(F.sum(y) > 0, lambda: [F.relu(y)], lambda: [F.exp(y)]),
}


@pytest.mark.parametrize("use", USES)
def test_a_value_with_other_users_is_computed_once(t, use):
    def build(x):
        a, b, c = products(t, x, (1, 2, 3))
        return [*USES[use](a), F.relu(b), F.relu(c)]

    after = t.settled(Dense(), t.program_of(build, t.floats("n", 4)))
    assert t.names(after)[:2] == ["matmul", "split"]
    assert t.names(after).count("matmul") == 1


def test_convolutions_in_groups_of_unknown_number_stay(t):
    def parts(x):
        n, c, h, w = x.shape
        y = F.reshape(x, [1, n * c, h, w])
        filters = F.ones([n * c, 1, 2, 2])
        return [F.conv2d(y, filters * float(i + 1), groups=n * c) for i in range(2)]

    program = t.program_of(parts, t.floats("n", 1, 7, 7))
    assert t.names(t.settled(Conv(), program)).count("conv") == 2


def test_several_groups_of_one_program_are_joined(t):
    def build(x):
        first = products(t, x, (4, 4, 4))
        y = F.relu(first[0] + first[1])
        return [first[2], *products(t, y, (1, 2, 3)), *products(t, F.exp(y), (2, 2, 2))]

    after = t.settled(Dense(), t.program_of(build, t.floats("n", 4)), rtol=1e-4)
    assert t.names(after).count("matmul") == t.names(after).count("split") == 3


PRODUCTS = {
    "data": lambda t, x: [*products(t, x, (1, 2)), *products(t, F.relu(x), (3,))],
    "weights computed": lambda t, x: [F.matmul(x, F.exp(x) * float(i)) for i in range(3)],
    "the other side": lambda t, x: [F.matmul(t.array(4, 4, seed=i), x) for i in range(3)],
    "vectors": lambda t, x: [F.matmul(x, t.array(4, seed=i)) for i in range(3)],
    "stacks": lambda t, x: [F.matmul(x, t.array(2, 4, 3, seed=i)) for i in range(3)],
    "a vector as data": lambda t, x: products(t, x[0], (1, 2, 3)),
}


@pytest.mark.parametrize("kind", PRODUCTS)
def test_products_that_differ_stay(t, kind):
    t.untouched(Dense(), t.program_of(lambda x: PRODUCTS[kind](t, x), t.floats(4, 4)))


def test_constant_data_is_left_to_constant_folding(t):
    def build(x):
        data = apply("constant", value=t.array(2, 3))
        return [F.sum(x) + y for y in products(t, data, (1, 2, 3), rows=3)]

    t.untouched(Dense(), t.program_of(build, t.floats("n")))


@pytest.mark.parametrize("pass_", [Conv, Dense, Batch])
def test_branches_inside_branches_and_loops_are_joined(t, pass_):
    def inner(x):
        if pass_ is Conv:
            a, b, c = (F.relu(y) for y in convs(t, x, (3, 3, 3)))
        elif pass_ is Dense:
            a, b, c = (F.relu(y) for y in products(t, x, (4, 4, 4)))
        else:
            a, b, c = (F.relu(F.matmul(x, t.array(3, 4, 4, seed=i))) for i in range(3))
        return F.tanh(a + b + c)

    program = t.program_of(lambda x: t.nested(inner, x, *x.shape), t.floats("n", 3, 4, 4))
    found = t.names(t.settled(pass_(), program))
    assert found.count("split") == found.count("relu") == 1


# -- stacks of products ---------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(3, 2, 4), (3, "n", 4), ("n", 3, 2, 4), ("n", 4)], ids=str)
@pytest.mark.parametrize("widths", [(3, 3, 3), (1, 2, 3)], ids=str)
def test_stacks_of_products_become_one(t, shape, widths):
    def build(x):
        parts = [F.matmul(x, t.array(3, 4, n, seed=n)) for n in widths]
        return [F.relu(y + t.array(3, 1, n, seed=n)) for n, y in zip(widths, parts, strict=True)]

    program = t.program_of(build, t.floats(*shape))
    after = t.settled(Batch(), program)
    assert t.names(after) == ["matmul", "add", "relu", "split"]
    assert [v.type for v in after.outputs] == [v.type for v in program.outputs]


def test_stacks_of_other_numbers_stay(t):
    def build(x):
        return [F.matmul(x, t.array(*shape)) for shape in ((3, 4, 2), (1, 4, 2), (1, 3, 4, 2))]

    t.untouched(Batch(2), t.program_of(build, t.floats("n", 3, 2, 4)))


def test_matrices_are_left_to_the_other_pass(t):
    t.untouched(Batch(), t.program_of(lambda x: products(t, x, (1, 2, 3)), t.floats("n", 4)))


# -- with other passes ----------------------------------------------------------------------------


def test_all_parts_joined_again_need_no_split(t):
    program = t.program_of(
        lambda x: F.relu(F.concat(products(t, x, (1, 2, 3)), axis=1)), t.floats("n", 4)
    )
    after = t.check(Sequential([Dense(), SimplifyAlgebra()]), program)
    assert t.names(after) == ["matmul", "relu"]


def test_scales_are_folded_into_the_joined_weights(t):
    def build(x):
        return [y * t.array(y.shape[1], 1, 1) for y in convs(t, x, (2, 3, 4))]

    program = t.program_of(build, t.floats("n", 3, 5, 5))
    steps = [EliminateCommonSubexpr(), Conv(), FoldScaleAxis(), FoldConstant()]
    assert t.names(t.check(Sequential(steps), program)) == ["conv", "split"]


def test_float16_constants_do_not_become_wider(t):
    def build(x):
        return [y + t.array(2, dtype="float16") for y in products(t, x, (2, 2, 2), dtype="float16")]

    after = t.check(Dense(), t.program_of(build, t.floats("n", 4, dtype="float16")), rtol=1e-2)
    assert t.names(after) == ["matmul", "add", "split"]
    assert {v.dtype for v in after.outputs} == {np.dtype("float16")}


def test_every_one_of_many_groups_is_combined(t):
    weights = [t.array(4, 4, seed=i) for i in range(3)]

    def build(x):
        for _ in range(800):
            x = F.tanh(sum(F.matmul(x, w) for w in weights))
        return x

    found = t.names(Dense()(t.program_of(build, t.floats("n", 4))))
    assert found.count("matmul") == found.count("split") == 800
