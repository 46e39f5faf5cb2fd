"""A refusal that a library catches is raised all the same: the answer would be another one."""

from types import FunctionType

import pytest

import dy2st
from dy2st.errors import TensorAsPython, UndecidedDim
from dy2st.jit import to_static

X = dy2st.to_tensor([1.0, 2.0])


def _tried(function, default):
    """As libraries ask what a value can do."""
    try:
        return function()
    except TypeError:
        return default


# One of a module whose functions are called as they are.
tried = FunctionType(_tried.__code__, {"__name__": "statistics"})


def test_a_library_that_catches_a_refusal_is_refused():
    static = to_static(lambda x: x + tried(lambda: 5 if x.sum() > 0 else 6, 0))
    with pytest.raises(TensorAsPython, match="the truth of a traced tensor"):
        static(X)


def test_what_a_library_catches_of_python_is_its_own():
    static = to_static(lambda x: x + tried(lambda: len(5), 3))
    assert static(X).tolist() == [4.0, 5.0]


def test_the_next_trace_hears_nothing_of_it():
    with pytest.raises(TensorAsPython):
        to_static(lambda x: tried(lambda: bool(x.sum() > 0), 0))(X)
    assert to_static(lambda x: tried(lambda: x * 2, 0))(X).tolist() == [2.0, 4.0]


def test_a_library_that_catches_the_refusal_of_a_size_is_refused():
    static = to_static(
        lambda x: x + tried(lambda: 5 if bool(x.shape[0] > 1) else 6, 0),
        input_spec=[dy2st.static.InputSpec([None], "float32")],
    )
    with pytest.raises(UndecidedDim, match="the size|whether"):
        static(X)
