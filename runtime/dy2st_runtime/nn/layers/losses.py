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
    """max(0, -label * (input - other) + margin)."""


class HingeEmbeddingLoss(
    OfFunction,
    calls=lambda input, label, margin, reduction: F.hinge_embedding_loss(
        input, label, margin, reduction
    ),
    takes=settings(margin=1.0, reduction="mean"),
):
    """input where the label is 1, max(0, margin - input) where it is -1."""


class CosineEmbeddingLoss(
    OfFunction, calls=cosine_embedding_loss, takes=settings(margin=0, reduction="mean")
):
    """1 - cos where the label is 1, max(0, cos - margin) where it is -1: (n, d), (n, d), (n,)."""


class TripletMarginLoss(
    OfFunction,
    calls=triplet_margin_loss,
    takes=settings(margin=1.0, p=2.0, epsilon=1e-6, swap=False, reduction="mean"),
):
    """max(0, |input - positive| - |input - negative| + margin)."""


class TripletMarginWithDistanceLoss(
    OfFunction,
    calls=triplet_margin_with_distance_loss,
    takes=settings(distance_function=None, margin=1.0, swap=False, reduction="mean"),
):
    """max(0, d(input, positive) - d(input, negative) + margin), d a function of one's own."""


class SoftMarginLoss(OfFunction, calls=soft_margin_loss, takes=settings(reduction="mean")):
    """log(1 + exp(-label * input)), the labels being 1 and -1."""


class MultiLabelSoftMarginLoss(
    OfFunction, calls=multi_label_soft_margin_loss, takes=settings(weight=None, reduction="mean")
):
    """The mean over classes of -(y log s(x) + (1 - y) log s(-x)), s the sigmoid."""


class MultiLabelMarginLoss(
    OfFunction, calls=multi_label_margin_loss, takes=settings(reduction="mean")
):
    """sum over own classes y and others i of max(0, 1 - x[y] + x[i]) / c."""


class MultiMarginLoss(
    OfFunction,
    calls=multi_margin_loss,
    takes=settings(p=1, margin=1.0, weight=None, reduction="mean"),
):
    """sum over i != y of max(0, margin - x[y] + x[i])**p / c."""


class GaussianNLLLoss(
    OfFunction,
    calls=gaussian_nll_loss,
    takes=settings(full=False, epsilon=1e-6, reduction="mean"),
):
    """(log(v) + (input - label)**2 / v) / 2 with v = max(variance, epsilon)."""


class PoissonNLLLoss(
    OfFunction,
    calls=poisson_nll_loss,
    takes=settings(log_input=True, full=False, epsilon=1e-8, reduction="mean"),
):
    """exp(input) - label * input, or without `log_input` input - label * log(input + epsilon)."""


class PairwiseDistance(
    OfFunction, calls=pairwise_distance, takes=settings(p=2.0, epsilon=1e-6, keepdim=False)
):
    """(n, d), (n, d) -> (n,): (sum |x - y + epsilon|**p)**(1/p)."""


class CTCLoss(Layer):
    """-log of the sum of the probabilities of all alignments; see `nn.functional.ctc_loss`."""

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
    """-log of the sum of the probabilities of all paths of a transducer; see `rnnt_loss`."""
