"""`numpy()`, `tolist()` and NumPy's functions on traced tensors whose values the trace knows."""

import numpy as np
import pytest

import dy2st
from dy2st.errors import TensorAsPython
from dy2st.static import InputSpec

BUFFER = dy2st.to_tensor([3.0, 4.0])


def converted(function):
    return dy2st.to_static(function, [InputSpec([None, 4], "float32")])


def changed(x):
    c = dy2st.zeros([4])
    c[1] = 5.0
    return x * dy2st.to_tensor(c.numpy())


KNOWN = {
    "a constant": lambda x: x * dy2st.to_tensor([2.0, 3.0, 4.0, 5.0]).numpy(),
    "what is made of constants": lambda x: x * (dy2st.arange(4) * 2 + 1).numpy(),
    "numbers in a list": lambda x: x * dy2st.linspace(0, 0.5, 3).tolist()[1],
    "a shape": lambda x: x.reshape(dy2st.shape(x).numpy().tolist()[::-1]),
    "a size of a shape": lambda x: x.reshape([dy2st.shape(x).numpy()[0] * 2, -1]),
    "NumPy's array": lambda x: x + np.asarray(dy2st.ones([4], "float32")) * 2,
    "a constant that was changed": changed,
    "one number": lambda x: x * float(dy2st.full([1], 2.5)) + dy2st.full([], 3).item(),
}


@pytest.mark.filterwarnings("ignore:.*becomes a constant")
@pytest.mark.parametrize("name", KNOWN)
def test_what_the_trace_knows_is_given(name):
    function = KNOWN[name]
    static = converted(function)
    for rows in (2, 3):
        x = dy2st.to_tensor(np.arange(4.0 * rows).reshape(rows, 4).astype("float32"))
        np.testing.assert_array_equal(static(x).numpy(), function(x).numpy())
    assert len(static.program_cache.concrete_programs()) == 1


UNKNOWN = {
    "an input": lambda x: x.numpy(),
    "what is made of it": lambda x: x.max().numpy(),
    "NumPy's array of it": lambda x: np.asarray(x),
    "random numbers": lambda x: dy2st.rand([2]).numpy(),
    "a buffer": lambda x: BUFFER.numpy(),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_only_the_run_knows_is_refused_with_a_way_out(name):
    with pytest.raises(TensorAsPython) as caught:
        converted(UNKNOWN[name])(dy2st.ones([2, 4]))
    assert "instead:" in str(caught.value)


def test_one_number_of_the_run_is_a_number():
    def function(x):
        return x * x.sum().item() + float(x.max()) + int(x.min()) + BUFFER[0].item()

    x = dy2st.to_tensor(np.arange(8.0).reshape(2, 4).astype("float32"))
    np.testing.assert_allclose(converted(function)(x).numpy(), function(x).numpy())


def item_of_a_changed_tensor(x):
    places = dy2st.full([4], -1, "int64")
    places[0] = 2
    return x[0, places[0]] + places[0]


def item_changed_by_a_method(x):
    places = dy2st.full([2], 1, "int64")
    places.add_(1)
    return x[0, places[0]] + places[1]


def item_changed_in_a_branch(x):
    places = dy2st.full([2], 1, "int64")
    if x.sum() > 0:
        places[1] = 3
    return x[0, places[1]]


def item_changed_in_a_loop(x):
    places = dy2st.zeros([2], "int64")
    for row in x:
        places[0] = places[0] + 1
    return x[0, places[0]]


@pytest.mark.parametrize(
    "function",
    [
        item_of_a_changed_tensor,
        item_changed_by_a_method,
        item_changed_in_a_branch,
        item_changed_in_a_loop,
    ],
)
def test_what_a_tensor_held_before_it_was_changed_is_known_no_more(function):
    for sign in (1, -1):
        x = sign * dy2st.arange(12, dtype="float32").reshape([3, 4])
        assert converted(function)(x).tolist() == function(x).tolist()
