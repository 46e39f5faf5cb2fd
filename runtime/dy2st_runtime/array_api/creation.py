"""Functions of the array API that make tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st_runtime.array_api.data_types import Info, as_device
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F, Tensor
from dy2st_runtime.ir.arguments import as_shape
from dy2st_runtime.tensor import from_dlpack as _from_dlpack
from dy2st_runtime.tensor import from_numpy, to_tensor


def _default(kind: str = "real floating") -> Any:
    return Info().default_dtypes()[kind]


def _dtype_of_number(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.dtype
    kind = np.asarray(value).dtype.kind
    known = {"b": np.dtype("bool"), "i": _default("integral"), "u": np.dtype("uint64")}
    return known.get(kind) or _default("complex floating" if kind == "c" else "real floating")


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: Any = None) -> Any:
    """A tensor of numbers, nested lists, an array, or what speaks DLPack or the buffer protocol.

    copy: True always makes one, None where it is needed, False raises an ArgumentError there.

    >>> dy2st.array_api.asarray([[1, 2], [3, 4]]).dtype
    dtype('int64')
    """
    as_device(device)
    if isinstance(obj, Tensor):
        return _of_tensor(obj, dtype, copy)
    if not isinstance(obj, np.ndarray) and hasattr(obj, "__dlpack__"):
        obj = np.from_dlpack(obj)
    obj = _of_buffer(obj)
    if isinstance(obj, np.ndarray):
        return _of_tensor(from_numpy(obj), dtype, copy)
    if copy is False:
        raise ArgumentError("asarray: Python's numbers and lists become a tensor by a copy alone")
    if _is_of_numbers(obj):
        wanted = np.dtype(dtype or _dtype_of_number(obj))
        # NumPy's own way from all of an int's digits to those of uint64.
        obj = np.asarray(obj, wanted) if wanted == np.uint64 else obj
        dtype = wanted
    return to_tensor(obj, dtype)


def _is_of_numbers(obj: Any) -> bool:
    if isinstance(obj, (list, tuple)):
        return all(map(_is_of_numbers, obj))
    return type(obj) in (bool, int, float, complex)


def _of_buffer(obj: Any) -> Any:
    """The array on the memory of what speaks the buffer protocol; all else as it is."""
    if isinstance(obj, (np.ndarray, np.generic)):
        return obj
    try:
        return np.asarray(memoryview(obj))
    except TypeError:
        return obj


def _of_tensor(x: Any, dtype: Any, copy: Any) -> Any:
    is_other = dtype is not None and np.dtype(dtype) != x.dtype
    if is_other and copy is False:
        raise ArgumentError(f"asarray: a tensor of {x.dtype} becomes {dtype} by a copy alone")
    if is_other:
        return F.cast(x, dtype)
    return F.clone(x) if copy else x


def arange(
    start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None
) -> Any:
    """start, start + step, ... below `stop`; of one argument the numbers from 0 to it.

    >>> dy2st.array_api.arange(3).tolist(), dy2st.array_api.arange(1, 2, 0.5).tolist()
    ([0, 1, 2], [1.0, 1.5])
    """
    as_device(device)
    start, stop = (0, start) if stop is None else (start, stop)
    own = _dtype_of_number(start + stop + step)
    if any(type(one) is int and not -(2**63) <= one < 2**63 for one in (start, stop)):
        limits: Any = (start, stop, step)
        return to_tensor(np.arange(*limits, dtype=dtype or own))
    if own.kind == "f" and dtype is not None:  # the count is that of the numbers as they are given
        return F.cast(F.arange(start, stop, step, "float64"), dtype)
    return F.arange(start, stop, step, dtype or own)


def empty(shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """A tensor of a shape; what it holds is not to be relied on.

    >>> dy2st.array_api.empty((2, 3)).shape
    [2, 3]
    """
    as_device(device)
    return F.empty(as_shape(shape), dtype or _default())


def empty_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """A tensor of the shape of x, and of its dtype by default.

    >>> dy2st.array_api.empty_like(dy2st.zeros([2, 3])).shape
    [2, 3]
    """
    return empty(x.shape, dtype=dtype or x.dtype, device=device)


def eye(
    n_rows: Any, n_cols: Any = None, /, *, k: int = 0, dtype: Any = None, device: Any = None
) -> Any:
    """1 on the k-th diagonal, 0 elsewhere: (n_rows, n_cols), square by default.

    >>> dy2st.array_api.eye(2, k=1).tolist()
    [[0.0, 1.0], [0.0, 0.0]]
    """
    as_device(device)
    columns = n_rows if n_cols is None else n_cols
    down = F.unsqueeze(F.arange(n_rows), 1)
    return F.cast(F.equal(F.arange(columns), down + k), dtype or _default())


def from_dlpack(x: Any, /, *, device: Any = None, copy: Any = None) -> Any:
    """A tensor on the memory of an object that speaks DLPack, or on a copy of it.

    >>> dy2st.array_api.from_dlpack(np.array([1.0, 2.0])).tolist()
    [1.0, 2.0]
    """
    as_device(device)
    return _from_dlpack(x, copy=copy)


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """A tensor with one value throughout, whose dtype it has by default: int64 for an int.

    >>> dy2st.array_api.full((2,), 7).dtype
    dtype('int64')
    """
    as_device(device)
    return F.full(as_shape(shape), fill_value, dtype or _dtype_of_number(fill_value))


def full_like(x: Any, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """A tensor of the shape of x with one value throughout, of its dtype by default.

    >>> dy2st.array_api.full_like(dy2st.to_tensor([1, 2]), 7).tolist()
    [7, 7]
    """
    return full(x.shape, fill_value, dtype=dtype or x.dtype, device=device)


def linspace(
    start: Any,
    stop: Any,
    /,
    num: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    endpoint: bool = True,
) -> Any:
    """`num` numbers from start to stop in equal steps; without `endpoint` the last one is left out.

    >>> dy2st.array_api.linspace(0, 1, 4, endpoint=False).tolist()
    [0.0, 0.25, 0.5, 0.75]
    """
    as_device(device)
    is_complex = isinstance(start, complex) or isinstance(stop, complex)
    dtype = dtype or _default("complex floating" if is_complex else "real floating")
    made = np.linspace(start, stop, num, endpoint=endpoint)
    return F.cast(F.assign(made), dtype)


def meshgrid(*arrays: Any, indexing: str = "xy") -> list[Any]:
    """Tensors with the numbers of each vector along an axis of its own.

    indexing: "xy" exchanges the first two axes, "ij" does not.

    >>> x, y = dy2st.to_tensor([1, 2]), dy2st.to_tensor([7, 8, 9])
    >>> columns, rows = dy2st.array_api.meshgrid(x, y)
    >>> columns.tolist(), rows.shape
    ([[1, 2], [1, 2], [1, 2]], [3, 2])
    """
    if indexing not in ("xy", "ij"):
        raise ArgumentError(f"meshgrid: indexing is 'xy' or 'ij', not {indexing!r}")
    places = [*range(len(arrays))]
    if indexing == "xy" and len(arrays) > 1:
        places[:2] = 1, 0
    flat = [F.reshape(one, [-1]) for one in arrays]
    sizes = [0] * len(arrays)
    for place, one in zip(places, flat, strict=True):
        sizes[place] = one.shape[0]
    made = []
    for place, one in zip(places, flat, strict=True):
        own = [1] * len(arrays)
        own[place] = one.shape[0]
        made.append(F.clone(F.broadcast_to(F.reshape(one, own), sizes)))
    return made


def ones(shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """A tensor of ones, of the default float dtype unless another is given.

    >>> dy2st.array_api.ones((2,)).tolist()
    [1.0, 1.0]
    """
    return full(shape, 1, dtype=dtype or _default(), device=device)


def ones_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """Ones of the shape of x, and of its dtype by default.

    >>> dy2st.array_api.ones_like(dy2st.to_tensor([7, 8])).tolist()
    [1, 1]
    """
    return full_like(x, 1, dtype=dtype, device=device)


def tril(x: Any, /, *, k: int = 0) -> Any:
    """Matrices with zeros above the k-th diagonal.

    >>> dy2st.array_api.tril(dy2st.to_tensor([[1, 2], [3, 4]])).tolist()
    [[1, 0], [3, 4]]
    """
    return F.tril(x, k)


def triu(x: Any, /, *, k: int = 0) -> Any:
    """Matrices with zeros below the k-th diagonal.

    >>> dy2st.array_api.triu(dy2st.to_tensor([[1, 2], [3, 4]]), k=1).tolist()
    [[0, 2], [0, 0]]
    """
    return F.triu(x, k)


def zeros(shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """A tensor of zeros, of the default float dtype unless another is given.

    >>> dy2st.array_api.zeros((2,)).tolist()
    [0.0, 0.0]
    """
    return full(shape, 0, dtype=dtype or _default(), device=device)


def zeros_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """Zeros of the shape of x, and of its dtype by default.

    >>> dy2st.array_api.zeros_like(dy2st.to_tensor([7, 8])).tolist()
    [0, 0]
    """
    return full_like(x, 0, dtype=dtype, device=device)
