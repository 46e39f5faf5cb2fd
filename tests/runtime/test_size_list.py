"""The list that the shape of a tensor is, where a library wants a tuple."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pytest

from dy2st import load, save, to_static
from dy2st.nn import Layer
from dy2st_runtime.size_list import SizeList
from dy2st_runtime.tensor import to_tensor

SIZES = SizeList([2, 3])


def test_the_shape_of_a_tensor_is_one():
    shape = to_tensor(np.zeros((2, 3))).shape
    assert type(shape) is SizeList and shape == (2, 3) and shape == [2, 3] and shape != (2, 4)


def test_it_is_a_list_and_passes_for_a_tuple():
    assert isinstance(SIZES, list) and isinstance(SIZES, tuple) and not isinstance(SIZES, dict)
    assert next(iter(np.ndindex(SIZES))) == (0, 0)
    assert hash(SIZES) == hash((2, 3)) and {(2, 3): 1}[SIZES] == 1


def test_what_is_made_of_it_is_one_where_a_tuple_would_be():
    for made in (SIZES[:1], SIZES + (1,), (1,) + SIZES, [1] + SIZES, SIZES * 2, 2 * SIZES):
        assert type(made) is SizeList and made == tuple(made)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_copies_and_pickles_are_of_its_class(protocol):
    for made in (pickle.loads(pickle.dumps(SIZES, protocol)), copy.copy(SIZES)):
        assert type(made) is SizeList and made == SIZES and made is not SIZES
    assert type(copy.deepcopy({"a": SIZES})["a"]) is SizeList


def test_numpy_and_json_take_it_as_a_list():
    assert np.zeros(SIZES).shape == (2, 3) and np.reshape(np.zeros(6), SIZES).shape == (2, 3)
    assert json.dumps(SIZES) == "[2, 3]" and repr(SIZES) == "[2, 3]"


def test_a_trace_sees_what_is_changed_in_one_from_outside():
    sizes, x = to_tensor(np.zeros((2, 3))).shape, to_tensor(1.0)
    converted = to_static(lambda x: (x * sizes[0], x * len(sizes), x * sum(sizes)))
    assert [one.item() for one in converted(x)] == [2.0, 2.0, 5.0]
    sizes[0] = 5
    assert [one.item() for one in converted(x)] == [5.0, 2.0, 8.0]
    sizes.append(1)
    assert [one.item() for one in converted(x)] == [5.0, 3.0, 9.0]


def test_a_checkpoint_has_it_as_a_list(tmp_path):
    save({"sizes": SIZES, "x": to_tensor(1.0)}, str(tmp_path / "state.pdparams"))
    assert load(str(tmp_path / "state.pdparams"))["sizes"] == [2, 3]


def test_a_trace_guards_one_that_a_layer_holds():
    class Scaled(Layer):
        def __init__(self):
            super().__init__()
            self.sizes = to_tensor(np.zeros((2, 3))).shape

        def forward(self, x):
            return x * self.sizes[0] if x > 0 else x * (self.sizes == [2, 3])

    layer = to_static(Scaled())
    x = to_tensor(1.0)
    assert layer(x).item() == 2.0
    layer.sizes[0] = 4
    assert layer(x).item() == 4.0
    layer.sizes = to_tensor(np.zeros((7, 3))).shape
    assert (layer(x).item(), layer(-x).item()) == (7.0, 0.0)
