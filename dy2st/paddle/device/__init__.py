"""Answers for devices under PaddlePaddle's names: the CPU, and the GPUs and TPUs of jax.

dy2st.set_device("gpu" if dy2st.is_compiled_with_cuda() else "cpu")
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from dy2st.paddle.device import cuda
from dy2st.paddle.device.cuda import device_count, is_available, synchronize
from dy2st.paddle.device.streams import Event, Stream, current_stream, set_stream, stream_guard
from dy2st.paddle.private_modules import private_modules
from dy2st_runtime import devices, engine, ops
from dy2st_runtime.engine.xla import library
from dy2st_runtime.ir.location import without_own_frames
from dy2st_runtime.lazy import public_dir
from dy2st_runtime.ops import get_rng_state, set_rng_state
from dy2st_runtime.ops.tensor_methods import Device
from dy2st_runtime.place import CPUPlace, IPUPlace, Place, XPUPlace, as_place

_chosen: list[Place] = [CPUPlace()]


def set_device(device: Any) -> Place:
    """Compute converted functions on `device`: on a GPU or TPU by the engine `xla`.

    `cpu` leaves it to the engine that DY2ST_ENGINE names. ArgumentError if there is no such device.

    >>> set_device("cpu")
    Place(cpu)
    """
    place = as_place(device)
    is_cpu = place.is_cpu_place()
    engine.set_default(None if is_cpu else "xla")
    number = place.get_device_id()
    library.compute_on(None if is_cpu else devices.the_one(place.kind, number))
    _chosen[0] = place
    return place


def get_device(input: Any = None) -> str:
    """The device that `set_device` chose, at first the CPU.

    >>> get_device()
    'cpu'
    """
    chosen = _chosen[0]
    return "cpu" if chosen.is_cpu_place() else f"{chosen.kind}:{chosen.get_device_id()}"


class device_guard:
    """Compute converted functions on a device in a `with`.

    >>> with dy2st.device.device_guard("cpu"):
    ...     dy2st.device.get_device()
    'cpu'
    """

    def __init__(self, device: Any = None) -> None:
        """Take the device; None is the one that is chosen."""
        self._place = None if device is None else as_place(device)

    def __enter__(self) -> None:
        """Choose the device."""
        self._before = _chosen[0]
        if self._place is not None:
            set_device(self._place)

    def __exit__(self, *_: object) -> None:
        """Choose the one before."""
        if self._place is not None:
            set_device(self._before)


device = device_guard


def is_compiled_with_cuda() -> bool:
    """Whether jax is installed with what drives NVIDIA's GPUs; it is not loaded.

    >>> isinstance(dy2st.is_compiled_with_cuda(), bool)
    True
    """
    return devices.has_plugin("cuda")


def is_compiled_with_rocm() -> bool:
    """Whether jax is installed with what drives AMD's GPUs; it is not loaded.

    >>> isinstance(dy2st.is_compiled_with_rocm(), bool)
    True
    """
    return devices.has_plugin("rocm")


def _no() -> bool:
    """False: it is not built in.

    >>> dy2st.device.is_compiled_with_cinn()
    False
    """
    return False


is_compiled_with_xpu = is_compiled_with_ipu = is_compiled_with_cinn = _no
is_compiled_with_distribute = is_current_stream_capturing = _no


def is_compiled_with_custom_device(device_type: str) -> bool:
    """Whether a device of that name is built in: False.

    >>> dy2st.is_compiled_with_custom_device("npu")
    False
    """
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether a GPU computes with bfloat16: every one by jax, if there is one.

    >>> isinstance(dy2st.device.is_bf16_supported(), bool)
    True
    """
    return is_available()


def get_cudnn_version() -> None:
    """None: cuDNN is jax's own.

    >>> dy2st.get_cudnn_version() is None
    True
    """


def get_all_device_type() -> list[str]:
    """The kinds of device there are: `cpu`, and `gpu` if there is one.

    >>> dy2st.device.get_all_device_type()[0]
    'cpu'
    """
    return ["cpu"] + ["gpu"] * is_available()


def get_available_device() -> list[str]:
    """The devices there are: `cpu`, `gpu:0`, ...

    >>> dy2st.device.get_available_device()[0]
    'cpu'
    """
    return ["cpu"] + [f"gpu:{number}" for number in range(device_count())]


def get_all_custom_device_type() -> list[str]:
    """The kinds of device that somebody added: none.

    >>> dy2st.device.get_all_custom_device_type()
    []
    """
    return []


def get_available_custom_device() -> list[str]:
    """The devices that somebody added: none.

    >>> dy2st.device.get_available_custom_device()
    []
    """
    return []


empty_cache = cuda.empty_cache
memory_allocated, max_memory_allocated = cuda.memory_allocated, cuda.max_memory_allocated
memory_reserved, max_memory_reserved = cuda.memory_reserved, cuda.max_memory_reserved
reset_max_memory_allocated = reset_max_memory_reserved = cuda.reset_max_memory_allocated
reset_peak_memory_stats = ipc_collect = cuda.reset_max_memory_allocated
get_device_properties = cuda.get_device_properties
get_device_name = cuda.get_device_name
get_device_capability = cuda.get_device_capability


def manual_seed(seed: int) -> None:
    """Begin the random numbers anew at a seed.

    >>> _ = dy2st.device.manual_seed(7)
    """
    ops.seed(seed)


__all__ = [
    "CPUPlace",
    "Event",
    "IPUPlace",
    "Stream",
    "XPUPlace",
    "cuda",
    "current_stream",
    "device",
    "device_count",
    "device_guard",
    "empty_cache",
    "get_all_custom_device_type",
    "get_all_device_type",
    "get_available_custom_device",
    "get_available_device",
    "get_cudnn_version",
    "get_device",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_rng_state",
    "ipc_collect",
    "is_available",
    "is_bf16_supported",
    "is_compiled_with_cinn",
    "is_compiled_with_cuda",
    "is_compiled_with_custom_device",
    "is_compiled_with_distribute",
    "is_compiled_with_ipu",
    "is_compiled_with_rocm",
    "is_compiled_with_xpu",
    "is_current_stream_capturing",
    "manual_seed",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "reset_max_memory_allocated",
    "reset_max_memory_reserved",
    "reset_peak_memory_stats",
    "set_device",
    "set_rng_state",
    "set_stream",
    "stream_guard",
    "synchronize",
]


class _Names(ModuleType):
    """The module, which gives a device where it is called: torch's `device` is a class."""

    @without_own_frames
    def __call__(self, device: Any = "cpu", index: int | None = None) -> Device:
        """The name of a device that is here, for `x.to(...)`, `layer.to(...)` and `set_device`.

        >>> device = dy2st.device("cpu")
        >>> device.type, dy2st.ones([1]).to(device).device == device
        ('cpu', True)
        """
        name = device if index is None else f"{device}:{index}"
        as_place(name)
        return Device(name)


sys.modules[__name__].__class__ = _Names

__dir__ = public_dir(__name__)

private_modules(__name__)
