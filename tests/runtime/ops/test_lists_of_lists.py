"""Lists of a Program hold lists, to any depth."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st_runtime import engine
from dy2st_runtime.dims import is_symbol, symbol
from dy2st_runtime.errors import (
    BranchMismatch,
    ConversionError,
    LoopMismatch,
    ParseError,
    VerifyError,
)
from dy2st_runtime.ir import ArrayType, F, Operator, Program, TensorType, Variable
from dy2st_runtime.ir.checks.verifier import verify
from dy2st_runtime.ir.interpret import interpret
from dy2st_runtime.ir.rebuild import rebuild
from dy2st_runtime.ir.text.parser import parse_one
from dy2st_runtime.ir.text.printer import to_text
from dy2st_runtime.ir.types import MAX_LIST_DEPTH
from dy2st_runtime.ops.control_flow import cond, while_loop
from dy2st_runtime.tensor import EagerTensor, to_tensor
from tests.runtime.ops.test_tensor_array import NUMBER, PAIR, program_of, run

ROW = ArrayType(TensorType("float64", (2,)))
X = np.array([1.0, 2.0])


def rows(x, n):
    """n lists: the first has no element, the next one each time one more."""

    def turn(i, table):
        _, row = while_loop(
            lambda j, row: j < i,
            lambda j, row: [j + 1, F.array_append(row, x * F.cast(j, "float64"))],
            [F.zeros([], "int64"), F.array_of()],
            ("j", "row"),
        )
        return [i + 1, F.array_append(table, row)]

    start = [F.zeros([], "int64"), F.array_of()]
    return while_loop(lambda i, table: i < n, turn, start, ("i", "table"))[1]


def test_a_loop_carries_a_list_of_lists():
    def function(x, n):
        table = rows(x, n)
        last = table[-1]
        return [F.array_length(table), F.array_length(table[0]), F.array_stack(last), last[1]]

    many, none, stacked, one = run(function, X, np.array(4))
    assert (many, none) == (4, 0)
    np.testing.assert_array_equal(stacked, [X * 0, X, X * 2])
    np.testing.assert_array_equal(one, X)


def test_a_loop_changes_a_list_in_a_list():
    def turn(i, table):
        row = F.array_append(table[i % 2], x_of(table) + F.cast(i, "float64"))
        return [i + 1, F.array_write(table, i % 2, row)]

    def x_of(table):
        return table[0][0]

    def function(x, n):
        table = F.array_of([[x], [x * 10.0]])
        start = [F.zeros([], "int64"), table]
        table = while_loop(lambda i, table: i < n, turn, start, ("i", "table"))[1]
        return [F.array_stack(table[0]), F.array_stack(table[1])]

    even, odd = run(function, X, np.array(4))
    np.testing.assert_array_equal(even, [X, X, X + 2])
    np.testing.assert_array_equal(odd, [X * 10, X + 1, X + 3])


def test_branches_give_lists_of_lists():
    def function(x, n):
        (table,) = cond(
            n > 0,
            lambda: [F.array_of([[x], [x, x + 1.0]])],
            lambda: [F.array_of([[]])],
        )
        return [F.array_length(table), F.array_length(table[0])]

    assert run(function, X, np.array(1)) == [2, 1]
    assert run(function, X, np.array(0)) == [1, 0]


def test_changing_the_inner_list_leaves_the_outer_one_alone():
    def function(x):
        inner = F.array_of([x])
        outer = F.array_of([inner, inner])
        longer = F.array_append(inner, x)
        changed = F.array_write(outer, 0, longer)
        lengths = [F.array_length(a) for a in (outer[0], outer[1], changed[0], changed[1])]
        return [*lengths, F.array_length(inner)]

    assert run(function, X) == [1, 1, 2, 1, 1]


def test_a_list_of_lists_is_a_result():
    have = run_as_it_is(lambda x, n: [rows(x, n)], X, np.array(3))
    assert [len(row) for row in have] == [0, 1, 2]
    np.testing.assert_array_equal(have[2][1], X)


def run_as_it_is(function, *arrays):
    """The only result, a list, of the engine; the interpreter gives the same."""
    program = program_of(function, *[TensorType(a.dtype, a.shape) for a in arrays])
    (fast,) = engine.compile(program).run(arrays, [])
    (slow,), _ = interpret(program, [EagerTensor(a) for a in arrays], {})
    assert str(fast) == str(plain(slow))
    return fast


def plain(value):
    """Arrays in place of tensors."""
    return list(map(plain, value)) if isinstance(value, list) else value.array


def test_sizes_differ_by_element_at_every_depth():
    def function(x, y):
        table = F.array_of([[x], [x, y]])
        first, second = table[1][0], table[1][1]
        assert is_symbol(first.shape[0])
        assert first.shape[0] is not second.shape[0]
        return [first.sum(), second.sum()]

    assert run(function, np.ones(3), np.ones(5)) == [3, 5]


def test_sizes_that_all_share_are_kept():
    n = symbol("n", 1)
    program = program_of(
        lambda x: [F.array_of([[x], [x + 1.0]])[0][0]], TensorType("float64", (n, 2))
    )
    assert program.outputs[0].shape == [n, 2]


def test_a_tensor_beside_a_list_is_refused():
    with pytest.raises(BranchMismatch, match=r"holds list of .* and gets float32\[2\]"):
        program_of(lambda x: [F.array_length(F.array_of([[x], x]))], PAIR)


def test_unlike_tensors_in_the_inner_lists_are_refused():
    with pytest.raises(BranchMismatch, match="a list holds"):
        program_of(
            lambda x: [F.array_length(F.array_of([[x], [F.cast(x, "int64")]]))],
            PAIR,
        )


@pytest.mark.parametrize("join", [F.array_stack, F.array_concat])
def test_lists_are_not_stacked(join):
    with pytest.raises(ConversionError, match="of a list of lists"):
        program_of(lambda x: [join(F.array_of([[x]]))], PAIR)


def test_a_list_that_nests_itself_turn_by_turn_is_refused():
    def function(n):
        start = [F.zeros([], "int64"), F.array_of()]
        turn = lambda i, nest: [i + 1, F.array_of([nest])]  # noqa: E731
        nest = while_loop(lambda i, nest: i < n, turn, start, ("i", "nest"))[1]
        return [F.array_length(nest)]

    with pytest.raises((ConversionError, LoopMismatch), match="nested deeper|do not settle"):
        program_of(function, NUMBER)


def test_gradients_flow_through_lists_of_lists():
    def function(x, n):
        table = rows(x * x, n)
        return [F.array_stack(table[-1]).sum() + table[1][0].sum()]

    program = program_of(function, TensorType("float64", (2,)), NUMBER)
    x = to_tensor(X, stop_gradient=False)
    (total,), _ = interpret(program, [x, to_tensor(4)], {})
    total.backward()
    np.testing.assert_array_equal(x.grad.numpy(), 2 * X * (0 + 1 + 2 + 0))


def test_without_a_trace_they_are_lists_of_lists_of_tensors():
    x = to_tensor(X, stop_gradient=False)
    table = F.array_append(F.array_of([[x]]), [x * 3.0])
    row = F.array_append(F.array_read(table, 0), F.array_read(F.array_read(table, 1), 0))
    F.array_stack(row).sum().backward()
    assert x.grad.tolist() == [4, 4]


def test_an_index_outside_of_the_inner_list_is_an_error_of_python():
    with pytest.raises(IndexError, match="list index out of range"):
        run(lambda x, n: [F.array_of([[x], [x]])[1][n]], X, np.array(1))


# -- as text, and made anew -------------------------------------------------------------------


def of_type(*types):
    """A Program that takes lists."""
    program = Program()
    program.inputs = [program.block.add_parameter(type) for type in types]
    return program


TYPES = [
    ArrayType(ROW),
    ArrayType(ArrayType(None)),
    ArrayType(ArrayType(ArrayType(TensorType("int8", (symbol("n"), 3))))),
]


def test_they_are_written_and_read():
    program = of_type(*TYPES)
    text = to_text(program)
    assert "%0: !dy2st.array<!dy2st.array<tensor<2xf64>>>" in text
    assert "%1: !dy2st.array<!dy2st.array<none>>" in text
    assert '%2: !dy2st.array<!dy2st.array<!dy2st.array<tensor<?x3xi8, ["n"]>>>>' in text
    again = parse_one(text)
    assert [v.type for v in again.inputs] == TYPES
    assert to_text(again) == text


def test_a_program_with_them_is_written_and_read():
    program = program_of(
        lambda x, n: [F.array_stack(rows(x, n)[-1])], TensorType("float64", (2,)), NUMBER
    )
    again = verify(parse_one(to_text(program)))
    assert to_text(again) == to_text(program)
    inputs = [X, np.array(3)]
    for have, want in zip(
        engine.compile(again).run(inputs, []), engine.compile(program).run(inputs, [])
    ):
        np.testing.assert_array_equal(have, want)


@pytest.mark.parametrize(
    "wrong",
    [
        "!dy2st.array<!dy2st.array<none>",
        "!dy2st.array<!dy2st.array<>>",
        "!dy2st.array<!dy2st.array>",
        "!dy2st.array<" * (MAX_LIST_DEPTH + 1) + "none" + ">" * (MAX_LIST_DEPTH + 1),
        "!dy2st.array<" * 100_000,
        "!dy2st.array<none, none>",
    ],
)
def test_a_wrong_type_is_refused(wrong):
    text = to_text(of_type(ArrayType(None))).replace("!dy2st.array<none>", wrong)
    with pytest.raises(ParseError, match=r"line \d+, column \d+"):
        parse_one(text)


def test_the_deepest_list_is_read():
    deep = "!dy2st.array<" * MAX_LIST_DEPTH + "none" + ">" * MAX_LIST_DEPTH
    text = to_text(of_type(ArrayType(None))).replace("!dy2st.array<none>", deep)
    assert parse_one(text).inputs[0].type.depth == MAX_LIST_DEPTH


def test_lists_that_are_too_deep_are_found():
    type = ArrayType(None)
    for _ in range(MAX_LIST_DEPTH):
        type = ArrayType(type)
    with pytest.raises(VerifyError, match="nested deeper than 64"):
        verify(of_type(type))


def test_a_result_of_another_depth_is_found():
    program = of_type(ArrayType(ROW), NUMBER)
    made = Operator("array_read", program.inputs[:], {}, program.block)
    made.results = [Variable(ArrayType(ROW), made)]
    program.block.operators.append(made)
    with pytest.raises(VerifyError, match="the rule gives"):
        verify(program)


def test_sizes_are_put_in_at_every_depth():
    n = symbol("n")
    program = program_of(
        lambda x: [F.array_of([[x]]), F.array_of([[x]])[0][0]], TensorType("float64", (n,))
    )
    fixed = verify(rebuild(program, {n: 3}))
    assert fixed.outputs[0].type == ArrayType(ArrayType(TensorType("float64", (3,))))
    assert fixed.outputs[1].shape == [3]
