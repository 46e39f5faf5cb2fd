"""Inputs made up for a Program."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st import to_static
from dy2st.passes.random_inputs import random_array, random_inputs, random_sizes
from dy2st.static import InputSpec
from dy2st_runtime import nn
from dy2st_runtime.dims import symbol
from dy2st_runtime.ir import F, TensorType, apply


def test_one_symbol_has_one_size_wherever_it_stands(t):
    program = t.program_of(lambda x, y: x + y, t.floats("n", 3), t.floats("n", 1))
    for seed in range(5):
        (x, y), state = random_inputs(program, {}, seed)
        assert x.shape == (y.shape[0], 3) and 2 <= x.shape[0] < 9 and state == {}
        assert x.dtype == y.dtype == np.float32


def test_a_seed_gives_the_same_numbers_again_and_another_gives_others(t):
    program = t.program_of(lambda x: F.relu(x), t.floats(4, 5))
    first, again, other = (random_inputs(program, {}, seed)[0][0] for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("dtype", ["float16", "float64", "int8", "uint8", "int64", "bool"])
def test_numbers_are_of_the_type_and_not_all_equal(dtype):
    array = random_array(TensorType(dtype, (50,)), {}, np.random.default_rng(0))
    assert array.dtype == dtype and array.shape == (50,)
    assert len(np.unique(array)) > 1
    if array.dtype.kind in "iu":
        assert set(np.unique(array)) == {0, 1}


@pytest.mark.parametrize("low, high", [(1, 3), (5, 6), (7, 20)])
def test_sizes_lie_in_the_range(t, low, high):
    program = t.program_of(lambda x: F.relu(x), t.floats("n", "m"))
    found = [random_sizes(program, np.random.default_rng(s), low, high) for s in range(20)]
    assert all(low <= size < high for sizes in found for size in sizes.values())


def test_sizes_satisfy_what_the_program_requires(t):
    def build(x, y):
        return F.reshape(x, [-1, 4]), F.concat([x, y], axis=1)

    program = t.program_of(build, t.floats("n", "m"), t.floats("k", 3))
    assert program.constraints
    for seed in range(10):
        inputs, _ = random_inputs(program, {}, seed)
        x, y = inputs
        assert x.size % 4 == 0 and x.shape[0] == y.shape[0]
        assert t.run(program, inputs)[0].shape == (x.size // 4, 4)


def test_sizes_that_must_be_multiples_are_found(t):
    def patches(x):
        h, w = x.shape
        return F.reshape(x, [h // 16, 16, w // 16, 16])

    program = t.program_of(patches, t.floats("h", "w"))
    for seed in range(5):
        inputs, _ = random_inputs(program, {}, seed)
        assert inputs[0].shape[0] % 16 == inputs[0].shape[1] % 16 == 0


def test_many_sizes_that_must_be_equal_are_found(t):
    def joined(*values):
        return F.concat(values, axis=1)

    program = t.program_of(joined, *[t.floats(name, 2) for name in "abcdef"])
    inputs, _ = random_inputs(program, {})
    assert len({x.shape for x in inputs}) == 1


def test_a_size_that_must_be_large_is_found(t):
    program = t.program_of(lambda x: F.conv2d(x, t.array(1, 1, 15, 15)), t.floats(1, 1, "h", 20))
    inputs, _ = random_inputs(program, {})
    assert inputs[0].shape[2] >= 15 and t.run(program, inputs)[0].shape[3] == 6


def test_a_symbol_with_a_smallest_size_is_never_below_it(t):
    type = TensorType("float32", (symbol("large", minimum=30),))
    program = t.program_of(lambda x: F.relu(x), type)
    assert all(random_inputs(program, {}, seed)[0][0].shape[0] >= 30 for seed in range(5))


def test_there_are_no_inputs_where_no_sizes_do(t):
    program = t.program_of(lambda x: F.conv2d(x, t.array(1, 1, 999, 1)), t.floats(1, 1, "h", 20))
    assert random_inputs(program, {}) is None


@pytest.mark.parametrize("name", ["uniform", "randint"])
def test_there_are_no_inputs_for_a_program_that_draws_numbers(t, name):
    program = t.program_of(lambda x: x + apply(name, low=0, high=5, shape=(3,)), t.floats(3))
    assert random_inputs(program, {}) is None


def test_arrays_that_are_known_are_taken_and_others_made_up():
    layer = nn.Linear(3, 2)
    program = to_static(layer, [InputSpec(["n", 3])]).forward.main_program
    weight = np.ones((3, 2), np.float32)
    _, state = random_inputs(program, {"weight": weight, "unknown": weight})
    assert state["weight"] is weight and set(state) == {"weight", "bias"}
    assert state["bias"].shape == (2,) and state["bias"].any()
