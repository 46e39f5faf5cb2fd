"""Functions of neural networks: those of `dy2st_runtime.nn.functional`."""

from collections.abc import Callable, Sequence
from dy2st import (
    adaptive_avg_pool1d as adaptive_avg_pool1d,
    adaptive_avg_pool2d as adaptive_avg_pool2d,
    adaptive_avg_pool3d as adaptive_avg_pool3d,
    adaptive_max_pool1d as adaptive_max_pool1d,
    adaptive_max_pool2d as adaptive_max_pool2d,
    adaptive_max_pool3d as adaptive_max_pool3d,
    avg_pool1d as avg_pool1d,
    avg_pool2d as avg_pool2d,
    avg_pool3d as avg_pool3d,
    batch_norm as batch_norm,
    binary_cross_entropy as binary_cross_entropy,
    binary_cross_entropy_with_logits as binary_cross_entropy_with_logits,
    celu as celu,
    conv1d as conv1d,
    conv1d_transpose as conv1d_transpose,
    conv2d as conv2d,
    conv2d_transpose as conv2d_transpose,
    conv3d as conv3d,
    conv3d_transpose as conv3d_transpose,
    cosine_similarity as cosine_similarity,
    cross_entropy as cross_entropy,
    dropout as dropout,
    dropout2d as dropout2d,
    elu as elu,
    elu_ as elu_,
    embedding as embedding,
    gelu as gelu,
    glu as glu,
    group_norm as group_norm,
    hardshrink as hardshrink,
    hardsigmoid as hardsigmoid,
    hardswish as hardswish,
    hardtanh as hardtanh,
    hardtanh_ as hardtanh_,
    hinge_embedding_loss as hinge_embedding_loss,
    instance_norm as instance_norm,
    interpolate as interpolate,
    kl_div as kl_div,
    l1_loss as l1_loss,
    layer_norm as layer_norm,
    leaky_relu as leaky_relu,
    leaky_relu_ as leaky_relu_,
    linear as linear,
    log_sigmoid as log_sigmoid,
    log_softmax as log_softmax,
    margin_ranking_loss as margin_ranking_loss,
    max_pool1d as max_pool1d,
    max_pool2d as max_pool2d,
    max_pool3d as max_pool3d,
    mish as mish,
    mse_loss as mse_loss,
    nll_loss as nll_loss,
    normalize as normalize,
    one_hot as one_hot,
    pad as pad,
    pixel_shuffle as pixel_shuffle,
    prelu as prelu,
    relu as relu,
    relu6 as relu6,
    relu_ as relu_,
    scaled_dot_product_attention as scaled_dot_product_attention,
    selu as selu,
    sequence_mask as sequence_mask,
    sigmoid as sigmoid,
    silu as silu,
    smooth_l1_loss as smooth_l1_loss,
    softmax as softmax,
    softmax_ as softmax_,
    softmax_with_cross_entropy as softmax_with_cross_entropy,
    softplus as softplus,
    softshrink as softshrink,
    softsign as softsign,
    square_error_cost as square_error_cost,
    swish as swish,
    tanh as tanh,
    tanh_ as tanh_,
    tanhshrink as tanhshrink,
    upsample as upsample,
)
from dy2st_runtime.ir.tensor import ShapeLike, Tensor, TensorLike
from typing import Any, Literal, overload

def adaptive_log_softmax_with_loss(input: TensorLike, label: TensorLike, head_weight: TensorLike, tail_weights: Sequence[Sequence[Any]], cutoffs: Sequence[int], head_bias: Any = None, name: str | None = None) -> tuple[Tensor, Tensor]:
    """(n, d), (n,) -> log p of each label, (n,), and their negative mean (Grave 2016)."""
def affine_grid(theta: TensorLike, out_shape: ShapeLike, align_corners: bool = True, name: str | None = None) -> Tensor:
    """(n, 2, 3) -> (n, h, w, 2), or (n, 3, 4) -> (n, d, h, w, 3): where each pixel comes from."""
def alpha_dropout(x: TensorLike, p: float = 0.5, training: bool = True, name: str | None = None) -> Tensor:
    """Dropout that keeps mean and variance of what SELU gives (Klambauer 2017)."""
def bilinear(x1: TensorLike, x2: TensorLike, weight: TensorLike, bias: TensorLike | None = None, name: str | None = None) -> Tensor:
    """y[k] = x1 @ weight[k] @ x2 + bias[k]: (n, a), (n, b), (out, a, b) -> (n, out)."""
def channel_shuffle(x: TensorLike, groups: int, data_format: str = 'NCHW', name: str | None = None) -> Tensor:
    """(n, c, h, w) -> (n, c, h, w): the first channel of every group, then the second ones, ..."""
def class_center_sample(label: TensorLike, num_classes: int, num_samples: int, group: Any = None) -> tuple[Tensor, Tensor]:
    """The labels as places among sampled classes, and these: (n,) -> (n,), (num_samples,)."""
def cosine_embedding_loss(input1: TensorLike, input2: TensorLike, label: TensorLike, margin: float = 0, reduction: str = 'mean', name: str | None = None) -> Tensor:
    """1 - cos where the label is 1, max(0, cos - margin) where it is -1: (n, d), (n, d), (n,)."""
def ctc_loss(log_probs: TensorLike, labels: TensorLike, input_lengths: TensorLike, label_lengths: TensorLike, blank: int = 0, reduction: str = 'mean', norm_by_times: bool = False, zero_infinity: bool = False) -> Tensor:
    """-log of the sum of the probabilities of all alignments (Graves 2006)."""
def dice_loss(input: TensorLike, label: TensorLike, epsilon: float = 1e-05, name: str | None = None) -> Tensor:
    """The mean of 1 - 2 |a b| / (|a| + |b| + epsilon): (n, ..., c), class numbers (n, ..., 1)."""
def dropout1d(input: TensorLike, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """While training, zero whole channels of (n, c, l), or (c, l), with probability p."""
def dropout3d(x: TensorLike, p: float = 0.5, training: bool = True, data_format: str = 'NCDHW', name: str | None = None) -> Tensor:
    """While training, zero whole channels of (n, c, d, h, w) with probability p."""
def feature_alpha_dropout(x: TensorLike, p: float = 0.5, training: bool = True, name: str | None = None) -> Tensor:
    """`alpha_dropout` of whole channels of (n, c, ...)."""
def flash_attn_qkvpacked(qkv: TensorLike, dropout: float = 0.0, causal: bool = False, return_softmax: bool = False, *, fixed_seed_offset: Any = None, rng_name: str = '', training: bool = True, name: str | None = None) -> tuple[Tensor, Tensor | None]:
    """`flash_attention` of queries, keys and values in one: (n, l, groups + 2, heads, d)."""
def flashmask_attention(query: TensorLike, key: TensorLike, value: TensorLike, startend_row_indices: TensorLike | None = None, *, dropout: float = 0.0, causal: bool = False, window_size: int | Sequence[int] | None = None, return_softmax_lse: bool = False, return_seed_offset: bool = False, fixed_seed_offset: Any = None, rng_name: str = '', training: bool = True, name: str | None = None, softmax_scale: float | None = None, block_mask: TensorLike | None = None) -> Tensor:
    """Attention where each key says which queries do not see it: (n, l, heads, d) -> the same."""
def fold(x: TensorLike, output_sizes: ShapeLike, kernel_sizes: int | Sequence[int], strides: int | Sequence[int] = 1, paddings: int | Sequence[int] = 0, dilations: int | Sequence[int] = 1, name: str | None = None) -> Tensor:
    """(n, c * kh * kw, windows) -> (n, c, h, w): windows added to the image, where they overlap."""
@overload
def fractional_max_pool2d(x: TensorLike, output_size: int | Sequence[int | None], kernel_size: int | Sequence[int] | None = None, random_u: float | None = None, return_mask: Literal[False] = False, name: str | None = None) -> Tensor:
    """(n, c, h, w) -> (n, c, *output_size): the largest of windows of random size."""
@overload
def fractional_max_pool2d(x: TensorLike, output_size: int | Sequence[int | None], kernel_size: int | Sequence[int] | None = None, random_u: float | None = None, *, return_mask: Literal[True], name: str | None = None) -> tuple[Tensor, Tensor]:
    """(n, c, h, w) -> (n, c, *output_size): the largest of windows of random size."""
@overload
def fractional_max_pool3d(x: TensorLike, output_size: int | Sequence[int | None], kernel_size: int | Sequence[int] | None = None, random_u: float | None = None, return_mask: Literal[False] = False, name: str | None = None) -> Tensor:
    """(n, c, d, h, w) -> (n, c, *output_size); see `fractional_max_pool2d`."""
@overload
def fractional_max_pool3d(x: TensorLike, output_size: int | Sequence[int | None], kernel_size: int | Sequence[int] | None = None, random_u: float | None = None, *, return_mask: Literal[True], name: str | None = None) -> tuple[Tensor, Tensor]:
    """(n, c, d, h, w) -> (n, c, *output_size); see `fractional_max_pool2d`."""
def gather_tree(ids: TensorLike, parents: TensorLike) -> Tensor:
    """The sequences of a beam search, from the last step back: (t, n, beams) twice -> the same."""
def gaussian_nll_loss(input: TensorLike, label: TensorLike, variance: TensorLike, full: bool = False, epsilon: float = 1e-06, reduction: str = 'mean', name: str | None = None) -> Tensor:
    """(log(v) + (input - label)**2 / v) / 2 with v = max(variance, epsilon)."""
def grid_sample(x: TensorLike, grid: TensorLike, mode: str = 'bilinear', padding_mode: str = 'zeros', align_corners: bool = True, name: str | None = None) -> Tensor:
    """(n, c, h, w), (n, h', w', 2) -> (n, c, h', w'): x at the places of the grid; also in 3-d."""
def gumbel_softmax(x: TensorLike, temperature: float = 1.0, hard: bool = False, axis: int = -1, name: str | None = None) -> Tensor:
    """softmax((x + noise) / temperature), the noise from Gumbel's distribution (Jang 2016)."""
def hsigmoid_loss(input: TensorLike, label: TensorLike, num_classes: int, weight: TensorLike, bias: TensorLike | None = None, path_table: TensorLike | None = None, path_code: TensorLike | None = None, is_sparse: bool = False, name: str | None = None) -> Tensor:
    """-log of the product of the choices from the root to the label's leaf: (n, d) -> (n, 1)."""
def label_smooth(label: TensorLike, prior_dist: TensorLike | None = None, epsilon: float = 0.1, name: str | None = None) -> Tensor:
    """(1 - epsilon) * label + epsilon * prior, the prior 1 / classes for all if it is left out."""
def local_response_norm(x: TensorLike, size: int, alpha: float = 0.0001, beta: float = 0.75, k: float = 1.0, data_format: str = 'NCHW', name: str | None = None) -> Tensor:
    """x / (k + alpha * the mean of x**2 over `size` channels around)**beta."""
def log_loss(input: TensorLike, label: TensorLike, epsilon: float = 0.0001, name: str | None = None) -> Tensor:
    """-label * log(input + epsilon) - (1 - label) * log(1 - input + epsilon)."""
def logsigmoid(x: TensorLike, name: str | None = None) -> Tensor:
    """-log(1 + exp(-x)): `log_sigmoid` under another name."""
def lp_pool1d(x: TensorLike, norm_type: float, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None, padding: int | str | Sequence[int] | Sequence[Sequence[int]] = 0, ceil_mode: bool = False, data_format: str = 'NCL', name: str | None = None) -> Tensor:
    """(n, c, l) -> (n, c, l'): (sum x**p)**(1/p) of every window, with p = norm_type."""
def lp_pool2d(x: TensorLike, norm_type: float, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None, padding: int | str | Sequence[int] | Sequence[Sequence[int]] = 0, ceil_mode: bool = False, data_format: str = 'NCHW', name: str | None = None) -> Tensor:
    """(n, c, h, w) -> (n, c, h', w'): (sum x**p)**(1/p) of every window, with p = norm_type."""
def margin_cross_entropy(logits: TensorLike, label: TensorLike, margin1: float = 1.0, margin2: float = 0.5, margin3: float = 0.0, scale: float = 64.0, group: Any = None, return_softmax: bool = False, reduction: str | None = 'mean') -> Tensor:
    """Cross entropy of scale * cosines: (n, c), (n,) -> a number, or (n, 1) without reduction."""
def max_unpool1d(x: TensorLike, indices: TensorLike, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None, padding: int | str | Sequence[int] | Sequence[Sequence[int]] = 0, data_format: str = 'NCL', output_size: int | Sequence[int | None] | None = None, name: str | None = None) -> Tensor:
    """(n, c, l), places -> (n, c, l'): maxima back at their places, 0 elsewhere."""
def max_unpool2d(x: TensorLike, indices: TensorLike, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None, padding: int | str | Sequence[int] | Sequence[Sequence[int]] = 0, data_format: str = 'NCHW', output_size: int | Sequence[int | None] | None = None, name: str | None = None) -> Tensor:
    """(n, c, h, w), places -> (n, c, h', w'): maxima back at their places, 0 elsewhere."""
def max_unpool3d(x: TensorLike, indices: TensorLike, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None, padding: int | str | Sequence[int] | Sequence[Sequence[int]] = 0, data_format: str = 'NCDHW', output_size: int | Sequence[int | None] | None = None, name: str | None = None) -> Tensor:
    """(n, c, d, h, w), places -> (n, c, d', h', w'): maxima back at their places, 0 elsewhere."""
def maxout(x: TensorLike, groups: int, axis: int = 1, name: str | None = None) -> Tensor:
    """(n, c, ...) -> (n, c / groups, ...): the largest of `groups` channels (Goodfellow 2013)."""
def multi_label_margin_loss(input: TensorLike, label: TensorLike, reduction: str = 'mean', name: str | None = None) -> Tensor:
    """sum over own classes y and others i of max(0, 1 - x[y] + x[i]) / c: (n, c), (n, c)."""
def multi_label_soft_margin_loss(input: TensorLike, label: TensorLike, weight: TensorLike | None = None, reduction: str = 'mean', name: str | None = None) -> Tensor:
    """The mean over classes of -(y log s(x) + (1 - y) log s(-x)), s the sigmoid: (n, c), (n, c)."""
def multi_margin_loss(input: TensorLike, label: TensorLike, p: int = 1, margin: float = 1.0, weight: TensorLike | None = None, reduction: str = 'mean', name: str | None = None) -> Tensor:
    """sum over i != y of max(0, margin - x[y] + x[i])**p / c: (n, c), (n,)."""
def npair_loss(anchor: TensorLike, positive: TensorLike, labels: TensorLike, l2_reg: float = 0.002) -> Tensor:
    """Cross entropy of anchor @ positive' with who has the same label, and squares (Sohn 2016)."""
def pairwise_distance(x: TensorLike, y: TensorLike, p: float = 2.0, epsilon: float = 1e-06, keepdim: bool = False, name: str | None = None) -> Tensor:
    """(n, d), (n, d) -> (n,): (sum |x - y + epsilon|**p)**(1/p)."""
def pixel_unshuffle(x: TensorLike, downscale_factor: int, data_format: str = 'NCHW', name: str | None = None) -> Tensor:
    """(n, c, h*r, w*r) -> (n, c*r*r, h, w): squares of pixels as channels."""
def poisson_nll_loss(input: TensorLike, label: TensorLike, log_input: bool = True, full: bool = False, epsilon: float = 1e-08, reduction: str = 'mean', name: str | None = None) -> Tensor:
    """exp(input) - label * input, or without `log_input` input - label * log(input + epsilon)."""
def rms_norm(input: TensorLike, normalized_shape: ShapeLike, weight: TensorLike | None = None, eps: float = 1e-05, name: str | None = None) -> tuple[Tensor, Tensor]:
    """x * r * weight with r = 1 / sqrt(mean(x**2) + eps) over the last axes; and r (Zhang 2019)."""
def rnnt_loss(input: TensorLike, label: TensorLike, input_lengths: TensorLike, label_lengths: TensorLike, blank: int = 0, fastemit_lambda: float = 0.001, reduction: str = 'mean', name: str | None = None) -> Tensor:
    """-log of the sum of the probabilities of all paths of a transducer (Graves 2012)."""
def rrelu(x: TensorLike, lower: float = 0.125, upper: float = 0.3333333333333333, training: bool = True, name: str | None = None) -> Tensor:
    """x where x >= 0, else a * x: a is drawn from [lower, upper), or else their mean (Xu 2015)."""
def sigmoid_focal_loss(logit: TensorLike, label: TensorLike, normalizer: TensorLike | None = None, alpha: float = 0.25, gamma: float = 2.0, reduction: str = 'sum', name: str | None = None) -> Tensor:
    """a * (1 - p)**gamma * (-log p), p the probability of the label, a alpha or 1 - alpha."""
def soft_margin_loss(input: TensorLike, label: TensorLike, reduction: str = 'mean', name: str | None = None) -> Tensor:
    """log(1 + exp(-label * input)), the labels being 1 and -1."""
def sparse_attention(query: TensorLike, key: TensorLike, value: TensorLike, sparse_csr_offset: TensorLike, sparse_csr_columns: TensorLike, key_padding_mask: TensorLike | None = None, attn_mask: TensorLike | None = None, name: str | None = None) -> Tensor:
    """Refused: there are no kernels that skip what a mask hides."""
def swiglu(x: TensorLike, y: TensorLike | None = None, name: str | None = None) -> Tensor:
    """silu(x) * y; without y the halves of x along its last axis (Shazeer 2020)."""
def temporal_shift(x: TensorLike, seg_num: int, shift_ratio: float = 0.25, name: str | None = None, data_format: str = 'NCHW') -> Tensor:
    """(n*t, c, h, w) -> (n*t, c, h, w): some channels from the frame before, some from the next."""
def thresholded_relu(x: TensorLike, threshold: float = 1.0, value: float = 0.0, name: str | None = None) -> Tensor:
    """x where x > threshold, else value."""
def thresholded_relu_(x: TensorLike, threshold: float = 1.0, value: float = 0.0, name: str | None = None) -> Tensor:
    """`thresholded_relu` in place: the tensor is the result from here on."""
def triplet_margin_loss(input: TensorLike, positive: TensorLike, negative: TensorLike, margin: float = 1.0, p: float = 2, epsilon: float = 1e-06, swap: bool = False, reduction: str = 'mean', name: str | None = None) -> Tensor:
    """max(0, |input - positive| - |input - negative| + margin), norms with exponent p."""
def triplet_margin_with_distance_loss(input: TensorLike, positive: TensorLike, negative: TensorLike, distance_function: Callable[[Any, Any], Any] | None = None, margin: float = 1.0, swap: bool = False, reduction: str = 'mean', name: str | None = None) -> Tensor:
    """`triplet_margin_loss` with a distance of one's own; Euclid's if it is left out."""
def unfold(x: TensorLike, kernel_sizes: int | Sequence[int], strides: int | Sequence[int] = 1, paddings: int | Sequence[int] = 0, dilations: int | Sequence[int] = 1, name: str | None = None) -> Tensor:
    """(n, c, h, w) -> (n, c * kh * kw, windows): every window of an image as a column."""
def zeropad2d(x: TensorLike, padding: int | str | Sequence[int] | Sequence[Sequence[int]], data_format: str = 'NCHW', name: str | None = None) -> Tensor:
    """(n, c, h, w) -> (n, c, top + h + bottom, left + w + right)."""
