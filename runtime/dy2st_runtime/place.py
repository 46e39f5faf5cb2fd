"""Places of tensors: the memory of the CPU, and nothing else."""

from __future__ import annotations

from typing import Any, NoReturn

from dy2st_runtime.errors import ArgumentError

_REFUSED = ("gpu", "cuda", "xpu", "npu", "dcu", "mlu", "ipu", "gcu", "metax_gpu", "iluvatar_gpu")


class CPUPlace:
    """The memory of the CPU.

    >>> CPUPlace() == CPUPlace(), CPUPlace()
    (True, Place(cpu))
    """

    __slots__ = ()

    def is_cpu_place(self) -> bool:
        """True."""
        return True

    def is_gpu_place(self) -> bool:
        """False."""
        return False

    def is_xpu_place(self) -> bool:
        """False."""
        return False

    def is_custom_place(self) -> bool:
        """False."""
        return False

    def is_cuda_pinned_place(self) -> bool:
        """False."""
        return False

    def __eq__(self, other: object) -> bool:
        """All memory of the CPU is one place."""
        return isinstance(other, CPUPlace)

    def _equals(self, other: object) -> bool:
        """As `==`."""
        return self == other

    def __hash__(self) -> int:
        return hash(CPUPlace)

    def __repr__(self) -> str:
        return "Place(cpu)"


def refuse_device(device: Any) -> NoReturn:
    """Raise the one ArgumentError for whatever is not the CPU."""
    raise ArgumentError(
        f"the device {device!r} is not here: dy2st computes on the CPU; write 'cpu', or "
        "'gpu' if is_compiled_with_cuda() else 'cpu', which asks first"
    )


def as_place(device: Any) -> CPUPlace:
    """The place that `cpu`, None or a CPUPlace names; ArgumentError for any other.

    >>> as_place("cpu")
    Place(cpu)
    """
    if device is None or isinstance(device, CPUPlace):
        return CPUPlace()
    if isinstance(device, str):
        kind, _, number = device.lower().partition(":")
        if kind == "cpu" and (not number or number.isdecimal()):
            return CPUPlace()
        if kind not in _REFUSED:
            raise ArgumentError(f"a device is 'cpu', 'gpu', 'gpu:0' and the like, not {device!r}")
    refuse_device(device)


class _OtherPlace:
    """A place that is not here: making one is refused."""

    def __init__(self, *_: Any) -> None:
        """Refuse."""
        refuse_device(type(self).__name__)


class CUDAPlace(_OtherPlace):
    """The memory of a GPU: refused, but `isinstance(place, CUDAPlace)` may be asked."""


class CUDAPinnedPlace(_OtherPlace):
    """Pinned memory for a GPU: refused when made."""


class XPUPlace(_OtherPlace):
    """The memory of an XPU: refused when made."""


class XPUPinnedPlace(_OtherPlace):
    """Pinned memory for an XPU: refused when made."""


class IPUPlace(_OtherPlace):
    """The memory of an IPU: refused when made."""


class CustomPlace(_OtherPlace):
    """The memory of a device that somebody adds: refused when made."""
