"""Complex numbers: their parts, and how they are made of two real tensors.

Gradients are those of a real loss L: dL/d(real z) + i dL/d(imag z), as PaddlePaddle has them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dy2st_runtime.errors import DTypeError, ShapeError
from dy2st_runtime.ir import F, Kind, Sample, TensorType, apply, define, method, public
from dy2st_runtime.ir.arguments import dtype_of
from dy2st_runtime.ops.rules import broadcasting, float_type, on_floats, same_type

_REAL = {"complex64": "float32", "complex128": "float64"}
_COMPLEX = {"float32": "complex64", "float64": "complex128"}


def real_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of the parts: complex64 -> float32; a real dtype stays."""
    return np.dtype(_REAL.get(dtype.name, dtype))


def complex_dtype(name: str, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of complex numbers with parts of a dtype: float32 -> complex64."""
    if dtype.name not in _COMPLEX:
        raise DTypeError(f"{name} takes float32 or float64, not a tensor of dtype {dtype}")
    return np.dtype(_COMPLEX[dtype.name])


def _part_type(x: TensorType) -> TensorType:
    return x.with_dtype(real_dtype(x.dtype))


def _is_complex(x: Any) -> bool:
    return dtype_of(x).kind == "c"


@on_floats
def _angle_of_real(x: Any) -> Any:
    return np.where(np.isnan(x), x, np.where(x < 0, x.dtype.type(np.pi), x.dtype.type(0)))


def _angle_gradient(g: Any, y: Any, x: Any) -> Any:
    """i z / |z|**2, and 0 at 0."""
    if not _is_complex(x):
        return F.zeros_like(g)
    size = F.square(F.real(x)) + F.square(F.imag(x))
    slope = g / F.where(F.equal(size, 0), F.ones_like(size), size)
    return F.complex(-F.imag(x) * slope, F.real(x) * slope)


def _define(
    name: str, doc: str, kernel: Callable[..., Any], infer: Callable[..., Any], gradient: Any
) -> None:
    define(
        name,
        doc=doc,
        inputs="x",
        takes_complex=True,
        infer=infer,
        kernel=kernel,
        gradient=gradient,
        kind=Kind.ELEMENTWISE,
        samples=(Sample(((2, 3),), low=0.5), Sample(((0, 2),))),
    )


# Copies: a part of the memory of complex numbers would keep all of it.
_define(
    "real",
    "The real part; x, if it is real.",
    lambda x: np.array(x.real),
    _part_type,
    lambda g, y, x: F.complex(g, F.zeros_like(g)) if _is_complex(x) else g,
)
_define(
    "imag",
    "The imaginary part; 0 of real numbers.",
    lambda x: np.array(x.imag),
    _part_type,
    lambda g, y, x: F.complex(F.zeros_like(g), g) if _is_complex(x) else F.zeros_like(g),
)
_define(
    "conj",
    "The conjugate; x, if it is real.",
    lambda x: np.conjugate(x) if x.dtype.kind == "c" else np.array(x),
    same_type,
    lambda g, y, x: F.conj(g),
)
_define(
    "angle",
    "The angle to the right half of the axis, in (-pi, pi]; NaN of NaN.",
    lambda x: np.angle(x) if x.dtype.kind == "c" else _angle_of_real(x),
    lambda x: _part_type(x) if x.dtype.kind == "c" else float_type(x),
    _angle_gradient,
)


def _joined(x: Any, y: Any) -> Any:
    result = np.empty(np.broadcast_shapes(x.shape, y.shape), complex_dtype("complex", x.dtype))
    result.real, result.imag = x, y
    return result


define(
    "complex",
    doc="x + i y of two real tensors.",
    inputs="x, y",
    promote=True,
    infer=lambda x, y: broadcasting("complex", complex_dtype("complex", x.dtype))(x, y),
    kernel=_joined,
    gradient=lambda g, z, x, y: (
        lambda: F.sum_to(F.real(g), x.shape),
        lambda: F.sum_to(F.imag(g), y.shape),
    ),
    kind=Kind.BROADCAST,
    samples=(
        Sample(((2, 3), (3,)), dtypes=("float32", "float32")),
        Sample(((2, 1), (1, 3)), dtypes=("float64", "float64")),
    ),
)


@method
def real(x: Any, name: str | None = None) -> Any:
    """The real part, elementwise; x, if it is real.

    >>> dy2st.real(dy2st.to_tensor([1 + 2j])).tolist()
    [1.0]
    """
    return apply("real", x)


@method
def imag(x: Any, name: str | None = None) -> Any:
    """The imaginary part, elementwise; 0 of real numbers.

    >>> dy2st.imag(dy2st.to_tensor([1 + 2j])).tolist()
    [2.0]
    """
    return apply("imag", x)


@method
def conj(x: Any, name: str | None = None) -> Any:
    """The conjugate, elementwise; x, if it is real.

    >>> dy2st.conj(dy2st.to_tensor([1 + 2j])).tolist()
    [(1-2j)]
    """
    return apply("conj", x) if _is_complex(x) else F.assign(x)


@method
def angle(x: Any, name: str | None = None) -> Any:
    """The angle to the right half of the axis, in (-pi, pi], elementwise; NaN of NaN.

    >>> print(dy2st.angle(dy2st.to_tensor([1j, -1 + 0j])).round(3))
    [1.571 3.142]
    """
    return apply("angle", x)


@public
def complex(real: Any, imag: Any, name: str | None = None) -> Any:
    """real + i imag of two tensors of floats, which broadcast: (...,), (...,) -> (...,).

    >>> dy2st.complex(dy2st.to_tensor([1.0]), dy2st.to_tensor([2.0])).tolist()
    [(1+2j)]
    """
    return apply("complex", real, imag)


@method
def polar(abs: Any, angle: Any, name: str | None = None) -> Any:
    """abs * exp(i angle) of two tensors of floats, which broadcast: (...,), (...,) -> (...,).

    >>> print(dy2st.polar(dy2st.to_tensor([2.0]), dy2st.to_tensor([0.0])))
    [2.+0.j]
    """
    return apply("complex", abs * F.cos(angle), abs * F.sin(angle))


@method
def as_complex(x: Any, name: str | None = None) -> Any:
    """The parts along the last axis as one complex number: (..., 2) -> (...).

    >>> dy2st.as_complex(dy2st.to_tensor([[1.0, 2.0]])).tolist()
    [(1+2j)]
    """
    if not x.shape or (isinstance(x.shape[-1], int) and x.shape[-1] != 2):
        raise ShapeError(f"as_complex: the last axis has 2 elements; the shape is {x.shape}")
    parts = F.split(x, [1, 1], -1)
    return apply("complex", *(F.squeeze(part, -1) for part in parts))


@method
def as_real(x: Any, name: str | None = None) -> Any:
    """The parts of complex numbers along a new last axis: (...) -> (..., 2).

    >>> dy2st.as_real(dy2st.to_tensor([1 + 2j])).tolist()
    [[1.0, 2.0]]
    """
    if not _is_complex(x):
        raise DTypeError(f"as_real takes complex numbers, not a tensor of dtype {dtype_of(x)}")
    return F.stack([apply("real", x), apply("imag", x)], -1)
