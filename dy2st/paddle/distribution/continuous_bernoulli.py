"""Defines the continuous Bernoulli distribution."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dy2st.paddle.distribution.distribution import Distribution, as_value, parameters
from dy2st.paddle.distribution.support import open_uniform
from dy2st_runtime.ir import F
from dy2st_runtime.lazy import public_dir


class ContinuousBernoulli(Distribution):
    """Density C * probs**x * (1 - probs)**(1 - x) from 0 to 1; a number is a batch of one.

    Between the two `lims`, where the formulas divide 0 by 0, their series about 1/2 are used.

    >>> import dy2st
    >>> print(dy2st.distribution.ContinuousBernoulli(0.5).mean)
    [0.5]
    """

    probs: Any

    def __init__(self, probs: Any, lims: Any = (0.499, 0.501)) -> None:
        """Take the parameters, and between which of them series are used."""
        (given,) = parameters([probs] if isinstance(probs, (int, float)) else probs)
        self.dtype = given.dtype
        self.lims = lims
        step = float(np.finfo(self.dtype).eps)
        self.probs = F.clip(given, step, 1 - step)
        low, high = (float(end) for end in lims)
        self._is_far = F.logical_or(self.probs <= low, self.probs > high)
        self._far = F.where(self._is_far, self.probs, low)
        self._odds = F.log(self._far) - F.log1p(-self._far)
        super().__init__(tuple(given.shape))

    @property
    def mean(self) -> Any:
        """p / (2 * p - 1) - 1 / log(p / (1 - p))."""
        far = self._far / (2 * self._far - 1) - 1 / self._odds
        x = self.probs - 0.5
        return F.where(self._is_far, far, 0.5 + (1 / 3 + 16 / 45 * F.square(x)) * x)

    @property
    def variance(self) -> Any:
        """1 / log(p / (1 - p))**2 - p * (1 - p) / (1 - 2 * p)**2."""
        spread = self._far * (1 - self._far) / F.square(1 - 2 * self._far)
        x = F.square(self.probs - 0.5)
        near = 1 / 12 - (1 / 15 - 128 / 945 * x) * x
        return F.where(self._is_far, 1 / F.square(self._odds) - spread, near)

    def sample(self, shape: Any = ()) -> Any:
        """Draws without gradients."""
        return self.rsample(shape).detach()

    def rsample(self, shape: Any = ()) -> Any:
        """Draws through which gradients reach the parameters."""
        return self.icdf(open_uniform(self._extend_shape(shape), self.dtype))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        value = as_value(value, self.probs)
        falling = (1 - value) * F.log1p(-self.probs)
        return self._log_constant() + value * F.log(self.probs) + falling

    def entropy(self) -> Any:
        """The entropy: 0 where probs is 1/2."""
        return -self._expected_log(self)

    def kl_divergence(self, other: Any) -> Any:
        """The divergence from another continuous Bernoulli distribution."""
        return self._expected_log(self) - self._expected_log(other)

    def cdf(self, value: Any) -> Any:
        """The probability of at most the value.

        >>> half = dy2st.distribution.ContinuousBernoulli(dy2st.to_tensor([0.5]))
        >>> round(half.cdf(dy2st.to_tensor([0.25])).item(), 4)
        0.25
        """
        value = as_value(value, self.probs)
        inside = F.clip(value, 0.0, 1.0)
        power = F.pow(self._far, inside) * F.pow(1 - self._far, 1 - inside)
        far = (power + self._far - 1) / (2 * self._far - 1)
        return F.where(self._is_far, far, inside)

    def icdf(self, value: Any) -> Any:
        """The value whose `cdf` is given.

        >>> half = dy2st.distribution.ContinuousBernoulli(dy2st.to_tensor([0.5]))
        >>> round(half.icdf(dy2st.to_tensor([0.25])).item(), 4)
        0.25
        """
        value = as_value(value, self.probs)
        rest = F.log1p(-self._far)
        far = (F.log1p(value * (2 * self._far - 1) - self._far) - rest) / self._odds
        return F.where(self._is_far, far, value)

    def _log_constant(self) -> Any:
        far = F.log(F.abs(self._odds)) - F.log(F.abs(1 - 2 * self._far))
        x = F.square(self.probs - 0.5)
        return F.where(self._is_far, far, math.log(2.0) + (4 / 3 + 104 / 45 * x) * x)

    def _expected_log(self, other: Any) -> Any:
        slope = F.log(other.probs) - F.log1p(-other.probs)
        return other._log_constant() + self.mean * slope + F.log1p(-other.probs)


__dir__ = public_dir(__name__)
