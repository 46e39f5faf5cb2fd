"""InputSpec and Dim for the sizes in it, and Programs made for some of their sizes."""

from typing import TYPE_CHECKING

from dy2st.jit.input_spec import Dim, InputSpec
from dy2st_runtime.lazy import lazy_names, public_dir

if TYPE_CHECKING:
    from dy2st.static.backward import append_backward, gradients
    from dy2st.static.dispatcher import bucket
    from dy2st.static.freezing import freeze
    from dy2st.static.inference import Executor, load_inference_model
else:
    __getattr__ = lazy_names(
        __name__,
        {
            "amp": "dy2st.static.amp",
            "nn": "dy2st.static.nn",
            "BuildStrategy": "dy2st.jit.concrete_program:BuildStrategy",
            "Variable": "dy2st_runtime.ir.tensor:Tensor",
            "create_parameter": "dy2st_runtime.nn.parameters:create_parameter",
            "append_backward": "dy2st.static.backward:append_backward",
            "gradients": "dy2st.static.backward:gradients",
            "bucket": "dy2st.static.dispatcher:bucket",
            "freeze": "dy2st.static.freezing:freeze",
            "Executor": "dy2st.static.inference:Executor",
            "load_inference_model": "dy2st.static.inference:load_inference_model",
        },
    )

__all__ = [
    "Dim",
    "Executor",
    "InputSpec",
    "append_backward",
    "bucket",
    "freeze",
    "gradients",
    "load_inference_model",
]
__dir__ = public_dir(__name__)
