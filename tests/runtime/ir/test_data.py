"""The values of small integer tensors are carried as sizes; NumPy on real sizes is the reference."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st_runtime as rt
from dy2st_runtime import ops
from dy2st_runtime.dims import collect, evaluate, symbol
from dy2st_runtime.ir import Program, TensorType, Tracer
from dy2st_runtime.ir.data import data_of
from dy2st_runtime.ir.dispatch import interpreting
from tests.recorded import program_of

N, M = symbol("n"), symbol("m")
PAIR, PLACES = rt.to_tensor(np.array([7, -1])), rt.to_tensor(np.array([2, 0]))
TWOS = rt.to_tensor(np.array([2, 2, 2]))
CHOICE = rt.to_tensor(np.array([True, False, True]))
SIZES = [(0, 0), (0, 1), (1, 0), (1, 1), (2, 3), (3, 2), (5, 8), (8, 5), (17, 4)]


def shape(x):
    return ops.shape(x)


# Functions of a tensor of shape (n, m, 4): what they give is an integer tensor.
FUNCTIONS = {
    "shape": shape,
    "one size": lambda x: shape(x)[0],
    "from the end": lambda x: shape(x)[-1],
    "a slice": lambda x: shape(x)[1:],
    "every second": lambda x: shape(x)[::2],
    "reversed": lambda x: shape(x)[::-1],
    "flip": lambda x: ops.flip(shape(x), [0]),
    "concat": lambda x: ops.concat([shape(x)[:1], PAIR]),
    "stack": lambda x: ops.stack([shape(x)[1], shape(x)[0] + 1]),
    "split": lambda x: ops.split(shape(x), 3)[1],
    "sum": lambda x: ops.sum(shape(x)),
    "sum along an axis": lambda x: ops.sum(ops.reshape(shape(x)[:2], [2, 1]), axis=0),
    "prod": lambda x: ops.prod(shape(x)),
    "numel": lambda x: ops.numel(x),
    "max": lambda x: ops.max(shape(x)),
    "min": lambda x: ops.min(shape(x)),
    "cumsum": lambda x: ops.cumsum(shape(x), 0),
    "arithmetic": lambda x: shape(x) * 2 + 1 - shape(x)[0],
    "floor division": lambda x: (shape(x) + 1) // 2,
    "remainder": lambda x: shape(x) % 3,
    "negative floor division": lambda x: -(-shape(x) // 4),
    "maximum": lambda x: ops.maximum(shape(x), TWOS),
    "minimum": lambda x: ops.minimum(shape(x)[0], shape(x)[1]),
    "absolute": lambda x: ops.abs(shape(x)[0] - shape(x)[1]),
    "cast": lambda x: ops.cast(shape(x), "int32"),
    "cast back": lambda x: ops.cast(ops.cast(shape(x), "int32"), "int64") * 2,
    "reshape": lambda x: ops.reshape(shape(x), [3, 1]),
    "unsqueeze and squeeze": lambda x: ops.squeeze(ops.unsqueeze(shape(x), [0]), [0]),
    "transpose": lambda x: ops.transpose(ops.reshape(shape(x), [1, 3]), [1, 0]),
    "gather": lambda x: ops.gather(shape(x), PLACES),
    "index select": lambda x: ops.index_select(shape(x), rt.to_tensor(np.array([1]))),
    "broadcast": lambda x: ops.broadcast_to(shape(x)[:1], [2]),
    "tile": lambda x: ops.tile(shape(x)[:2], [2]),
    "where": lambda x: ops.where(CHOICE, shape(x), -shape(x)),
    "full": lambda x: ops.full([2], 3, "int64") * shape(x)[:2],
    "full of a size": lambda x: ops.full([2], x.shape[0] - 1, "int64"),
    "arange": lambda x: ops.arange(3) + shape(x),
}


def traced(function, sizes=(N, M, 4)):
    program = Program()
    x = program.block.add_parameter(TensorType("float32", sizes), "x")
    program.inputs = [x]
    tracer = Tracer(program)
    with tracer.tracing():
        return function(x)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_data_are_what_numpy_computes_from_real_sizes(name):
    function = FUNCTIONS[name]
    variable = traced(function)
    data = data_of(variable)
    assert data is not None, "the values are known"
    for n, m in SIZES:
        real = function(rt.to_tensor(np.zeros((n, m, 4), "float32"))).numpy()
        found = np.array([evaluate(entry, {N: n, M: m}) for entry in data.flat], real.dtype)
        np.testing.assert_array_equal(found.reshape(data.shape), real)
        assert variable.tensor_type.dtype == real.dtype


def test_comparisons_are_carried_and_choose_where_they_are_decided():
    def function(x):
        few = shape(x)[2] < 9
        return ops.where(few, shape(x)[0], shape(x)[1])

    assert data_of(traced(function)).item() is N
    undecided = traced(lambda x: ops.where(shape(x)[0] > 3, shape(x)[0], shape(x)[1]))
    assert data_of(undecided) is None


def test_a_size_in_an_int32_must_fit():
    program = program_of(lambda x: ops.cast(ops.shape(x), "int32"), ("float32", (N,)))
    conditions = [str(c.constraint.condition) for c in program.constraints]
    assert conditions == ["n <= 2147483647"]


def test_a_size_in_fewer_bits_is_carried_only_if_it_surely_fits():
    small = symbol("small", 0, 100)
    assert data_of(traced(lambda x: ops.cast(ops.shape(x), "int8"), (small,))) is not None
    assert data_of(traced(lambda x: ops.cast(ops.shape(x), "int8"), (N,))) is None


def test_large_tensors_and_floats_are_not_carried():
    assert data_of(traced(lambda x: ops.arange(65))) is None
    assert data_of(traced(lambda x: ops.cast(ops.shape(x), "float32"))) is None


def test_the_data_of_an_input_are_not_known():
    program = Program()
    x = program.block.add_parameter(TensorType("int64", (2,)), "x")
    with Tracer(program).tracing(), collect():
        assert data_of(x) is None


def test_data_are_seen_inside_of_a_branch():
    program = Program()
    x = program.block.add_parameter(TensorType("float32", (N, 4)), "x")
    flag = program.block.add_parameter(TensorType("bool", ()), "flag")
    program.inputs = [x, flag]
    tracer = Tracer(program)
    with tracer.tracing():
        sizes = ops.shape(x)
        taken = ops.cond(flag, lambda: [ops.reshape(x, [sizes[0] * 4])], lambda: [ops.flatten(x)])
    assert [str(size) for size in taken[0].shape] == ["4*n"]


SHAPES = {
    "reshape": (lambda x: ops.reshape(x, [shape(x)[0] * 4, -1]), ["4*n", "m"]),
    "reshape by a tensor": (lambda x: ops.reshape(x, shape(x)[::-1]), ["4", "m", "n"]),
    "slice": (lambda x: x[: shape(x)[0] // 2], ["n//2", "m", "4"]),
    "arange": (lambda x: ops.arange(shape(x)[0]), ["n"]),
    "arange from a size": (
        lambda x: ops.arange(shape(x)[0], shape(x)[0] + shape(x)[1]),
        ["m"],
    ),
    "full": (lambda x: ops.full([shape(x)[0], shape(x)[1]], 1.0), ["n", "m"]),
    "full by a tensor": (lambda x: ops.full(shape(x)[1:], 1.0), ["m", "4"]),
    "zeros": (lambda x: ops.zeros(shape(x)), ["n", "m", "4"]),
    "expand": (lambda x: ops.expand(x[:1, :1], shape(x)), None),
    "tile": (lambda x: ops.tile(x, ops.stack([shape(x)[1], 1, 2])), ["m*n", "m", "8"]),
    "topk": (lambda x: ops.topk(x, shape(x)[2] // 2, axis=2)[0], ["n", "m", "2"]),
    "one_hot": (
        lambda x: ops.one_hot(ops.zeros([3], "int64"), shape(x)[2]),
        ["3", "4"],
    ),
    "pad": (lambda x: ops.pad(x, [0, 0, 0, 0, 1, shape(x)[2]]), None),
    "unsqueeze": (
        lambda x: ops.unsqueeze(x, rt.to_tensor(np.array([0]))),
        ["1", "n", "m", "4"],
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_from_tensors_are_exact(name):
    function, expected = SHAPES[name]
    variable = traced(function)
    if expected is not None:
        assert [str(size) for size in variable.shape] == expected
    for n, m in SIZES:
        if name in ("expand", "reshape") and not (n and m):
            continue
        real = function(rt.to_tensor(np.zeros((n, m, 4), "float32")))
        assert [evaluate(size, {N: n, M: m}) for size in variable.shape] == real.shape


def test_an_eager_call_carries_nothing():
    with interpreting(Tracer()):
        pass
    assert ops.shape(rt.to_tensor(np.zeros((2, 3), "float32"))).numpy().tolist() == [2, 3]
