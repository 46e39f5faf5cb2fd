"""Which Variables may be one tensor: those that may both be one of the same."""

from __future__ import annotations

import random
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dy2st_runtime.ir import Program, TensorType, Variable
from dy2st_runtime.ir.tracing.strides import _reshaped
from dy2st_runtime.ir.tracing.views import Aliases
from tests.effort import effort

COUNT = 12
PAIRS = st.lists(st.tuples(st.integers(0, COUNT - 1), st.integers(0, COUNT - 1)), max_size=20)


def variables(count: int = COUNT) -> list[Variable]:
    block = Program().block
    return [block.add_parameter(TensorType("float32", (1,)), str(k)) for k in range(count)]


@given(PAIRS)
def test_two_may_be_one_if_they_have_a_first_source_in_common(pairs):
    made, aliases = variables(), Aliases()
    sources: list[set[int]] = [set() for _ in range(COUNT)]
    for pair in pairs:
        older, newer = sorted(pair)
        aliases.note(made[newer], made[older])
        sources[newer] |= {older} - {newer}
    firsts: list[set[int]] = []
    for place, own in enumerate(sources):
        firsts.append(set().union(*(firsts[one] for one in own)) or {place})
    for variable, own in zip(made, firsts, strict=True):
        expected = {place for place, other in enumerate(firsts) if own & other}
        assert {int(one.name) for one in aliases.of(variable)} == expected
        met = (other for other in made if aliases.may_be_one(variable, other))
        assert {int(one.name) for one in met} == expected
    alone = [sum(aliases.may_be_one(one, other) for other in made) == 1 for one in made]
    assert aliases.alone(made) == alone


def test_names_that_change_places_on_one_path_are_names_of_two_tensors():
    (a, b, front, back, *_), aliases = variables(), Aliases()
    aliases.note_apart([front, back])
    for result in (front, back):
        aliases.note(result, a)
        aliases.note(result, b)
    assert not aliases.may_be_one(front, back)
    assert not aliases.may_be_one(a, b)
    assert aliases.may_be_one(front, a)
    assert aliases.may_be_one(b, back)


def test_alone_on_a_path_is_what_no_other_one_may_be():
    (a, b, one, *_), aliases = variables(), Aliases()
    aliases.note(one, a)
    assert aliases.alone([a, b]) == [True, True]
    assert aliases.alone([a, b, a]) == [False, True, False]
    assert aliases.alone([one, b, a]) == [False, True, False]


def test_a_parameter_of_a_nested_block_stands_for_the_variable_around_it():
    (inner, outer, result, *_), aliases = variables(), Aliases()
    aliases.imported(inner, outer)
    aliases.note(result, inner)
    assert {int(one.name) for one in aliases.of(outer)} == {1, 2}


def test_what_is_noted_once_more_is_not_told_to_all_that_know_it():
    (first, one, *takers), aliases = variables(4000), Aliases()
    for taker in takers:
        aliases.note(taker, one)
    start = time.process_time()
    for _ in range(4000):
        aliases.note(one, first)
    assert time.process_time() - start < 1
    assert aliases.may_be_one(takers[-1], first)


# -- views that can be reshaped where they lie -----------------------------------------------------


def drawn(seed):
    """A view of an array, and another shape for it."""
    draw = random.Random(seed)
    shape = tuple(draw.choice([1, 2, 3, 4]) for _ in range(draw.randint(0, 4)))
    array = np.arange(int(np.prod(shape)), dtype=np.int8).reshape(shape)
    for _ in range(draw.randint(0, 3)):
        if draw.random() < 0.5:
            array = array.transpose(draw.sample(range(array.ndim), array.ndim))
        elif array.ndim:
            index = [slice(None)] * array.ndim
            cuts = [slice(0, 2), slice(None, None, 2), slice(None, None, -1), 0]
            index[draw.randrange(array.ndim)] = draw.choice(cuts)
            array = array[(*index, ...)]
    wanted, left = [], array.size
    while left > 1:
        wanted.append(draw.choice([size for size in range(2, left + 1) if left % size == 0]))
        left //= wanted[-1]
    for _ in range(draw.randint(0, 2)):
        wanted.insert(draw.randint(0, len(wanted)), 1)
    return array, wanted


@pytest.mark.parametrize("start", range(0, effort(400, 20000), 100))
def test_a_view_is_reshaped_where_numpy_makes_no_copy(start):
    for seed in range(start, start + 100):
        array, wanted = drawn(seed)
        reshaped = array.reshape(wanted)
        strides = _reshaped(array.shape, array.strides, wanted)
        if array.size > 1:
            assert (strides is not None) == np.shares_memory(array, reshaped)
        if strides is not None and array.size > 1:
            found = np.lib.stride_tricks.as_strided(array, wanted, strides)
            np.testing.assert_array_equal(found, reshaped)
