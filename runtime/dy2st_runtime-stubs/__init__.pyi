"""All that a saved model needs to run: tensors, layers, Programs, engines, files."""

from dy2st_runtime import (
    dims as dims,
    engine as engine,
    errors as errors,
    io as io,
    ir as ir,
    nn as nn,
    ops as ops,
    optimizer as optimizer,
)
from dy2st_runtime.io import LoadedModel as LoadedModel, load as load
from dy2st_runtime.ir.program import Program as Program
from dy2st_runtime.ir.tensor import Tensor as Tensor
from dy2st_runtime.limits import Limits as Limits
from dy2st_runtime.tensor import (
    from_dlpack as from_dlpack,
    from_numpy as from_numpy,
    to_tensor as to_tensor,
)

