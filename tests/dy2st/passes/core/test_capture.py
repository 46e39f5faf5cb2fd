"""Bringing an outer value into nested Blocks."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st.passes.core.capture import captured, paths_of
from dy2st_runtime.ir import F
from dy2st_runtime.ir.checks.verifier import verify
from dy2st_runtime.ops.control_flow import cond, while_loop


@pytest.fixture
def program(t):
    """relu(y) and tanh(x) are outer values; a branch holds a loop, which holds a branch."""

    def innermost(i, v):
        return [i + 1, cond(F.sum(v) > 0, lambda: [F.exp(v)], lambda: [F.neg(v)])[0]]

    def build(x, y):
        outer = F.relu(y)
        first = F.tanh(x)

        def loop():
            start = [F.full([], 0, "int64"), first]
            return [while_loop(lambda i, v: i < 2, innermost, start)[1]]

        return [cond(F.sum(first) > 0, loop, lambda: [F.neg(first)])[0], outer]

    return t.program_of(build, t.floats("n"), t.floats("n"))


def deepest(program, name):
    return next((o, b, p) for b, p in paths_of(program) for o in b.operators if o.name == name)


def test_every_block_has_the_operators_around_it(program):
    found = [[operator.name for operator, _ in path] for _, path in paths_of(program)]
    assert found == [
        [],
        ["cond"],
        ["cond", "while"],
        ["cond", "while"],
        ["cond", "while", "cond"],
        ["cond", "while", "cond"],
        ["cond"],
    ]
    for block, path in paths_of(program):
        assert block is (path[-1][1] if path else program.block)


def test_a_value_is_captured_all_the_way_and_the_program_stays_well_formed(t, program):
    x, y = np.float32([1, 2]), np.float32([-3, 4])
    exp, block, path = deepest(program, "exp")
    brought = captured(program.block.yields[1], path)
    assert brought.maker is block and brought.type == program.inputs[1].type
    exp.operands[0] = brought
    verify(program)
    found = t.run(program, [x, y])
    np.testing.assert_allclose(found[0], np.exp(np.maximum(y, 0)), rtol=1e-6)


def test_a_value_that_is_captured_already_is_not_captured_again(program):
    _, block, path = deepest(program, "exp")
    outer = program.block.yields[1]
    once = captured(outer, path)
    counts = [len(operator.operands) for operator in program.block.walk()]
    assert captured(outer, path) is once
    assert [len(operator.operands) for operator in program.block.walk()] == counts
    assert len(set(block.parameters)) == len(block.parameters)


def test_a_value_that_a_loop_carries_is_captured_beside_what_changes(program):
    """Its first value is an operand of the loop; inside, the parameter is another value."""
    _, _, path = deepest(program, "exp")
    start = deepest(program, "tanh")[0].results[0]
    _, loop = next((o, b) for o, b in path if o.name == "while")
    carried = list(loop.parameters)
    captured(start, path)
    assert loop.parameters[: len(carried)] == carried and len(loop.parameters) == len(carried) + 1
    verify(program)


def test_without_a_path_it_is_the_value_itself(program):
    assert captured(program.inputs[0], ()) is program.inputs[0]
