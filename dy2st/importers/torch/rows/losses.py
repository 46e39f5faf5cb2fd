"""Losses; torch says by a number how they are reduced: 0 not at all, 1 mean, 2 sum."""

from __future__ import annotations

import math
from typing import Any

from dy2st.importers.torch.table import Call, as_tensor, promoted, row, rows
from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.nn import functional as N

_NAMES = ("none", "mean", "sum")


def reduced(loss: Any, reduction: int) -> Any:
    """All losses, their mean or their sum."""
    if reduction == 0:
        return loss
    return F.mean(loss) if reduction == 1 else F.sum(loss)


def _above(x: Any, limit: Any) -> Any:
    return F.maximum(x, as_tensor(limit, x.dtype))


def _pair(x: Any, y: Any) -> tuple[Any, Any]:
    dtype = promoted(x, y)
    return F.cast(x, dtype), F.cast(y, dtype)


def _absolute(at: Call, x: Any, y: Any, reduction: int = 1) -> Any:
    return reduced(F.abs(F.subtract(*_pair(x, y))), reduction)


@row("aten.mse_loss.default")
def _squared(at: Call, x: Any, y: Any, reduction: int = 1) -> Any:
    off = F.subtract(*_pair(x, y))
    return reduced(F.multiply(off, off), reduction)


def _huber(
    at: Call, x: Any, y: Any, reduction: int = 1, delta: float = 1.0, by: float = 1.0
) -> Any:
    off = F.abs(F.subtract(*_pair(x, y)))
    limit = as_tensor(delta, off.dtype)
    square = F.multiply(F.multiply(off, off), as_tensor(0.5, off.dtype))
    straight = F.multiply(limit, F.subtract(off, as_tensor(0.5 * delta, off.dtype)))
    loss = F.where(F.less_than(off, limit), square, straight)
    return reduced(loss if by == 1 else F.divide(loss, as_tensor(by, off.dtype)), reduction)


@row("aten.smooth_l1_loss.default")
def _smooth(at: Call, x: Any, y: Any, reduction: int = 1, beta: float = 1.0) -> Any:
    if beta == 0:
        return _absolute(at, x, y, reduction)
    return _huber(at, x, y, reduction, beta, beta)


rows({"l1_loss": _absolute, "huber_loss": _huber})


# -- of two classes ---------------------------------------------------------------------------


@row("aten.binary_cross_entropy.default")
def _binary(at: Call, x: Any, y: Any, weight: Any = None, reduction: int = 1) -> Any:
    one = as_tensor(1, x.dtype)
    yes, no = (_above(F.log(part), -100.0) for part in (x, F.subtract(one, x)))
    loss = F.neg(F.add(F.multiply(y, yes), F.multiply(F.subtract(one, y), no)))
    return reduced(loss if weight is None else F.multiply(loss, weight), reduction)


@row("aten.binary_cross_entropy_with_logits.default")
def _logits(
    at: Call, x: Any, y: Any, weight: Any = None, pos_weight: Any = None, reduction: int = 1
) -> Any:
    x, y = _pair(x, y)
    one = as_tensor(1, x.dtype)
    log = N.log_sigmoid(x)
    if pos_weight is not None:
        scale = F.add(F.multiply(F.subtract(pos_weight, one), y), one)
        log = F.multiply(scale, log)
        both = F.multiply(F.subtract(one, y), x)
        # log(sigmoid(-x)) = log(sigmoid(x)) - x, for both labels
        loss = F.subtract(both, log)
    else:
        loss = F.subtract(F.multiply(F.subtract(one, y), x), log)
    return reduced(loss if weight is None else F.multiply(loss, weight), reduction)


@row("aten.soft_margin_loss.default")
def _soft_margin(at: Call, x: Any, y: Any, reduction: int = 1) -> Any:
    x, y = _pair(x, y)
    return reduced(F.log1p(F.exp(F.neg(F.multiply(x, y)))), reduction)


@row("aten.hinge_embedding_loss.default")
def _hinge(at: Call, x: Any, y: Any, margin: float = 1.0, reduction: int = 1) -> Any:
    zero = F.zeros_like(x)
    low = F.where(
        F.equal(y, as_tensor(1, y.dtype)),
        zero,
        _above(F.subtract(as_tensor(margin, x.dtype), x), 0),
    )
    high = F.where(F.equal(y, as_tensor(-1, y.dtype)), zero, x)
    return reduced(F.add(low, high), reduction)


@row("aten.margin_ranking_loss.default")
def _ranking(at: Call, a: Any, b: Any, y: Any, margin: float = 0.0, reduction: int = 1) -> Any:
    off = F.multiply(F.neg(F.cast(y, at.dtype)), F.subtract(at.cast(a), at.cast(b)))
    return reduced(_above(F.add(off, as_tensor(margin, off.dtype)), 0), reduction)


@row("aten.kl_div.default")
def _divergence(at: Call, x: Any, y: Any, reduction: int = 1, *, log_target: bool = False) -> Any:
    if log_target:
        return reduced(F.multiply(F.exp(y), F.subtract(y, x)), reduction)
    zero = as_tensor(0, y.dtype)
    is_some = F.greater_than(y, zero)
    log = F.where(is_some, F.log(F.where(is_some, y, F.ones_like(y))), zero)
    return reduced(F.subtract(F.multiply(y, log), F.multiply(y, x)), reduction)


@row("aten.poisson_nll_loss.default")
def _poisson(
    at: Call, x: Any, y: Any, log_input: bool, full: bool, eps: float, reduction: int
) -> Any:
    x, y = _pair(x, y)
    if log_input:
        loss = F.subtract(F.exp(x), F.multiply(y, x))
    else:
        loss = F.subtract(x, F.multiply(y, F.log(F.add(x, as_tensor(eps, x.dtype)))))
    if full:
        many = F.greater_than(y, as_tensor(1, y.dtype))
        safe = F.where(many, y, F.ones_like(y))
        around = F.add(
            F.subtract(F.multiply(safe, F.log(safe)), safe),
            F.multiply(
                F.log(F.multiply(safe, as_tensor(2 * math.pi, y.dtype))), as_tensor(0.5, y.dtype)
            ),
        )
        loss = F.add(loss, F.where(many, around, F.zeros_like(y)))
    return reduced(loss, reduction)


@row("aten.cosine_similarity.default")
def _cosine(at: Call, x: Any, y: Any, dim: int = 1, eps: float = 1e-8) -> Any:
    x, y = F.broadcast_tensors([at.cast(x), at.cast(y)])
    if not x.ndim:
        x, y, dim = F.reshape(x, [1]), F.reshape(y, [1]), 0
    sides = [_above(F.vector_norm(one, 2.0, [dim], True), eps) for one in (x, y)]
    return F.sum(F.multiply(F.divide(x, sides[0]), F.divide(y, sides[1])), dim)


# -- of many classes --------------------------------------------------------------------------


def _likelihood(
    at: Call, x: Any, y: Any, weight: Any = None, reduction: int = 1, ignore_index: int = -100
) -> Any:
    """The negative log of the class at axis 1, or at 0 of one sample."""
    if x.ndim == 1:
        x, y = F.unsqueeze(x, 0), F.reshape(y, [1])
        made = N.nll_loss(x, y, weight, ignore_index, _NAMES[reduction])
        return F.reshape(made, at.shapes[0]) if made.ndim != len(at.shapes[0]) else made
    return N.nll_loss(x, y, weight, ignore_index, _NAMES[reduction])


rows(
    {
        "nll_loss nll_loss_nd nll_loss2d": _likelihood,
        "nll_loss_forward nll_loss2d_forward": lambda at, *args: (_likelihood(at, *args), None),
    }
)


@row("aten.cross_entropy_loss.default")
def _cross_entropy(
    at: Call,
    x: Any,
    y: Any,
    weight: Any = None,
    reduction: int = 1,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> Any:
    axis = 1 if x.ndim > 1 else 0
    log = N.log_softmax(x, axis)
    count = x.shape[axis]
    scaled = log
    if weight is not None:
        shape = [1] * x.ndim
        shape[axis] = -1
        scaled = F.multiply(log, F.reshape(weight, shape))
    if y.dtype.kind in "fV":
        if label_smoothing:
            even = F.divide(as_tensor(label_smoothing, y.dtype), as_tensor(count, y.dtype))
            y = F.add(F.multiply(y, as_tensor(1 - label_smoothing, y.dtype)), even)
        loss = F.neg(F.sum(F.multiply(scaled, y), axis))
        return reduced(loss, reduction)
    hard = _likelihood(at, log, y, weight, reduction, ignore_index)
    if not label_smoothing:
        return hard
    zero = as_tensor(0, log.dtype)
    is_kept = F.not_equal(y, as_tensor(ignore_index, y.dtype))
    smooth = F.where(is_kept, F.neg(F.sum(scaled, axis)), zero)
    if reduction == 2:
        smooth = F.sum(smooth)
    elif reduction == 1:
        part = F.cast(is_kept, log.dtype)
        if weight is not None:
            safe = F.where(is_kept, y, F.zeros_like(y))
            part = F.where(is_kept, F.reshape(weight[F.reshape(safe, [-1])], y.shape), zero)
        smooth = F.divide(F.sum(smooth), F.sum(part))
    even = F.divide(as_tensor(label_smoothing, log.dtype), as_tensor(count, log.dtype))
    return F.add(
        F.multiply(hard, as_tensor(1 - label_smoothing, log.dtype)), F.multiply(smooth, even)
    )


@row(
    "torch_nn._linear_cross_entropy_batch_chunked.default",
    "torch_nn._linear_cross_entropy_batch_chunked_no_reduction.default",
)
def _of_linear(
    at: Call,
    x: Any,
    linear_weight: Any,
    target: Any,
    linear_bias: Any,
    weight: Any,
    *args: Any,
) -> Any:
    made = F.matmul(x, linear_weight, transpose_y=True)
    made = made if linear_bias is None else F.add(made, linear_bias)
    if "no_reduction" in at.name:
        return _cross_entropy(at, made, target, weight, 0, args[0])
    reduction, ignored, smoothing = args[:3]
    loss = _cross_entropy(at, made, target, weight, _NAMES.index(reduction), ignored, smoothing)
    return loss, None, None, None


@row("aten.multi_margin_loss.default")
def _multi_margin(
    at: Call, x: Any, y: Any, p: Any = 1, margin: Any = 1, weight: Any = None, reduction: int = 1
) -> Any:
    flat = x if x.ndim > 1 else F.reshape(x, [1, -1])
    places = F.reshape(y, [-1, 1])
    own = F.take_along_axis(flat, places, 1, broadcast=False)
    off = _above(F.add(F.subtract(flat, own), as_tensor(margin, x.dtype)), 0)
    off = off if p == 1 else F.multiply(off, off)
    if weight is not None:
        off = F.multiply(off, F.unsqueeze(weight[F.reshape(y, [-1])], 1))
    classes = F.unsqueeze(F.arange(0, flat.shape[1], 1, "int64"), 0)
    off = F.where(F.equal(classes, F.cast(places, "int64")), as_tensor(0, x.dtype), off)
    loss = F.divide(F.sum(off, 1), as_tensor(flat.shape[1], x.dtype))
    return reduced(loss if x.ndim > 1 or reduction else F.reshape(loss, []), reduction)


def _multilabel(at: Call, x: Any, y: Any, reduction: int = 1) -> Any:
    """The labels of a sample stand before the first -1."""
    flat = x if x.ndim > 1 else F.reshape(x, [1, -1])
    labels = F.reshape(y, flat.shape)
    is_end = F.cast(F.less_than(labels, F.zeros_like(labels)), "int64")
    is_label = F.equal(F.cumsum(is_end, 1), F.zeros_like(labels))
    safe = F.where(is_label, labels, F.zeros_like(labels))
    classes = F.reshape(F.arange(0, flat.shape[1], 1, "int64"), [1, 1, -1])
    hits = F.logical_and(F.equal(F.unsqueeze(safe, 2), classes), F.unsqueeze(is_label, 2))
    is_target = F.any(hits, 1)
    own = F.take_along_axis(flat, safe, 1, broadcast=False)
    off = F.subtract(F.add(F.unsqueeze(flat, 1), as_tensor(1, x.dtype)), F.unsqueeze(own, 2))
    counts = F.logical_and(F.unsqueeze(is_label, 2), F.logical_not(F.unsqueeze(is_target, 1)))
    off = F.where(counts, _above(off, 0), as_tensor(0, x.dtype))
    loss = F.divide(F.sum(off, [1, 2]), as_tensor(flat.shape[1], x.dtype))
    return reduced(loss if x.ndim > 1 or reduction else F.reshape(loss, []), reduction)


rows(
    {
        "multilabel_margin_loss": _multilabel,
        "multilabel_margin_loss_forward": lambda at, x, y, reduction: (
            _multilabel(at, x, y, reduction),
            None,
        ),
    }
)


@row("aten.ctc_loss.IntList", "aten.ctc_loss.Tensor")
def _ctc(
    at: Call,
    x: Any,
    y: Any,
    lengths: Any,
    labels: Any,
    blank: int = 0,
    reduction: int = 1,
    zero_infinity: bool = False,
) -> Any:
    given = [F.assign(one) if isinstance(one, (list, tuple)) else one for one in (lengths, labels)]
    inputs, targets = given
    return N.ctc_loss(x, y, inputs, targets, blank, _NAMES[reduction], zero_infinity=zero_infinity)
