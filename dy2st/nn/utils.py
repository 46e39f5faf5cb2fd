"""Functions on layers and their parameters: those of `dy2st_runtime.nn`, under these names."""

from dy2st.paddle.private_modules import private_modules
from dy2st_runtime.lazy import public_dir
from dy2st_runtime.nn.computed_weights import remove_weight_norm, spectral_norm, weight_norm
from dy2st_runtime.nn.vectors import (
    clip_grad_norm_,
    clip_grad_value_,
    parameters_to_vector,
    vector_to_parameters,
)

__all__ = [
    "clip_grad_norm_",
    "clip_grad_value_",
    "parameters_to_vector",
    "remove_weight_norm",
    "spectral_norm",
    "vector_to_parameters",
    "weight_norm",
]
__dir__ = public_dir(__name__)

private_modules(__name__)
