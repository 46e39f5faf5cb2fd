"""Answers for devices under PaddlePaddle's names: the CPU is the one that is here.

dy2st.set_device("gpu" if dy2st.is_compiled_with_cuda() else "cpu")
"""

from __future__ import annotations

from typing import Any

from dy2st.paddle.device import cuda
from dy2st.paddle.device.streams import Event, Stream, current_stream, set_stream, stream_guard
from dy2st.paddle.private_modules import private_modules
from dy2st_runtime import ops
from dy2st_runtime.ops import get_rng_state, set_rng_state
from dy2st_runtime.place import CPUPlace, IPUPlace, XPUPlace, as_place


def set_device(device: Any) -> CPUPlace:
    """Compute on `device`, which must be the CPU: ArgumentError for a GPU and any other.

    >>> set_device("cpu")
    Place(cpu)
    """
    return as_place(device)


def get_device(input: Any = None) -> str:
    """The device that is computed on.

    >>> get_device()
    'cpu'
    """
    return "cpu"


class device_guard:
    """Compute on a device in a `with`; it must be the CPU."""

    def __init__(self, device: Any = None) -> None:
        """Take the device."""
        self._place = as_place(device)

    def __enter__(self) -> None:
        """Nothing is to be changed."""

    def __exit__(self, *_: object) -> None:
        """Nothing is to be changed back."""


device = device_guard


def device_count() -> int:
    """How many GPUs there are: 0."""
    return 0


def is_available() -> bool:
    """Whether there is a GPU: False."""
    return False


def _no() -> bool:
    """False: it is not built in."""
    return False


is_compiled_with_cuda = is_compiled_with_rocm = is_compiled_with_xpu = _no
is_compiled_with_ipu = is_compiled_with_cinn = is_compiled_with_distribute = _no
is_current_stream_capturing = _no


def is_compiled_with_custom_device(device_type: str) -> bool:
    """Whether a device of that name is built in: False."""
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether a GPU computes with bfloat16: there is none."""
    return False


def get_cudnn_version() -> None:
    """None: there is no cuDNN."""


def get_all_device_type() -> list[str]:
    """The kinds of device there are.

    >>> get_all_device_type()
    ['cpu']
    """
    return ["cpu"]


def get_available_device() -> list[str]:
    """The devices there are."""
    return ["cpu"]


def get_all_custom_device_type() -> list[str]:
    """The kinds of device that somebody added: none."""
    return []


def get_available_custom_device() -> list[str]:
    """The devices that somebody added: none."""
    return []


def synchronize(device: Any = None) -> None:
    """Wait until all is computed: it is, when a function returns."""


empty_cache = cuda.empty_cache
memory_allocated = memory_reserved = cuda.memory_allocated
max_memory_allocated = max_memory_reserved = cuda.max_memory_allocated
reset_max_memory_allocated = reset_max_memory_reserved = cuda.reset_max_memory_allocated
reset_peak_memory_stats = ipc_collect = cuda.reset_max_memory_allocated
get_device_properties = cuda.get_device_properties
get_device_name = cuda.get_device_name
get_device_capability = cuda.get_device_capability


def manual_seed(seed: int) -> None:
    """Begin the random numbers anew at a seed."""
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

private_modules(__name__)
