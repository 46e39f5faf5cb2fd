"""Losses: composites; the reduction is 'mean', 'sum' or 'none'."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.dims import equal
from dy2st_runtime.errors import ArgumentError, ShapeError
from dy2st_runtime.ir import F, public
from dy2st_runtime.ir.arguments import normalize_axis


def _reduced(loss: Any, reduction: str) -> Any:
    if reduction == "mean":
        return F.mean(loss)
    if reduction == "sum":
        return F.sum(loss)
    if reduction == "none":
        return loss
    raise ArgumentError(f"the reduction is 'mean', 'sum' or 'none', not {reduction!r}")


def _same_shape(name: str, input: Any, label: Any) -> None:
    if input.ndim != label.ndim:
        raise ShapeError(f"{name}: input {input.shape} and label {label.shape} differ in rank")


@public
def cross_entropy(
    input: Any,
    label: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    soft_label: bool = False,
    axis: int = -1,
    use_softmax: bool = True,
    label_smoothing: float = 0.0,
    name: str | None = None,
) -> Any:
    """-log softmax(input)[label] along an axis.

    The label holds class numbers, (n,) or (n, 1), or with `soft_label` probabilities of the shape
    of the input. `weight` has one number a class; 'mean' divides by the sum of weights.
    """
    place = normalize_axis(axis, input.ndim)
    log_p = F.log_softmax(input, place) if use_softmax else F.log(input)
    if soft_label or label_smoothing:
        return _soft_entropy(
            input, log_p, label, weight, reduction, soft_label, place, label_smoothing, ignore_index
        )
    return _hard_entropy(log_p, label, weight, ignore_index, reduction, place)


def _soft_entropy(
    input: Any,
    log_p: Any,
    label: Any,
    weight: Any,
    reduction: str,
    soft: bool,
    axis: int,
    smoothing: float,
    ignore_index: int,
) -> Any:
    classes = input.shape[axis]
    valid = None
    if not soft:
        label = _class_numbers(input, label, axis)
        valid = F.not_equal(label, ignore_index)
        safe = F.where(valid, label, F.zeros_like(label))
        label = F.moveaxis(F.cast(F.one_hot(safe, classes), input.dtype), -1, axis)
    if smoothing:
        label = label * (1.0 - smoothing) + smoothing / F.cast(classes, input.dtype)
    factor = label if weight is None else label * _along(weight, input.ndim, axis)
    loss = -F.sum(factor * log_p, axis=axis)
    if valid is not None:
        loss = F.where(valid, loss, F.zeros_like(loss))
    if reduction != "mean":
        return _reduced(loss, reduction)
    if weight is not None:
        total = F.sum(factor)
    elif valid is not None:
        total = F.sum(F.cast(valid, loss.dtype))
    else:
        return F.mean(loss)
    return F.sum(loss) / total


def _along(weight: Any, rank: int, axis: int) -> Any:
    shape: list[Any] = [1] * rank
    shape[axis] = weight.shape[0]
    return F.reshape(weight, shape)


def _class_numbers(input: Any, label: Any, axis: int) -> Any:
    """Class numbers without the axis of size 1 that they may have."""
    if label.ndim == input.ndim:
        if equal(label.shape[axis], 1) is not True:
            raise ShapeError(
                f"cross_entropy: a label of shape {label.shape} holds class numbers for "
                f"{input.shape}; for probabilities pass soft_label=True"
            )
        label = F.squeeze(label, axis)
    if label.ndim != input.ndim - 1:
        raise ShapeError(f"cross_entropy: the label {label.shape} does not fit {input.shape}")
    if label.dtype.kind not in "iu":
        raise ArgumentError(
            f"cross_entropy: class numbers are integers, not {label.dtype}; for probabilities pass "
            "soft_label=True"
        )
    return label


def _hard_entropy(
    log_p: Any, label: Any, weight: Any, ignore_index: int, reduction: str, axis: int
) -> Any:
    label = F.cast(_class_numbers(log_p, label, axis), "int64")
    valid = F.not_equal(label, ignore_index)
    safe = F.where(valid, label, F.zeros_like(label))
    picked = F.take_along_axis(log_p, F.unsqueeze(safe, [axis]), axis, broadcast=False)
    loss = -F.squeeze(picked, axis)
    share = F.cast(valid, log_p.dtype)
    if weight is not None:
        share = share * F.gather(weight, safe)
    loss = F.where(valid, loss * share, F.zeros_like(loss))
    if reduction != "mean":
        return _reduced(loss, reduction)
    return F.sum(loss) / F.sum(share)


@public
def softmax_with_cross_entropy(
    logits: Any, label: Any, soft_label: bool = False, ignore_index: int = -100, axis: int = -1
) -> Any:
    """`cross_entropy` without reduction, with the axis kept."""
    loss = cross_entropy(logits, label, None, ignore_index, "none", soft_label, axis)
    return F.unsqueeze(loss, [normalize_axis(axis, logits.ndim)])


@public
def nll_loss(
    input: Any,
    label: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """-input[label]: (n, classes, ...), (n, ...) -> scalar, or the shape of label."""
    return _hard_entropy(input, label, weight, ignore_index, reduction, 1)


@public
def mse_loss(input: Any, label: Any, reduction: str = "mean", name: str | None = None) -> Any:
    """(input - label)**2."""
    return _reduced(F.square(input - label), reduction)


@public
def square_error_cost(input: Any, label: Any) -> Any:
    """(input - label)**2, without reduction."""
    return F.square(input - label)


@public
def l1_loss(input: Any, label: Any, reduction: str = "mean", name: str | None = None) -> Any:
    """|input - label|."""
    return _reduced(F.abs(input - label), reduction)


@public
def smooth_l1_loss(
    input: Any, label: Any, reduction: str = "mean", delta: float = 1.0, name: str | None = None
) -> Any:
    """d**2 / 2 where |d| < delta, else delta * (|d| - delta / 2), with d = input - label."""
    size = F.abs(input - label)
    inner = F.square(size) * 0.5
    outer = (size - 0.5 * delta) * delta
    return _reduced(F.where(F.less_than(size, delta), inner, outer), reduction)


@public
def binary_cross_entropy(
    input: Any, label: Any, weight: Any = None, reduction: str = "mean", name: str | None = None
) -> Any:
    """-(label * log(input) + (1 - label) * log(1 - input)); logarithms from -100."""
    _same_shape("binary_cross_entropy", input, label)
    yes = F.maximum(F.log(input), -100.0)
    no = F.maximum(F.log(1.0 - input), -100.0)
    loss = -(label * yes + (1.0 - label) * no)
    return _reduced(loss if weight is None else loss * weight, reduction)


@public
def binary_cross_entropy_with_logits(
    logit: Any,
    label: Any,
    weight: Any = None,
    reduction: str = "mean",
    pos_weight: Any = None,
    name: str | None = None,
) -> Any:
    """`binary_cross_entropy` of sigmoid(logit), computed without overflow."""
    _same_shape("binary_cross_entropy_with_logits", logit, label)
    low = F.softplus(-F.abs(logit), threshold=float("inf")) + F.relu(-logit)  # -log sigmoid
    loss = (1.0 - label) * logit + low
    if pos_weight is not None:
        loss = (1.0 - label) * logit + (label * (pos_weight - 1.0) + 1.0) * low
    return _reduced(loss if weight is None else loss * weight, reduction)


@public
def kl_div(
    input: Any,
    label: Any,
    reduction: str = "mean",
    log_target: bool = False,
    name: str | None = None,
) -> Any:
    """label * (log(label) - input), 0 where the label is 0; the input holds logarithms."""
    if log_target:
        loss = F.exp(label) * (label - input)
    else:
        positive = F.greater_than(label, 0)
        safe = F.where(positive, label, F.ones_like(label))
        loss = F.where(positive, label * (F.log(safe) - input), F.zeros_like(label))
    if reduction == "batchmean":
        return F.sum(loss) / F.cast(loss.shape[0], loss.dtype)
    return _reduced(loss, reduction)


@public
def cosine_similarity(x1: Any, x2: Any, axis: int = 1, eps: float = 1e-8) -> Any:
    """x1 . x2 / max(|x1| |x2|, eps) along an axis."""
    product = F.sum(x1 * x2, axis=axis)
    sizes = F.sqrt(F.sum(F.square(x1), axis=axis) * F.sum(F.square(x2), axis=axis))
    return product / F.maximum(sizes, eps)


@public
def hinge_embedding_loss(
    input: Any, label: Any, margin: float = 1.0, reduction: str = "mean", name: str | None = None
) -> Any:
    """input where the label is 1, max(0, margin - input) where it is -1."""
    loss = F.where(F.equal(label, 1), input, F.relu(margin - input))
    return _reduced(loss, reduction)


@public
def margin_ranking_loss(
    input: Any,
    other: Any,
    label: Any,
    margin: float = 0.0,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """max(0, -label * (input - other) + margin)."""
    return _reduced(F.relu(-label * (input - other) + margin), reduction)
