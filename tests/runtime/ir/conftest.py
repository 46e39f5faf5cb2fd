"""Random Programs: small graphs over a handful of operators, with nested branches and loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st

from dy2st_runtime.dims import symbol
from dy2st_runtime.errors import Location
from dy2st_runtime.ir import F, Output, Program, TensorType, Tracer, current_tracer
from dy2st_runtime.ir.placement import Placement
from dy2st_runtime.ops.control_flow import close_blocks, while_loop

SIZES = [symbol("n"), symbol("m", 1), symbol("k", 2, 512), 1, 3, 4]
DTYPES = ["float32", "float64", "int64", "int8", "uint8", "bool"]
LOCATIONS = [None, Location("/home/somebody/model.py", 3, 7), Location('C:\\a "b"\\c.py', 1)]


def _unary(draw, pool):
    x = draw(st.sampled_from(pool))
    if x.dtype.kind == "f":
        return [draw(st.sampled_from([F.relu, F.exp, F.tanh]))(x)]
    return [F.cast(x, draw(st.sampled_from(DTYPES)))]


def _binary(draw, pool):
    x = F.cast(draw(st.sampled_from(pool)), "float32")
    number = draw(st.floats(width=32))
    return [draw(st.sampled_from([F.add, F.multiply]))(x, np.float32(number))]


def _reduce(draw, pool):
    x = F.cast(draw(st.sampled_from(pool)), "float32")
    axes = draw(st.sets(st.integers(0, x.ndim - 1))) if x.ndim else set()
    return [F.sum(x, axis=sorted(axes) or None, keepdim=draw(st.booleans()))]


def _reshape(draw, pool):
    x = draw(st.sampled_from(pool))
    return [F.reshape(x, [x.size]), F.transpose(x, list(range(x.ndim))[::-1])]


def _constant(draw, pool):
    shape = draw(st.sampled_from([(), (0, 2), (3,), (2, 2), (9, 9)]))
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    count = int(np.prod(shape)) * dtype.itemsize
    data = draw(st.binary(min_size=count, max_size=count))
    data = bytes(byte & 1 for byte in data) if dtype.kind == "b" else data
    return [F.add(F.cast(np.frombuffer(data, dtype).reshape(shape).copy(), dtype), 0)]


def _cond(draw, pool):
    tracer, x = current_tracer(), draw(st.sampled_from(pool))
    holds = F.greater_than(F.sum(F.cast(x, "float32")), 0.0)
    blocks = []
    for _ in range(2):
        with tracer.nested() as block:
            inner = _steps(draw, [F.cast(x, x.dtype)], 2)
            block.yields = [tracer.local(x), F.cast(F.sum(F.cast(inner[-1], "float32")), "float32")]
            blocks.append(block)
    captured = close_blocks(tracer, blocks, own=0)
    types = [x.type, TensorType("float32", ())]
    return tracer.append("cond", [holds, *captured], {}, types, blocks).results


def _while(draw, pool):
    x = F.cast(draw(st.sampled_from(pool)), "float32")
    stop = F.cast(draw(st.integers(0, 5)), "int64")

    def body(i, y):
        inner = _steps(draw, [y, x], 2)
        return [F.add(i, 1), F.add(y, F.sum(F.cast(inner[-1], "float32")))]

    start = [F.cast(0, "int64"), x]
    return while_loop(lambda i, y: [F.less_than(i, stop)], body, start)


STEPS = [_unary, _binary, _reduce, _reshape, _constant, _cond, _while]


def _steps(draw, pool, most):
    for _ in range(draw(st.integers(0, most))):
        pool = [*pool, *draw(st.sampled_from(STEPS))(draw, pool)]
    return pool


def _structure(draw, count):
    leaves = st.one_of(
        st.builds(Output, st.integers(0, count - 1)),
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(max_size=5),
        st.binary(max_size=5),
    )
    keys = st.one_of(st.text(max_size=5), st.integers(), st.tuples(st.integers(), st.text()))
    return draw(
        st.recursive(
            leaves,
            lambda inner: st.one_of(
                st.lists(inner, max_size=3),
                st.lists(inner, max_size=3).map(tuple),
                st.dictionaries(keys, inner, max_size=3),
            ),
            max_leaves=6,
        )
    )


def _random_program(draw):
    program = Program(draw(st.text(max_size=8)))
    for index in range(draw(st.integers(1, 3))):
        shape = draw(st.lists(st.sampled_from(SIZES), max_size=3))
        type = TensorType(draw(st.sampled_from(DTYPES)), shape)
        program.inputs.append(program.block.add_parameter(type, draw(st.text(max_size=4))))
        if draw(st.booleans()):
            name = f"layer {index}.weight"
            known = draw(st.sampled_from([program.parameters, program.buffers]))
            known[name] = program.block.add_parameter(TensorType("float32", (2, 3)), name)
            program.trainable[name] = draw(st.booleans())
            if draw(st.booleans()):
                program.placements[name] = Placement((("dp", 2),), ("shard 1",))
    program.block.parameters = [*program.inputs, *program.state.values()]
    tracer = Tracer(program)
    with tracer.tracing():
        pool = _steps(draw, list(program.block.parameters), 6)
    program.block.yields = draw(st.lists(st.sampled_from(pool), min_size=1, max_size=3))
    program.structure = _structure(draw, len(program.block.yields))
    for name, variable in program.buffers.items():
        program.updates.append(name)
        program.block.yields.append(variable)
    for operator in program.block.walk():
        operator.location = draw(st.sampled_from(LOCATIONS))
    return program


@pytest.fixture(scope="session")
def random_program():
    """`random_program(data.draw)` draws a valid Program."""
    return _random_program


@pytest.fixture
def trace():
    """`trace(function, x=(dtype, shape))` is the Program of a function of traced tensors."""

    def make(function, **inputs):
        program = Program(function.__name__.strip("<>"))
        for name, (dtype, shape) in inputs.items():
            program.inputs.append(program.block.add_parameter(TensorType(dtype, shape), name))
        with Tracer(program).tracing():
            results = function(*program.inputs)
        program.block.yields = list(results) if isinstance(results, tuple) else [results]
        program.structure = tuple(Output(i) for i in range(len(program.block.yields)))
        return program

    return make
