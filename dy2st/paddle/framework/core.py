"""Gives the few names of Paddle's core that models use: places, dtypes, what is built in."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from dy2st.paddle.device import (
    is_compiled_with_cinn,
    is_compiled_with_cuda,
    is_compiled_with_custom_device,
    is_compiled_with_rocm,
    is_compiled_with_xpu,
)
from dy2st.paddle.device.cuda import device_count as get_cuda_device_count
from dy2st_runtime.lazy import public_dir
from dy2st_runtime.place import CPUPlace, CUDAPinnedPlace, CUDAPlace, CustomPlace, XPUPlace
from dy2st_runtime.storage import VarType
from dy2st_runtime.tensor import EagerTensor

_DTYPES = {
    "BOOL": "bool",
    "FP16": "float16",
    "FP32": "float32",
    "FP64": "float64",
    "INT8": "int8",
    "INT16": "int16",
    "INT32": "int32",
    "INT64": "int64",
    "UINT8": "uint8",
}


class VarDesc:
    """Holds dtypes, and kinds of variables, under their names in static graphs.

    >>> VarDesc.VarType.FP32, VarDesc.VarType.DENSE_TENSOR
    (dtype('float32'), <VarType.DENSE_TENSOR: 7>)
    """

    VarType = SimpleNamespace(
        **{name: np.dtype(dtype) for name, dtype in _DTYPES.items()}, **VarType.__members__
    )


eager = SimpleNamespace(Tensor=EagerTensor)

__all__ = [
    "CPUPlace",
    "CUDAPinnedPlace",
    "CUDAPlace",
    "CustomPlace",
    "VarDesc",
    "XPUPlace",
    "eager",
    "get_cuda_device_count",
    "is_compiled_with_cinn",
    "is_compiled_with_cuda",
    "is_compiled_with_custom_device",
    "is_compiled_with_rocm",
    "is_compiled_with_xpu",
]
__dir__ = public_dir(__name__)
