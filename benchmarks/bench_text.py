"""Programs as text: what printing, reading and comparing cost an operator."""

from __future__ import annotations

import functools
import gc
import statistics

import numpy as np
import pytest
from measuring import seconds

from dy2st_runtime import ops
from dy2st_runtime.dims import symbol
from dy2st_runtime.ir import Program, TensorType, Tracer
from dy2st_runtime.ir.clone import clone
from dy2st_runtime.ir.text.difference import difference
from dy2st_runtime.ir.text.parser import parse_one
from dy2st_runtime.ir.text.printer import to_text
from dy2st_runtime.ops.control_flow import close_blocks

WEIGHTS = np.arange(16, dtype="float32").reshape(4, 4) / 8
SIZES = {"static": 8, "symbolic": symbol("batch", 1)}


@functools.cache
def mixed(count: int, kind: str) -> Program:
    """So many operators: elementwise ones, products with small constants, branches, two types."""
    program = Program("mixed")
    type = TensorType("float32", (SIZES[kind], 4))
    program.inputs = [program.block.add_parameter(type, "x")]
    tracer = Tracer(program)
    x = program.inputs[0]
    with tracer.tracing():
        while len(program.operators) < count * 11 // 13:  # two of thirteen are in a branch
            x = ops.relu(x) + 1.5
            x = ops.matmul(x, WEIGHTS + len(program.operators))
            y = ops.reshape(x, [SIZES[kind] * 2, 2])
            x = ops.reshape(ops.exp(y), [SIZES[kind], 4])
            x = branch(tracer, ops.sum(x) > 0.0, x)
    program.block.yields = [x]
    return program


def branch(tracer, condition, x):
    """A `cond` with an operator in each of its Blocks."""
    blocks = []
    for function in (ops.tanh, ops.abs):
        with tracer.nested() as block:
            block.yields = [function(tracer.local(x))]
            blocks.append(block)
    captured = close_blocks(tracer, blocks, own=0)
    return tracer.append("cond", [condition, *captured], {}, [x.type], blocks).results[0]


def microseconds(subject, program: Program) -> float:
    """The median of several calls, an operator, with no garbage of others to collect."""
    count = sum(1 for _ in program.block.walk())
    gc.collect()
    rounds = 9 if count < 10_000 else 3
    return statistics.median(seconds(subject) for _ in range(rounds)) / count * 1e6


CASES = pytest.mark.parametrize(
    ("kind", "count"), [(kind, count) for kind in SIZES for count in (5_000, 50_000)]
)


@CASES
def test_printing(figure, kind, count):
    program = mixed(count, kind)
    measure = lambda: microseconds(lambda: to_text(program), program)  # noqa: E731
    figure(f"print an operator of {count:,}, {kind} sizes", measure, "us", 15)


@CASES
def test_reading(figure, kind, count):
    program = mixed(count, kind)
    text = to_text(program)
    measure = lambda: microseconds(lambda: parse_one(text), program)  # noqa: E731
    figure(f"read an operator of {count:,}, {kind} sizes", measure, "us", 15)


def test_comparing(figure):
    program = mixed(5_000, "symbolic")
    other = clone(program)
    for index in range(0, len(other.operators), 500):
        other.operators[index].attributes["note"] = index
    measure = lambda: seconds(lambda: difference(program, other)) * 1e3  # noqa: E731
    figure("compare Programs of 5,000 operators", measure, "ms", 1_000)
