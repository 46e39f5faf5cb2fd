"""Collectives on arrays, made of the two on bytes: every element type, every way to reduce.

Each function has the channel first and is meant for `Group.start`. What is reduced is summed in the
order of the ranks, so all get the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.processes.channel import Channel

Array = np.ndarray[Any, Any]
Reduce = Callable[[Array], Array]

SUM, MAX, MIN, PROD, AVG = range(5)
NAMES = ("sum", "max", "min", "prod", "avg")
# Up to so many bytes all is sent to all: one way is quicker there than two.
_SMALL = 4096


def reducer(op: int) -> Reduce:
    """What makes one array of those along the first axis.

    >>> reducer(AVG)(np.array([[1.0, 2.0], [3.0, 6.0]])).tolist()
    [2.0, 4.0]
    """
    if op not in range(5):
        raise ArgumentError(f"op={op!r}: it is one of ReduceOp.SUM, MAX, MIN, PROD, AVG")
    ufunc = (np.add, np.maximum, np.minimum, np.multiply, np.add)[op]

    def reduce(parts: Array) -> Array:
        dtype = parts.dtype
        # Sums of short floats are rounded once, at the end.
        wide = np.dtype("float32") if dtype.itemsize == 2 and dtype.kind in "fV" else dtype
        total = ufunc.reduce(parts.astype(wide, copy=False), axis=0, dtype=wide)
        if op == AVG:
            total = total / len(parts) if dtype.kind in "fcV" else total // len(parts)
        return np.asarray(total).astype(dtype, copy=False)

    return reduce


def described(call: str, array: Array, *facts: Any) -> str:
    """A collective as all processes must call it."""
    words = ", ".join([f"{array.dtype}{list(array.shape)}", *map(str, facts)])
    return f"{call}({words})"


def op_name(op: int) -> str:
    """What a way to reduce is called."""
    return NAMES[op] if op in range(5) else repr(op)


def gather_bytes(channel: Channel, what: str, data: bytes) -> list[bytes]:
    """The bytes of all, of any length."""
    sizes = channel.meet(what, len(data))
    if not any(sizes):
        return [b""] * len(sizes)
    row = np.zeros(max(sizes), np.uint8)
    row[: len(data)] = np.frombuffer(data, np.uint8)
    return [found[:size].tobytes() for found, size in zip(channel.gather(row), sizes)]


def gather(channel: Channel, what: str, array: Array) -> list[Array]:
    """The arrays of all, which have one type and shape."""
    channel.meet(what, array.nbytes)
    return [_array(row, array) for row in channel.gather(_bytes(array))]


def swap(channel: Channel, what: str, arrays: Sequence[Array]) -> list[Array]:
    """Array i to the i-th rank; one from each, all of one type and shape."""
    channel.meet(what, sum(array.nbytes for array in arrays))
    rows = np.stack([_bytes(array) for array in arrays])
    return [_array(row, arrays[0]) for row in channel.swap(rows)]


def swap_parts(channel: Channel, what: str, arrays: Sequence[Array]) -> list[Array]:
    """As `swap`, for arrays whose first sizes differ."""
    rows = [array.nbytes for array in arrays]
    longest = max(channel.meet(what, max(rows)))
    counts = channel.swap(np.array(rows, "<i8").reshape(-1, 1).view(np.uint8))
    block = np.zeros((len(arrays), longest), np.uint8)
    for place, array in enumerate(arrays):
        block[place, : array.nbytes] = _bytes(array)
    found = zip(channel.swap(block), counts.copy().view("<i8").ravel())
    rest = arrays[0].shape[1:]
    return [row[:size].copy().view(arrays[0].dtype).reshape(-1, *rest) for row, size in found]


def combine(channel: Channel, what: str, array: Array, reduce: Reduce) -> Array:
    """The arrays of all become one, for all.

    Each rank makes its part of it, and the parts are gathered: twice the bytes of the array are
    sent, for any number of ranks.
    """
    count = len(channel.ranks)
    channel.meet(what, array.nbytes)
    if array.nbytes <= _SMALL:
        return reduce(np.stack([_array(row, array) for row in channel.gather(_bytes(array))]))
    flat = np.ascontiguousarray(array).reshape(-1)
    length = -(-flat.size // count)
    padded = np.zeros(count * length, array.dtype)
    padded[: flat.size] = flat
    rows = padded.reshape(count, length).view(np.uint8)
    part = reduce(channel.swap(rows).copy().view(array.dtype))
    whole = channel.gather(_bytes(part)).copy().view(array.dtype)
    return whole.reshape(-1)[: flat.size].reshape(array.shape)


def from_rank(place: int) -> Reduce:
    """A way to reduce that takes the array of one rank: a broadcast."""
    return lambda parts: parts[place]


def _bytes(array: Array) -> Array:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _array(row: Array, like: Array) -> Array:
    return row.copy().view(like.dtype).reshape(like.shape)
