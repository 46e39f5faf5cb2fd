"""dy2st: plain Python models as static Programs. Public names follow PaddlePaddle."""

import os as _os
from importlib import import_module as _import_module

import numpy as _np

from dy2st import errors, jit, nn, optimizer, static
from dy2st.jit import to_static
from dy2st.paddle.private_modules import private_modules as _private_modules
from dy2st.paddle.spaces import LATE as _LATE_SPACES
from dy2st_runtime import dims, engine, ops
from dy2st_runtime.autograd import grad
from dy2st_runtime.ir import Program, Tensor
from dy2st_runtime.ir.grad_mode import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from dy2st_runtime.ir.promotion import get_promotion, promotion, set_promotion
from dy2st_runtime.lazy import Lazy as _Lazy
from dy2st_runtime.lazy import lazy_names as _lazy_names
from dy2st_runtime.lazy import public_dir as _public_dir
from dy2st_runtime.ops import *  # noqa: F403
from dy2st_runtime.ops import LATE as _late_operators
from dy2st_runtime.ops import __all__ as _operators
from dy2st_runtime.tensor import Parameter, from_dlpack, from_numpy, is_tensor, to_tensor
from dy2st_runtime.version import VERSION as _version

float16, float32, float64 = _np.dtype("float16"), _np.dtype("float32"), _np.dtype("float64")
int8, int16 = _np.dtype("int8"), _np.dtype("int16")
int32, int64 = _np.dtype("int32"), _np.dtype("int64")
uint8, bool = _np.dtype("uint8"), _np.dtype("bool")


__version__ = _version
_LATE = {
    **_late_operators,
    **_LATE_SPACES,
    "compare": "dy2st.diagnostics.comparing:compare",
    "profile": "dy2st.diagnostics.profiling:profile",
}
Program.viewer = _Lazy("dy2st.viewer")
__getattr__ = _lazy_names(__name__, _LATE)
__dir__ = _public_dir(__name__)

# The compiler knows nothing of PaddlePaddle's private modules.
for _package in ("dy2st.jit", "dy2st.static", "dy2st.static.nn"):
    _private_modules(_package)

# DY2ST_COMPARE: 1 compares every call of a converted function with plain Python.
if _os.environ.get("DY2ST_COMPARE", "0") not in ("", "0"):
    _import_module("dy2st.diagnostics.every_call").begin()

__all__ = [
    *_operators,
    "Parameter",
    "Program",
    "Tensor",
    "bool",
    "dims",
    "enable_grad",
    "engine",
    "errors",
    "float16",
    "float32",
    "float64",
    "from_dlpack",
    "from_numpy",
    "get_promotion",
    "grad",
    "int8",
    "int16",
    "int32",
    "int64",
    "is_grad_enabled",
    "is_tensor",
    "jit",
    "nn",
    "no_grad",
    "ops",
    "optimizer",
    "promotion",
    "set_grad_enabled",
    "set_promotion",
    "static",
    "to_static",
    "to_tensor",
    "uint8",
]
