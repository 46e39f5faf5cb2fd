"""The reference interpreter: gradients through what really ran, sizes, constraints, places."""

from __future__ import annotations

import traceback

import numpy as np
import pytest

from dy2st_runtime.dims import symbol
from dy2st_runtime.errors import ShapeError
from dy2st_runtime.ir.interpret import concrete, interpret
from dy2st_runtime.ir.types import TensorType
from dy2st_runtime.ops import concat, cond, reshape, while_loop, zeros
from dy2st_runtime.tensor import to_tensor
from tests.recorded import program_of

NUMBER = TensorType("int64", ())
PAIR = TensorType("float32", (2,))


def gradient(program, x, *others):
    x = to_tensor(x, stop_gradient=False)
    (result,), _ = interpret(program, [x, *map(to_tensor, others)], {})
    result.sum().backward()
    return x.grad.tolist()


def test_gradients_flow_through_the_branch_that_is_taken():
    program = program_of(lambda x, n: cond(n > 0, lambda: [x * x], lambda: [x * 5]), PAIR, NUMBER)
    assert gradient(program, [1.0, 3.0], 1) == [2.0, 6.0]
    assert gradient(program, [1.0, 3.0], 0) == [5.0, 5.0]


@pytest.mark.parametrize("turns", [0, 1, 3])
def test_gradients_flow_through_the_turns_that_are_taken(turns):
    def function(x, n):
        first = [zeros([], "int64"), x]
        return while_loop(lambda i, y: [i < n], lambda i, y: [i + 1, y * x], first)[1:]

    power = turns + 1
    have = gradient(program_of(function, PAIR, NUMBER), [1.0, 3.0], turns)
    np.testing.assert_allclose(have, [power * v ** (power - 1) for v in (1.0, 3.0)])


def test_attributes_take_the_sizes_of_the_run():
    n = symbol("n", 1)
    program = program_of(
        lambda x: [reshape(x, [x.shape[0] * 2, -1])], TensorType("float32", (n, 4))
    )
    for size in (1, 3):
        (result,), _ = interpret(program, [to_tensor(np.zeros((size, 4)))], {})
        assert result.shape == [2 * size, 2]


def test_sizes_of_a_turn_are_those_of_the_turn():
    def function(x, n):
        def body(i, y):
            half = reshape(y, [2, y.shape[0] // 2])
            return [i + 1, concat([half[0], half[1], x])]

        return while_loop(lambda i, y: [i < n], body, [zeros([], "int64"), x])[1:]

    program = program_of(function, PAIR, NUMBER)
    (result,), _ = interpret(program, [to_tensor([1.0, 2.0]), to_tensor(3)], {})
    assert result.tolist() == [1, 2] * 4


def test_sizes_that_break_a_constraint_are_refused_with_reason_and_place():
    n, m = symbol("n", 1), symbol("m", 1)
    program = program_of(
        lambda x, y: [concat([x, y], axis=1)],
        TensorType("float32", (n, 1)),
        TensorType("float32", (m, 1)),
    )
    with pytest.raises(
        ShapeError, match=r"(?s)\(from .*test_interpret.*concat: .* differ at axis 0"
    ):
        interpret(program, [to_tensor(np.zeros((2, 1))), to_tensor(np.zeros((3, 1)))], {})


def test_an_error_names_the_operator_and_the_line():
    program = program_of(lambda x, n: [x[n]], PAIR, NUMBER)
    with pytest.raises(IndexError) as caught:
        interpret(program, [to_tensor([1.0, 2.0]), to_tensor(5)], {})
    if hasattr(caught.value, "__notes__"):
        (note,) = caught.value.__notes__
        assert note.startswith("in the operator 'index' of ")
        assert "test_interpret.py" in note
        shown = [frame.f_code for frame, _ in traceback.walk_tb(caught.value.__traceback__)]
        assert program.name in [code.co_qualname for code in shown]


def test_dims_in_nested_attributes_are_evaluated():
    n = symbol("n", 1)
    assert concrete(((n, 1), (n > 2, "a")), {n: 3}) == ((3, 1), (True, "a"))
