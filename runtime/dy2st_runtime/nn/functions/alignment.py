"""Losses of sequences whose labels are not aligned with the steps."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.errors import ArgumentError, ShapeError
from dy2st_runtime.ir import F, apply
from dy2st_runtime.ir.arguments import as_int
from dy2st_runtime.nn.functions.likelihood_losses import reduced
from dy2st_runtime.nn.scan import scan


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

    Parameters
    ----------
    log_probs, labels
        Scores of each step, and numbers of classes.
    input_lengths, label_lengths
        How many steps, and labels, of each sample count.
    blank
        The class that stands for no label.

    Examples
    --------
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


def rnnt_loss(
    input: Any,
    label: Any,
    input_lengths: Any,
    label_lengths: Any,
    blank: int = 0,
    fastemit_lambda: float = 0.001,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """-log of the sum of the probabilities of all paths of a transducer (Graves 2012).

    (n, steps, labels + 1, classes) logarithms of probabilities, (n, labels), (n,), (n,) -> a
    number, or (n,) without reduction. At every step a path takes any number of labels, then a
    blank. `fastemit_lambda` makes the slope of labels larger by that share, not the loss (Yu 2020).

    >>> log_p = dy2st.log(dy2st.full([1, 1, 2, 2], 0.5))
    >>> lengths = dy2st.ones([1], "int64")
    >>> label = dy2st.ones([1, 1], "int64")
    >>> loss = dy2st.nn.functional.rnnt_loss(log_p, label, lengths, lengths)
    >>> round(loss.exp().item(), 4)
    4.0
    """
    if input.ndim != 4 or label.ndim != 2:
        raise ShapeError(
            "rnnt_loss takes (n, steps, labels + 1, classes) and (n, labels), not "
            f"{input.shape} and {label.shape}"
        )
    count, _, places, _ = input.shape
    are_lengths = F.logical_and(F.all(input_lengths > 0), F.all(label_lengths >= 0))
    F.assert_(are_lengths, "rnnt_loss: a length is negative, or there are no steps")
    log_p = F.transpose(input, [1, 0, 2, 3])
    blanks = log_p[..., as_int(blank, "blank")]
    index = F.reshape(F.cast(label, "int64"), [1, count, places - 1, 1])
    taken = F.squeeze(F.take_along_axis(log_p[:, :, :-1], index, 3), 3)
    taken = taken * (1.0 + fastemit_lambda) - F.detach(taken * fastemit_lambda)
    # What all labels up to each place cost at one step: (steps, n, labels + 1).
    row = F.pad(F.cumsum(taken, 2), [0, 0, 0, 0, 1, 0])

    def step(parts: Any, before: Any) -> tuple[Any, Any]:
        after = F.logcumsumexp(before + parts[0] - parts[1], 1) + parts[1]
        return after, after

    first = row[0]
    others, _ = scan(step, F.stack([blanks[:-1], row[1:]], axis=1), first)
    states = F.concat([F.unsqueeze(first, [0]), others], axis=0) + blanks
    last = F.cast(input_lengths, "int64") - 1
    places_of = F.stack([last, F.arange(count), F.cast(label_lengths, "int64")], axis=1)
    return reduced(-F.gather_nd(states, places_of), reduction)
