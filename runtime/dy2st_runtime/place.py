"""Places: the memory of the CPU, and that of GPUs and TPUs which jax finds.

Tensors have their values in the memory of the CPU; what a converted function computes lies on the
device that `set_device` chose, for as long as nobody looks at it.
"""

from __future__ import annotations

from typing import Any

from dy2st_runtime.devices import kind_and_number, the_one
from dy2st_runtime.ir.location import without_own_frames


class Place:
    """The memory of a device: of the CPU, or of one that is there. ArgumentError if it is not.

    >>> CPUPlace() == CPUPlace(), CPUPlace()
    (True, Place(cpu))
    """

    __slots__ = ("_number",)
    kind = "cpu"

    @without_own_frames
    def __init__(self, id: int = 0) -> None:
        """Of the device of that number."""
        self._number = id
        if self.kind != "cpu":
            the_one(self.kind, id)

    def get_device_id(self) -> int:
        """The number of the device."""
        return self._number

    def is_cpu_place(self) -> bool:
        """Whether it is the memory of the CPU."""
        return self.kind == "cpu"

    def is_gpu_place(self) -> bool:
        """Whether it is the memory of a GPU."""
        return self.kind == "gpu"

    def is_xpu_place(self) -> bool:
        """False."""
        return False

    def is_custom_place(self) -> bool:
        """Whether it is the memory of a TPU."""
        return self.kind == "tpu"

    def is_cuda_pinned_place(self) -> bool:
        """False."""
        return False

    def __eq__(self, other: object) -> bool:
        """Whether both are the memory of one device."""
        return isinstance(other, Place) and str(self) == str(other)

    def _equals(self, other: object) -> bool:
        """As `==`."""
        return self == other

    def __hash__(self) -> int:
        return hash(str(self))

    def __repr__(self) -> str:
        return "Place(cpu)" if self.kind == "cpu" else f"Place({self.kind}:{self._number})"


class CPUPlace(Place):
    """The memory of the CPU.

    >>> dy2st.CPUPlace().is_cpu_place()
    True
    """

    __slots__ = ()

    def __init__(self) -> None:
        """All of it is one place."""
        super().__init__()


class CUDAPlace(Place):
    """The memory of a GPU: `CUDAPlace(0)`. ArgumentError if it is not there.

    >>> dy2st.to_tensor([1.0], place=dy2st.CUDAPlace(0))  # doctest: +SKIP
    Tensor(shape=[1], dtype=float32, stop_gradient=True,
           [1.])
    """

    __slots__ = ()
    kind = "gpu"


class CUDAPinnedPlace(Place):
    """Memory of the CPU that GPUs read: refused when made, as jax has its own.

    >>> dy2st.CUDAPinnedPlace()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    dy2st_runtime.errors.ArgumentError: the device 'gpu_pinned:0' is not here: dy2st...
    """

    __slots__ = ()
    kind = "gpu_pinned"


class XPUPlace(Place):
    """The memory of an XPU: refused when made.

    >>> dy2st.XPUPlace(0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    dy2st_runtime.errors.ArgumentError: the device 'xpu:0' is not here: dy2st computes...
    """

    __slots__ = ()
    kind = "xpu"


class XPUPinnedPlace(XPUPlace):
    """Pinned memory for an XPU: refused when made.

    >>> dy2st.XPUPinnedPlace()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    dy2st_runtime.errors.ArgumentError: the device 'xpu:0' is not here: dy2st computes...
    """

    __slots__ = ()


class IPUPlace(Place):
    """The memory of an IPU: refused when made.

    >>> dy2st.IPUPlace()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    dy2st_runtime.errors.ArgumentError: the device 'ipu:0' is not here: dy2st computes...
    """

    __slots__ = ()
    kind = "ipu"


class CustomPlace(Place):
    """The memory of a device by its name: `CustomPlace("tpu", 0)`; ArgumentError if jax finds none.

    >>> dy2st.CustomPlace("npu", 0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    dy2st_runtime.errors.ArgumentError: the device 'npu:0' is not here: dy2st computes...
    """

    __slots__ = ("kind",)

    @without_own_frames
    def __init__(self, name: str, id: int = 0) -> None:
        """Of the device of that name and number."""
        self.kind = kind_and_number(name)[0]
        super().__init__(id)


def as_place(device: Any) -> Place:
    """The place that `cpu`, `gpu:0`, None or a Place names; ArgumentError if it is not here.

    >>> as_place("cpu")
    Place(cpu)
    """
    if device is None or isinstance(device, Place):
        return CPUPlace() if device is None else device
    kind, number = kind_and_number(device)
    if kind == "cpu":
        return CPUPlace()
    the_one(kind, number, device)  # refused in the user's words, if it is not here
    return CUDAPlace(number) if kind == "gpu" else CustomPlace(kind, number)


__all__ = [
    "CPUPlace",
    "CUDAPinnedPlace",
    "CUDAPlace",
    "CustomPlace",
    "IPUPlace",
    "Place",
    "XPUPinnedPlace",
    "XPUPlace",
    "as_place",
]
