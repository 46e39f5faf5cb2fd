"""Defines the binomial distribution."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dy2st.paddle.distribution.distribution import Distribution, as_value, spread_parameters
from dy2st.paddle.distribution.support import expectation, times_log, whole_numbers
from dy2st_runtime.ir import F, Tensor
from dy2st_runtime.lazy import public_dir


class Binomial(Distribution):
    """How many of `total_count` tries succeed, each with probability `probs`.

    >>> import dy2st
    >>> float(dy2st.distribution.Binomial(4, 0.25).mean)
    1.0
    """

    probs: Any

    def __init__(self, total_count: Any, probs: Any) -> None:
        """Take counts and probabilities, which broadcast."""
        if isinstance(total_count, Tensor) and isinstance(probs, Tensor):
            total_count = F.cast(total_count, probs.dtype)
        self.probs, self.total_count = spread_parameters(probs, total_count)
        self.dtype = self.probs.dtype
        super().__init__(tuple(self.probs.shape))

    @property
    def mean(self) -> Any:
        """total_count * probs."""
        return self.total_count * self.probs

    @property
    def variance(self) -> Any:
        """total_count * probs * (1 - probs)."""
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, shape: Any = ()) -> Any:
        """Draws, as floats."""
        wanted = list(self._extend_shape(shape))
        count, probs = (F.expand(tensor, wanted) for tensor in (self.total_count, self.probs))
        return F.cast(F.binomial(F.cast(count, "int64"), probs), self.dtype)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the probability: -inf above `total_count`.

        Probabilities are kept from 0 and 1 by one float's step.
        """
        value = as_value(value, self.probs)
        step = float(np.finfo(self.dtype).eps)
        probs = F.clip(self.probs, step, 1 - step)
        is_possible = value <= self.total_count
        rest = F.where(is_possible, self.total_count - value, F.zeros_like(self.total_count))
        ways = F.lgamma(self.total_count + 1) - F.lgamma(value + 1) - F.lgamma(rest + 1)
        logs = ways + times_log(value, probs) + times_log(rest, 1 - probs)
        return F.where(is_possible, logs, -math.inf)

    def entropy(self) -> Any:
        """-sum(p * log(p)) over all counts."""
        logs = self.log_prob(self._support())
        return -expectation(logs, logs)

    def kl_divergence(self, other: Any) -> Any:
        """The divergence from another binomial distribution."""
        support = self._support()
        logs, others = self.log_prob(support), other.log_prob(support)
        is_possible = logs > -math.inf
        apart = F.where(is_possible, logs, 0.0) - F.where(is_possible, others, 0.0)
        return expectation(logs, apart)

    def _support(self) -> Any:
        return whole_numbers(F.max(self.total_count), self.probs)


__dir__ = public_dir(__name__)
