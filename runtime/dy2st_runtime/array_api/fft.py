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

    call.__name__ = call.__qualname__ = name
    call.__doc__ = (run.__doc__ or "").replace("dy2st.fft.", "dy2st.array_api.fft.")
    return call


def _of_many(name: str) -> Callable[..., Any]:
    run = getattr(transforms, name)

    def call(x: Any, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Any:
        return run(x, s, axes, norm)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = (run.__doc__ or "").replace("dy2st.fft.", "dy2st.array_api.fft.")
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
    """The frequencies of a transform of n samples that are d apart: (n,).

    >>> dy2st.array_api.fft.fftfreq(4).tolist()
    [0.0, 0.25, -0.5, -0.25]
    """
    return transforms.fftfreq(n, d, _dtype(dtype, device))


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Any:
    """The frequencies of a transform of n real samples that are d apart: (n // 2 + 1,).

    >>> dy2st.array_api.fft.rfftfreq(4).tolist()
    [0.0, 0.25, 0.5]
    """
    return transforms.rfftfreq(n, d, _dtype(dtype, device))


def fftshift(x: Any, /, *, axes: Any = None) -> Any:
    """x with the frequency 0 in the middle of the axes, all by default.

    >>> fft = dy2st.array_api.fft
    >>> fft.fftshift(fft.fftfreq(4)).tolist()
    [-0.5, -0.25, 0.0, 0.25]
    """
    return transforms.fftshift(x, axes)


def ifftshift(x: Any, /, *, axes: Any = None) -> Any:
    """What undoes `fftshift`.

    >>> fft = dy2st.array_api.fft
    >>> fft.ifftshift(fft.fftshift(dy2st.arange(4))).tolist()
    [0, 1, 2, 3]
    """
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
