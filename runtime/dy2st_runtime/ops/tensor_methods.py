"""Methods that only tensors have: what they answer of themselves, and conversions by name.

No functions of the package go by these names, some of which are dtypes there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dy2st_runtime.dims import Size, product
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F, Tensor
from dy2st_runtime.ir.arguments import as_dtype, as_int, normalize_axis
from dy2st_runtime.ir.location import without_own_frames
from dy2st_runtime.place import CPUPlace, CUDAPinnedPlace, as_place

ALONE: dict[str, Any] = {}


def _alone(function: Callable[..., Any]) -> Callable[..., Any]:
    function = ALONE[function.__name__] = without_own_frames(function)
    return function


def _attribute(function: Callable[[Any], Any]) -> property:
    made = ALONE[function.__name__] = property(without_own_frames(function), doc=function.__doc__)
    return made


class Device(str):
    """The name of a device, with its `type` and `index`."""

    __slots__ = ()

    @property
    def type(self) -> str:
        """The kind of device."""
        return self.partition(":")[0]

    @property
    def index(self) -> int | None:  # type: ignore[override]
        """Which of several, None if the name does not say."""
        number = self.partition(":")[2]
        return int(number) if number else None


# -- where it lies ----------------------------------------------------------------------------


@_attribute
def place(x: Any) -> CPUPlace:
    """Where the tensor lies: on the CPU.

    >>> dy2st.ones([1]).place
    Place(cpu)
    """
    return CPUPlace()


@_attribute
def device(x: Any) -> Device:
    """The name of the device where the tensor lies.

    >>> x = dy2st.ones([1])
    >>> x.device, x.device.type
    ('cpu', 'cpu')
    """
    return Device("cpu")


@_alone
def to_device(x: Any, device: Any, /, *, stream: Any = None) -> Any:
    """The tensor itself, on the device "cpu", which is the only one; other names are refused.

    >>> x = dy2st.ones([1])
    >>> x.to_device("cpu") is x
    True
    """
    as_place(str(device))
    return x


@_alone
def get_device(x: Any) -> int:
    """The number of the GPU, -1 for the CPU.

    >>> dy2st.ones([1]).get_device()
    -1
    """
    return -1


@_alone
def cpu(x: Any) -> Any:
    """The tensor itself: it lies on the CPU.

    >>> x = dy2st.ones([1])
    >>> x.cpu() is x
    True
    """
    return x


@_alone
def cuda(x: Any, device_id: Any = None, blocking: bool = True) -> Any:
    """The tensor itself, if jax finds that GPU: converted functions compute there.

    Raises ArgumentError if there is none.

    >>> try:
    ...     dy2st.ones([1]).cuda(99)
    ... except dy2st.errors.ArgumentError:
    ...     print("no such GPU")
    no such GPU
    """
    is_number = isinstance(device_id, int)
    as_place(f"gpu:{device_id}" if is_number else "gpu" if device_id is None else device_id)
    return x


@_alone
def pin_memory(x: Any, blocking: bool = True) -> Any:
    """Refused: jax has memory of its own for that.

    >>> try:
    ...     dy2st.ones([1]).pin_memory()
    ... except dy2st.errors.ArgumentError:
    ...     print("refused")
    refused
    """
    CUDAPinnedPlace()


@_alone
def to(x: Any, *args: Any, **kwargs: Any) -> Any:
    """In another dtype, or on a device, or both: `to("float64")`, `to("cpu")`, `to(other)`.

    >>> dy2st.to_tensor([1.5]).to("cpu", "int64").tolist()
    [1]
    """
    for known in ("device", "dtype", "other", "blocking", "non_blocking", "copy"):
        if known in kwargs:
            args = (*args, kwargs.pop(known))
    if kwargs:
        raise ArgumentError(f"to() takes device, dtype, other and blocking, not {[*kwargs]}")
    for given in args:
        if isinstance(given, Tensor):
            x = F.cast(x, given.dtype)
        elif isinstance(given, (np.dtype, type)) or (
            isinstance(given, str) and (given == "bfloat16" or given in np.sctypeDict)
        ):
            x = F.cast(x, given)
        elif not isinstance(given, bool):
            as_place(given)
    return x


# -- how it lies ------------------------------------------------------------------------------


@_alone
def dim(x: Any) -> int:
    """The number of axes.

    >>> dy2st.zeros([2, 3]).dim()
    2
    """
    return x.ndim  # type: ignore[no-any-return]


@_alone
def contiguous(x: Any) -> Any:
    """The tensor itself: its elements lie one after the other for whoever asks.

    >>> x = dy2st.zeros([2, 3])
    >>> x.contiguous() is x
    True
    """
    return x


@_alone
def is_contiguous(x: Any) -> bool:
    """True: elements lie one after the other for whoever asks.

    >>> dy2st.zeros([2, 3]).T.is_contiguous()
    True
    """
    return True


@_alone
def element_size(x: Any) -> int:
    """The bytes of one element.

    >>> dy2st.zeros([3]).element_size()
    4
    """
    return x.dtype.itemsize  # type: ignore[no-any-return]


@_attribute
def itemsize(x: Any) -> int:
    """The bytes of one element.

    >>> dy2st.zeros([3]).itemsize
    4
    """
    return x.dtype.itemsize  # type: ignore[no-any-return]


@_attribute
def nbytes(x: Any) -> Size:
    """The bytes of all elements.

    >>> dy2st.zeros([3]).nbytes
    12
    """
    return x.size * x.dtype.itemsize  # type: ignore[no-any-return]


@_attribute
def strides(x: Any) -> list[Size]:
    """How many elements lie between neighbours along each axis.

    >>> dy2st.zeros([2, 3]).strides
    [3, 1]
    """
    return [product(x.shape[axis + 1 :]) for axis in range(x.ndim)]


@_alone
def stride(x: Any, dim: int | None = None) -> Any:
    """How many elements lie between neighbours along an axis, or along each.

    >>> x = dy2st.zeros([2, 3])
    >>> x.stride(), x.stride(0)
    ([3, 1], 3)
    """
    steps = [product(x.shape[axis + 1 :]) for axis in range(x.ndim)]
    return steps if dim is None else steps[normalize_axis(dim, x.ndim)]


@_alone
def is_same_shape(x: Any, y: Any) -> bool:
    """Whether two tensors have the same sizes.

    >>> dy2st.zeros([2]).is_same_shape(dy2st.ones([2]))
    True
    """
    return bool(x.shape == y.shape)


@_alone
def is_tensor(x: Any) -> bool:
    """True: any tensor is one.

    >>> dy2st.zeros([2]).is_tensor()
    True
    """
    return True


@_alone
def value(x: Any) -> Any:
    """The tensor itself.

    >>> x = dy2st.zeros([2])
    >>> x.value() is x
    True
    """
    return x


@_attribute
def is_cuda(x: Any) -> bool:
    """False: there is no GPU.

    >>> dy2st.zeros([2]).is_cuda
    False
    """
    return False


def _answer(name: str, answer: bool, meaning: str) -> None:
    def method(x: Any) -> bool:
        return answer

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"{meaning}: {answer}.\n\n>>> dy2st.zeros([2]).{name}()\n{answer}\n"
    ALONE[name] = method


# Tensors are dense, whole, and on the CPU.
_answer("is_dense", True, "Whether all elements are kept")
_answer("is_dist", False, "Whether the tensor lies on a mesh of devices")
_answer("is_selected_rows", False, "Whether only some rows are kept")
_answer("is_sparse", False, "Whether only elements that are not 0 are kept")
_answer("is_sparse_coo", False, "Whether only elements that are not 0 are kept, with their places")
_answer("is_sparse_csr", False, "Whether only elements that are not 0 are kept, row by row")
ALONE.update(ndimension=dim, get_strides=stride, get_tensor=value, to_dense=value)


@_alone
def cond(x: Any, p: Any = None, name: str | None = None) -> Any:
    """The condition number of matrices.

    >>> dy2st.to_tensor([[1.0, 0.0], [0.0, 4.0]]).cond().item()
    4.0
    """
    return F.condition_number(x, p)


# -- conversions ------------------------------------------------------------------------------


def _conversion(name: str, dtype: str) -> Callable[[Any], Any]:
    @without_own_frames
    def convert(x: Any) -> Any:
        return F.cast(x, as_dtype(dtype) if dtype != "bfloat16" else dtype)

    convert.__name__ = convert.__qualname__ = name
    convert.__doc__ = (
        f"x as {dtype}, by `cast`: (...,) -> (...,).\n\n"
        f">>> dy2st.to_tensor([0, 1]).{name}().dtype.name\n{dtype!r}\n"
    )
    return convert


_DTYPES = {
    **{name: name for name in ("bool", "float16", "float32", "float64", "bfloat16")},
    **{name: name for name in ("int8", "int16", "int32", "int64", "uint8")},
    **{"half": "float16", "float": "float32", "double": "float64", "byte": "uint8"},
    **{name: name for name in ("complex64", "complex128")},
    **{"cfloat": "complex64", "cdouble": "complex128"},
    **{"char": "int8", "short": "int16", "int": "int32", "long": "int64"},
}
ALONE.update({name: _conversion(name, dtype) for name, dtype in _DTYPES.items()})


@_alone
def data_ptr(x: Any) -> int:
    """The address of the first element.

    >>> x = dy2st.zeros([2])
    >>> x.data_ptr() == x.data_ptr()
    True
    """
    return np.asarray(x).ctypes.data


@_alone
def type_as(x: Any, other: Any) -> Any:
    """The tensor in the dtype of another.

    >>> dy2st.to_tensor([1.5]).type_as(dy2st.to_tensor([1])).tolist()
    [1]
    """
    return F.cast(x, other.dtype)


# -- others of its kind -----------------------------------------------------------------------


def _new(name: str, shown: str, make: Callable[..., Any]) -> Callable[..., Any]:
    @without_own_frames
    def made(
        x: Any,
        *sizes: Any,
        size: Any = None,
        dtype: Any = None,
        device: Any = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
    ) -> Any:
        as_place(device)
        if size is None:
            size = sizes[0] if len(sizes) == 1 and not isinstance(sizes[0], int) else list(sizes)
        tensor = make(size, dtype=x.dtype if dtype is None else dtype)
        if requires_grad:
            tensor.stop_gradient = False
        return tensor

    made.__name__ = made.__qualname__ = name
    made.__doc__ = (
        f"A tensor of a shape, all {shown}, of the dtype of x unless another is given.\n\n"
        "The sizes are a list, or one argument after the other.\n\n"
        f">>> dy2st.to_tensor([7, 8]).{name}([3]).tolist()\n[{shown}, {shown}, {shown}]\n"
    )
    return made


for _name, _shown, _make in (
    ("new_empty", "0", lambda shape, dtype: F.empty(shape, dtype)),
    ("new_ones", "1", lambda shape, dtype: F.ones(shape, dtype)),
    ("new_zeros", "0", lambda shape, dtype: F.zeros(shape, dtype)),
):
    ALONE[_name] = _new(_name, _shown, _make)


@_alone
def new_full(x: Any, size: Any, fill_value: Any, **options: Any) -> Any:
    """A tensor of one number, of the dtype of x unless another is given.

    >>> dy2st.to_tensor([1, 2]).new_full([3], 7).tolist()
    [7, 7, 7]
    """
    make = _new("new_full", "the same", lambda shape, dtype: F.full(shape, fill_value, dtype))
    return make(x, size=size, **options)


@_alone
def repeat(x: Any, *times: Any, repeats: Any = None) -> Any:
    """x put together repeats[i] times along axis i: `tile`, which takes numbers one by one too.

    >>> dy2st.to_tensor([1, 2]).repeat(2, 1).tolist()
    [[1, 2], [1, 2]]
    """
    if repeats is None:
        repeats = times[0] if len(times) == 1 else list(times)
    return F.tile(x, repeats)


@_alone
def split_with_sizes(x: Any, split_sizes: Any, dim: int = 0) -> Any:
    """Parts of the given sizes along an axis.

    >>> [part.tolist() for part in dy2st.to_tensor([1, 2, 3]).split_with_sizes([1, 2])]
    [[1], [2, 3]]
    """
    return F.split(x, list(split_sizes), dim)


@_alone
def apply(x: Any, func: Callable[[Any], Any]) -> Any:
    """func(x); refused where gradients flow, which would not see what `func` does in place.

    >>> dy2st.to_tensor([1.0, 2.0]).apply(lambda x: x * 10).tolist()
    [10.0, 20.0]
    """
    if not x.stop_gradient:
        raise ArgumentError("apply() takes a tensor through which no gradient flows: detach() it")
    return func(x)


@_alone
def apply_(x: Any, func: Callable[[Any], Any]) -> Any:
    """x becomes func(x); refused as `apply` is.

    >>> x = dy2st.to_tensor([1.0, 2.0])
    >>> x.apply_(lambda x: x * 10) is x, x.tolist()
    (True, [10.0, 20.0])
    """
    made = apply(x, func)
    x.replace(lambda old: F.assign(made))
    return x


@_alone
def requires_grad_(x: Any, requires_grad: bool = True) -> Any:
    """Let gradients flow through, or not; the tensor itself.

    >>> x = dy2st.to_tensor([2.0]).requires_grad_()
    >>> (x * x).sum().backward()
    >>> x.grad.tolist()
    [4.0]
    """
    x.stop_gradient = not requires_grad
    return x


@_alone
def detach_(x: Any) -> Any:
    """Let no gradient flow through from here on; the tensor itself.

    >>> x = dy2st.to_tensor([2.0], stop_gradient=False) * 3
    >>> x.detach_().stop_gradient
    True
    """
    x.replace(F.detach)
    x.stop_gradient = True
    return x


@_alone
def resize_(x: Any, shape: Any, fill_zero: bool = False, name: str | None = None) -> Any:
    """The first elements in another shape, in place; more than there are only with fill_zero.

    >>> dy2st.to_tensor([1, 2, 3]).resize_([2]).tolist()
    [1, 2]
    >>> dy2st.to_tensor([1, 2]).resize_([2, 2], fill_zero=True).tolist()
    [[1, 2], [0, 0]]
    """
    count = as_int(product(shape), "a size") - as_int(x.size, "a size")
    if count > 0 and not fill_zero:
        raise ArgumentError(f"resize_: {count} elements have no value; pass fill_zero=True")
    zeros = F.zeros([max(count, 0)], x.dtype)
    x.replace(lambda old: F.reshape(F.concat([F.flatten(old), zeros])[: product(shape)], shape))
    return x


# Doctests find these here, be they attributes or made by a function.
__test__ = {name: made.__doc__ for name, made in ALONE.items()}
