"""Losses of sequences whose labels are not aligned with the steps."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F, apply
from dy2st_runtime.ir.arguments import as_int
from dy2st_runtime.nn.functions.reduction import reduced


def ctc_loss(
    log_probs: Any,
    labels: Any,
    input_lengths: Any,
    label_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    norm_by_times: bool = False,
    zero_infinity: bool = False,
) -> Any:
    """-log of the sum of the probabilities of all alignments (Graves 2006).

    (steps, n, classes), (n, labels), (n,), (n,) -> a number, or (n,) without reduction. The scores
    need no softmax. 'mean' divides each loss by the length of its labels first; `norm_by_times`
    divides gradients by the number of steps. Labels that are too long for their steps have the loss
    0, as in PaddlePaddle, with and without `zero_infinity`.

    >>> scores = F.zeros([2, 1, 2])
    >>> loss = ctc_loss(scores, *(F.ones(s, "int64") for s in ([1, 1], [1], [1])))
    >>> print(round(loss.item(), 4))
    0.6931
    """
    if reduction not in ("mean", "sum", "none"):
        raise ArgumentError(f"the reduction is 'mean', 'sum' or 'none', not {reduction!r}")
    log_p = F.log_softmax(log_probs, -1)
    loss = apply("ctc", log_p, labels, input_lengths, label_lengths, blank=as_int(blank, "blank"))
    loss = F.where(F.isinf(loss), F.zeros_like(loss), loss)
    if norm_by_times:
        share = loss / F.cast(input_lengths, loss.dtype)
        loss = F.detach(loss - share) + share
    if reduction == "mean":
        loss = loss / F.cast(label_lengths, loss.dtype)
    return reduced(loss, reduction)
