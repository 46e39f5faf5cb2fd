"""Casts as ONNX has them: to floats of 8 bits, saturated or not, and to powers of two."""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st.errors import ArgumentError
from dy2st_runtime.ir import F

LARGEST = {
    "float8_e4m3fn": 448.0,
    "float8_e4m3fnuz": 240.0,
    "float8_e5m2": 57344.0,
    "float8_e5m2fnuz": 57344.0,
}
"""The largest number of each float of 8 bits."""
_POWERS = "float8_e8m0fnu"
_LARGEST_POWER = 127
_ROUND_MODES = ("up", "down", "nearest")


def cast(x: Any, *, to: Any, saturate: int = 1, round_mode: str = "up") -> Any:
    """x in another dtype; numbers beyond a float of 8 bits are its largest, unless `saturate` is 0.

    >>> from dy2st_runtime.tensor import to_tensor
    >>> cast(to_tensor([2.5, -1.5]), to=np.dtype("int32")).tolist()
    [2, -1]
    """
    dtype = np.dtype(to)
    if dtype.name == _POWERS and x.dtype != dtype:
        return F.cast(_power_of_two(x, bool(saturate), round_mode), dtype)
    if dtype.name in LARGEST and saturate and x.dtype != dtype:
        wide = x if x.dtype == "float64" else F.cast(x, "float32")  # NaN stays
        return F.cast(F.clip(wide, -LARGEST[dtype.name], LARGEST[dtype.name]), dtype)
    return F.cast(x, dtype)


def cast_like(x: Any, target_type: Any, *, saturate: int = 1, round_mode: str = "up") -> Any:
    """`cast` to the dtype of another tensor."""
    return cast(x, to=target_type.dtype, saturate=saturate, round_mode=round_mode)


def _power_of_two(x: Any, saturate: bool, round_mode: str) -> Any:
    """The power of two beside x that has an exponent of 8 bits; NaN beyond, or the largest."""
    if round_mode not in _ROUND_MODES:
        raise ArgumentError(f"Cast: round_mode is one of {_ROUND_MODES}, not {round_mode!r}")
    x = F.cast(x, "float32")
    part, exponent = F.frexp(x)  # x = part * 2**exponent, and 0.5 <= part < 1
    exponent = F.cast(exponent, "float32")
    limit = {"up": 0.5, "nearest": 0.75, "down": 2.0}[round_mode]
    grows = F.greater_equal(part, limit) if round_mode == "nearest" else F.greater_than(part, limit)
    power = exponent - 1.0 + F.cast(grows, "float32")
    infinite = F.isinf(x)
    power = F.where(F.equal(x, 0.0), F.full_like(power, -_LARGEST_POWER), power)
    power = F.where(infinite, F.full_like(power, _LARGEST_POWER + 1.0), power)
    beyond = F.greater_than(power, float(_LARGEST_POWER))
    power = F.clip(power, -float(_LARGEST_POWER), float(_LARGEST_POWER))
    result = F.pow(F.full_like(F.cast(power, "float64"), 2.0), F.cast(power, "float64"))
    lost = F.isnan(x) if saturate else F.logical_or(F.isnan(x), beyond)
    return F.where(lost, F.full_like(result, np.nan), result)


__all__ = ["LARGEST", "cast", "cast_like"]
