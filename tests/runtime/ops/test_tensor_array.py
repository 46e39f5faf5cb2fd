"""Lists of tensors in a Program behave as Python's lists."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dy2st_runtime import engine
from dy2st_runtime.dims import is_symbol, symbol
from dy2st_runtime.errors import BranchMismatch, ConversionError
from dy2st_runtime.ir import ArrayType
from dy2st_runtime.ir.interpret import interpret
from dy2st_runtime.ir.types import TensorType
from dy2st_runtime.ops import (
    array_append,
    array_concat,
    array_length,
    array_of,
    array_pop,
    array_read,
    array_stack,
    array_write,
    cast,
    setitem,
    stack,
)
from dy2st_runtime.tensor import EagerTensor, to_tensor
from tests.recorded import program_of

PAIR = TensorType("float32", (2,))
NUMBER = TensorType("int64", ())


def run(function, *arrays):
    """What the engine and the interpreter compute."""
    arrays = [np.asarray(array) for array in arrays]
    program = program_of(function, *[TensorType(a.dtype, a.shape) for a in arrays])
    fast = engine.compile(program).run(arrays, [])
    slow, _ = interpret(program, [EagerTensor(a) for a in arrays], {})
    for left, right in zip(fast, slow, strict=True):
        np.testing.assert_array_equal(left, right.array)
    return fast


STEPS = st.one_of(
    st.tuples(st.just("append"), st.just(0)),
    st.tuples(st.sampled_from(["write", "pop", "read"]), st.integers(-4, 3)),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(STEPS, max_size=8))
def test_any_sequence_of_changes_does_what_python_does(steps):
    x = np.array([1, 2], np.float32)
    mine, seen = [x], []
    try:
        for number, (step, place) in enumerate(steps):
            value = x * np.float32(number)
            if step == "append":
                mine.append(value)
            elif step == "write":
                mine[place] = value
            elif step == "pop":
                seen.append(mine.pop(place))
            else:
                seen.append(mine[place])
        want = [len(mine), *seen]
    except IndexError:
        want = None

    def function(x):
        array, seen = array_of([x]), []
        for number, (step, place) in enumerate(steps):
            value = x * float(number)
            if step == "append":
                array = array_append(array, value)
            elif step == "write":
                array = array_write(array, place, value)
            elif step == "pop":
                array, item = array_pop(array, place)
                seen.append(item)
            else:
                seen.append(array_read(array, place))
        return [array_length(array), *seen]

    if want is None:
        with pytest.raises(IndexError):
            run(function, x)
        return
    for have, expected in zip(run(function, x), want, strict=True):
        np.testing.assert_array_equal(have, expected)


def test_a_list_is_never_changed_itself():
    def function(x):
        first = array_of([x])
        second = array_append(first, x + 1)
        third = array_write(second, 0, x + 2)
        fourth, _ = array_pop(third)
        return [array_length(a) for a in (first, second, third, fourth)] + [first[0], third[0]]

    *lengths, before, after = run(function, np.zeros(2, np.float32))
    assert lengths == [1, 2, 2, 1]
    assert (before.tolist(), after.tolist()) == ([0, 0], [2, 2])


def test_positions_may_be_traced():
    x = np.array([1, 2], np.float32)
    (item,) = run(lambda x, i: [array_of([x, x + 1])[i]], x, np.array(-1))
    np.testing.assert_array_equal(item, x + 1)
    with pytest.raises(IndexError, match="list index out of range"):
        run(lambda x, i: [array_of([x, x + 1])[i]], x, np.array(2))


def test_lists_are_stacked_and_concatenated():
    x = np.array([[1, 2]], np.float32)
    stacked, joined, method = run(
        lambda x: [
            array_stack(array_of([x, x + 1]), axis=-1),
            array_concat(array_of([x, x + 1]), axis=1),
            stack(array_of([x, x])),
        ],
        x,
    )
    np.testing.assert_array_equal(stacked, np.stack([x, x + 1], -1))
    np.testing.assert_array_equal(joined, np.concatenate([x, x + 1], 1))
    np.testing.assert_array_equal(method, np.stack([x, x]))


def test_setting_an_element_of_a_list_is_setting_an_item():
    (changed,) = run(lambda x: [setitem(array_of([x]), 0, x + 1)[0]], np.zeros(2, np.float32))
    assert changed.tolist() == [1, 1]


def test_elements_of_different_sizes_have_sizes_of_their_own():
    def function(x, y):
        array = array_of([x, y])
        first, second = array[0], array[1]
        assert is_symbol(first.shape[0])
        assert first.shape[0] is not second.shape[0]
        return [first[: first.shape[0] - 1], second[second.shape[0] - 1]]

    x, y = np.arange(4.0), np.arange(2.0)
    shorter, last = run(function, x, y)
    np.testing.assert_array_equal(shorter, x[:-1])
    assert last == 1


def test_sizes_that_all_elements_share_are_kept():
    n = symbol("n", 1)
    program = program_of(
        lambda x: [array_of([x, x + 1])[1], array_stack(array_of([x]))],
        TensorType("float32", (n, 2)),
    )
    assert program.outputs[0].shape == [n, 2]
    assert program.outputs[1].shape[1:] == [n, 2]


def test_an_element_of_another_dtype_is_refused():
    with pytest.raises(BranchMismatch, match=r"a list holds float32\[2\] and gets int"):
        program_of(lambda x: [array_length(array_of([x, cast(x, "int64")]))], PAIR)


def test_an_element_of_another_rank_is_refused():
    with pytest.raises(BranchMismatch, match=r"gets float32\[\]"):
        program_of(lambda x: [array_length(array_append(array_of([x]), x.sum()))], PAIR)


@pytest.mark.parametrize("read", [lambda a: a[0], lambda a: array_pop(a)[1], array_stack])
def test_reading_a_list_of_which_nothing_is_known_is_refused(read):
    with pytest.raises(ConversionError, match="into which nothing has been put"):
        program_of(lambda x: [read(array_of([]))], PAIR)


def test_an_empty_list_has_a_length():
    program = program_of(lambda: [array_length(array_of())])
    assert engine.compile(program).run([], [])[0] == 0
    assert program.operators[0].results[0].type == ArrayType(None)


def test_gradients_flow_through_lists():
    def function(x):
        array = array_append(array_of([x, x * 2]), x * 3)
        array, last = array_pop(array_write(array, 0, x * x))
        return [array_stack(array).sum() + array_concat(array).sum() + last.sum()]

    program = program_of(function, PAIR)
    x = to_tensor([1.0, 2.0], stop_gradient=False)
    (total,), _ = interpret(program, [x], {})
    total.backward()
    assert x.grad.tolist() == [2 * 2 * v + 2 * 2 + 3 for v in (1.0, 2.0)]


def test_without_a_trace_the_functions_work_on_python_lists():
    x = to_tensor([1.0, 2.0], stop_gradient=False)
    array = array_append(array_of([x]), x * 2)
    array, last = array_pop(array_append(array, x))
    assert array_length(array).item() == 2
    total = (array_stack(array) + last).sum() + array_read(array_write(array, 0, x * 5), 0).sum()
    total.backward()
    assert x.grad.tolist() == [10.0, 10.0]
    assert array_concat(array).tolist() == [1, 2, 2, 4]


def test_what_is_computed_of_an_element_leaves_the_list_alone():
    def function(x):
        array = array_of([x * 2.0])
        squared = (array[0] * 1.0).square()
        rest, last = array_pop(array)
        return [squared, array_read(array, 0).square(), last.square(), array[0], array_length(rest)]

    x = np.full((20, 20), 3.0)
    *squares, kept, none = run(function, x)
    assert [square[0, 0] for square in squares] == [36, 36, 36]
    assert (kept[0, 0], none) == (6, 0)
