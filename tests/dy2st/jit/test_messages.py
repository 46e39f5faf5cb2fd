"""What is refused is refused by name: a Dy2stError with file, line, cause, and what to write."""

from __future__ import annotations

import gc
import re
import warnings

import pytest

import dy2st
from dy2st.jit import to_static
from dy2st_runtime.errors import ConversionError, Dy2stError

X = dy2st.to_tensor([1.0, 2.0, 3.0])


def refusal(function, *arguments, spec=None):
    """The text of the refusal of a call, once it is held to what every refusal says."""
    converted = to_static(function, input_spec=spec)
    with pytest.raises(Dy2stError) as refused:
        converted(*arguments or (X,))
    text = str(refused.value)
    assert re.match(rf"{re.escape(__file__)}:\d+(:\d+)?: .+\n  because: .+\n  instead: .+", text)
    return text


def _grad(x):
    y = (x**3).sum()
    return dy2st.grad(y, x, create_graph=True)[0]


def _backward(x):
    y = (x * x).sum()
    y.backward()
    return y


def _read_gradient(x):
    return x if x.grad is None else x.grad


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (_grad, r"grad\(\) of traced tensors"),
        (_backward, r"backward\(\) of a traced tensor"),
        (_read_gradient, "the gradient of a traced tensor is read"),
    ],
)
def test_gradients_inside_of_a_converted_function(function, says):
    assert re.search(says, refusal(function))


def test_a_coroutine_that_nobody_awaits_is_closed():
    async def later(x):
        return x

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ConversionError, match="returns a coroutine"):
            to_static(later)(X)
        gc.collect()


def test_no_error_of_ours_stands_before_the_users():
    def fails(x):
        raise ValueError("mine")

    def calls(x):
        return fails(x)

    with pytest.raises(ValueError, match="mine") as raised:
        to_static(calls)(X)
    assert raised.value.__context__ is None and raised.value.__cause__ is None
