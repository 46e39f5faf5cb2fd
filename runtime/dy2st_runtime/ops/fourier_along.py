"""Discrete Fourier transforms along one axis; those of many axes are several of them.

norm: "backward" divides the inverse by n, "forward" the other one, "ortho" both by sqrt(n).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st_runtime.dims import Size, require, require_equal
from dy2st_runtime.errors import DTypeError
from dy2st_runtime.ir import F, Sample, TensorType, apply, define, public
from dy2st_runtime.ir.attribute_kinds import AXIS, SIZE, one_of
from dy2st_runtime.lazy import public_dir
from dy2st_runtime.ops.complex_numbers import complex_dtype, real_dtype

NORMS = ("backward", "forward", "ortho")
OTHER_WAY = {"backward": "forward", "forward": "backward", "ortho": "ortho"}
"""The mode in which the transform in the other direction has the same factor."""
_NORM = one_of(*NORMS).or_else("backward")


def _some(x: TensorType, axis: int) -> Size:
    """The number of elements along the axis, of which there must be one."""
    size = x.shape[axis]
    require(size > 0, f"a Fourier transform of no elements: the shape is {list(x.shape)}")
    return size


def _with_size(x: TensorType, axis: int, size: Size, dtype: Any) -> TensorType:
    shape = list(x.shape)
    shape[axis] = size
    return TensorType(dtype, shape)


def _require_complex(name: str, x: TensorType) -> None:
    if x.dtype.kind != "c":
        raise DTypeError(f"{name} takes complex numbers, not a tensor of dtype {x.dtype}")


def _infer(x: TensorType, axis: int, inverse: bool, norm: str) -> TensorType:
    _require_complex("fourier", x)
    _some(x, axis)
    return x


def _kernel(x: Any, axis: int, inverse: bool, norm: Any) -> Any:
    _require_complex("fourier", x)
    return (np.fft.ifft if inverse else np.fft.fft)(x, axis=axis, norm=norm).astype(x.dtype)


define(
    "fourier",
    doc="The Fourier transform along an axis, or its inverse.",
    inputs="x",
    takes_complex=True,
    attributes={"axis": AXIS.or_else(-1), "inverse": False, "norm": _NORM},
    along="axis",
    infer=_infer,
    kernel=_kernel,
    gradient=lambda g, y, x, axis, inverse, norm: fourier(g, axis, not inverse, OTHER_WAY[norm]),
    samples=(
        Sample(((2, 3),), {"axis": 1}, dtypes=("complex128",)),
        Sample(((4, 3),), {"axis": 0, "inverse": True}, dtypes=("complex64",)),
    ),
)


def _of_real_gradient(g: Any, y: Any, x: Any, axis: int, norm: Any) -> Any:
    """The frequencies that are left out have no gradient: zeros."""
    missing = list(x.shape)
    missing[axis] = x.shape[axis] - g.shape[axis]
    full = F.concat([g, F.zeros(missing, g.dtype)], axis)
    return F.real(fourier(full, axis, True, OTHER_WAY[norm]))


define(
    "fourier_of_real",
    doc="The first n // 2 + 1 frequencies of the Fourier transform of real numbers.",
    inputs="x",
    attributes={"axis": AXIS.or_else(-1), "norm": _NORM},
    along="axis",
    infer=lambda x, axis, norm: _with_size(
        x, axis, _some(x, axis) // 2 + 1, complex_dtype("fourier_of_real", x.dtype)
    ),
    kernel=lambda x, axis, norm: np.fft.rfft(x, axis=axis, norm=norm).astype(
        complex_dtype("fourier_of_real", x.dtype)
    ),
    gradient=_of_real_gradient,
    samples=(
        Sample(((2, 3),), {"axis": 1}, dtypes=("float64",)),
        Sample(((4, 3),), {"axis": 0, "norm": "ortho"}, dtypes=("float32",)),
    ),
)


def _to_real_infer(x: TensorType, axis: int, n: Size, norm: str) -> TensorType:
    _require_complex("fourier_to_real", x)
    require(n > 0, f"a Fourier transform to {n} elements")
    reason = f"fourier_to_real: {x.shape[axis]} frequencies are not those of {n} real numbers"
    require_equal(x.shape[axis], n // 2 + 1, reason)
    return _with_size(x, axis, n, real_dtype(x.dtype))


def _to_real_kernel(x: Any, axis: int, n: int, norm: Any) -> Any:
    _to_real_infer(TensorType(x.dtype, x.shape), axis, n, norm)
    return np.fft.irfft(x, n, axis=axis, norm=norm).astype(real_dtype(x.dtype))


def _to_real_gradient(g: Any, y: Any, x: Any, axis: int, n: Size, norm: Any) -> Any:
    """All frequencies count twice but the first, and the last if n is even."""
    size = x.shape[axis]
    places = F.arange(size)
    once = F.logical_or(F.equal(places, 0), F.equal(places * 2, n))
    shape: list[Size] = [1] * x.ndim
    shape[axis] = size
    factors = F.reshape(2 - F.cast(once, g.dtype), shape)
    return fourier_of_real(g, axis, OTHER_WAY[norm]) * factors


define(
    "fourier_to_real",
    doc="The n real numbers of which these are the first n // 2 + 1 frequencies.",
    inputs="x",
    takes_complex=True,
    attributes={"axis": AXIS.or_else(-1), "n": SIZE, "norm": _NORM},
    along="axis",
    infer=_to_real_infer,
    kernel=_to_real_kernel,
    gradient=_to_real_gradient,
    samples=(
        Sample(((2, 3),), {"axis": 1, "n": 4}, dtypes=("complex128",)),
        Sample(((3, 2),), {"axis": 0, "n": 5}, dtypes=("complex128",)),
    ),
)


@public
def fourier(x: Any, axis: int, inverse: bool = False, norm: str = "backward") -> Any:
    """The Fourier transform of complex numbers along an axis, or its inverse.

    (..., n, ...) -> (..., n, ...); `dy2st.fft.fft` has the common form.

    >>> dy2st.ops.fourier(dy2st.to_tensor([1 + 0j, 1 + 0j]), 0).tolist()
    [(2+0j), 0j]
    """
    return apply("fourier", x, axis=axis, inverse=inverse, norm=norm)


@public
def fourier_of_real(x: Any, axis: int, norm: str = "backward") -> Any:
    """The first n // 2 + 1 frequencies of real numbers along an axis.

    (..., n, ...) -> (..., n // 2 + 1, ...).

    >>> dy2st.ops.fourier_of_real(dy2st.to_tensor([1.0, 1.0, 1.0, 1.0]), 0).tolist()
    [(4+0j), 0j, 0j]
    """
    return apply("fourier_of_real", x, axis=axis, norm=norm)


@public
def fourier_to_real(x: Any, axis: int, n: Any, norm: str = "backward") -> Any:
    """The n real numbers along an axis that have the frequencies x; those left out are known.

    >>> dy2st.ops.fourier_to_real(dy2st.to_tensor([4 + 0j, 0j, 0j]), 0, 4).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    return apply("fourier_to_real", x, axis=axis, n=n, norm=norm)


__dir__ = public_dir(__name__)
