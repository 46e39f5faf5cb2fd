"""Refusals call variables and places by the names that the user has given them."""

import math

import pytest

import dy2st
from dy2st.errors import BranchMismatch, ConversionError
from dy2st.jit import to_static
from dy2st.static import InputSpec

X = dy2st.to_tensor([5.0])


@pytest.mark.parametrize(
    "function",
    [lambda x: math.trunc(x), lambda x: x(), lambda x: ord(x), lambda x: setattr(x, "new", 1)],
    ids=["trunc", "call", "ord", "setattr"],
)
def test_errors_of_python_call_the_class_of_a_tensor_as_it_does(function):
    with pytest.raises((TypeError, AttributeError), match="Tensor") as python:
        function(X)
    with pytest.raises(python.type) as caught:
        to_static(function)(X)
    assert str(caught.value) == str(python.value)


def test_a_variable_of_a_closure_that_a_saved_function_assigns(tmp_path):
    last = None

    def f(x):
        nonlocal last
        last = x + 1
        return x

    static = to_static(f, input_spec=[InputSpec([1])])
    static(X)
    assert last.tolist() == [6.0]
    with pytest.raises(ConversionError, match="assigns `last`, a variable outside of it"):
        dy2st.jit.save(static, str(tmp_path / "f"))


def test_a_shared_variable_that_a_branch_sets():
    def f(x):
        seen = {1}

        def change():
            nonlocal seen
            seen = iter([x])

        if x.sum() > 0:
            change()
        return x, seen

    with pytest.raises((BranchMismatch, ConversionError)) as caught:
        to_static(f)(X)
    assert "cell_contents" not in str(caught.value)
