"""DynamicToStatic: every operator with a tensor for a shape, by values that are known or formulas.

Each case is traced with the argument as an input of the Program, so that it is dynamic, and the
argument is then made known; NumPy is the reference for the result.
"""

from __future__ import annotations

import time

import numpy as np
import pytest

import dy2st
from dy2st import to_static
from dy2st.passes import DynamicToStatic
from dy2st.static import InputSpec
from dy2st_runtime import engine, ops
from dy2st_runtime.errors import UndecidedDim
from dy2st_runtime.ir import Program, TensorType, Tracer, apply
from dy2st_runtime.ir.checks.verifier import verify
from dy2st_runtime.ir.text.parser import parse_one
from dy2st_runtime.ir.text.printer import to_text
from dy2st_runtime.ops.dynamic import TABLE
from tests.recorded import floats, program_of


def constant(values, dtype="int64"):
    return apply("constant", value=np.array(values, dtype))


def dynamic(name, *inputs, **attributes):
    """The dynamic operator itself, whatever is known."""
    return apply(f"dynamic_{name}", *inputs, **attributes)


def names(program):
    return [operator.name for operator in program.operators]


def made_static(function, *types):
    """The Program before and after, with all dynamic operators gone."""
    program = program_of(function, *types)
    assert any(name in TABLE for name in names(program))
    after = verify(DynamicToStatic()(program))
    assert not any(name in TABLE for name in names(after))
    return program, after


def check(function, expected, *arrays):
    """The static types are exact, and both Programs compute what NumPy does."""
    types = [TensorType(a.dtype, a.shape) for a in arrays]
    before, after = made_static(function, *types)
    for program in (before, after):
        (found, *_) = engine.compile(program).run(list(arrays), [])
        np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert after.outputs[0].shape == list(expected.shape)
    assert after.outputs[0].tensor_type.dtype == expected.dtype


def numbers(*shape):
    return np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape) + 1.0


def reshape_like(x, y):
    return dynamic("reshape", x, ops.shape(y))


@pytest.mark.parametrize(
    ("shape", "like"), [((2, 3, 4), (8, 3)), ((4, 7), (2, 7, 2)), ((2, 3), ()), ((1,), ())][:2]
)
def test_reshape_by_the_shape_of_another_tensor(shape, like):
    check(reshape_like, numbers(*shape).reshape(like), numbers(*shape), numbers(*like))


def test_the_text_before_and_after_is_that_of_the_description():
    program = program_of(reshape_like, floats(4, 7), floats(2, 7, 2), names="xy")
    before, after = str(program), str(DynamicToStatic()(program))
    assert '"dy2st.dynamic_reshape"' in before and 'tensor<?x?x?xf32, ["size_0"' in before
    assert '"dy2st.reshape"(%x) {shape = [2, 7, 2]}' in after
    assert "-> tensor<2x7x2xf32>" in after and "dy2st.shape" not in after


def test_symbolic_sizes_reach_the_attribute():
    n, m = dy2st.dims.symbol("n"), dy2st.dims.symbol("m")
    _, after = made_static(reshape_like, floats(n, 4), floats(m, 2, 2))
    (reshape,) = (o for o in after.operators if o.name == "reshape")
    assert [str(size) for size in reshape.attributes["shape"]] == ["m", "2", "2"]
    assert [str(c.constraint.condition) for c in after.constraints] == ["n == m"]


@pytest.mark.parametrize("axes", [(0,), (3,), (0, 3)])
def test_squeeze(axes):
    x = numbers(1, 3, 4, 1)
    check(lambda x: dynamic("squeeze", x, constant(axes)), x.squeeze(axes), x)


@pytest.mark.parametrize("axes", [(0,), (2,), (0, 3)])
def test_unsqueeze_which_is_expand_dims(axes):
    x = numbers(3, 4)
    expected = np.expand_dims(x, axes)
    check(lambda x: dynamic("unsqueeze", x, constant(axes)), expected, x)


@pytest.mark.parametrize("count", [2, 4, 50])
def test_a_chain_of_reshapes_ends_in_the_shape_it_began_with(count):
    def chain(x, y):
        for _ in range(count // 2):
            x = dynamic("reshape", x, ops.shape(y))
            x = dynamic("reshape", x, ops.shape(y)[::-1])
            x = dynamic("reshape", x, ops.shape(x)[::-1])
        return x

    x, y = numbers(2, 12), numbers(4, 6)
    check(chain, x.reshape(4, 6), x, y)


@pytest.mark.parametrize(("shape", "times"), [((2, 3, 4), (2, 1, 5)), ((4, 7), (4, 2))])
def test_tile(shape, times):
    x = numbers(*shape)
    check(lambda x: dynamic("tile", x, constant(times)), np.tile(x, times), x)


@pytest.mark.parametrize("k", [0, 1, 5])
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("largest", [True, False])
def test_topk(k, axis, largest):
    x = np.random.default_rng(0).permutation(150).reshape(5, 5, 6).astype("float32")
    order = np.argsort(-x if largest else x, axis=axis).take(range(k), axis)
    expected = np.take_along_axis(x, order, axis)

    def function(x):
        return dynamic("topk", x, constant(k), axis=axis, largest=largest)

    check(function, expected, x)
    _, after = made_static(function, floats(5, 5, 6))
    np.testing.assert_array_equal(engine.compile(after).run([x], [])[1], order)


@pytest.mark.parametrize("dtype", ["int64", "float32"])
@pytest.mark.parametrize("largest", [True, False])
def test_topk_from_the_end(dtype, largest):
    x = np.array([[5, 3, 9, 1], [2, 8, 4, 6]], dtype)
    ordered = np.sort(x, -1)[:, ::-1] if largest else np.sort(x, -1)
    check(lambda x: dynamic("topk", x, constant(2), axis=-1, largest=largest)[0], ordered[:, :2], x)


def test_broadcast_to():
    x = numbers(3, 1)
    check(lambda x: dynamic("broadcast_to", x, constant([3, 3])), np.broadcast_to(x, (3, 3)), x)


@pytest.mark.parametrize("dtype", ["int64", "float32"])
@pytest.mark.parametrize("value", [0, 1, 7])
def test_zeros_ones_and_full(dtype, value):
    def function(x):
        return dynamic("full", ops.shape(x), value=value, dtype=np.dtype(dtype))

    check(function, np.full((2, 5), value, dtype), numbers(2, 5))


@pytest.mark.parametrize("depth", [3, 11])
@pytest.mark.parametrize("shape", [(3,), (2, 3), ()])
def test_one_hot(depth, shape):
    x = (np.arange(int(np.prod(shape))) % 3).reshape(shape)
    expected = np.eye(depth, dtype="float32")[x]
    check(lambda x: dynamic("one_hot", x, constant(depth)), expected, x)


@pytest.mark.parametrize("mode", ["nearest", "bilinear"])
def test_resize(mode):
    x = numbers(1, 2, 3, 4)
    expected = dy2st.nn.functional.interpolate(dy2st.to_tensor(x), size=[6, 8], mode=mode).numpy()
    check(lambda x: dynamic("resize", x, constant([6, 8]), mode=mode), expected, x)


@pytest.mark.parametrize("scale", [2, 4])
@pytest.mark.parametrize("spatial", [(3,), (3, 4), (3, 4, 2)])
def test_upsampling(scale, spatial):
    x = numbers(1, 2, *spatial)
    expected = x
    for axis in range(2, x.ndim):
        expected = expected.repeat(scale, axis)
    check(lambda x: dynamic("upsampling", x, constant(scale)), expected, x)


@pytest.mark.parametrize("dtype", ["int32", "float32", "float64"])
def test_pad(dtype):
    x = numbers(2, 3).astype(dtype)
    expected = np.pad(x, ((1, 0), (2, 1)), constant_values=5)
    check(lambda x: dynamic("pad", x, constant([1, 0, 2, 1]), value=5), expected, x)


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
def test_pad_by_what_is_there(mode):
    x = numbers(3, 4)
    how = {"replicate": "edge", "circular": "wrap"}.get(mode, mode)
    expected = np.pad(x, ((1, 0), (2, 1)), mode=how)
    check(lambda x: dynamic("pad", x, constant([1, 0, 2, 1]), mode=mode), expected, x)


@pytest.mark.parametrize(
    ("starts", "ends", "strides"),
    [
        ([0, 0], [4, 5], [1, 1]),
        ([1, 0], [3, 5], [2, 2]),
        ([-3, 1], [-1, 100], [1, 3]),
        ([3, 4], [0, -100], [-1, -2]),
        ([2, 2], [2, 2], [1, 1]),
    ],
)
@pytest.mark.parametrize("dtype", ["int16", "int32", "int64"])
def test_strided_slice(starts, ends, strides, dtype):
    x = numbers(4, 5)
    expected = x[tuple(map(slice, starts, ends, strides))]

    def function(x):
        ends_of = [constant(values, dtype) for values in (starts, ends, strides)]
        return dynamic("strided_slice", x, *ends_of, axes=(0, 1))

    check(function, expected, x)


def test_arange():
    x = numbers(7, 2)
    check(
        lambda x: dynamic("arange", constant(1), ops.shape(x)[0], constant(2)),
        np.arange(1, 7, 2),
        x,
    )


def test_scatter_nd_which_is_sparse_to_dense():
    index, updates = np.array([[0, 1], [2, 0]]), np.array([5.0, 7.0], "float32")
    expected = np.zeros((3, 4), "float32")
    expected[0, 1], expected[2, 0] = 5.0, 7.0
    check(lambda i, u: dynamic("scatter_nd", i, u, constant([3, 4])), expected, index, updates)


def test_the_rank_may_follow_from_a_shape_of_the_tensor_itself():
    x = numbers(2, 3, 4)
    check(lambda x: dynamic("reshape", x, ops.shape(x)[: x.ndim - 1] * constant([2, 2])),
          x.reshape(4, 6), x)  # fmt: skip


@pytest.mark.parametrize("taken", [True, False])
def test_a_cond_on_a_known_condition_is_the_branch_that_is_taken(taken):
    def function(x, y):
        flag = ops.shape(y)[0] > (1 if taken else 9)
        return ops.cond(
            flag, lambda: [dynamic("reshape", x, ops.shape(y))], lambda: [ops.reshape(x, [4, 3])]
        )[0]

    program = program_of(function, floats(2, 6), floats(3, 4))
    after = verify(DynamicToStatic()(program))
    assert names(after) == ["reshape"]
    assert after.outputs[0].shape == ([3, 4] if taken else [4, 3])


def test_operators_in_loops_are_made_static():
    def function(x, y, k):
        def body(i, z):
            return [i + 1, dynamic("reshape", dynamic("reshape", z, ops.shape(y)), ops.shape(x))]

        return ops.while_loop(lambda i, z: i < k, body, [ops.zeros([], "int64"), x])[1]

    program = program_of(function, floats(2, 6), floats(3, 4), TensorType("int64", ()))
    after = verify(DynamicToStatic()(program))
    assert not [o.name for o in after.block.walk() if o.name in TABLE]
    x = numbers(2, 6)
    (found,) = engine.compile(after).run([x, numbers(3, 4), np.array(3)], [])
    np.testing.assert_array_equal(found, x)


def test_what_is_not_known_stays_dynamic():
    program = program_of(
        lambda x, s: dynamic("reshape", x, s), floats(2, 6), TensorType("int64", (2,))
    )
    after = verify(DynamicToStatic()(program))
    assert names(after) == ["dynamic_reshape"]
    x = numbers(2, 6)
    (found,) = engine.compile(after).run([x, np.array([3, 4])], [])
    np.testing.assert_array_equal(found, x.reshape(3, 4))


def test_a_partly_known_shape_is_kept_as_far_as_it_is_known():
    def model(x, n):
        return x.reshape([n, 4])

    static = to_static(model, input_spec=[InputSpec([2, 6]), InputSpec([], "int64")])
    assert static.main_program.outputs[0].shape[1] == 4
    x = dy2st.to_tensor(numbers(2, 6))
    assert static(x, dy2st.to_tensor(3)).shape == [3, 4]


def test_it_works_on_a_program_that_was_read_from_text():
    program = parse_one(to_text(program_of(reshape_like, floats(4, 7), floats(2, 7, 2))))
    after = verify(DynamicToStatic()(program))
    assert names(after) == ["reshape"] and after.outputs[0].shape == [2, 7, 2]


def test_the_given_program_stays_and_twice_is_once():
    program = program_of(reshape_like, floats(4, 7), floats(2, 7, 2))
    text = str(program)
    once = DynamicToStatic()(program)
    assert str(program) == text and str(DynamicToStatic()(once)) == str(once)


def test_gradients_flow_through_a_dynamic_operator():
    def model(x, n):
        return (x.reshape([n, -1]) * 2.0).sum()

    static = to_static(model, input_spec=[InputSpec([2, 6]), InputSpec([], "int64")])
    x = dy2st.to_tensor(numbers(2, 6), stop_gradient=False)
    static(x, dy2st.to_tensor(4)).backward()
    np.testing.assert_array_equal(x.grad.numpy(), np.full((2, 6), 2.0))


def test_a_shape_of_unknown_length_is_refused():
    length = dy2st.dims.symbol("length")
    with pytest.raises(UndecidedDim, match="the number of axes of the result is not known"):
        program_of(lambda x, s: ops.reshape(x, s), floats(4, 7), TensorType("int64", (length,)))


def test_five_thousand_reshapes_take_linear_time():
    def chain(x, y):
        for _ in range(2500):
            x = dynamic("reshape", x, ops.shape(y))
            x = dynamic("reshape", x, ops.shape(x)[::-1])
        return x

    program = Program("main")
    program.inputs = [program.block.add_parameter(floats(*s)) for s in ((2, 6), (3, 4))]
    with Tracer(program).tracing():
        program.block.yields = [chain(*program.inputs)]
    start = time.process_time()
    after = DynamicToStatic()(program)
    assert time.process_time() - start < 5
    assert names(after) == ["reshape"] * 5000
