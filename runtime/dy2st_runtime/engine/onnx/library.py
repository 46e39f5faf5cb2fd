"""onnx and onnxruntime, which are loaded when they are first needed: nothing else imports them."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np

from dy2st_runtime.errors import ArgumentError, DTypeError
from dy2st_runtime.lazy import Lazy

onnx, helper, checker = Lazy("onnx"), Lazy("onnx.helper"), Lazy("onnx.checker")
defs, reference, printer = Lazy("onnx.defs"), Lazy("onnx.reference"), Lazy("onnx.printer")
onnxruntime, numpy_helper = Lazy("onnxruntime"), Lazy("onnx.numpy_helper")

DType = np.dtype[Any]
_NUMBERS = {
    **{"float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7},
    **{"bool": 9, "float16": 10, "float64": 11, "uint32": 12, "uint64": 13, "bfloat16": 16},
    **{"float8_e4m3fn": 17, "float8_e4m3fnuz": 18, "float8_e5m2": 19, "float8_e5m2fnuz": 20},
    **{"uint4": 21, "int4": 22, "float4_e2m1fn": 23, "float8_e8m0fnu": 24, "uint2": 25, "int2": 26},
}
# From which version of the operators on there are the short ones.
_SINCE = [(17, 19), (21, 21), (23, 23), (24, 24), (25, 25)]


def require_onnx() -> None:
    """ArgumentError unless onnx is installed, which brings the numbers, checks and reference."""
    if importlib.util.find_spec("onnx") is None:
        raise ArgumentError("ONNX needs the package onnx: pip install 'dy2st[onnx]'")


def has_onnxruntime() -> bool:
    """Whether onnxruntime is installed.

    It is part of the same extra, but one may do without.
    """
    return importlib.util.find_spec("onnxruntime") is not None


def element_number(dtype: DType) -> int:
    """What ONNX calls a dtype; DTypeError for one whose operators it does not have.

    >>> element_number(np.dtype("bool"))
    9
    """
    number = _NUMBERS.get(dtype.name)
    if number is None:
        raise DTypeError(f"ONNX has no operators on {dtype}")
    return number


def opset_of(dtype: DType) -> int:
    """The version of the operators that brought a dtype; 0 for those that were always there.

    >>> opset_of(np.dtype("float32"))
    0
    """
    number = _NUMBERS.get(dtype.name, 0)
    return max((opset for first, opset in _SINCE if number >= first), default=0)


__all__ = [
    "DType",
    "checker",
    "defs",
    "element_number",
    "has_onnxruntime",
    "helper",
    "numpy_helper",
    "onnx",
    "onnxruntime",
    "opset_of",
    "printer",
    "reference",
    "require_onnx",
]
