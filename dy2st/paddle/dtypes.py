"""Gives element types that few models name, and the limits of all of them."""

from __future__ import annotations

import builtins
import importlib
from typing import Any

import numpy as np

from dy2st_runtime.errors import DTypeError
from dy2st_runtime.ir.types import named_dtype

dtype = np.dtype
complex64, complex128 = np.dtype("complex64"), np.dtype("complex128")
cfloat, cdouble = complex64, complex128
uint16, uint32, uint64 = np.dtype("uint16"), np.dtype("uint32"), np.dtype("uint64")
half, float, double = np.dtype("float16"), np.dtype("float32"), np.dtype("float64")
short, int, long = np.dtype("int16"), np.dtype("int32"), np.dtype("int64")
inf, nan, pi, e, newaxis = np.inf, np.nan, np.pi, np.e, None


class _Missing:
    """Stands for a dtype that is not here: equal to no dtype that a tensor has."""

    def __init__(self, name: str, reason: str):
        self.name, self._reason = name, reason

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        # All that an older NumPy shows: it hides what asking for the dtype raises.
        return f"{self.name} {self._reason}"

    @property
    def dtype(self) -> np.dtype[Any]:
        """Refuse: NumPy asks for it to make a tensor."""
        raise DTypeError(f"{self.name} {self._reason}")


_NO_FLOAT8 = "is not here; keep these numbers as float16 or bfloat16"
bfloat16: Any = named_dtype("bfloat16") or _Missing(
    "bfloat16", "needs the package ml_dtypes: pip install ml_dtypes"
)
float8_e4m3fn, float8_e5m2 = (_Missing(n, _NO_FLOAT8) for n in ("float8_e4m3fn", "float8_e5m2"))


class iinfo:
    """The limits of an integer dtype: min, max, bits, dtype.

    >>> iinfo("int8")
    iinfo(min=-128, max=127, bits=8, dtype=int8)
    """

    def __init__(self, dtype: Any) -> None:
        """Look them up; DTypeError if it is no integer type."""
        found = np.dtype(dtype)
        if found.kind not in "iu":
            raise DTypeError(f"iinfo takes an integer dtype, not {found}; finfo takes floats")
        limits = np.iinfo(found)
        self.min, self.max, self.bits = (
            builtins.int(limits.min),
            builtins.int(limits.max),
            builtins.int(limits.bits),
        )
        self.dtype = found.name

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, bits={self.bits}, dtype={self.dtype})"


class finfo:
    """The limits of a float dtype: min, max, eps, tiny, smallest_normal, resolution, bits, dtype.

    >>> finfo("float32").eps == 2.0**-23
    True
    """

    min: builtins.float
    max: builtins.float
    eps: builtins.float
    tiny: builtins.float
    smallest_normal: builtins.float

    def __init__(self, dtype: Any) -> None:
        """Look them up; DTypeError if it is no float type."""
        found = np.dtype(dtype)
        if found.kind in "iub":
            raise DTypeError(f"finfo takes a float dtype, not {found}; iinfo takes integers")
        if found.name == "bfloat16":
            limits = importlib.import_module("ml_dtypes").finfo(found)
        else:
            limits = np.finfo(found)
        for name in ("min", "max", "eps", "tiny", "smallest_normal"):
            setattr(self, name, builtins.float(getattr(limits, name)))
        self.resolution = builtins.float(f"1e-{limits.precision}")
        self.bits, self.dtype = builtins.int(limits.bits), found.name

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value}" for name, value in vars(self).items())
        return f"finfo({shown})"
