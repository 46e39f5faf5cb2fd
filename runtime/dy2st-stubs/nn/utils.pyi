"""Functions on layers and their parameters: those of `dy2st_runtime.nn`, under these names."""

from dy2st_runtime.nn.computed_weights import (
    remove_weight_norm as remove_weight_norm,
    spectral_norm as spectral_norm,
    weight_norm as weight_norm,
)
from dy2st_runtime.nn.vectors import (
    clip_grad_norm_ as clip_grad_norm_,
    clip_grad_value_ as clip_grad_value_,
    parameters_to_vector as parameters_to_vector,
    vector_to_parameters as vector_to_parameters,
)

