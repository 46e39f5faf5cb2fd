"""Gives second names, as torch and NumPy write them, and as tasks that need no waiting."""

from __future__ import annotations

from typing import Any

from dy2st.paddle.device import get_device, set_device
from dy2st.paddle.utils.dlpack import to_dlpack
from dy2st_runtime import checkpoint, ops
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir.tensor import Tensor
from dy2st_runtime.place import as_place
from dy2st_runtime.tensor import to_tensor


def as_tensor(
    data: Any,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Any:
    """A tensor of the data: itself if it is a tensor of the dtype, else a copy.

    >>> as_tensor([1, 2], "float32").tolist()
    [1.0, 2.0]
    """
    as_place(device)
    if isinstance(data, Tensor):
        tensor = data if dtype is None else data.astype(dtype)
    else:
        tensor = to_tensor(data, dtype)
    if requires_grad:
        tensor.stop_gradient = False
    return tensor


def asarray(
    obj: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    copy: bool | None = None,
    requires_grad: bool = False,
) -> Any:
    """A tensor of the data, a copy of it with `copy`; see as_tensor.

    >>> dy2st.asarray([1, 2], dtype="float32").tolist()
    [1.0, 2.0]
    """
    tensor = as_tensor(obj, dtype, device)
    tensor = tensor.clone().detach() if copy and tensor is obj else tensor
    return as_tensor(tensor, requires_grad=requires_grad)


def manual_seed(seed: int) -> None:
    """Begin the random numbers anew at a seed.

    >>> _ = dy2st.manual_seed(7)
    >>> first = dy2st.rand([2])
    >>> _ = dy2st.manual_seed(7)
    >>> bool((dy2st.rand([2]) == first).all())
    True
    """
    ops.seed(seed)


def tolist(x: Any) -> Any:
    """The elements as nested lists of Python numbers.

    >>> dy2st.tolist(dy2st.to_tensor([[1, 2]]))
    [[1, 2]]
    """
    return x.tolist()


def get_cuda_rng_state() -> list[Any]:
    """An empty list: `get_rng_state` is for all devices.

    >>> dy2st.get_cuda_rng_state()
    []
    """
    return []


def set_cuda_rng_state(state_list: Any) -> None:
    """Take an empty list: `set_rng_state` is for all devices.

    >>> dy2st.set_cuda_rng_state([])
    """
    for state in state_list:
        raise ArgumentError(f"GPUs have no random numbers of their own, which {state!r} could be")


def get_default_device() -> str:
    """The device that converted functions compute on: `device.get_device()`.

    >>> dy2st.get_default_device()
    'cpu'
    """
    return get_device()


def set_default_device(device: Any) -> None:
    """Compute converted functions on a device: `device.set_device(device)`.

    >>> _ = dy2st.set_default_device("cpu")
    """
    set_device(device)


def async_save(obj: Any, path: Any, protocol: int = 4, sync_other_task: bool = False) -> None:
    """`save`; it is done when this returns.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     dy2st.async_save(dy2st.nn.Linear(2, 3).state_dict(), f"{folder}/net.pdparams")
    ...     print(os.listdir(folder))
    ['net.pdparams']
    """
    checkpoint.save(obj, path, protocol)


def clear_async_save_task_queue() -> None:
    """Wait until all is saved: it is.

    >>> dy2st.clear_async_save_task_queue()
    """


__all__ = [
    "as_tensor",
    "asarray",
    "async_save",
    "clear_async_save_task_queue",
    "get_cuda_rng_state",
    "get_default_device",
    "manual_seed",
    "set_cuda_rng_state",
    "set_default_device",
    "to_dlpack",
    "tolist",
]
