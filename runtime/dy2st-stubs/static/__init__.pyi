"""InputSpec and Dim for the sizes in it, and Programs made for some of their sizes."""

from dy2st import create_parameter as create_parameter
from dy2st.jit.concrete_program import BuildStrategy as BuildStrategy
from dy2st.jit.input_spec import Dim as Dim, InputSpec as InputSpec
from dy2st.static import amp as amp, nn as nn
from dy2st.static.backward import append_backward as append_backward, gradients as gradients
from dy2st.static.dispatcher import bucket as bucket
from dy2st.static.freezing import freeze as freeze
from dy2st.static.inference import (
    Executor as Executor,
    load_inference_model as load_inference_model,
)
from dy2st_runtime.ir.tensor import Tensor as _Variable

Variable = _Variable
