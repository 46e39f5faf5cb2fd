"""Losses as layers: each keeps the settings of one function of `nn.functional`."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.ir import F
from dy2st_runtime.nn.functions.alignment import ctc_loss, rnnt_loss
from dy2st_runtime.nn.functions.distances import pairwise_distance
from dy2st_runtime.nn.functions.likelihood_losses import gaussian_nll_loss, poisson_nll_loss
from dy2st_runtime.nn.functions.margin_losses import (
    cosine_embedding_loss,
    multi_label_margin_loss,
    multi_label_soft_margin_loss,
    multi_margin_loss,
    soft_margin_loss,
    triplet_margin_loss,
    triplet_margin_with_distance_loss,
)
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.nn.layers.function_layer import OfFunction, settings


class MarginRankingLoss(
    OfFunction,
    calls=lambda input, other, label, margin, reduction: F.margin_ranking_loss(
        input, other, label, margin, reduction
    ),
    takes=settings(margin=0.0, reduction="mean"),
):
    """max(0, -label * (input - other) + margin): the label 1 wants input above other, -1 below.

    >>> one, other = dy2st.to_tensor([2.0, 1.0]), dy2st.to_tensor([1.0, 2.0])
    >>> print(dy2st.nn.MarginRankingLoss(reduction="none")(one, other, dy2st.ones([2])))
    [0. 1.]
    """


class HingeEmbeddingLoss(
    OfFunction,
    calls=lambda input, label, margin, reduction: F.hinge_embedding_loss(
        input, label, margin, reduction
    ),
    takes=settings(margin=1.0, reduction="mean"),
):
    """input where the label is 1, max(0, margin - input) where it is -1.

    >>> x, label = dy2st.to_tensor([0.25, 0.25]), dy2st.to_tensor([1.0, -1.0])
    >>> print(dy2st.nn.HingeEmbeddingLoss(reduction="none")(x, label))
    [0.25 0.75]
    """


class CosineEmbeddingLoss(
    OfFunction, calls=cosine_embedding_loss, takes=settings(margin=0, reduction="mean")
):
    """1 - cos where the label is 1, max(0, cos - margin) where it is -1: (n, d), (n, d), (n,).

    >>> x = dy2st.to_tensor([[1.0, 0.0]])
    >>> dy2st.nn.CosineEmbeddingLoss()(x, -x, dy2st.to_tensor([1])).item()
    2.0
    """


class TripletMarginLoss(
    OfFunction,
    calls=triplet_margin_loss,
    takes=settings(margin=1.0, p=2.0, epsilon=1e-6, swap=False, reduction="mean"),
):
    """max(0, |input - positive| - |input - negative| + margin): (n, d) three times -> scalar.

    `p` is the exponent of the norm; `swap` takes |positive - negative| where that is smaller
    (Balntas et al. 2016).

    >>> near, far = dy2st.zeros([1, 2]), dy2st.full([1, 2], 3.0)
    >>> dy2st.nn.TripletMarginLoss()(near, near, far).item()
    0.0
    """


class TripletMarginWithDistanceLoss(
    OfFunction,
    calls=triplet_margin_with_distance_loss,
    takes=settings(distance_function=None, margin=1.0, swap=False, reduction="mean"),
):
    """max(0, d(input, positive) - d(input, negative) + margin), d a function of one's own.

    >>> l1 = lambda x, y: (x - y).abs().sum(-1)
    >>> loss = dy2st.nn.TripletMarginWithDistanceLoss(l1, margin=1.0)
    >>> loss(dy2st.zeros([1, 2]), dy2st.ones([1, 2]), dy2st.ones([1, 2])).item()
    1.0
    """


class SoftMarginLoss(OfFunction, calls=soft_margin_loss, takes=settings(reduction="mean")):
    """log(1 + exp(-label * input)), the labels being 1 and -1.

    >>> round(dy2st.nn.SoftMarginLoss()(dy2st.zeros([2]), dy2st.ones([2])).item(), 4)
    0.6931
    """


class MultiLabelSoftMarginLoss(
    OfFunction, calls=multi_label_soft_margin_loss, takes=settings(weight=None, reduction="mean")
):
    """The mean over classes of -(y log s(x) + (1 - y) log s(-x)), s the sigmoid: (n, c), (n, c).

    `weight` has a factor for each class.

    >>> label = dy2st.to_tensor([[1.0, 0.0]])
    >>> round(dy2st.nn.MultiLabelSoftMarginLoss()(dy2st.zeros([1, 2]), label).item(), 4)
    0.6931
    """


class MultiLabelMarginLoss(
    OfFunction, calls=multi_label_margin_loss, takes=settings(reduction="mean")
):
    """sum over own classes y and others i of max(0, 1 - x[y] + x[i]) / c: (n, c), (n, c).

    The labels are the numbers of the own classes; what follows the first -1 in a row is not read.

    >>> x, label = dy2st.to_tensor([[0.5, 0.0]]), dy2st.to_tensor([[0, -1]])
    >>> dy2st.nn.MultiLabelMarginLoss()(x, label).item()
    0.25
    """


class MultiMarginLoss(
    OfFunction,
    calls=multi_margin_loss,
    takes=settings(p=1, margin=1.0, weight=None, reduction="mean"),
):
    """sum over i != y of max(0, margin - x[y] + x[i])**p / c: (n, c), (n,).

    `weight` has a factor for each class y.

    >>> x, label = dy2st.to_tensor([[0.5, 0.0]]), dy2st.to_tensor([0])
    >>> dy2st.nn.MultiMarginLoss()(x, label).item()
    0.25
    """


class GaussianNLLLoss(
    OfFunction,
    calls=gaussian_nll_loss,
    takes=settings(full=False, epsilon=1e-6, reduction="mean"),
):
    """(log(v) + (input - label)**2 / v) / 2 with v = max(variance, epsilon).

    The variance has the shape of the input, or one number a row; `full` adds log(2 pi) / 2.

    >>> x, label, variance = dy2st.zeros([1, 2]), dy2st.full([1, 2], 2.0), dy2st.ones([1, 2])
    >>> dy2st.nn.GaussianNLLLoss()(x, label, variance).item()
    2.0
    """


class PoissonNLLLoss(
    OfFunction,
    calls=poisson_nll_loss,
    takes=settings(log_input=True, full=False, epsilon=1e-8, reduction="mean"),
):
    """exp(input) - label * input, or without `log_input` input - label * log(input + epsilon).

    `full` adds Stirling's log(label!) where the label is above 1.

    >>> dy2st.nn.PoissonNLLLoss()(dy2st.zeros([2]), dy2st.ones([2])).item()
    1.0
    """


class PairwiseDistance(
    OfFunction, calls=pairwise_distance, takes=settings(p=2.0, epsilon=1e-6, keepdim=False)
):
    """(n, d), (n, d) -> (n,): (sum |x - y + epsilon|**p)**(1/p).

    >>> x = dy2st.to_tensor([[3.0, 4.0]])
    >>> round(dy2st.nn.PairwiseDistance()(x, dy2st.zeros([1, 2])).item(), 4)
    5.0
    """


class CTCLoss(Layer):
    """-log of the sum of the probabilities of all alignments (Graves et al. 2006).

    (steps, n, classes), (n, labels), (n,), (n,) -> a number, or (n,) without reduction. `blank` is
    the class that stands for no label; see `nn.functional.ctc_loss`.

    >>> lengths = dy2st.ones([1], "int64")
    >>> loss = dy2st.nn.CTCLoss()(dy2st.zeros([1, 1, 4]), lengths.reshape([1, 1]), lengths, lengths)
    >>> round(loss.exp().item(), 4)
    4.0
    """

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False):
        """Take the class that stands for no label."""
        super().__init__()
        self.blank, self.reduction, self.zero_infinity = blank, reduction, zero_infinity

    def forward(
        self,
        log_probs: Any,
        labels: Any,
        input_lengths: Any,
        label_lengths: Any,
        norm_by_times: bool = False,
    ) -> Any:
        """(steps, n, classes), (n, labels), (n,), (n,) -> a number, or (n,) without reduction."""
        return ctc_loss(
            log_probs,
            labels,
            input_lengths,
            label_lengths,
            self.blank,
            self.reduction,
            norm_by_times,
            self.zero_infinity,
        )


class RNNTLoss(
    OfFunction,
    calls=rnnt_loss,
    takes=settings(blank=0, fastemit_lambda=0.001, reduction="mean"),
):
    """-log of the sum of the probabilities of all paths of a transducer (Graves 2012).

    (n, steps, labels + 1, classes) log-probabilities, (n, labels), (n,), (n,) -> a number; see
    `nn.functional.rnnt_loss`.

    >>> log_p = dy2st.log(dy2st.full([1, 1, 2, 2], 0.5))
    >>> lengths = dy2st.ones([1], "int64")
    >>> loss = dy2st.nn.RNNTLoss()(log_p, dy2st.ones([1, 1], "int64"), lengths, lengths)
    >>> round(loss.exp().item(), 4)
    4.0
    """
