"""Defines the Bernoulli distribution."""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st.paddle.distribution.distribution import as_value, parameters
from dy2st.paddle.distribution.exponential_family import ExponentialFamily
from dy2st.paddle.distribution.support import open_uniform
from dy2st_runtime.ir import F
from dy2st_runtime.lazy import public_dir


class Bernoulli(ExponentialFamily):
    """1 with probability `probs`, else 0; probabilities are kept from 0 and 1 by one float's step.

    >>> import dy2st
    >>> coin = dy2st.distribution.Bernoulli(0.25)
    >>> round(float(coin.prob(dy2st.to_tensor(0.0))), 4)
    0.75
    """

    probs: Any

    def __init__(self, probs: Any, name: str | None = None) -> None:
        """Take probabilities."""
        self.name = name or "Bernoulli"
        (given,) = parameters(probs)
        self.dtype = given.dtype
        step = float(np.finfo(self.dtype).eps)
        self.probs = F.clip(given, step, 1 - step)
        self.logits = F.log(self.probs) - F.log1p(-self.probs)
        super().__init__(tuple(given.shape))

    @property
    def mean(self) -> Any:
        """The probabilities."""
        return self.probs

    @property
    def variance(self) -> Any:
        """probs * (1 - probs)."""
        return self.probs * (1 - self.probs)

    def sample(self, shape: Any = ()) -> Any:
        """Draws of 0 and 1 as floats; no gradient reaches the probabilities."""
        return F.bernoulli(F.expand(self.probs, self._extend_shape(shape))).detach()

    def rsample(self, shape: Any = (), temperature: float = 1.0) -> Any:
        """Logits of relaxed draws, through which gradients reach the probabilities.

        `sigmoid` of them lies near 0 or 1, the nearer the lower the temperature.
        """
        drawn = open_uniform(self._extend_shape(shape), self.dtype)
        return (F.log(drawn) - F.log1p(-drawn) + self.logits) / temperature

    def cdf(self, value: Any) -> Any:
        """The probability of at most the value.

        >>> dy2st.distribution.Bernoulli(0.25).cdf(dy2st.to_tensor([0.0])).item()
        0.75
        """
        value = as_value(value, self.probs)
        below_one = F.where(value < 1, 1 - self.probs, F.ones_like(self.probs))
        return F.where(value < 0, F.zeros_like(below_one), below_one)

    def log_prob(self, value: Any) -> Any:
        """value * log(probs) + (1 - value) * log(1 - probs)."""
        value = as_value(value, self.probs)
        return value * self.logits - F.softplus(self.logits)

    def entropy(self) -> Any:
        """-probs * log(probs) - (1 - probs) * log(1 - probs)."""
        return F.softplus(self.logits) - self.probs * self.logits

    def kl_divergence(self, other: Any) -> Any:
        """The divergence from another Bernoulli distribution."""
        difference = self.logits - other.logits
        return self.probs * difference - F.softplus(self.logits) + F.softplus(other.logits)


__dir__ = public_dir(__name__)
