"""The state of a path: what one path changes, no other one sees, and going on goes on with it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dy2st_runtime.errors import Location
from dy2st_runtime.ir import Block, Program, TensorType
from dy2st_runtime.ir.tracing.path_state import Path, PathState

STEPS = st.recursive(
    st.tuples(st.sampled_from("abc"), st.integers(0, 9) | st.none()),
    lambda inner: st.lists(inner, max_size=4),
    max_leaves=20,
)


def write(state, model, steps):
    """Do steps on a state and on a dict; a list of steps is a path of its own."""
    for step in steps:
        if isinstance(step, list):
            before, path, inside = dict(state.heap), Path(Block()), dict(model)
            with state.on(path):
                write(state, inside, step)
                assert dict(state.heap) == inside
            assert dict(state.heap) == before
            with state.on(path):
                assert dict(state.heap) == inside
            assert dict(state.heap) == before
        elif step[1] is None:
            state.heap.pop(step[0])
            model.pop(step[0], None)
        else:
            state.heap[step[0]] = model[step[0]] = step[1]


@given(st.lists(STEPS.map(lambda one: one if isinstance(one, list) else [one]), max_size=6))
def test_a_path_leaves_everything_as_it_was_and_goes_on_as_it_ended(steps):
    state, model = PathState(), {}
    write(state, model, steps)
    assert dict(state.heap) == model


def test_the_only_path_that_goes_on_is_taken_with_what_it_has_deleted():
    state, path = PathState(), Path(Block())
    state.heap["a"], state.heap["b"] = 1, 2
    with state.on(path):
        del state.heap["a"]
        state.heap["c"] = 3
    state.take(path)
    assert dict(state.heap) == {"b": 2, "c": 3}


def test_what_holds_on_all_paths_stays_behind_the_one_that_has_found_it():
    state = PathState()
    with state.on(Path(Block())):
        state.heap.put("a", 1)
        state.heap["a"] = 2
    assert dict(state.heap) == {"a": 1}


def test_a_path_that_raises_leaves_everything_as_it_was():
    state = PathState()
    with pytest.raises(KeyError), state.on(Path(Block())):
        state.heap["a"] = 1
        del state.heap["b"]
    assert not state.heap
    assert not state.paths


def test_a_variable_knows_on_each_path_whether_it_was_overwritten_there():
    state, path = PathState(), Path(Block())
    one = Program().block.add_parameter(TensorType("float32", (1,)), "one")
    with state.on(path):
        state.overwritten[one] = Location("model.py", 7)
    assert one.overwritten is None
    assert path.overwritten == [one]
    with state.on(path):
        assert one.overwritten == Location("model.py", 7)
