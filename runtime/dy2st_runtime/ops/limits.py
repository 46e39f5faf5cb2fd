"""Limits: clip, relu6, hardtanh, and leaky_relu. Their slopes at a limit are PaddlePaddle's."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dy2st_runtime.errors import DTypeError
from dy2st_runtime.ir import (
    F,
    Kind,
    Sample,
    Scales,
    TensorType,
    apply,
    define,
    is_floating,
    method,
    public,
)
from dy2st_runtime.ir.attribute_kinds import NONE, NUMBER, either
from dy2st_runtime.ir.promotion import integers_beside
from dy2st_runtime.ops.blocks import in_blocks

Number = int | float | None


def _limits_of(dtype: np.dtype[Any], min: Number, max: Number) -> tuple[Number, Number]:
    """Limits as numbers of a dtype, None where all its numbers are inside; DTypeError if none is.

    Integers keep their dtype, so what would give a fraction is refused.
    """
    if dtype.kind == "b":
        raise DTypeError("limits are for numbers, not for bools: cast them first")
    if dtype.kind not in "iu":
        return min, max
    info = np.iinfo(dtype)
    for limit in (min, max):
        if isinstance(limit, float) and math.isfinite(limit) and not limit.is_integer():
            raise DTypeError(
                f"a tensor of {dtype} has no number {limit}: cast it to a float first, "
                "or give whole numbers as limits"
            )
    if (min is not None and not min <= info.max) or (max is not None and not max >= info.min):
        raise DTypeError(f"no number of {dtype} lies between the limits {min} and {max}")
    low = None if min is None or min <= info.min else int(min)
    high = None if max is None or max >= info.max else int(max)
    return low, high


def _infer(x: TensorType, min: Number, max: Number) -> TensorType:
    _limits_of(x.dtype, min, max)
    return x


def _kernel(x: Any, min: Number, max: Number, out: Any = None) -> Any:
    low, high = _limits_of(x.dtype, min, max)
    if low is None and high is None:
        return np.positive(x, out=out)
    low, high = (None if limit is None else x.dtype.type(limit) for limit in (low, high))
    if x.dtype.kind != "V":
        return x.clip(low, high, out=out)
    for function, limit in ((np.maximum, low), (np.minimum, high)):  # NumPy clips no bfloat16
        x = x if limit is None else function(x, limit, out=out)
    return x


def _parts(x: Any, min: Number, max: Number) -> Any:
    if min is not None:
        x = F.where(F.less_than(x, min), F.cast(min, x.dtype), x)
    if max is not None:
        x = F.where(F.greater_than(x, max), F.cast(max, x.dtype), x)
    return x


def _gradient(above: str, below: str) -> Callable[..., Any]:
    """That of the inside, for which the comparisons `above` min and `below` max hold."""

    def gradient(g: Any, y: Any, x: Any, min: Number, max: Number) -> Any:
        for compare, limit in ((above, min), (below, max)):
            if limit is not None:
                g = F.where(getattr(F, compare)(x, limit), g, F.zeros_like(g))
        return g

    return gradient


_LIMIT = either(NUMBER, NONE)
_BOTH = {"min": -1.0, "max": 0.5}
_BETWEEN = _gradient("greater_than", "less_than")

define(
    "clip",
    doc="min(max(x, min), max); the slope at a limit is 1.",
    inputs="x",
    kind=Kind.ELEMENTWISE,
    attributes={"min": _LIMIT.or_else(None), "max": _LIMIT.or_else(None)},
    infer=_infer,
    kernel=_kernel,
    gradient=_gradient("greater_equal", "less_equal"),
    decompose=_parts,
    takes_out=True,
    samples=(
        Sample(((2, 3),), _BOTH),
        Sample(((),), {"min": -0.5}),
        Sample(((0, 2),), {"max": 0.5}),
        Sample(((4,),), {"min": 2, "max": 6}, ("int64",), 0, 9),
    ),
)
define(
    "hardtanh",
    doc="min(max(x, min), max); the slope at a limit is 0.",
    inputs="x",
    kind=Kind.ELEMENTWISE,
    attributes={"min": _LIMIT.or_else(-1.0), "max": _LIMIT.or_else(1.0)},
    infer=_infer,
    kernel=_kernel,
    gradient=_BETWEEN,
    decompose=_parts,
    takes_out=True,
    samples=(Sample(((2, 3),)), Sample(((3,),), _BOTH)),
)
define(
    "relu6",
    doc="min(max(x, 0), 6); the slope at a limit is 0.",
    inputs="x",
    kind=Kind.ELEMENTWISE,
    infer=lambda x: _infer(x, 0, 6),
    kernel=lambda x, out=None: _kernel(x, 0, 6, out),
    gradient=lambda g, y, x: _BETWEEN(g, y, x, 0, 6),
    decompose=lambda x: _parts(x, 0, 6),
    takes_out=True,
    samples=(Sample(((2, 3),), low=0.5, high=5.5), Sample(((4,),), low=6.5, high=9)),
)


# -- leaky_relu -----------------------------------------------------------------------------------


@in_blocks
def _leaky(x: Any, out: Any, negative_slope: float) -> None:
    slope = x.dtype.type(negative_slope)
    np.multiply(x, slope, out=out)
    if 0 < slope <= 1:  # the product is then the smaller of both above zero, also of infinity
        np.maximum(x, out, out=out)
    else:
        np.copyto(out, x, where=x > 0)


define(
    "leaky_relu",
    doc="x where x > 0, else negative_slope * x; the slope at 0 is 1.",
    inputs="x",
    scales=Scales.POSITIVE,
    kind=Kind.ELEMENTWISE,
    attributes={"negative_slope": 0.01},
    infer=lambda x, negative_slope: x if x.is_floating else x.with_dtype("float64"),
    kernel=lambda x, negative_slope, out=None: _leaky(
        x if is_floating(x.dtype) else x.astype(np.float64), out, negative_slope=negative_slope
    ),
    gradient=lambda g, y, x, negative_slope: F.where(F.greater_equal(x, 0), g, g * negative_slope),
    decompose=lambda x, negative_slope: F.where(F.greater_than(x, 0), x, x * negative_slope),
    takes_out=True,
    samples=(
        Sample(((2, 3),), {"negative_slope": 0.125}),
        Sample(((),)),
        Sample(((0, 3),), {"negative_slope": 0.0}),
        Sample(((4,),), {"negative_slope": -1.5}),
    ),
)


# -- public ---------------------------------------------------------------------------------------


def _is_number(limit: Any) -> bool:
    return limit is None or isinstance(limit, (int, float, np.integer, np.floating))


def _plain(limit: Any) -> Any:
    return limit.item() if isinstance(limit, np.generic) else limit


def _cast_limit(limit: Any, x: Any) -> Any:
    """A limit that is computed, in the dtype of x."""
    limit_type = getattr(limit, "dtype", None)
    if limit_type is not None and is_floating(limit_type) and not is_floating(x.dtype):
        raise DTypeError(f"a tensor of {x.dtype} has limits of {limit_type}: cast one of both")
    return F.cast(limit, x.dtype)


@method
def clip(x: Any, min: Any = None, max: Any = None, name: str | None = None) -> Any:
    """min(max(x, min), max), in the dtype of x: (...,) -> (...,); the slope at a limit is 1.

    A limit is a number, a tensor that broadcasts, or None. Integers beside a float become floats.
    Raises DTypeError for limits that an integer x cannot reach.

    >>> dy2st.clip(dy2st.to_tensor([-5, 3, 20]), 0, 10).tolist()
    [0, 3, 10]
    >>> dy2st.clip(dy2st.to_tensor([-5, 3, 20]), max=4).tolist()
    [-5, 3, 4]
    """
    if min is None and max is None:
        return x
    # A limit is a Python float, or stands for one.
    is_float = any(
        isinstance(limit, (float, np.floating)) or getattr(limit, "number", None) is float
        for limit in (min, max)
    )
    if x.dtype.kind in "iu" and is_float:
        x = F.cast(x, integers_beside(x.dtype))
    if _is_number(min) and _is_number(max):
        return apply("clip", x, min=_plain(min), max=_plain(max))
    if min is not None:
        x = F.where(F.less_than(x, min), _cast_limit(min, x), x)
    if max is not None:
        x = F.where(F.greater_than(x, max), _cast_limit(max, x), x)
    return x


@public
def relu6(x: Any, name: str | None = None) -> Any:
    """min(max(x, 0), 6): (...,) -> (...,); the slope at 0 and 6 is 0.

    >>> dy2st.nn.functional.relu6(dy2st.to_tensor([-1.0, 3.0, 9.0])).tolist()
    [0.0, 3.0, 6.0]
    """
    return apply("relu6", x)


@public
def hardtanh(x: Any, min: float = -1.0, max: float = 1.0, name: str | None = None) -> Any:
    """min(max(x, min), max): (...,) -> (...,); the slope at a limit is 0.

    >>> dy2st.nn.functional.hardtanh(dy2st.to_tensor([-2.0, 0.5, 2.0])).tolist()
    [-1.0, 0.5, 1.0]
    """
    return apply("hardtanh", x, min=_plain(min), max=_plain(max))


@public
def leaky_relu(x: Any, negative_slope: float = 0.01, name: str | None = None) -> Any:
    """x where x > 0, else negative_slope * x: (...,) -> (...,); the slope at 0 is 1.

    >>> dy2st.nn.functional.leaky_relu(dy2st.to_tensor([-4.0, 4.0]), 0.25).tolist()
    [-1.0, 4.0]
    """
    return apply("leaky_relu", x, negative_slope=float(negative_slope))


__all__ = ["clip", "hardtanh", "leaky_relu", "relu6"]
