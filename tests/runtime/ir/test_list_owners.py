"""A list is changed where it is only if nobody can see that."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st_runtime import engine
from dy2st_runtime.ir import F, TensorType
from dy2st_runtime.ir.aliasing import lists_in_place
from dy2st_runtime.ir.interpret import interpret
from dy2st_runtime.ops.control_flow import cond, while_loop
from dy2st_runtime.tensor import EagerTensor
from tests.effort import effort
from tests.runtime.ops.test_tensor_array import program_of

NUMBER, COUNT = TensorType("float64", ()), TensorType("int64", ())


def loop(n, turn, *lists):
    """The lists after n turns of `turn(i, *lists)`."""
    names = ("i", *(f"list {place}" for place in range(len(lists))))
    start = [F.zeros([], "int64"), *lists]
    return while_loop(lambda i, *_: i < n, lambda i, *rest: [i + 1, *turn(i, *rest)], start, names)[
        1:
    ]


def counts(function):
    """How many operators change a list where it is, and how many loops begin with a copy."""
    program = program_of(function, NUMBER, COUNT)
    check(program)
    found = lists_in_place(program.block)
    return len(found.changed), len(found.copied)


def check(program, n=3):
    """The engine gives what the interpreter does, which changes nothing in place."""
    inputs = [np.array(0.5), np.array(n)]
    fast = outcome(lambda: engine.compile(program).run(inputs, []))
    slow = outcome(lambda: interpret(program, [EagerTensor(a) for a in inputs], {})[0])
    assert fast == slow


def outcome(run):
    """What it gives, as numbers in lists; or the error of Python."""
    try:
        return [numbers(value) for value in run()]
    except IndexError as error:
        return str(error)


def numbers(value):
    """The numbers of nested lists."""
    return [numbers(entry) for entry in value] if isinstance(value, list) else value.tolist()


def test_a_list_that_nobody_else_reads_is_changed():
    assert counts(lambda x, n: [F.array_append(F.array_append(F.array_of([x]), x), x)]) == (2, 0)


def test_a_list_that_is_read_later_is_not():
    def function(x, n):
        first = F.array_of([x])
        return [F.array_append(first, x), F.array_length(first)]

    assert counts(function) == (0, 0)


def test_a_list_that_is_a_result_too_is_not():
    def function(x, n):
        first = F.array_of([x])
        return [first, F.array_append(first, x)]

    assert counts(function) == (0, 0)


def test_a_loop_that_appends_changes_its_list():
    assert counts(lambda x, n: loop(n, lambda i, a: [F.array_append(a, x)], F.array_of())) == (1, 0)


def test_a_loop_begins_with_a_copy_of_what_is_needed_later():
    def function(x, n):
        first = F.array_of([x])
        return [first, *loop(n, lambda i, a: [F.array_append(a, x)], first)]

    assert counts(function) == (1, 1)


def test_two_loop_variables_that_begin_alike_get_copies():
    def function(x, n):
        empty = F.array_of()
        return loop(n, lambda i, a, b: [F.array_append(a, x), F.array_append(b, x)], empty, empty)

    assert counts(function) == (2, 2)


def test_a_branch_in_a_loop_changes_its_list():
    def turn_of(x):
        return lambda i, a: cond(i > 0, lambda: [F.array_append(a, x)], lambda: [a])

    assert counts(lambda x, n: loop(n, turn_of(x), F.array_of())) == (1, 0)


def test_loops_in_loops_change_their_lists():
    def function(x, n):
        inner = lambda i, a: loop(i, lambda j, a: [F.array_append(a, x)], a)  # noqa: E731
        return loop(n, inner, F.array_of())

    assert counts(function) == (1, 0)


def test_loop_variables_that_change_places_are_changed():
    def function(x, n):
        turn = lambda i, a, b: [F.array_append(b, x), a]  # noqa: E731
        return loop(n, turn, F.array_of(), F.array_of())

    assert counts(function) == (1, 0)


def test_two_names_of_one_list_after_a_turn_are_not_changed():
    def function(x, n):
        turn = lambda i, a, b: [F.array_append(a, x), a]  # noqa: E731
        return loop(n, turn, F.array_of(), F.array_of())

    assert counts(function) == (0, 0)


def test_a_list_that_is_in_another_one_is_not_changed():
    def function(x, n):
        inner = F.array_of([x])
        outer = F.array_of([inner])
        return [F.array_append(inner, x), outer]

    assert counts(function) == (0, 0)


def test_a_list_that_is_read_from_another_one_is_not_changed():
    def function(x, n):
        outer = F.array_of([[x]])
        return [F.array_append(outer[0], x), outer]

    assert counts(function) == (0, 0)


def test_a_list_that_a_branch_may_hand_on_is_not_changed_behind_it():
    def function(x, n):
        first = F.array_of([x])
        (either,) = cond(n > 0, lambda: [first], lambda: [F.array_of([x])])
        return [F.array_append(first, x), either]

    assert counts(function) == (0, 0)


def test_a_list_that_a_turn_puts_into_another_one_is_not_changed_behind_it():
    def function(x, n):
        row = F.array_of([x])
        (table,) = loop(n, lambda i, t: [F.array_append(t, row)], F.array_of())
        return [F.array_append(row, x), table]

    assert counts(function) == (1, 0)


def test_the_result_of_a_loop_without_turns_is_what_was_given():
    def function(x, n):
        row = F.array_of([x])
        (same,) = loop(n, lambda i, a: [F.array_of([x, x])], row)
        return [F.array_append(row, x), same]

    program = program_of(function, NUMBER, COUNT)
    assert lists_in_place(program.block).changed == set()
    check(program, 0)


def test_a_list_that_a_branch_in_a_branch_may_hand_on_is_not_changed_behind_it():
    def function(x, n):
        first = F.array_of([x])
        other = lambda: [F.array_of([x])]  # noqa: E731
        (either,) = cond(n > 0, lambda: cond(n > 1, lambda: [first], other), other)
        return [F.array_append(first, x), either]

    assert counts(function) == (0, 0)


def test_two_results_of_a_branch_that_are_one_list_are_not_changed():
    def function(x, n):
        def side():
            made = F.array_of([x])
            return [made, made]

        first, second = cond(n > 0, side, side)
        return [F.array_append(first, x), second]

    assert counts(function) == (0, 0)


def test_the_condition_of_a_loop_changes_no_list():
    def function(x, n):
        def more(i, a):
            return F.array_length(F.array_append(a, x)) < n

        start = [F.zeros([], "int64"), F.array_of()]
        turn = lambda i, a: [i + 1, F.array_append(a, x)]  # noqa: E731
        return while_loop(more, turn, start, ("i", "a"))[1:]

    assert counts(function) == (1, 0)


class Maker:
    """A Program at random, of lists of numbers and lists of such lists, in branches and loops."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def one(self, values):
        return values[int(self.rng.integers(len(values)))]

    def number(self):
        return int(self.rng.integers(-2, 3))

    def steps(self, x, rows, tables, depth):
        """More lists behind those that there are."""
        rows, tables = list(rows), list(tables)
        kinds = [self.row, self.row, self.row, self.table, self.table, self.both]
        if depth:
            kinds += [self.branch, self.turns]
        for _ in range(int(self.rng.integers(1, 6))):
            self.one(kinds)(x + float(len(rows)), rows, tables, depth)
        return rows, tables

    def row(self, x, rows, tables, depth):
        kinds = [
            lambda a: F.array_append(a, x),
            lambda a: F.array_write(a, self.number(), x),
            lambda a: F.array_insert(a, self.number(), x),
            lambda a: F.array_delete(a, self.number()),
            lambda a: F.array_pop(a, self.number())[0],
            lambda a: F.array_extend(a, self.one(rows)),
            lambda a: F.array_slice(a, self.number()),
            lambda a: F.array_repeat(a, 2),
        ]
        rows.append(self.one(kinds)(self.one(rows[-2:])))

    def table(self, x, rows, tables, depth):
        kinds = [
            lambda t: F.array_append(t, self.one(rows)),
            lambda t: F.array_write(t, self.number(), self.one(rows)),
            lambda t: F.array_extend(t, self.one(tables)),
            lambda t: F.array_append(t, F.array_append(t[self.number()], x)),
            lambda t: F.array_reverse(t),
        ]
        tables.append(self.one(kinds)(self.one(tables[-2:])))

    def both(self, x, rows, tables, depth):
        table, row = F.array_pop(self.one(tables[-2:]), self.number())
        tables.append(table)
        rows.append(row)

    def branch(self, x, rows, tables, depth):
        def side():
            more, others = self.steps(x, rows, tables, depth - 1)
            return [self.one(more[-3:]), self.one(more), self.one(others[-3:])]

        first, second, third = cond(self.one([x < 1.0, x < 100.0]), side, side)
        rows += [first, second]
        tables.append(third)

    def turns(self, x, rows, tables, depth):
        state = self.rng.bit_generator.state

        def turn(i, a, b, t):
            self.rng.bit_generator.state = state  # a body is traced more than once
            more, others = self.steps(x, [*rows, a, b], [*tables, t], depth - 1)
            return [self.one(more[-3:]), self.one(more[-3:]), self.one(others[-2:])]

        some = self.one(rows[-3:]), self.one(rows[-3:]), self.one(tables[-2:])
        *lists, table = loop(self.one([0, 1, 3]), turn, *some)
        rows += lists
        tables.append(table)

    def function(self, x, n):
        rows, tables = self.steps(x, [F.array_of([x, x, x])], [F.array_of([[x], [x, x]])], 3)
        return [*rows[-3:], *tables[-3:]]


@pytest.mark.parametrize("seed", range(effort(60, 3_000)))
def test_what_is_changed_in_place_is_never_seen(seed):
    check(program_of(Maker(seed).function, NUMBER, COUNT))
