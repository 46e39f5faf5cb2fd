"""Losses of classifiers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dy2st.importers.onnx.calls import Call
from dy2st_runtime.ir.dispatch import F

Row = Callable[[Call], Any]


def _likelihood(n: Call, x: Any) -> Any:
    """The negative of what x, logarithms of probabilities, has for each label."""
    labels, weight, ignored = F.cast(n[1], "int64"), n[2], n.get("ignore_index")
    is_out = None if ignored is None else F.equal(labels, ignored)
    places = labels if is_out is None else F.where(is_out, F.zeros_like(labels), labels)
    picked = F.take_along_axis(x, F.unsqueeze(places, [1]), 1, broadcast=False)
    loss = F.neg(F.squeeze(picked, [1]))
    share = F.ones_like(loss) if weight is None else F.gather(weight, F.flatten(places))
    share = F.reshape(share, loss.shape)
    if is_out is not None:
        share = F.where(is_out, F.zeros_like(share), share)
    if weight is not None or is_out is not None:
        loss = loss * share
    how = n.get("reduction", "mean")
    if how == "none":
        return loss
    if how == "sum":
        return F.sum(loss)
    if weight is None and is_out is None:
        return F.mean(loss)
    return F.sum(loss) / F.sum(share)


def _cross_entropy(n: Call) -> Any:
    logarithms = F.log_softmax(n[0], 1)
    return _likelihood(n, logarithms), logarithms


ROWS: dict[str, Row] = {
    "NegativeLogLikelihoodLoss": lambda n: _likelihood(n, n[0]),
    "SoftmaxCrossEntropyLoss": _cross_entropy,
}
