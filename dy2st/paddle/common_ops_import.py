"""Gives what models import from `paddle.common_ops_import`: checks, modes, ParamAttr."""

from typing import TYPE_CHECKING

from dy2st.paddle.checks import (
    check_dtype,
    check_type,
    check_variable_and_dtype,
    convert_dtype,
    convert_np_dtype_to_dtype_,
)
from dy2st.paddle.framework import core
from dy2st.paddle.layer_helper import LayerHelper
from dy2st.paddle.mirrors import names_of
from dy2st.paddle.modes import in_dynamic_mode as in_dygraph_mode
from dy2st_runtime.ir.tensor import Tensor as Variable
from dy2st_runtime.lazy import public_dir
from dy2st_runtime.nn.parameters import ParamAttr

__all__ = [
    "LayerHelper",
    "ParamAttr",
    "Variable",
    "check_dtype",
    "check_type",
    "check_variable_and_dtype",
    "convert_dtype",
    "convert_np_dtype_to_dtype_",
    "core",
    "in_dygraph_mode",
]
__dir__ = public_dir(__name__)

if not TYPE_CHECKING:
    __getattr__ = names_of(__name__, [])
