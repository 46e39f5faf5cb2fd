"""Whether a view can be reshaped where it lies, as NumPy decides it."""

import random

import numpy as np
import pytest

from dy2st_runtime.ir.tracing.strides import _reshaped
from tests.effort import effort


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
