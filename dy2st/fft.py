"""Fourier transforms under PaddlePaddle's names: frequencies and shifts.

The transforms themselves give complex numbers, which tensors here do not have: they are refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from dy2st_runtime.ir.arguments import as_ints, normalize_axes
from dy2st_runtime.ops import arange, roll
from dy2st_runtime.ops.real_numbers import refuse_complex


def fftfreq(n: int, d: float = 1.0, dtype: Any = None, name: str | None = None) -> Any:
    """The frequencies of a transform of n samples that are d apart: (n,).

    >>> fftfreq(4).tolist()
    [0.0, 0.25, -0.5, -0.25]
    """
    places = arange(n, dtype="float64")
    steps = places - n * (places >= (n + 1) // 2).astype("float64")
    return (steps / (n * d)).astype("float32" if dtype is None else dtype)


def rfftfreq(n: int, d: float = 1.0, dtype: Any = None, name: str | None = None) -> Any:
    """Those of the transform of real samples: (n // 2 + 1,)."""
    found = arange(n // 2 + 1, dtype="float64") / (n * d)
    return found.astype("float32" if dtype is None else dtype)


def fftshift(x: Any, axes: Any = None, name: str | None = None) -> Any:
    """x with the frequency 0 in the middle of the axes, all by default."""
    places = _axes(x, axes)
    return roll(x, [x.shape[axis] // 2 for axis in places], places)


def ifftshift(x: Any, axes: Any = None, name: str | None = None) -> Any:
    """x with the frequency 0 first again: what undoes `fftshift`."""
    places = _axes(x, axes)
    return roll(x, [-(x.shape[axis] // 2) for axis in places], places)


def _axes(x: Any, axes: Any) -> list[int]:
    return list(normalize_axes(None if axes is None else as_ints(axes, "an axis"), x.ndim))


def _refusing(name: str) -> Callable[..., NoReturn]:
    def transform(*_: Any, **__: Any) -> NoReturn:
        refuse_complex(f"fft.{name}")

    transform.__name__, transform.__doc__ = name, "Refused: there are no complex tensors."
    return transform


fft, ifft, rfft, irfft, hfft, ihfft = map(
    _refusing, ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
)
fft2, ifft2, rfft2, irfft2, hfft2, ihfft2 = map(
    _refusing, ("fft2", "ifft2", "rfft2", "irfft2", "hfft2", "ihfft2")
)
fftn, ifftn, rfftn, irfftn, hfftn, ihfftn = map(
    _refusing, ("fftn", "ifftn", "rfftn", "irfftn", "hfftn", "ihfftn")
)
