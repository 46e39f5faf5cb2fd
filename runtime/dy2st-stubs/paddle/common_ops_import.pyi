"""Gives what models import from `paddle.common_ops_import`: checks, modes, ParamAttr."""

from dy2st.paddle.checks import (
    check_dtype as check_dtype,
    check_type as check_type,
    check_variable_and_dtype as check_variable_and_dtype,
    convert_dtype as convert_dtype,
    convert_np_dtype_to_dtype_ as convert_np_dtype_to_dtype_,
)
from dy2st.paddle.framework import core as core
from dy2st.paddle.layer_helper import LayerHelper as LayerHelper
from dy2st.paddle.modes import in_dynamic_mode as _in_dygraph_mode
from dy2st_runtime.ir.tensor import Tensor as _Variable
from dy2st_runtime.nn.parameters import ParamAttr as ParamAttr

Variable = _Variable
in_dygraph_mode = _in_dygraph_mode
