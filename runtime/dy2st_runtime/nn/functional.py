"""Functions of neural networks under PaddlePaddle's names, made of operators."""

from typing import TYPE_CHECKING

from dy2st_runtime.lazy import lazy_names, public_dir
from dy2st_runtime.nn.lazy import FUNCTIONALS
from dy2st_runtime.ops.activation import (
    celu,
    elu,
    gelu,
    glu,
    hardshrink,
    hardsigmoid,
    hardswish,
    log_sigmoid,
    log_softmax,
    mish,
    prelu,
    selu,
    silu,
    softmax,
    softplus,
    softshrink,
    softsign,
    swish,
    tanhshrink,
)
from dy2st_runtime.ops.convolve import (
    conv1d,
    conv1d_transpose,
    conv2d,
    conv2d_transpose,
    conv3d,
    linear,
)
from dy2st_runtime.ops.embedding import (
    dropout,
    dropout2d,
    embedding,
    pixel_shuffle,
    scaled_dot_product_attention,
)
from dy2st_runtime.ops.gather import one_hot, sequence_mask
from dy2st_runtime.ops.limits import hardtanh, leaky_relu, relu6
from dy2st_runtime.ops.loss import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cosine_similarity,
    cross_entropy,
    hinge_embedding_loss,
    kl_div,
    l1_loss,
    margin_ranking_loss,
    mse_loss,
    nll_loss,
    smooth_l1_loss,
    softmax_with_cross_entropy,
    square_error_cost,
)
from dy2st_runtime.ops.normalisation import (
    batch_norm,
    group_norm,
    instance_norm,
    layer_norm,
    normalize,
)
from dy2st_runtime.ops.padding import pad
from dy2st_runtime.ops.pooling import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    avg_pool1d,
    avg_pool2d,
    max_pool1d,
    max_pool2d,
)
from dy2st_runtime.ops.resize import interpolate, upsample
from dy2st_runtime.ops.unary import relu, sigmoid, tanh

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "avg_pool1d",
    "avg_pool2d",
    "batch_norm",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "conv1d",
    "conv1d_transpose",
    "conv2d",
    "conv2d_transpose",
    "conv3d",
    "cosine_similarity",
    "cross_entropy",
    "dropout",
    "dropout2d",
    "elu",
    "embedding",
    "gelu",
    "glu",
    "group_norm",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hinge_embedding_loss",
    "instance_norm",
    "interpolate",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "linear",
    "log_sigmoid",
    "log_softmax",
    "margin_ranking_loss",
    "max_pool1d",
    "max_pool2d",
    "mish",
    "mse_loss",
    "nll_loss",
    "normalize",
    "one_hot",
    "pad",
    "pixel_shuffle",
    "prelu",
    "relu",
    "relu6",
    "scaled_dot_product_attention",
    "selu",
    "sequence_mask",
    "sigmoid",
    "silu",
    "smooth_l1_loss",
    "softmax",
    "softmax_with_cross_entropy",
    "softplus",
    "softshrink",
    "softsign",
    "square_error_cost",
    "swish",
    "tanh",
    "tanhshrink",
    "upsample",
]
__dir__ = public_dir(__name__)

if TYPE_CHECKING:
    from dy2st_runtime.nn.lazy_functions import *  # noqa: F403
else:
    __getattr__ = lazy_names(__name__, FUNCTIONALS)
