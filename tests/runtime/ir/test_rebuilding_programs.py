"""Programs made anew with sizes in place of symbols."""

from __future__ import annotations

import time

import numpy as np
import pytest

import dy2st_runtime as rt
from dy2st_runtime import engine, ops
from dy2st_runtime.dims import Condition, Constraint, maximum, minimum, symbol
from dy2st_runtime.errors import ShapeError
from dy2st_runtime.ir import Program, TensorType, Tracer
from dy2st_runtime.ir.checks.verifier import verify
from dy2st_runtime.ir.program import LocatedConstraint
from dy2st_runtime.ir.rebuild import rebuild
from tests.recorded import floats, program_of

N, M = symbol("n"), symbol("m")


def run(program, *arrays):
    return engine.compile(program).run(list(arrays), [])


def test_without_changes_the_text_is_the_same():
    program = program_of(
        lambda x, y: ops.concat([x, y]).reshape([-1, 4]), floats(N, 2), floats(M, 2)
    )
    assert str(verify(rebuild(program))) == str(program)


def test_numbers_reach_every_type_and_attribute():
    program = program_of(lambda x: x[: x.shape[0] // 2].reshape([-1]), floats(N, 4))
    frozen = verify(rebuild(program, {N: 6}))
    assert frozen.outputs[0].shape == [12] and "dim" not in str(frozen)
    x = np.arange(24, dtype=np.float32).reshape(6, 4)
    np.testing.assert_array_equal(run(frozen, x)[0], run(program, x)[0])


def test_the_given_program_stays_as_it_is():
    program = program_of(lambda x: x.reshape([-1, 2]), floats(N, 4))
    before = str(program)
    rebuild(program, {N: 3})
    assert str(program) == before


def test_a_size_may_become_another_size():
    program = program_of(lambda x, y: x + y, floats(N, 4), floats(M, 4))
    same = verify(rebuild(program, {M: N}))
    assert [str(s) for s in same.outputs[0].shape] == ["n", "4"] and same.constraints == []


def test_a_constraint_that_numbers_break_is_refused_with_its_place():
    program = program_of(lambda x: x.reshape([-1, 8]), floats(N, 4))
    assert rebuild(program, {N: 6}).constraints == []
    with pytest.raises(ShapeError, match=r"break n % 2 == 0 \(from .*test_rebuilding"):
        rebuild(program, {N: 5})


def branching(x):
    return ops.cond(ops.greater_than(ops.shape(x)[0], 3), lambda: [x[:3]], lambda: [x * 2.0])[0]


def test_a_branch_that_is_decided_stands_in_place_of_the_cond():
    program = program_of(branching, floats(N, 4))
    assert "dy2st.cond" in str(program)
    for size in (2, 5):
        frozen = verify(rebuild(program, {N: size}))
        assert "dy2st.cond" not in str(frozen)
        x = np.arange(size * 4, dtype=np.float32).reshape(size, 4)
        np.testing.assert_array_equal(run(frozen, x)[0], run(program, x)[0])
        assert frozen.outputs[0].shape == [min(size, 3), 4]


def growing(x, k):
    def body(i, y):
        return [i + 1, ops.concat([y, x])]

    return ops.while_loop(lambda i, y: i < k, body, [ops.zeros([], "int64"), x])[1]


def test_loops_are_rebuilt_with_their_blocks():
    program = program_of(growing, floats(N, 2), TensorType("int64", ()))
    frozen = verify(rebuild(program, {N: 3}))
    x, k = np.ones((3, 2), np.float32), np.array(2)
    np.testing.assert_array_equal(run(frozen, x, k)[0], run(program, x, k)[0])


def test_sizes_that_the_data_decide_stay_unknown():
    program = program_of(lambda x: ops.nonzero(x).reshape([-1]), floats(N, 2))
    frozen = verify(rebuild(program, {N: 2}))
    assert [str(s) for s in frozen.outputs[0].shape] == ["2*nonzero_0"]
    x = np.array([[1, 0], [2, 3]], np.float32)
    np.testing.assert_array_equal(run(frozen, x)[0], run(program, x)[0])


def test_sizes_that_only_a_list_left_unknown_are_put_in():
    def function(x):
        few = ops.greater_than(ops.shape(x)[0], 3)
        parts = ops.cond(few, lambda: [ops.array_of([x[:3]])], lambda: [ops.array_of([x])])[0]
        return ops.array_read(parts, 0) * 2.0

    program = program_of(function, floats(N, 2))
    assert not isinstance(program.outputs[0].shape[0], int)
    assert verify(rebuild(program, {N: 2})).outputs[0].shape == [2, 2]


def test_dead_operators_are_left_out_and_visible_ones_stay():
    def function(x):
        ops.exp(x)
        ops.assert_(ops.all(x > 0))
        return x + 1.0

    names = [o.name for o in rebuild(program_of(function, floats(N))).operators]
    assert "exp" not in names and "assert" in names and names[-1] == "add"


def test_twenty_thousand_operators_take_a_few_seconds():
    def deep(x):
        for _ in range(20_000):
            x = x + 1.0
        return x

    program = Program()
    x = program.block.add_parameter(floats(N), "x")
    program.inputs = [x]
    with Tracer(program).tracing():
        program.block.yields = [deep(x)]
    start = time.process_time()
    assert rebuild(program, {N: 4}).outputs[0].shape == [4]
    assert time.process_time() - start < 20


def test_constants_are_shared():
    value = rt.to_tensor(np.ones((3, 4), np.float32))
    program = program_of(lambda x: x + value, floats(N, 4))
    old, new = (p.operators[0].attributes["value"] for p in (program, rebuild(program, {N: 3})))
    assert old is new


def test_sizes_are_refused_where_only_learning_shows_that_nothing_fits():
    a, b, d, e = symbol("a", 1), symbol("b"), symbol("d"), symbol("e")
    condition = Condition("==", maximum(8 * d, a), minimum(9, minimum(b, e)))
    program = Program()
    program.inputs = [program.block.add_parameter(TensorType("float32", (a, b, d, e)), "x")]
    program.constraints = [LocatedConstraint(Constraint(condition, "both are one axis"), None)]
    program.block.yields = list(program.inputs)
    rebuild(program)
    with pytest.raises(ShapeError, match="both are one axis"):
        rebuild(program, {e: d})
