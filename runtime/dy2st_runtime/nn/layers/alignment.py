"""Losses of sequences whose labels are not aligned with the steps, as layers."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.nn.functions.alignment import ctc_loss, rnnt_loss
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.nn.layers.of_function import OfFunction, settings


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
