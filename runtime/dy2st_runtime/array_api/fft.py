"""Fourier transforms of the array API."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dy2st_runtime.array_api.data_types import Info, as_device
from dy2st_runtime.lazy import public_dir
from dy2st_runtime.ops import transforms


def _of_one(name: str) -> Callable[..., Any]:
    run = getattr(transforms, name)

    def call(x: Any, /, *, n: Any = None, axis: int = -1, norm: str = "backward") -> Any:
        return run(x, n, axis, norm)

    call.__name__, call.__qualname__, call.__doc__ = name, name, run.__doc__
    return call


def _of_many(name: str) -> Callable[..., Any]:
    run = getattr(transforms, name)

    def call(x: Any, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Any:
        return run(x, s, axes, norm)

    call.__name__, call.__qualname__, call.__doc__ = name, name, run.__doc__
    return call


fft, ifft, rfft, irfft = _of_one("fft"), _of_one("ifft"), _of_one("rfft"), _of_one("irfft")
fftn, ifftn, rfftn, irfftn = (
    *(_of_many("fftn"), _of_many("ifftn"), _of_many("rfftn"), _of_many("irfftn")),
)
hfft, ihfft = _of_one("hfft"), _of_one("ihfft")


def _dtype(dtype: Any, device: Any) -> Any:
    as_device(device)
    return dtype or Info().default_dtypes()["real floating"]


def fftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Any:
    """The frequencies of a transform of n samples that are d apart."""
    return transforms.fftfreq(n, d, _dtype(dtype, device))


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Any:
    """Those of the transform of real samples."""
    return transforms.rfftfreq(n, d, _dtype(dtype, device))


def fftshift(x: Any, /, *, axes: Any = None) -> Any:
    """x with the frequency 0 in the middle of the axes, all by default."""
    return transforms.fftshift(x, axes)


def ifftshift(x: Any, /, *, axes: Any = None) -> Any:
    """What undoes `fftshift`."""
    return transforms.ifftshift(x, axes)


__all__ = [
    "fft",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfftn",
    "rfft",
    "rfftfreq",
    "rfftn",
]
__dir__ = public_dir(__name__)
