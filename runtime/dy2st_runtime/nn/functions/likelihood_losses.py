"""Losses that are negative logarithms of likelihoods, their relatives, and smoothed labels."""

from __future__ import annotations

import math
from typing import Any

from dy2st_runtime.dims import equal
from dy2st_runtime.errors import ArgumentError, ShapeError
from dy2st_runtime.ir import F
from dy2st_runtime.ops.short_floats import in_float32


@in_float32
def gaussian_nll_loss(
    input: Any,
    label: Any,
    variance: Any,
    full: bool = False,
    epsilon: float = 1e-6,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """(log(v) + (input - label)**2 / v) / 2 with v = max(variance, epsilon).

    The variance has the shape of the input, or one number a row: (n,) or (n, 1) for (n, d). `full`
    adds log(2 pi) / 2. The slope of v is 1 everywhere, so that too small a variance can grow.

    >>> x, label = dy2st.zeros([1, 2]), dy2st.full([1, 2], 2.0)
    >>> dy2st.nn.functional.gaussian_nll_loss(x, label, dy2st.ones([1, 2])).item()
    2.0
    """
    if variance.ndim == input.ndim - 1:
        variance = F.unsqueeze(variance, [-1])
    fits = variance.ndim == input.ndim
    if fits:
        # The sizes are the same, or may be, or the last one is 1.
        own, whole = variance.shape, input.shape
        fits = all(equal(a, b) is not False for a, b in zip(own[:-1], whole[:-1], strict=True))
        fits = fits and (equal(own[-1], 1) is True or equal(own[-1], whole[-1]) is not False)
    if not fits:
        raise ShapeError(f"gaussian_nll_loss: variance {variance.shape} of input {input.shape}")
    v = variance + F.detach(F.relu(epsilon - variance))
    loss = (F.log(v) + F.square(input - label) / v) * 0.5
    return reduced(loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction)


@in_float32
def poisson_nll_loss(
    input: Any,
    label: Any,
    log_input: bool = True,
    full: bool = False,
    epsilon: float = 1e-8,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """exp(input) - label * input, or without `log_input` input - label * log(input + epsilon).

    `full` adds Stirling's log(label!) where the label is above 1.

    >>> dy2st.nn.functional.poisson_nll_loss(dy2st.zeros([2]), dy2st.ones([2])).item()
    1.0
    """
    if log_input:
        loss = F.exp(input) - label * input
    else:
        loss = input - label * F.log(input + epsilon)
    if full:
        large = F.greater_than(label, 1)
        safe = F.where(large, label, F.ones_like(label))
        stirling = safe * F.log(safe) - safe + 0.5 * F.log(safe * (2 * math.pi))
        loss = loss + F.where(large, stirling, F.zeros_like(stirling))
    return reduced(loss, reduction)


@in_float32
def log_loss(input: Any, label: Any, epsilon: float = 1e-4, name: str | None = None) -> Any:
    """-label * log(input + epsilon) - (1 - label) * log(1 - input + epsilon).

    >>> print(round(log_loss(F.ones([1, 1]) * 0.5, F.ones([1, 1])).item(), 3))
    0.693
    """
    yes, no = F.log(input + epsilon), F.log(1.0 - input + epsilon)
    return -label * yes - (1.0 - label) * no


@in_float32
def sigmoid_focal_loss(
    logit: Any,
    label: Any,
    normalizer: Any = None,
    alpha: float = 0.25,
    gamma: float = 2.0,
    reduction: str = "sum",
    name: str | None = None,
) -> Any:
    """a * (1 - p)**gamma * (-log p), p the probability of the label, a alpha or 1 - alpha.

    p = sigmoid(logit) where the label is 1; the loss is divided by the normalizer (Lin 2017).

    >>> logit, label = dy2st.zeros([1, 1]), dy2st.ones([1, 1])
    >>> loss = dy2st.nn.functional.sigmoid_focal_loss(logit, label)
    >>> round(loss.item(), 4)  # 0.25 * 0.5**2 * log 2
    0.0433
    """
    probability = F.sigmoid(logit)
    other = probability * (1.0 - label) + (1.0 - probability) * label  # 1 - p
    entropy = F.binary_cross_entropy_with_logits(logit, label, reduction="none")
    share = label * alpha + (1.0 - label) * (1.0 - alpha)
    loss = share * F.pow(other, gamma) * entropy
    return reduced(loss if normalizer is None else loss / normalizer, reduction)


@in_float32
def dice_loss(input: Any, label: Any, epsilon: float = 1e-5, name: str | None = None) -> Any:
    """The mean of 1 - 2 |a b| / (|a| + |b| + epsilon): (n, ..., c), class numbers (n, ..., 1).

    >>> print(dice_loss(F.ones([1, 1]), F.zeros([1, 1], "int64"), 0.0).item())
    0.0
    """
    if input.ndim < 2 or label.ndim != input.ndim or equal(label.shape[-1], 1) is False:
        raise ShapeError(f"dice_loss takes (n, ..., c), (n, ..., 1): {input.shape}, {label.shape}")
    truth = F.cast(F.one_hot(F.squeeze(label, -1), input.shape[-1]), input.dtype)
    axes = list(range(1, input.ndim))
    common, own, other = (F.sum(part, axis=axes) for part in (input * truth, input, truth))
    return F.mean(1.0 - common * 2.0 / (own + other + epsilon))


@in_float32
def label_smooth(
    label: Any, prior_dist: Any = None, epsilon: float = 0.1, name: str | None = None
) -> Any:
    """(1 - epsilon) * label + epsilon * prior, the prior 1 / classes for all if it is left out.

    >>> print(label_smooth(F.eye(2), epsilon=0.5))
    [[0.75 0.25]
     [0.25 0.75]]
    """
    smooth = label * (1.0 - epsilon)
    if prior_dist is not None:
        return smooth + prior_dist * epsilon
    return smooth + epsilon / F.cast(label.shape[-1], label.dtype)


def reduced(loss: Any, reduction: str | None) -> Any:
    """Their mean, their sum, or, for 'none', themselves.

    >>> print(reduced(F.ones([3]), "sum").item())
    3.0
    """
    if reduction == "mean":
        return F.mean(loss)
    if reduction == "sum":
        return F.sum(loss)
    if reduction in ("none", None):
        return loss
    raise ArgumentError(f"the reduction is 'mean', 'sum' or 'none', not {reduction!r}")
