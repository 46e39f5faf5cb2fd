"""The list that the shape of a tensor is, where a library wants a tuple."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pytest

from dy2st_runtime.ir.types import SizeList
from dy2st_runtime.tensor import to_tensor

SIZES = SizeList([2, 3])


def test_the_shape_of_a_tensor_is_one():
    shape = to_tensor(np.zeros((2, 3))).shape
    assert type(shape) is SizeList and shape == (2, 3) and shape == [2, 3] and shape != (2, 4)


def test_it_is_a_list_and_passes_for_a_tuple():
    assert isinstance(SIZES, list) and isinstance(SIZES, tuple) and not isinstance(SIZES, dict)
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
