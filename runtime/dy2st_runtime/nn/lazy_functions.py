"""Shows functions of networks that are loaded late to type checkers; nothing imports it."""

from collections.abc import Callable
from typing import Any

from dy2st_runtime.nn.functions.activations import (
    gumbel_softmax,
    logsigmoid,
    maxout,
    rms_norm,
    rrelu,
    swiglu,
    thresholded_relu,
    thresholded_relu_,
)
from dy2st_runtime.nn.functions.alignment import (
    ctc_loss,
    rnnt_loss,
)
from dy2st_runtime.nn.functions.distances import (
    bilinear,
    pairwise_distance,
)
from dy2st_runtime.nn.functions.dropout import (
    alpha_dropout,
    dropout1d,
    dropout3d,
    feature_alpha_dropout,
)
from dy2st_runtime.nn.functions.flash_attention import (
    flash_attn_qkvpacked,
    flashmask_attention,
    sparse_attention,
)
from dy2st_runtime.nn.functions.fractional import (
    fractional_max_pool2d,
    fractional_max_pool3d,
)
from dy2st_runtime.nn.functions.grid import (
    affine_grid,
    grid_sample,
)
from dy2st_runtime.nn.functions.likelihood_losses import (
    dice_loss,
    gaussian_nll_loss,
    label_smooth,
    log_loss,
    poisson_nll_loss,
    sigmoid_focal_loss,
)
from dy2st_runtime.nn.functions.margin_losses import (
    class_center_sample,
    cosine_embedding_loss,
    margin_cross_entropy,
    multi_label_margin_loss,
    multi_label_soft_margin_loss,
    multi_margin_loss,
    npair_loss,
    soft_margin_loss,
    triplet_margin_loss,
    triplet_margin_with_distance_loss,
)
from dy2st_runtime.nn.functions.normalisation import (
    local_response_norm,
)
from dy2st_runtime.nn.functions.pixels import (
    channel_shuffle,
    pixel_unshuffle,
    temporal_shift,
    zeropad2d,
)
from dy2st_runtime.nn.functions.trees import (
    adaptive_log_softmax_with_loss,
    gather_tree,
    hsigmoid_loss,
)
from dy2st_runtime.nn.functions.unfold import (
    fold,
    unfold,
)
from dy2st_runtime.nn.functions.windows import (
    lp_pool1d,
    lp_pool2d,
    max_unpool1d,
    max_unpool2d,
    max_unpool3d,
)
from dy2st_runtime.ops.volumes import (
    adaptive_avg_pool3d,
    adaptive_max_pool3d,
    avg_pool3d,
    conv3d_transpose,
    max_pool3d,
)

__all__ = [
    "adaptive_avg_pool3d",
    "adaptive_log_softmax_with_loss",
    "adaptive_max_pool3d",
    "affine_grid",
    "alpha_dropout",
    "avg_pool3d",
    "bilinear",
    "channel_shuffle",
    "class_center_sample",
    "conv3d_transpose",
    "cosine_embedding_loss",
    "ctc_loss",
    "dice_loss",
    "dropout1d",
    "dropout3d",
    "elu_",
    "feature_alpha_dropout",
    "flash_attn_qkvpacked",
    "flashmask_attention",
    "fold",
    "fractional_max_pool2d",
    "fractional_max_pool3d",
    "gather_tree",
    "gaussian_nll_loss",
    "grid_sample",
    "gumbel_softmax",
    "hardtanh_",
    "hsigmoid_loss",
    "label_smooth",
    "leaky_relu_",
    "local_response_norm",
    "log_loss",
    "logsigmoid",
    "lp_pool1d",
    "lp_pool2d",
    "margin_cross_entropy",
    "max_pool3d",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
    "maxout",
    "multi_label_margin_loss",
    "multi_label_soft_margin_loss",
    "multi_margin_loss",
    "npair_loss",
    "pairwise_distance",
    "pixel_unshuffle",
    "poisson_nll_loss",
    "relu_",
    "rms_norm",
    "rnnt_loss",
    "rrelu",
    "sigmoid_focal_loss",
    "soft_margin_loss",
    "softmax_",
    "sparse_attention",
    "swiglu",
    "tanh_",
    "temporal_shift",
    "thresholded_relu",
    "thresholded_relu_",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
    "unfold",
    "zeropad2d",
]

elu_: Callable[..., Any]
hardtanh_: Callable[..., Any]
leaky_relu_: Callable[..., Any]
relu_: Callable[..., Any]
softmax_: Callable[..., Any]
tanh_: Callable[..., Any]
