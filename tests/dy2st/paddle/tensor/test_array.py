"""Lists of tensors by PaddlePaddle's names: the same in Python and in a Program."""

from __future__ import annotations

import pytest

import dy2st
from dy2st import paddle
from dy2st.jit import to_static


def grown(x, n):
    """A list with one more tensor in each iteration."""
    place = paddle.zeros([1], "int64")
    array = paddle.tensor.array_write(x, i=place)
    while place < n:
        place += 1
        array = paddle.tensor.array_write(x + place, i=place, array=array)
    read = paddle.tensor.array.array_read(array, place)
    return paddle.tensor.array_length(array), read, array


def overwritten(x, n):
    """A list of two tensors, one of which is another one now."""
    array = paddle.tensor.create_array("float32", [x, x + 1])
    return paddle.tensor.array_write(x * 5, n, array)


def values(found):
    """The numbers in what is returned."""
    if isinstance(found, (tuple, list)):
        return [values(entry) for entry in found]
    return found.tolist() if isinstance(found, dy2st.Tensor) else found


@pytest.mark.parametrize("function", [grown, overwritten])
def test_a_list_is_written_as_in_python(function):
    static, x = to_static(function), dy2st.to_tensor([1.0, 2.0])
    for n in (2, 0, 1):
        place = dy2st.to_tensor([n])
        assert values(static(x, place)) == values(function(x, place))


def test_a_place_behind_the_next_one_is_an_index_error():
    x = dy2st.ones([1])
    for call in (overwritten, to_static(overwritten)):
        with pytest.raises(IndexError, match="has no place 3"):
            call(x, dy2st.to_tensor([3]))


def test_a_list_is_the_one_that_is_given():
    array = paddle.tensor.create_array("float32")
    assert paddle.tensor.array_write(dy2st.ones([1]), 0, array) is array
    assert len(array) == 1
