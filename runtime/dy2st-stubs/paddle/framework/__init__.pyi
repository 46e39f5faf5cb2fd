"""Gives what models import from `paddle.framework`: names of `dy2st`, modes, and places."""

from dy2st.paddle.framework import core as core
from dy2st.paddle.layer_helper import LayerHelper as LayerHelper
from dy2st.paddle.modes import in_dynamic_mode as _in_dygraph_mode
from dy2st_runtime.ir.tensor import Tensor as _Variable
from dy2st_runtime.tensor import Parameter as _EagerParamBase

EagerParamBase = _EagerParamBase
Variable = _Variable
in_dygraph_mode = _in_dygraph_mode
