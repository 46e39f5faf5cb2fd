"""Arrays of NumPy whose elements only the run knows: they are computed of sizes and numbers."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
from dy2st.jit import to_static
from dy2st.static import InputSpec
from dy2st_runtime.errors import TensorAsPython
from tests.dy2st.convert.kinds.same import same


def methods(x):
    a = np.arange(6.0).reshape(2, 3) * x.shape[0]
    return (
        a.std(),
        a.var(0),
        a.nonzero(),
        a.repeat(2),
        a.mean(1, keepdims=True),
        a.copy(),
        a.dot(a.T),
    )


def what_is_made_of_one(x):
    a = np.arange(4) * x.shape[0]
    made = np.sqrt(a), a[1:], a.reshape(2, 2), a.astype("float32"), -a, abs(a), a + 1, a.max()
    return [one.std() for one in made], made, a.shape + (1,), a.tolist()


def rows(x):
    a = np.arange(6.0).reshape(2, 3) * float(x.sum())
    return [row.std() for row in a], [*map(np.var, a)]


def on_paths(x):
    a = np.arange(4.0) * x.shape[0]
    spread = a.std() if x.sum() > 0 else a.var()
    a = a + 1 if x.sum() > 0 else a * 2
    return spread, a.std(), a


def in_loops(x):
    a, seen = np.arange(4.0) * x.shape[0], []
    for value in x:
        a = a * 2
        seen.append(a - value.item())
    return a.std(), [one.std() for one in seen]


def changed_in_place(x):
    a = np.arange(6).reshape(2, 3) * x.shape[0]
    other = a
    other += 1
    other[0] *= x.shape[0]
    for row in a:
        row -= 2
    return a, other


def beside_tensors(x):
    a = np.arange(4.0) * float(x.sum())
    return (x.sum() * a).std(), dy2st.to_tensor(a).std(), dy2st.exp(a).std()


FUNCTIONS = [
    methods,
    what_is_made_of_one,
    rows,
    on_paths,
    in_loops,
    changed_in_place,
    beside_tensors,
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_an_array_has_what_arrays_of_numpy_have(function):
    same(function, [1.0, 2.0], [-1.0, -2.0, -3.0])


def test_a_change_to_another_dtype_is_an_error_as_numpys():
    def changed(x):
        a = np.arange(3) * x.shape[0]
        a += 1.5
        return a

    with pytest.raises(TypeError, match="float64"):
        to_static(changed, [InputSpec([None])])(dy2st.ones([2]))


def test_an_array_is_not_sorted_in_place():
    with pytest.raises(TensorAsPython, match="sort of an array of NumPy"):
        to_static(lambda x: (np.arange(3) * int(x.sum())).sort())(dy2st.ones([2]))


def test_an_array_of_python_gets_no_element_of_the_run():
    def filled(x):
        a = np.zeros(3)
        a[0] = x.sum().item()
        return a

    with pytest.raises(TensorAsPython, match="an element that only the run knows"):
        to_static(filled)(dy2st.ones([2]))
