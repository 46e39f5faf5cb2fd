"""Slices, joined and repeated lists, other orders: a list of a Program does what Python's does."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dy2st_runtime import engine
from dy2st_runtime.dims import symbol
from dy2st_runtime.errors import ArgumentError, BranchMismatch, VerifyError
from dy2st_runtime.ir import DEFINITIONS, ArrayType, F, TensorType
from dy2st_runtime.ir.checks.verifier import verify
from dy2st_runtime.ir.definition import lookup
from dy2st_runtime.ir.interpret import interpret
from dy2st_runtime.ir.text.parser import parse_one
from dy2st_runtime.ir.text.printer import to_text
from dy2st_runtime.tensor import to_tensor
from tests.runtime.ops.test_tensor_array import NUMBER, PAIR, program_of, run

FIVE = np.arange(5.0)
ENDS = st.one_of(st.none(), st.integers(-7, 7))


def listed(x):
    """A list of the Program with the numbers of a tensor."""
    return F.array_of([x[i] for i in range(x.shape[0])])


def numbers(array):
    """The numbers of a list as a tensor, which has a 0 before them: the list may be empty."""
    zero = F.zeros([], "float64")
    return F.array_stack(F.array_insert(array, 0, zero))[1:]


@settings(max_examples=60, deadline=None)
@given(ENDS, ENDS, st.one_of(st.none(), st.integers(-3, 3).filter(bool)))
def test_a_slice_takes_what_python_takes(start, stop, step):
    traced = [None if end is None else np.array(end) for end in (start, stop, step)]
    given = [end for end in traced if end is not None]

    def function(x, *ends):
        rest = iter(ends)
        ends = [None if end is None else next(rest) for end in traced]
        fixed = F.array_slice(listed(x), start, stop, step)
        return [numbers(fixed), numbers(F.array_slice(listed(x), *ends))]

    for have in run(function, FIVE, *given):
        assert have.tolist() == FIVE.tolist()[start:stop:step]


def test_a_step_of_0_is_an_error_of_python():
    with pytest.raises(ValueError, match="slice step cannot be zero"):
        run(lambda x, n: [numbers(F.array_slice(listed(x), None, None, n))], FIVE, np.array(0))


@settings(max_examples=40, deadline=None)
@given(st.integers(-9, 9), st.integers(-3, 3))
def test_insert_and_repeat_do_what_python_does(place, times):
    want = FIVE.tolist()
    want.insert(place, 9.0)

    def function(x, place, times):
        inserted = F.array_insert(listed(x), place, x[0] + 9.0)
        return [numbers(inserted), numbers(F.array_repeat(listed(x), times))]

    inserted, repeated = run(function, FIVE, np.array(place), np.array(times))
    assert inserted.tolist() == want
    assert repeated.tolist() == FIVE.tolist() * times


@pytest.mark.parametrize("place", range(-6, 6))
def test_delete_does_what_python_does(place):
    want = FIVE.tolist()
    try:
        del want[place]
    except IndexError as error:
        with pytest.raises(IndexError, match=str(error)):
            run(lambda x, i: [numbers(F.array_delete(listed(x), i))], FIVE, np.array(place))
        return
    (have,) = run(lambda x, i: [numbers(F.array_delete(listed(x), i))], FIVE, np.array(place))
    assert have.tolist() == want


def test_elements_are_taken_in_any_order():
    def function(x, places):
        array = listed(x)
        return [
            numbers(F.array_gather(array, places)),
            numbers(F.array_gather(array, F.argsort(x, descending=True))),
            numbers(F.array_gather(array, [])),
            numbers(F.array_reverse(array)),
        ]

    some, falling, none, back = run(function, FIVE, np.array([3, 3, -1]))
    assert (some.tolist(), none.tolist()) == ([3, 3, 4], [])
    assert falling.tolist() == back.tolist() == [4, 3, 2, 1, 0]
    with pytest.raises(IndexError, match="list index out of range"):
        run(function, FIVE, np.array([5]))


def test_lists_are_joined_and_stay_what_they_are():
    def function(x):
        array = listed(x)
        twice = F.array_extend(array, array)
        return [numbers(a) for a in (array, twice, F.array_extend(twice, (x[0],)))]

    first, second, third = run(function, FIVE[:2])
    assert first.tolist() == [0, 1]
    assert second.tolist() == [0, 1, 0, 1]
    assert third.tolist() == [0, 1, 0, 1, 0]


def test_an_empty_list_has_the_type_that_it_is_given():
    n = symbol("n")
    known = ArrayType(TensorType("float32", (n, 2)))
    program = program_of(
        lambda x: [F.array_length(F.array_empty(known)), F.array_empty(known)[0].sum(0)],
        TensorType("float32", (n,)),
    )
    empty = program.operators[0]
    assert (empty.name, empty.results[0].type) == ("array_empty", known)
    with pytest.raises(IndexError, match="list index out of range"):
        engine.compile(program).run([np.zeros(3, np.float32)], [])


def test_sizes_of_an_empty_list_that_are_not_known_there_are_any_sizes():
    known = ArrayType(ArrayType(TensorType("float32", (symbol("elsewhere"), 2))))
    program = program_of(lambda: [F.array_length(F.array_empty(known))])
    type = program.operators[0].results[0].type
    assert type.depth == 2
    assert str(type.tensor.shape[0]).startswith("element_")
    assert engine.compile(program).run([], [])[0] == 0


def test_nothing_need_be_known_of_an_empty_list():
    program = program_of(lambda: [F.array_length(F.array_empty(ArrayType(ArrayType(None))))])
    assert program.operators[0].results[0].type == ArrayType(ArrayType(None))
    again = parse_one(to_text(program))
    assert again.operators[0].results[0].type == ArrayType(ArrayType(None))


def test_lists_of_unlike_tensors_are_not_joined():
    with pytest.raises(BranchMismatch, match=r"a list holds float64\[\] and gets int64\[\]"):
        program_of(
            lambda x, n: [F.array_length(F.array_extend(listed(x), [n]))],
            TensorType("float64", (2,)),
            NUMBER,
        )


@pytest.mark.parametrize(
    "function",
    [
        lambda x, n: F.array_read(listed(x), x[0]),
        lambda x, n: F.array_insert(listed(x), x, n),
        lambda x, n: F.array_delete(listed(x), 1.0),
        lambda x, n: F.array_slice(listed(x), x[0]),
        lambda x, n: F.array_repeat(listed(x), x[1]),
    ],
)
def test_what_is_no_integer_is_an_error_of_python(function):
    with pytest.raises(TypeError, match="must be integers"):
        program_of(lambda x, n: [function(x, n)], TensorType("float64", (2,)), NUMBER)


def test_places_to_gather_are_along_one_axis():
    with pytest.raises(ArgumentError, match="along one axis"):
        program_of(lambda x, n: [F.array_length(F.array_gather(listed(x), n))], PAIR, NUMBER)


def test_a_list_where_an_operator_takes_a_number_is_refused():
    program = program_of(lambda x: [F.array_length(F.array_delete(listed(x), 0))], PAIR)
    deleting = next(o for o in program.block.operators if o.name == "array_delete")
    deleting.operands[1] = deleting.operands[0]
    with pytest.raises(VerifyError, match="operand 1 of the operands"):
        verify(program)


def test_gradients_flow_through_all_of_them():
    def function(x):
        array = F.array_repeat(F.array_extend(listed(x), [x[0] * 2.0]), 2)
        array = F.array_delete(F.array_insert(array, 0, x[1] * 3.0), -1)
        array = F.array_gather(F.array_slice(array, 1), [0, 0, 1])
        return [F.array_stack(F.array_reverse(array)).sum()]

    program = program_of(function, TensorType("float64", (2,)))
    x = to_tensor([1.0, 2.0], dtype="float64", stop_gradient=False)
    (total,), _ = interpret(program, [x], {})
    total.backward()
    assert x.grad.tolist() == [2, 1]


def test_without_a_trace_the_functions_work_on_python_lists():
    x = to_tensor([1.0, 2.0], stop_gradient=False)
    array = F.array_extend(F.array_empty(ArrayType(None)), [x, x * 2.0])
    array = F.array_gather(F.array_repeat(array, 2), to_tensor([1, 3]))
    assert F.array_length(F.array_slice(array, None, to_tensor(1))).item() == 1
    total = F.array_stack(F.array_insert(array, to_tensor(0), x)).sum()
    total.backward()
    assert x.grad.tolist() == [5.0, 5.0]


CALLS = {
    "array": lambda: [1, 2, 3],
    "array_behind": lambda: [4, 5],
    "indices": lambda: np.array([2, 0]),
    "item": lambda: 9,
    "items*": lambda: 9,
}
NEW_LISTS = sorted(name for name, d in DEFINITIONS.items() if d.makes_list and d.inputs)


@pytest.mark.parametrize("name", NEW_LISTS)
def test_a_kernel_makes_a_list_and_leaves_its_operands_alone(name):
    definition = lookup(name)
    operands = [CALLS.get(part, lambda: 1)() for part in definition.inputs]
    before = deepcopy(operands)
    result = definition.kernel(*operands, **definition.attributes)
    made = result[0] if isinstance(result, tuple) else result
    assert str(operands) == str(before)
    assert all(made is not operand for operand in operands)
    if definition.in_place is not None:
        changed = definition.in_place(*operands)
        assert changed == result
        assert (changed[0] if isinstance(result, tuple) else changed) is operands[0]
