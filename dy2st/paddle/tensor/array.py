"""Lists of tensors by the names that PaddlePaddle has in `paddle.tensor` alone: Python's lists."""

from __future__ import annotations

from typing import Any


def create_array(dtype: Any, initialized_list: Any = None) -> list[Any]:
    """A list with the tensors of another one, or without any; the dtype is that of its tensors.

    >>> create_array("float32")
    []
    """
    return [] if initialized_list is None else list(initialized_list)


def array_length(array: list[Any]) -> int:
    """How many tensors the list has.

    >>> array_length([dy2st.ones([1]), dy2st.zeros([1])])
    2
    """
    return len(array)


def array_read(array: list[Any], i: Any) -> Any:
    """The tensor at a place, an int or an integer tensor of one element; IndexError if none is.

    >>> array_read([dy2st.ones([2]), dy2st.zeros([2])], dy2st.to_tensor([1])).tolist()
    [0.0, 0.0]
    """
    return array[int(i)]


def array_write(x: Any, i: Any, array: list[Any] | None = None) -> list[Any]:
    """The list, a new one by default, with `x` at a place: in it, or the one behind its last.

    Raises IndexError for a place further behind.

    >>> array = array_write(dy2st.ones([2]), 0)
    >>> array_write(dy2st.zeros([2]), dy2st.to_tensor([1]), array) is array, len(array)
    (True, 2)
    """
    array = [] if array is None else array
    place = int(i)
    if place > len(array):
        raise IndexError(f"array_write: a list of {len(array)} tensors has no place {place}")
    if place < len(array):
        array[place] = x
    else:
        array.append(x)
    return array


__all__ = ["array_length", "array_read", "array_write", "create_array"]
