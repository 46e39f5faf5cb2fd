"""Losses: composites; the reduction is 'mean', 'sum' or 'none'.

As in PaddlePaddle no gradient flows to the labels of entropies, which are what is to be learnt.
"""

from __future__ import annotations

from typing import Any

from dy2st_runtime.dims import broadcast, equal, require_equal
from dy2st_runtime.errors import ArgumentError, ShapeError
from dy2st_runtime.ir import F, public
from dy2st_runtime.ir.arguments import normalize_axis
from dy2st_runtime.ops.rules import require_places
from dy2st_runtime.ops.short_floats import in_float32
from dy2st_runtime.ops.statistics import root


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
@in_float32
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
    of the input: without reduction the loss is (n,), (n, 1) and (n, 1). `weight` has one number a
    class. 'mean' divides by the sum of weights; without weights by the number of labels, of which
    those that are ignored do not count if `ignore_index` is 0 or more.

    Labels of `ignore_index` do not count; with `label_smoothing` e the wanted probability is
    1 - e + e / classes. Raises ShapeError for a label that does not fit, ArgumentError for labels
    that are no integers without `soft_label`.

    >>> logits = dy2st.to_tensor([[0.0, 0.0], [3.0, 0.0]])
    >>> loss = dy2st.nn.functional.cross_entropy(logits, dy2st.to_tensor([0, 0]), reduction="none")
    >>> print(loss.round(3))
    [0.693 0.049]
    """
    place = normalize_axis(axis, input.ndim)
    log_p = F.log_softmax(input, place) if use_softmax else F.log(input)
    if soft_label:
        label = F.cast(label, input.dtype)
        return _soft_entropy(log_p, label, weight, reduction, place, label_smoothing, None)
    valid, safe = _valid_numbers("cross_entropy", input, label, place, ignore_index)
    if label_smoothing:
        chosen = F.moveaxis(F.cast(F.one_hot(safe, input.shape[place]), input.dtype), -1, place)
        valid = F.unsqueeze(valid, [place])
        return _soft_entropy(log_p, chosen, weight, reduction, place, label_smoothing, valid)
    kept = [place] if label.ndim == input.ndim and reduction == "none" else []
    counts_all = weight is None and ignore_index < 0
    return _hard_entropy(log_p, safe, valid, weight, reduction, place, kept, counts_all)


def _soft_entropy(
    log_p: Any, label: Any, weight: Any, reduction: str, axis: int, smoothing: float, valid: Any
) -> Any:
    """Of probabilities; the axis stays. `weight` multiplies with the weight of the whole label."""
    if smoothing:
        label = label * (1.0 - smoothing) + smoothing / F.cast(log_p.shape[axis], log_p.dtype)
    loss = -F.sum(F.detach(label) * log_p, axis=axis, keepdim=True)
    share = None if valid is None else F.cast(valid, loss.dtype)
    if weight is not None:
        shape: list[Any] = [1] * log_p.ndim
        shape[axis] = weight.shape[0]
        weights = F.sum(label * F.reshape(weight, shape), axis=axis, keepdim=True)
        share = weights if share is None else weights * share
    if share is None:
        return _reduced(loss, reduction)
    loss = loss * share if valid is None else F.where(valid, loss * share, F.zeros_like(loss))
    return _ratio(loss, share) if reduction == "mean" else _reduced(loss, reduction)


def _ratio(loss: Any, share: Any) -> Any:
    """sum(loss) / sum(share); 0 where nothing counts."""
    total = F.sum(share)
    return F.sum(loss) / F.where(F.equal(total, 0), F.ones_like(total), total)


def _valid_numbers(
    name: str, input: Any, label: Any, axis: int, ignore_index: int
) -> tuple[Any, Any]:
    """Which class numbers count, and all of them with 0 for those that do not."""
    # Class numbers without the axis of size 1 that they may have.
    if label.ndim == input.ndim:
        if equal(label.shape[axis], 1) is not True:
            raise ShapeError(
                f"{name}: a label of shape {label.shape} holds class numbers for "
                f"{input.shape}; for probabilities pass soft_label=True"
            )
        label = F.squeeze(label, axis)
    if label.ndim != input.ndim - 1:
        raise ShapeError(f"{name}: the label {label.shape} does not fit {input.shape}")
    if label.dtype.kind not in "iu":
        raise ArgumentError(
            f"{name}: class numbers are integers, not {label.dtype}; for probabilities pass "
            "soft_label=True"
        )
    reason = f"{name}: the label {label.shape} does not fit {input.shape}"
    rows = [*input.shape[:axis], *input.shape[axis + 1 :]]
    for count, size in zip(label.shape, rows, strict=True):
        require_equal(count, size, reason)  # else fewer labels would go with the first rows
    numbers = F.cast(label, "int64")
    valid = F.not_equal(numbers, ignore_index)
    safe = F.where(valid, numbers, F.zeros_like(numbers))
    return valid, require_places(f"{name}: the label", safe, input.shape[axis])


def _hard_entropy(
    log_p: Any,
    safe: Any,
    valid: Any,
    weight: Any,
    reduction: str,
    axis: int,
    kept: list[int],
    counts_all: bool,
) -> Any:
    """Of class numbers, `safe` where they are not `valid`; the axes `kept` stay."""
    picked = F.take_along_axis(log_p, F.unsqueeze(safe, [axis]), axis, broadcast=False)
    loss = -F.squeeze(picked, axis)
    share = F.cast(valid, log_p.dtype)
    if weight is not None:
        share = share * F.gather(weight, safe)
    loss = F.where(valid, loss * share, F.zeros_like(loss))
    if reduction == "mean" and not counts_all:
        return _ratio(loss, share)
    return _reduced(F.unsqueeze(loss, kept) if kept else loss, reduction)


@public
@in_float32
def softmax_with_cross_entropy(
    logits: Any,
    label: Any,
    soft_label: bool = False,
    ignore_index: int = -100,
    numeric_stable_mode: bool = True,
    return_softmax: bool = False,
    axis: int = -1,
) -> Any:
    """`cross_entropy` without reduction, with the axis kept; also the softmax if it is wanted.

    (n, classes), (n, 1) -> (n, 1).

    It is computed without overflow, whatever `numeric_stable_mode` says.

    >>> logits = dy2st.to_tensor([[0.0, 0.0]])
    >>> loss = dy2st.nn.functional.softmax_with_cross_entropy(logits, dy2st.to_tensor([[1]]))
    >>> print(loss.round(3))
    [[0.693]]
    """
    place = normalize_axis(axis, logits.ndim)
    loss = cross_entropy(logits, label, None, ignore_index, "none", soft_label, place)
    loss = loss if loss.ndim == logits.ndim else F.unsqueeze(loss, [place])
    return (loss, F.detach(F.softmax(logits, place))) if return_softmax else loss


@public
@in_float32
def nll_loss(
    input: Any,
    label: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """-input[label]: (n, classes, ...), (n, ...) -> scalar, or the shape of label.

    The input holds logarithms of probabilities; `weight` has one number a class; labels of
    `ignore_index` do not count. 'mean' divides by the sum of the weights that count.

    >>> x = dy2st.to_tensor([[-1.0, -2.0], [-3.0, -4.0]])
    >>> dy2st.nn.functional.nll_loss(x, dy2st.to_tensor([0, 1])).item()
    2.5
    """
    if input.ndim < 2:
        raise ShapeError(f"nll_loss takes (n, classes, ...), not {input.shape}")
    valid, safe = _valid_numbers("nll_loss", input, label, 1, ignore_index)
    weight = None if weight is None else F.detach(weight)
    return _hard_entropy(input, safe, valid, weight, reduction, 1, [], False)


@public
@in_float32
def mse_loss(input: Any, label: Any, reduction: str = "mean", name: str | None = None) -> Any:
    """(input - label)**2, elementwise; reduction: 'mean', 'sum' or 'none'.

    >>> x, y = dy2st.to_tensor([1.0, 2.0]), dy2st.to_tensor([1.0, 4.0])
    >>> dy2st.nn.functional.mse_loss(x, y).item()
    2.0
    """
    return _reduced(F.square(input - label), reduction)


@public
def square_error_cost(input: Any, label: Any) -> Any:
    """(input - label)**2, without reduction: (...,), (...,) -> (...,).

    >>> x, y = dy2st.to_tensor([1.0, 2.0]), dy2st.to_tensor([1.0, 4.0])
    >>> dy2st.nn.functional.square_error_cost(x, y).tolist()
    [0.0, 4.0]
    """
    return F.square(input - label)


@public
@in_float32
def l1_loss(input: Any, label: Any, reduction: str = "mean", name: str | None = None) -> Any:
    """|input - label|, elementwise; reduction: 'mean', 'sum' or 'none'.

    >>> x, y = dy2st.to_tensor([1.0, 2.0]), dy2st.to_tensor([1.0, 4.0])
    >>> dy2st.nn.functional.l1_loss(x, y, reduction="sum").item()
    2.0
    """
    return _reduced(F.abs(input - label), reduction)


@public
@in_float32
def smooth_l1_loss(
    input: Any,
    label: Any,
    reduction: str = "mean",
    delta: float = 1.0,
    is_huber: bool = True,
    name: str | None = None,
) -> Any:
    """d**2 / 2 where |d| < delta, else delta * (|d| - delta / 2), with d = input - label.

    (...,), (...,) -> (), or (...,) for the reduction 'none'.

    Without `is_huber` all of it is divided by delta.

    >>> x, y = dy2st.to_tensor([0.0, 0.0]), dy2st.to_tensor([0.5, 3.0])
    >>> dy2st.nn.functional.smooth_l1_loss(x, y, reduction="none").tolist()
    [0.125, 2.5]
    """
    size = F.abs(input - label)
    inner = F.square(size) * 0.5
    outer = (size - 0.5 * delta) * delta
    loss = F.where(F.less_than(size, delta), inner, outer)
    return _reduced(loss if is_huber else loss / delta, reduction)


@public
@in_float32
def binary_cross_entropy(
    input: Any, label: Any, weight: Any = None, reduction: str = "mean", name: str | None = None
) -> Any:
    """-(label * log(input) + (1 - label) * log(1 - input)); logarithms from -100.

    (...,), (...,) -> (), or (...,) for the reduction 'none'.

    >>> x, y = dy2st.to_tensor([0.5, 0.9]), dy2st.to_tensor([1.0, 1.0])
    >>> print(dy2st.nn.functional.binary_cross_entropy(x, y, reduction="none").round(3))
    [0.693 0.105]
    """
    _same_shape("binary_cross_entropy", input, label)
    label = F.detach(label)
    yes = F.maximum(F.log(input), -100.0)
    no = F.maximum(F.log(1.0 - input), -100.0)
    loss = -(label * yes + (1.0 - label) * no)
    return _reduced(loss if weight is None else loss * weight, reduction)


@public
@in_float32
def binary_cross_entropy_with_logits(
    logit: Any,
    label: Any,
    weight: Any = None,
    reduction: str = "mean",
    pos_weight: Any = None,
    name: str | None = None,
) -> Any:
    """`binary_cross_entropy` of sigmoid(logit), computed without overflow.

    (...,), (...,) -> (), or (...,) for the reduction 'none'.

    >>> x, y = dy2st.to_tensor([-1000.0, 0.0]), dy2st.to_tensor([1.0, 1.0])
    >>> loss = dy2st.nn.functional.binary_cross_entropy_with_logits(x, y, reduction="sum")
    >>> print(loss.round(3))
    1000.693
    """
    _same_shape("binary_cross_entropy_with_logits", logit, label)
    label = F.detach(label)
    low = F.softplus(-logit, threshold=float("inf"))  # -log sigmoid
    loss = (1.0 - label) * logit + low
    if pos_weight is not None:
        more = label * (F.detach(pos_weight) - 1.0) + 1.0
        loss = (1.0 - label) * logit + more * low
    return _reduced(loss if weight is None else loss * weight, reduction)


@public
@in_float32
def kl_div(
    input: Any,
    label: Any,
    reduction: str = "mean",
    log_target: bool = False,
    name: str | None = None,
) -> Any:
    """label * (log(label) - input), 0 where the label is 0; the input holds logarithms.

    (...,), (...,) -> (), or (...,) for the reduction 'none'.

    >>> x, y = dy2st.log(dy2st.to_tensor([0.5, 0.5])), dy2st.to_tensor([1.0, 0.0])
    >>> print(dy2st.nn.functional.kl_div(x, y, reduction="sum").round(3))
    0.693
    """
    label = F.detach(label)
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
@in_float32
def cosine_similarity(x1: Any, x2: Any, axis: int = 1, eps: float = 1e-8) -> Any:
    """x1 . x2 / max(|x1| |x2|, eps) along an axis: (n, k), (n, k) -> (n,).

    >>> x, y = dy2st.to_tensor([[3.0, 4.0]]), dy2st.to_tensor([[4.0, 3.0]])
    >>> print(dy2st.nn.functional.cosine_similarity(x, y).round(3))
    [0.96]
    """
    rank = max(x1.ndim, x2.ndim)
    place = normalize_axis(axis, rank)
    x1, x2 = (
        F.reshape(x, [1] * (rank - x.ndim) + x.shape) if x.ndim < rank else x for x in (x1, x2)
    )
    size = broadcast(x1.shape[place], x2.shape[place])
    x1, x2 = (_along_axis(x, place, size) for x in (x1, x2))
    product = F.sum(x1 * x2, axis=place)
    sizes = root(F.sum(F.square(x1), axis=place) * F.sum(F.square(x2), axis=place))
    return product / F.maximum(sizes, eps)


def _along_axis(x: Any, axis: int, size: Any) -> Any:
    """x with a size along an axis that it may have to be broadcast to."""
    if equal(x.shape[axis], size) is True:
        return x
    return F.broadcast_to(x, [*x.shape[:axis], size, *x.shape[axis + 1 :]])


@public
@in_float32
def hinge_embedding_loss(
    input: Any, label: Any, margin: float = 1.0, reduction: str = "mean", name: str | None = None
) -> Any:
    """input where the label is 1, max(0, margin - input) where it is -1.

    (...,), (...,) -> (), or (...,) for the reduction 'none'.

    >>> x, y = dy2st.to_tensor([0.25, 0.25]), dy2st.to_tensor([1.0, -1.0])
    >>> dy2st.nn.functional.hinge_embedding_loss(x, y, reduction="none").tolist()
    [0.25, 0.75]
    """
    loss = F.where(F.equal(label, 1), input, F.relu(margin - input))
    return _reduced(loss, reduction)


@public
@in_float32
def margin_ranking_loss(
    input: Any,
    other: Any,
    label: Any,
    margin: float = 0.0,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """max(0, -label * (input - other) + margin).

    (...,), (...,), (...,) -> (), or (...,) for the reduction 'none'.

    >>> x, y, label = dy2st.to_tensor([3.0]), dy2st.to_tensor([1.0]), dy2st.to_tensor([-1.0])
    >>> dy2st.nn.functional.margin_ranking_loss(x, y, label).item()
    2.0
    """
    return _reduced(F.relu(-label * (input - other) + margin), reduction)
