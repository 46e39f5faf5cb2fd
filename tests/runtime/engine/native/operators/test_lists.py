"""Lists of a Program are code: CPython's lists, without a kernel of NumPy between."""

from __future__ import annotations

import gc
import sys
from itertools import product

import numpy as np
import pytest

from dy2st_runtime import ops
from dy2st_runtime.engine.native.executable import Executable
from dy2st_runtime.ir import apply
from dy2st_runtime.ops.control_flow import cond, while_loop
from dy2st_runtime.ops.list_changes import (
    array_delete,
    array_empty,
    array_extend,
    array_insert,
    array_repeat,
)
from dy2st_runtime.ops.tensor_array import (
    array_append,
    array_concat,
    array_length,
    array_of,
    array_pop,
    array_read,
    array_stack,
    array_write,
)
from tests.recorded import program_of as traced
from tests.runtime.engine.exactly import flat
from tests.runtime.engine.native.machine_code import assert_same, native

X = ("float32", ("n", 3))
NUMBER = ("int64", ())


def assert_fails_alike(executable, *arrays):
    with pytest.raises((IndexError, ValueError)) as have:
        executable.run([*arrays], [])
    with pytest.raises(type(have.value)) as want:
        executable.reference.run([*arrays], [])
    assert str(have.value) == str(want.value)


def x(rows=2):
    return np.arange(3 * rows, dtype=np.float32).reshape(rows, 3)


def gathered(x, count):
    """A list that a loop appends to, as one tensor; and how long it is."""
    start = array_of([x])

    def iteration(i, v, held):
        v = v * 2 + 1
        return [i + 1, v, array_append(held, v)]

    _, _, held = while_loop(
        lambda i, v, held: i < count, iteration, [ops.full([], 0, "int64"), x, start]
    )
    return array_stack(held), array_concat(held, 1), array_length(held), start


@pytest.mark.parametrize("iterations", [0, 1, 5])
@pytest.mark.parametrize("rows", [0, 1, 7])
def test_a_loop_gathers_tensors(iterations, rows):
    executable = native(gathered, X, NUMBER)
    assert_same(executable, x(rows), np.array(iterations))


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("rows", [0, 1, 4])
def test_a_list_is_stacked_along_each_axis(axis, rows):
    executable = native(lambda x: array_stack(array_of([x, x + 1, x * 2]), axis), X)
    assert_same(executable, x(rows))


def test_tensors_of_other_lengths_are_put_one_behind_the_other():
    types = X, ("float32", ("m", 3))
    executable = native(lambda x, y: array_concat(array_of([x, y, x])), *types)
    for rows in ((1, 2), (0, 3), (2, 0), (0, 0)):
        assert_same(executable, *map(x, rows))


def test_tensors_that_do_not_fit_are_refused_in_the_words_of_the_kernel():
    types = X, ("float32", ("m", 3))
    executable = native(lambda x, y: array_stack(array_of([x, y])), *types)
    assert_same(executable, x(2), x(2))
    assert_fails_alike(executable, x(2), x(3))


def test_no_tensors_are_refused_in_the_words_of_the_kernel():
    def emptied(x):
        return array_concat(array_pop(array_of([x]), 0)[0])

    assert_fails_alike(native(emptied, X), x())


@pytest.mark.parametrize("place", [0, 1, 2, -1, -3, 3, -4, 2**40])
@pytest.mark.parametrize("change", ["read", "write", "pop"])
def test_a_place_in_a_list_is_as_pythons(change, place):
    def function(x, i):
        held = array_of([x, x + 1, x + 2])
        if change == "read":
            return array_read(held, i)
        if change == "write":
            return array_write(held, i, x * 9), held
        return *array_pop(held, i), held

    executable = native(function, X, NUMBER)
    if -3 <= place < 3:
        assert_same(executable, x(), np.array(place))
    else:
        assert_fails_alike(executable, x(), np.array(place))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "bool"])
def test_a_place_may_be_of_any_whole_type(dtype):
    executable = native(lambda x, i: array_read(array_of([x, x + 1]), i), X, (dtype, ()))
    assert_same(executable, x(), np.array(1, dtype))


def test_a_list_that_is_still_needed_is_copied():
    def function(x):
        first = array_of([x])
        longer = array_append(first, x + 1)
        return first, longer, array_write(longer, 0, x + 2), longer

    assert_same(native(function, X), x())


def test_slices_of_lists_are_pythons():
    numbers = [0, 1, 3, 4, 5, -1, -3, -4, -5, 2**62, -(2**63)]
    for ends in ((True, True), (False, True), (True, False), (False, False)):
        names = dict(zip(("has_start", "has_stop"), ends, strict=True))
        executable = native(
            lambda x, *options, names=names: apply("array_slice", listed(x), *options, **names),
            ("float32", ()), NUMBER, NUMBER, NUMBER,
        )  # fmt: skip
        for start, stop, step in product(numbers, numbers, (1, 2, -1, -3, 2**62, -(2**63))):
            options = map(np.array, (start, stop, step))
            found = executable.run([np.zeros((), np.float32), *options], [])[0]
            place = slice(start if ends[0] else None, stop if ends[1] else None, step)
            assert [float(one) for one in found] == list(range(4))[place]
    assert_fails_alike(executable, np.zeros((), np.float32), *map(np.array, (0, 1, 0)))


def listed(x):
    return array_of([x, x + 1, x + 2, x + 3])


@pytest.mark.parametrize("dtype", ["int64", "int8", "uint16"])
def test_entries_are_gathered_from_lists(dtype):
    executable = native(
        lambda x, places: apply("array_gather", listed(x), places),
        ("float32", ("n",)), (dtype, ("m",)),
    )  # fmt: skip
    for places in ([], [3], [0, 0, 2], [1, 3, 0] * 9, *([] if dtype == "uint16" else [[-1, -4]])):
        assert_same(executable, x()[0], np.array(places, dtype))
    for places in ([4], [0, 9], *([] if dtype == "uint16" else [[0, -5]])):
        assert_fails_alike(executable, x()[0], np.array(places, dtype))


@pytest.mark.parametrize("number", [0, 1, 3, 4, 9, -1, -4, -5, -9])
def test_lists_become_longer_and_shorter(number):
    def function(x, i):
        held = listed(x)
        inserted = array_insert(held, i, x * 9)
        return inserted, array_repeat(held, i), array_extend(held, inserted), held

    executable = native(function, ("float32", ()), NUMBER)
    assert_same(executable, np.zeros((), np.float32), np.array(number))
    executable = native(lambda x, i: array_delete(listed(x), i), ("float32", ()), NUMBER)
    if -4 <= number < 4:
        assert_same(executable, np.zeros((), np.float32), np.array(number))
    else:
        assert_fails_alike(executable, np.zeros((), np.float32), np.array(number))


def test_a_list_is_extended_by_itself():
    def function(x):
        held = listed(x)
        return array_extend(held, held)

    assert_same(native(function, ("float32", ())), np.zeros((), np.float32))


def test_numbers_and_lists_are_kept_in_lists():
    def function(x):
        numbers = array_append(array_of([x.sum()]), x.max())
        inner = array_append(array_of([numbers]), array_of([x.min()]))
        return array_read(numbers, 1) + 1, inner, array_length(array_read(inner, 0))

    assert_same(Executable(traced(function, ("float32", (2, 3)))), x())


def test_a_branch_appends_or_not():
    def function(x):
        held = array_of([x])
        (held,) = cond(x.sum() > 0, lambda: [array_append(held, x * 2)], lambda: [held])
        return array_concat(held)

    executable = native(function, X)
    assert_same(executable, x())
    assert_same(executable, -x())


def test_an_empty_list_has_a_type():
    def function(x):
        empty = array_empty(array_of([x]).type)
        return array_length(empty), array_append(empty, x)

    assert_same(native(function, ("float32", (2, 3))), x())


def test_what_is_kept_does_not_change_with_the_memory_that_it_was_computed_in():
    executable = native(gathered, X, NUMBER)
    first = executable.run([x(), np.array(3)], [])
    copies = [one.copy() for one in flat(first)]
    executable.run([x() + 100, np.array(3)], [])
    for left, right in zip(flat(first), copies, strict=True):
        np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("rows", [2, 3])
def test_calls_leave_no_memory_behind(rows):
    def function(x, y, i):
        held = gathered(x, i)[3]
        held = array_write(array_append(held, y), 0, x * 2)
        rest, item = array_pop(held, i)
        rest = array_insert(array_extend(rest, array_repeat(held, i)), i, x)
        rest = apply("array_slice", array_delete(rest, i), i * 0, i + 2, i, has_stop=False)
        return array_stack(rest), item, rest, array_stack(array_of([x, y]))

    executable = Executable(traced(function, X, ("float32", ("m", 3)), NUMBER))
    given = [x(2), x(rows), np.array(1)]

    def call():
        try:
            executable.run(given, [])
        except ValueError:
            assert rows == 3

    call()
    gc.collect()
    count = sys.getallocatedblocks()
    for _ in range(500):
        call()
    gc.collect()
    assert sys.getallocatedblocks() - count < 250  # less than one for each call
