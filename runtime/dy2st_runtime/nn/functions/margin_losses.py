"""Losses that want a margin between what belongs together and what does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dy2st_runtime.dims import maximum
from dy2st_runtime.errors import ArgumentError, ShapeError
from dy2st_runtime.ir import F
from dy2st_runtime.nn.functions.distances import pairwise_distance
from dy2st_runtime.nn.functions.likelihood_losses import reduced
from dy2st_runtime.ops.short_floats import in_float32

# What keeps the cosine of a vector of zeros finite.
_TINY = 1e-11


@in_float32
def cosine_embedding_loss(
    input1: Any,
    input2: Any,
    label: Any,
    margin: float = 0,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """1 - cos where the label is 1, max(0, cos - margin) where it is -1: (n, d), (n, d), (n,).

    >>> print(cosine_embedding_loss(F.ones([1, 2]), -F.ones([1, 2]), F.ones([1])).item())
    2.0
    """
    if label.ndim != 1 or input1.ndim != input2.ndim or input1.ndim > 2:
        raise ShapeError(
            f"cosine_embedding_loss takes (n, d), (n, d) and (n,), not {input1.shape}, "
            f"{input2.shape} and {label.shape}"
        )
    squares = [F.sum(F.square(x), axis=-1) + _TINY for x in (input1, input2)]
    cosine = F.sum(input1 * input2, axis=-1) / F.sqrt(squares[0] * squares[1])
    none = F.zeros_like(cosine)
    far = F.where(F.equal(label, 1), 1.0 - cosine, none)
    near = F.where(F.equal(label, -1), F.relu(cosine - margin), none)
    return reduced(far + near, reduction)


@in_float32
def triplet_margin_loss(
    input: Any,
    positive: Any,
    negative: Any,
    margin: float = 1.0,
    p: float = 2,
    epsilon: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """max(0, |input - positive| - |input - negative| + margin), norms with exponent p.

    `swap` takes |positive - negative| where that is smaller (Balntas 2016).

    >>> near, far = dy2st.zeros([1, 2]), dy2st.to_tensor([[0.0, 0.25]])
    >>> round(dy2st.nn.functional.triplet_margin_loss(near, near, far).item(), 4)
    0.75
    """

    def distance(x: Any, y: Any) -> Any:
        return pairwise_distance(x, y, p, epsilon)

    return triplet_margin_with_distance_loss(
        input, positive, negative, distance, margin, swap, reduction
    )


@in_float32
def triplet_margin_with_distance_loss(
    input: Any,
    positive: Any,
    negative: Any,
    distance_function: Callable[[Any, Any], Any] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """`triplet_margin_loss` with a distance of one's own; Euclid's if it is left out.

    >>> near, far = dy2st.zeros([1, 2]), dy2st.to_tensor([[0.25, 0.25]])
    >>> l1 = lambda x, y: (x - y).abs().sum(-1)
    >>> dy2st.nn.functional.triplet_margin_with_distance_loss(near, near, far, l1).item()
    0.5
    """
    if margin < 0:
        raise ArgumentError(f"triplet_margin_loss: the margin is not below 0, it is {margin}")
    distance = pairwise_distance if distance_function is None else distance_function
    near, far = distance(input, positive), distance(input, negative)
    if swap:
        far = F.minimum(far, distance(positive, negative))
    return reduced(F.relu(near - far + margin), reduction)


@in_float32
def soft_margin_loss(
    input: Any, label: Any, reduction: str = "mean", name: str | None = None
) -> Any:
    """log(1 + exp(-label * input)), the labels being 1 and -1.

    >>> print(round(soft_margin_loss(F.zeros([2]), F.ones([2])).item(), 4))
    0.6931
    """
    signs = F.cast(label, input.dtype)
    return reduced(F.softplus(-signs * input, threshold=float("inf")), reduction)


@in_float32
def multi_label_soft_margin_loss(
    input: Any,
    label: Any,
    weight: Any = None,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """The mean over classes of -(y log s(x) + (1 - y) log s(-x)), s the sigmoid: (n, c), (n, c).

    >>> label = dy2st.to_tensor([[1.0, 0.0]])
    >>> loss = dy2st.nn.functional.multi_label_soft_margin_loss(dy2st.zeros([1, 2]), label)
    >>> round(loss.item(), 4)
    0.6931
    """
    truth = F.cast(label, input.dtype)
    loss = -(truth * F.log_sigmoid(input) + (1.0 - truth) * F.log_sigmoid(-input))
    loss = loss if weight is None else loss * weight
    return reduced(F.mean(loss, axis=-1), reduction)


@in_float32
def multi_margin_loss(
    input: Any,
    label: Any,
    p: int = 1,
    margin: float = 1.0,
    weight: Any = None,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """sum over i != y of max(0, margin - x[y] + x[i])**p / c: (n, c), (n,).

    `weight` has a factor for each class y.

    >>> x, label = dy2st.to_tensor([[0.5, 0.0]]), dy2st.to_tensor([0])
    >>> dy2st.nn.functional.multi_margin_loss(x, label).item()
    0.25
    """
    _classes("multi_margin_loss", input, label)
    classes = input.shape[1]
    own = F.unsqueeze(label, [1])
    gap = F.relu(margin - F.take_along_axis(input, own, 1, broadcast=False) + input)
    powers = gap if p == 1 else F.pow(gap, float(p))
    if weight is not None:
        powers = powers * F.unsqueeze(F.gather(weight, label), [1])
    others = F.not_equal(F.arange(classes), own)
    total = F.sum(F.where(others, powers, F.zeros_like(powers)), axis=1)
    return reduced(total / F.cast(classes, input.dtype), reduction)


@in_float32
def multi_label_margin_loss(
    input: Any, label: Any, reduction: str = "mean", name: str | None = None
) -> Any:
    """sum over own classes y and others i of max(0, 1 - x[y] + x[i]) / c: (n, c), (n, c).

    The labels are the numbers of the own classes; what follows the first -1 in a row is not read.

    >>> x, label = dy2st.to_tensor([[0.5, 0.0]]), dy2st.to_tensor([[0, -1]])
    >>> dy2st.nn.functional.multi_label_margin_loss(x, label).item()
    0.25
    """
    if input.ndim != 2 or label.ndim != 2:
        raise ShapeError(
            f"multi_label_margin_loss takes (n, c) twice, not {input.shape} and {label.shape}"
        )
    classes = input.shape[1]
    is_label = F.cumprod(F.cast(F.not_equal(label, -1), "int64"), 1)  # before the first -1
    safe = F.where(F.equal(is_label, 1), label, F.zeros_like(label))
    own = F.take_along_axis(input, safe, 1, broadcast=False)
    hits = F.equal(F.unsqueeze(safe, [2]), F.arange(classes))  # (n, label, class)
    hits = F.logical_and(hits, F.unsqueeze(F.equal(is_label, 1), [2]))
    is_other = F.cast(F.logical_not(F.any(hits, axis=1)), input.dtype)
    gap = F.relu(1.0 - F.unsqueeze(own, [2]) + F.unsqueeze(input, [1]))
    pairs = gap * F.unsqueeze(F.cast(is_label, input.dtype), [2]) * F.unsqueeze(is_other, [1])
    return reduced(F.sum(pairs, axis=[1, 2]) / F.cast(classes, input.dtype), reduction)


@in_float32
def npair_loss(anchor: Any, positive: Any, labels: Any, l2_reg: float = 0.002) -> Any:
    """Cross entropy of anchor @ positive' with who has the same label, and squares (Sohn 2016).

    (n, d), (n, d), (n,) -> a number.

    >>> x, labels = dy2st.zeros([2, 3]), dy2st.to_tensor([0.0, 1.0])
    >>> round(dy2st.nn.functional.npair_loss(x, x, labels).item(), 4)
    0.6931
    """
    own = F.reshape(labels, [labels.shape[0], 1])
    same = F.cast(F.equal(own, F.transpose(own, [1, 0])), anchor.dtype)
    same = same / F.sum(same, axis=1, keepdim=True)
    scores = F.matmul(anchor, positive, transpose_y=True)
    entropy = -F.sum(same * F.log_softmax(scores, 1), axis=1, keepdim=True)
    squares = F.mean(F.sum(F.square(anchor), axis=1)) + F.mean(F.sum(F.square(positive), axis=1))
    return F.mean(F.sum(same * entropy, axis=0)) + squares * (0.25 * l2_reg)


@in_float32
def margin_cross_entropy(
    logits: Any,
    label: Any,
    margin1: float = 1.0,
    margin2: float = 0.5,
    margin3: float = 0.0,
    scale: float = 64.0,
    group: Any = None,
    return_softmax: bool = False,
    reduction: str | None = "mean",
) -> Any:
    """Cross entropy of scale * cosines: (n, c), (n,) -> a number, or (n, 1) without reduction.

    The cosine of the own class is cos(margin1 * angle + margin2) - margin3 (ArcFace, Deng 2018).
    All classes are on this device: `group` means nothing.

    >>> cosines, label = dy2st.to_tensor([[0.5, 0.5]]), dy2st.to_tensor([0])
    >>> loss = dy2st.nn.functional.margin_cross_entropy(cosines, label, margin2=0.0, scale=1.0)
    >>> round(loss.item(), 4)
    0.6931
    """
    if label.ndim == logits.ndim:
        label = F.squeeze(label, -1)
    _classes("margin_cross_entropy", logits, label)
    own = F.equal(F.arange(logits.shape[1]), F.unsqueeze(label, [1]))
    # Where it is not the own class, the angle has no part in the result, nor in the gradient.
    angle = F.acos(F.where(own, logits, F.zeros_like(logits)))
    moved = F.cos(angle * margin1 + margin2) - margin3
    scores = F.where(own, moved, logits) * scale
    entropy = F.log_softmax(scores, 1)
    loss = -F.take_along_axis(entropy, F.unsqueeze(label, [1]), 1, broadcast=False)
    loss = reduced(loss, reduction)
    return (loss, F.exp(entropy)) if return_softmax else loss


def _classes(name: str, input: Any, label: Any) -> None:
    if input.ndim != 2 or label.ndim != 1:
        raise ShapeError(f"{name} takes (n, c) and (n,), not {input.shape} and {label.shape}")


def class_center_sample(
    label: Any, num_classes: int, num_samples: int, group: Any = None
) -> tuple[Any, Any]:
    """The labels as places among sampled classes, and these: (n,) -> (n,), (num_samples,).

    The classes of the labels come first, in order, then others that are drawn. There are more than
    `num_samples` if the labels have more. All classes are on this device: `group` means nothing.

    >>> label, classes = class_center_sample(F.assign([7, 3, 7]), 9, 2)
    >>> label.tolist(), classes.tolist()
    ([1, 0, 1], [3, 7])
    """
    if label.ndim != 1 or not 0 <= num_samples <= num_classes:
        raise ArgumentError(
            f"class_center_sample: labels (n,) and 0 to {num_classes} samples, not {label.shape} "
            f"and {num_samples}"
        )
    inside = F.logical_and(F.greater_equal(label, 0), F.less_than(label, num_classes))
    F.assert_(F.all(inside), f"class_center_sample: labels are from 0 to {num_classes - 1}")
    own = F.unique(label)
    is_own = F.index_fill(F.zeros([num_classes], "float32"), own, 0, 1.0)
    drawn = F.argsort(F.rand([num_classes], "float32") + is_own)  # the others come first
    others = F.slice(drawn, [0], [0], [maximum(num_samples - own.shape[0], 0)])
    return F.searchsorted(own, label), F.concat([own, F.cast(others, own.dtype)])
