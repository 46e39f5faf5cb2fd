"""Branches and loops built from closures: the Program runs as Python would."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st_runtime import engine
from dy2st_runtime.dims import is_symbol, symbol
from dy2st_runtime.errors import BranchMismatch, EscapedVariable, LoopMismatch, ShapeError
from dy2st_runtime.ir import Tracer, current_tracer
from dy2st_runtime.ir.checks.verifier import verify
from dy2st_runtime.ir.interpret import interpret
from dy2st_runtime.ir.text.parser import parse_one
from dy2st_runtime.ir.text.printer import to_text
from dy2st_runtime.ir.types import TensorType
from dy2st_runtime.ops import (
    array_append,
    array_of,
    array_stack,
    cast,
    concat,
    cond,
    full,
    relu,
    reshape,
    while_loop,
    zeros,
)
from dy2st_runtime.tensor import EagerTensor, to_tensor
from tests.recorded import program_of


def run(program, *arrays):
    """What the engine computes, after a look at what the interpreter computes."""
    arrays = [np.asarray(array) for array in arrays]
    fast = engine.compile(program).run(arrays, [])
    slow, _ = interpret(program, [EagerTensor(array) for array in arrays], {})
    for left, right in zip(fast, slow, strict=True):
        np.testing.assert_array_equal(left, right.array, strict=True)
    again = engine.compile(parse_one(to_text(program))).run(arrays, [])
    np.testing.assert_array_equal(again[0], fast[0])
    return fast


FLAG = TensorType("bool", ())
NUMBER = TensorType("int64", ())
PAIR = TensorType("float32", (2,))


# -- cond -------------------------------------------------------------------------------------


def test_a_cond_gives_the_results_of_the_branch_that_is_chosen():
    program = program_of(
        lambda flag, x: cond(flag, lambda: [x + 1, x], lambda: [x * 2, -x]), FLAG, PAIR
    )
    x = np.array([1, 2], np.float32)
    for flag, want in ((True, [x + 1, x]), (False, [x * 2, -x])):
        np.testing.assert_array_equal(run(program, flag, x), want)


def test_blocks_of_a_cond_are_closed_over_what_either_branch_reads():
    program = program_of(
        lambda flag, x, y: cond(flag, lambda: [x + 1], lambda: [y * x]), FLAG, PAIR, PAIR
    )
    (operator,) = [o for o in program.operators if o.name == "cond"]
    assert operator.operands == program.inputs
    types = [[p.type for p in block.parameters] for block in operator.blocks]
    assert types == [[PAIR, PAIR], [PAIR, PAIR]]


def test_conds_nest():
    def inner(x, y):
        return cond(y.sum() > 0, lambda: [x + y], lambda: [x - y])

    program = program_of(
        lambda x, y: cond(x.sum() > 0, lambda: inner(x, y), lambda: [y * 3]), PAIR, PAIR
    )
    one = np.ones(2, np.float32)
    for x, y, want in ((one, one, 2 * one), (one, -one, 2 * one), (-one, one, 3 * one)):
        np.testing.assert_array_equal(run(program, x, y)[0], want)


def test_the_condition_may_be_a_number_of_any_kind():
    n = TensorType("float32", (1,))
    program = program_of(lambda x: cond(x, lambda: [x], lambda: [x - 1]), n)
    assert run(program, np.array([2.0], np.float32))[0].tolist() == [2.0]
    assert run(program, np.array([0.0], np.float32))[0].tolist() == [-1.0]


def test_sizes_that_differ_between_branches_become_a_symbol():
    program = program_of(lambda flag, x: cond(flag, lambda: [x], lambda: [x[:1]]), FLAG, PAIR)
    assert is_symbol(program.outputs[0].shape[0])
    x = np.array([1, 2], np.float32)
    assert run(program, True, x)[0].tolist() == [1, 2]
    assert run(program, False, x)[0].tolist() == [1]


def test_branches_of_other_dtype_are_refused_with_the_name_of_the_variable():
    with pytest.raises(BranchMismatch) as caught:
        program_of(
            lambda flag, x: cond(flag, lambda: [x], lambda: [cast(x, "int64")], ["total"]),
            FLAG,
            PAIR,
        )
    text = str(caught.value)
    assert "`total` is float32[2] in one branch and int64[2] in the other" in text
    assert "test_control_flow.py" in text


def test_branches_of_other_rank_are_refused():
    with pytest.raises(BranchMismatch, match=r"number 0 is float32\[2\] in one branch"):
        program_of(
            lambda flag, x: cond(flag, lambda: [x], lambda: [reshape(x, [2, 1])]), FLAG, PAIR
        )


def test_branches_with_more_or_fewer_results_are_refused():
    with pytest.raises(BranchMismatch, match="one branch has 1 results, the other 2"):
        program_of(lambda flag, x: cond(flag, lambda: [x], lambda: [x, x]), FLAG, PAIR)


def test_a_value_of_a_branch_cannot_leave_it_by_another_way():
    kept = []

    def branch(x):
        kept.append(x + 1)
        return kept

    with pytest.raises(EscapedVariable, match="outside the branch"):
        program_of(
            lambda flag, x: [*cond(flag, lambda: branch(x), lambda: [x]), kept[0] + 1], FLAG, PAIR
        )


@pytest.mark.parametrize("read_after", [False, True])
def test_what_one_branch_overwrites_the_other_may_read_but_nobody_after_both(read_after):
    def function(flag, x):
        y = x + 1

        def change():
            current_tracer().overwrite(y)
            return [x]

        (z,) = cond(flag, change, lambda: [y])
        return [z + y] if read_after else [z]

    if not read_after:
        program_of(function, FLAG, PAIR)
        return
    with pytest.raises(EscapedVariable, match="changed in place"):
        program_of(function, FLAG, PAIR)


# -- while ------------------------------------------------------------------------------------


def counted(n, body, *initial, names=()):
    """body(i, *values) for i below n."""
    first = [zeros([], "int64"), *initial]
    return while_loop(
        lambda i, *_: [i < n], lambda i, *values: [i + 1, *body(i, *values)], first, names
    )[1:]


@pytest.mark.parametrize("turns", [0, 1, 5])
def test_a_loop_runs_as_often_as_its_condition_says(turns):
    program = program_of(
        lambda n, x: counted(n, lambda i, y: [y * 2 + cast(i, "float32")], x), NUMBER, PAIR
    )
    x = want = np.array([1, 2], np.float32)
    for i in range(turns):
        want = want * 2 + np.float32(i)
    np.testing.assert_array_equal(run(program, turns, x)[0], want)


def test_what_a_loop_reads_is_handed_in():
    program = program_of(lambda n, x, w: counted(n, lambda i, y: [y * w], x), NUMBER, PAIR, PAIR)
    (operator,) = [o for o in program.operators if o.name == "while"]
    assert operator.operands[2:] == [program.inputs[0], program.inputs[2]]
    w = np.array([2, 3], np.float32)
    np.testing.assert_array_equal(run(program, 3, np.ones(2, np.float32), w)[0], w**3)


def test_a_tensor_may_grow_from_turn_to_turn():
    program = program_of(lambda n, x: counted(n, lambda i, y: [concat([y, x])], x), NUMBER, PAIR)
    assert is_symbol(program.outputs[0].shape[0])
    x = np.array([1, 2], np.float32)
    for turns in (0, 3):
        np.testing.assert_array_equal(run(program, turns, x)[0], np.tile(x, turns + 1))


def test_several_tensors_may_grow_by_different_sizes():
    def body(i, y, z):
        return [concat([y, y]), concat([z, z[:1]])]

    program = program_of(lambda n, x: counted(n, body, x, x), NUMBER, PAIR)
    y, z = run(program, 3, np.array([1, 2], np.float32))
    assert y.tolist() == [1, 2] * 8
    assert z.tolist() == [1, 2, 1, 1, 1]


def test_a_symbolic_size_that_stays_is_kept():
    n = symbol("n", 1)
    program = program_of(
        lambda k, x: counted(k, lambda i, y: [relu(y)], x), NUMBER, TensorType("float32", (n, 2))
    )
    assert program.outputs[0].shape == [n, 2]


def test_requirements_of_abandoned_attempts_are_forgotten():
    m = symbol("m", 1)
    program = program_of(
        lambda n, y, x: counted(n, lambda i, y: [concat([y, y + x])], y),
        NUMBER,
        TensorType("float32", (m,)),
        PAIR,
    )
    learnt = [str(located.constraint.condition) for located in program.constraints]
    assert learnt == ["size_3 >= m", "(m + size_3) % 2 == 0"]
    required = [o for o in program.block.walk() if o.name == "require"]
    assert [o.attributes["message"] for o in required] == ["the size size_2 must be 1 or 2"]
    x = np.array([1, 2], np.float32)
    assert run(program, 1, x[:1], x)[0].tolist() == [1, 2, 3]
    with pytest.raises(ShapeError, match="must be 1 or 2"):
        run(program, 2, x[:1], x)


def test_a_branch_that_is_not_taken_requires_nothing():
    n = symbol("n", 1)
    program = program_of(
        lambda flag, x: cond(flag, lambda: [x[3]], lambda: [x[0]]),
        FLAG,
        TensorType("float32", (n,)),
    )
    x = np.array([1, 2], np.float32)
    assert run(program, False, x)[0] == 1
    with pytest.raises(ShapeError, match="index 3 is out of bounds"):
        run(program, True, x)


def test_a_turn_requires_something_of_its_own_sizes_only():
    def condition(y, total):
        return [y.shape[0] > 0]

    def function(x):
        first = [x[x > 0], zeros([], "float32")]
        return while_loop(condition, lambda y, total: [y[1:], total + y[0]], first)

    program = program_of(function, TensorType("float32", (4,)))
    rest, total = run(program, np.array([1, -2, 3, 4], np.float32))
    assert rest.shape == (0,)
    assert total == 8


def test_what_follows_a_loop_requires_nothing_of_its_turns():
    def function(n, x):
        (y,) = counted(n, lambda i, y: [concat([y, x])], x)
        return [y[5]]

    program = program_of(function, NUMBER, PAIR)
    x = np.array([1, 2], np.float32)
    assert run(program, 2, x)[0] == 2
    with pytest.raises(ShapeError, match="index 5 is out of bounds"):
        run(program, 1, x)


def test_loops_nest_and_branches_stand_in_loops():
    def body(i, y):
        (z,) = counted(i, lambda j, z: [z + 1], y)
        return cond(i % 2 == 0, lambda: [z], lambda: [z * 2])

    program = program_of(lambda n, x: counted(n, body, x), NUMBER, PAIR)
    want = np.array([1, 2], np.float32)
    x = want
    for i in range(5):
        want = (want + i) * (1 if i % 2 == 0 else 2)
    np.testing.assert_array_equal(run(program, 5, x)[0], want)


def test_a_loop_variable_of_another_dtype_is_refused_by_name():
    with pytest.raises(LoopMismatch) as caught:
        program_of(
            lambda n, x: counted(n, lambda i, y: [cast(y, "float64")], x, names=["i", "y"]),
            NUMBER,
            PAIR,
        )
    text = str(caught.value)
    assert "`y` is float32[2] at the start of an iteration and float64[2]" in text
    assert "start with a tensor of type float64[2]" in text


def test_a_loop_variable_of_another_rank_is_refused():
    with pytest.raises(LoopMismatch, match=r"number 1 is float32\[2\]"):
        program_of(lambda n, x: counted(n, lambda i, y: [y.sum()], x), NUMBER, PAIR)


def test_a_body_that_returns_too_few_values_is_refused():
    with pytest.raises(LoopMismatch, match="the body returns 1 values for 2 loop variables"):
        program_of(lambda n, x: counted(n, lambda i, y: [], x), NUMBER, PAIR)


def test_lists_of_tensors_may_be_loop_variables():
    def function(n, x):
        (array,) = counted(n, lambda i, a: [array_append(a, x * cast(i, "float32"))], array_of([]))
        return [array_stack(array)]

    program = program_of(function, NUMBER, PAIR)
    x = np.array([1, 2], np.float32)
    np.testing.assert_array_equal(run(program, 3, x)[0], [x * 0, x, x * 2])


def test_elements_of_a_list_that_change_their_size_are_joined():
    def function(n, x):
        def body(i, y, a):
            return [concat([y, x]), array_append(a, y)]

        y, array = counted(n, body, x, array_of([]))
        return [array[n - 1], y]

    program = program_of(function, NUMBER, PAIR)
    x = np.array([1, 2], np.float32)
    assert run(program, 3, x)[0].tolist() == [1, 2] * 3


# -- buffers ----------------------------------------------------------------------------------


def with_buffer(function, buffer):
    """A Program in which one eager tensor is a buffer called "b"; its new value is the update."""

    def capture(tracer, tensor):
        program = tracer.program
        if "b" not in program.buffers:
            variable = program.block.add_parameter(tensor.tensor_type, "b")
            program.buffers["b"] = variable
        return program.buffers["b"]

    tracer = Tracer(capture=capture)
    program = tracer.program
    program.inputs.append(program.block.add_parameter(NUMBER, "n"))
    with tracer.tracing():
        outputs = [tracer.variable(value) for value in function(tracer, program.inputs[0])]
        program.block.yields = [*outputs, tracer.captured(buffer)]
    program.updates.append("b")
    return verify(program)


def test_a_buffer_that_one_branch_changes_is_joined():
    buffer = to_tensor([1.0, 2.0])

    def change(tracer):
        tracer.assign(buffer, buffer * 10)
        return []

    program = with_buffer(lambda tracer, n: cond(n > 0, lambda: change(tracer), lambda: []), buffer)
    for n, want in ((1, [10, 20]), (0, [1, 2])):
        _, updates = interpret(program, [to_tensor(n)], {"b": buffer})
        assert updates["b"].tolist() == want


def test_a_buffer_that_a_loop_changes_goes_from_turn_to_turn():
    buffer = to_tensor([1.0, 2.0])

    def function(tracer, n):
        def body(i):
            tracer.assign(buffer, buffer * 2)
            return []

        return [*counted(n, body), buffer + 1]

    program = with_buffer(function, buffer)
    (after,), updates = interpret(program, [to_tensor(3)], {"b": buffer})
    assert updates["b"].tolist() == [8, 16]
    assert after.tolist() == [9, 17]


BUILDERS = {
    "cond": lambda n, a, b: cond(n > 0, lambda: [a], lambda: [b])[0],
    "while": lambda n, a, b: while_loop(lambda i, _: i < n, lambda i, _: [i + 1, b], [n * 0, a])[1],
}


@pytest.mark.parametrize("builder", BUILDERS)
def test_a_tensor_that_a_result_may_be_is_not_read_behind_a_change_of_the_result(builder):
    def changed(n, a, b):
        chosen = BUILDERS[builder](n, a, b)
        chosen.add_(1.0)
        return [chosen, b]

    with pytest.raises(EscapedVariable, match="may have been changed in place"):
        program_of(changed, NUMBER, PAIR, PAIR)


def test_without_a_trace_the_builders_are_not_for_use():
    with pytest.raises(AssertionError, match="cond builds a Program"):
        cond(True, lambda: [], lambda: [])
    assert full([], 1).item() == 1
