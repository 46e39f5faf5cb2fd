"""The truth of a value of the Program."""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st.convert.trace import Trace
from dy2st_runtime.dims import Condition, Dim
from dy2st_runtime.errors import ShapeError
from dy2st_runtime.ir import F, Variable
from dy2st_runtime.tensor import EagerTensor


def truth_of(trace: Trace, value: Any) -> Variable:
    """The truth of a tensor or number as a 0-d bool of the current Block."""
    if isinstance(value, (bool, Dim, Condition)):
        variable = trace.tracer.number(value)
    else:
        assert isinstance(value, (Variable, EagerTensor)), f"no truth of {value!r} is traced"
        variable = trace.tracer.variable(value)
    size = variable.size
    if isinstance(size, int) and size != 1:
        raise ShapeError(
            f"the truth of a tensor of shape {variable.shape} is ambiguous: use any() or all()"
        )
    if variable.tensor_type.rank:
        variable = F.reshape(variable, [])
    if variable.tensor_type.dtype != np.dtype("bool"):
        variable = F.not_equal(variable, 0)
    return variable
