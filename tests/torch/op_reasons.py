"""Samples of torch's operator tests that mean something else to PaddlePaddle 3.3.1, with the reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

Test = Callable[[Any, Any], bool]
"""Whether a sample, of a dtype, is one of those."""

RANDOM = (
    "alpha_dropout bernoulli cauchy dropout dropout2d dropout3d exponential feature_alpha_dropout "
    "fractional_max_pool2d fractional_max_pool3d geometric log_normal multinomial normal rand_like "
    "randint randint_like randn randn_like rrelu uniform pca_lowrank svd_lowrank empty empty_like"
).split()
"""Entries that draw at random, or have no defined values."""


def _is_complex(sample: Any, dtype: Any) -> bool:
    return bool(dtype.is_complex)


def _is_bool(sample: Any, dtype: Any) -> bool:
    return bool(dtype == torch.bool)


def _is_whole(sample: Any, dtype: Any) -> bool:
    return not dtype.is_complex and not dtype.is_floating_point


def _always(sample: Any, dtype: Any) -> bool:
    return True


def _rank(sample: Any) -> int:
    return sample.input.ndim if isinstance(sample.input, torch.Tensor) else -1


def _has_no_axes(sample: Any, dtype: Any) -> bool:
    return _rank(sample) == 0


def _is_no_batch(sample: Any, dtype: Any) -> bool:
    return _rank(sample) < 2


def _is_empty(sample: Any, dtype: Any) -> bool:
    return sample.input.numel() == 0


def _has(name: str, test: Callable[[Any], bool]) -> Test:
    return lambda sample, dtype: name in sample.kwargs and test(sample.kwargs[name])


def _has_two_axes_no(sample: Any, dtype: Any) -> bool:
    axes = sample.kwargs.get("dim", (0, 1))
    return not isinstance(axes, tuple) or len(axes) != 2


def _divisor(sample: Any, dtype: Any) -> bool:
    named = sample.kwargs.get("divisor_override")
    return (sample.args[5] if len(sample.args) > 5 else named) is not None


def _soft_and_weighed(sample: Any, dtype: Any) -> bool:
    soft = sample.args[0].is_floating_point()
    return soft and sample.kwargs.get("weight") is not None


def _cut_base(sample: Any, dtype: Any) -> bool:
    base = sample.args[2] if len(sample.args) > 2 else 10
    wanted = sample.kwargs.get("dtype", dtype)
    return not wanted.is_floating_point and not wanted.is_complex and base != int(base)


def _takes_away(sample: Any, dtype: Any) -> bool:
    return min(sample.args[0]) < 0


def _of_all(sample: Any, dtype: Any) -> bool:
    named = sample.kwargs
    return bool(named.get("return_inverse")) and named.get("dim") is None and _rank(sample) > 1


def _negative_order(sample: Any, dtype: Any) -> bool:
    order = sample.args[0] if sample.args else sample.kwargs.get("ord")
    return isinstance(order, (int, float)) and order < 0


F = "nn.functional."
VALUES: list[tuple[str, Test, str]] = [
    (
        f"{F}conv1d {F}conv2d {F}conv3d {F}conv_transpose1d {F}conv_transpose2d "
        f"{F}conv_transpose3d corrcoef logaddexp logcumsumexp logsumexp",
        _is_complex,
        "PaddlePaddle computes it of real numbers alone",
    ),
    ("logit logsumexp sign sgn sinc special.entr", _is_bool, "bools are no numbers to it"),
    (
        f"gather scatter transpose transpose_copy nonzero argwhere {F}normalize "
        f"{F}cosine_similarity unique unique_consecutive",
        _has_no_axes,
        "PaddlePaddle's takes tensors with axes",
    ),
    ("unique unique_consecutive", _of_all, "PaddlePaddle's places are a vector"),
    ("linalg.norm", _is_empty, "PaddlePaddle has no largest of no elements"),
    (
        "fft.fft2 fft.ifft2 fft.rfft2 fft.irfft2 fft.ihfft2",
        _has_two_axes_no,
        "PaddlePaddle's takes two axes",
    ),
    (f"{F}interpolate.nearest-exact", _always, "PaddlePaddle has no such mode"),
    (f"{F}grid_sample", _has("mode", "bicubic".__eq__), "PaddlePaddle has no such mode"),
    ("cov", _has("correction", lambda n: n > 1), "PaddlePaddle divides by n or n - 1"),
    (
        f"{F}avg_pool1d {F}avg_pool2d {F}avg_pool3d {F}local_response_norm addmv addbmm baddbmm "
        "addr special.entr",
        _is_whole,
        "integers are cut there, or rounded to float32: here they become float64",
    ),
    (
        f"{F}avg_pool2d {F}avg_pool3d",
        _divisor,
        "PaddlePaddle's divisor replaces the size of the window behind the division by its own",
    ),
    (
        f"{F}max_pool2d {F}max_pool3d",
        _has("dilation", lambda n: n not in (1, (1, 1), (1, 1, 1))),
        "PaddlePaddle's pooling has no dilation",
    ),
    ("kthvalue median nanmedian topk mode", _is_whole, "which of equal elements is torch's own"),
    ("sort argsort", _is_bool, "which of equal elements is torch's own"),
    (f"{F}bilinear", lambda sample, _: _rank(sample) != 2, "PaddlePaddle's takes matrices alone"),
    (
        f"{F}cosine_embedding_loss {F}multi_margin_loss {F}multilabel_margin_loss {F}nll_loss "
        f"{F}batch_norm",
        _is_no_batch,
        "PaddlePaddle's takes batches alone",
    ),
    (f"{F}embedding", _has("padding_idx", lambda _: True), "PaddlePaddle gives zeros there"),
    (
        f"{F}cross_entropy",
        _soft_and_weighed,
        "PaddlePaddle weighs a soft label once, by the mean of the weights of its classes",
    ),
    ("logspace", _cut_base, "PaddlePaddle cuts the base for integers, too"),
    (f"{F}hinge_embedding_loss", _has_no_axes, "the label of this sample is neither 1 nor -1"),
    (f"{F}pad.circular", _takes_away, "PaddlePaddle wraps round what is taken away, too"),
]
GRADIENTS: list[tuple[str, Test, str]] = [
    ("nextafter", _always, "PaddlePaddle's function of steps has no gradient"),
    ("cholesky_inverse cholesky_solve", _always, "there it lies in the triangle not read, too"),
    ("linalg.norm.subgradients_at_zero", _negative_order, "at 0 PaddlePaddle's is NaN"),
    ("linalg.pinv.hermitian", _always, "the samples are not Hermitian, and the rule reads all"),
    ("cov", _has("aweights", lambda w: w is not None), "there it is the rounding of float32"),
]

LABELS = {
    f"{F}{name}"
    for name in (
        "binary_cross_entropy",
        "binary_cross_entropy_with_logits",
        "kl_div",
        "cross_entropy",
    )
}
"""Entries whose second tensor is what is to be learnt: PaddlePaddle has no gradient of it."""


def reason(op: Any, sample: Any, dtype: Any, gradients: bool) -> str:
    """Why a sample of an entry means something else, nothing if it does not."""
    names = {op.name, f"{op.name}.{op.variant_test_name}"}
    for entries, test, why in VALUES + (GRADIENTS if gradients else []):
        if not names.isdisjoint(entries.split()) and test(sample, dtype):
            return why
    return ""
