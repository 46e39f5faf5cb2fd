"""Defines the geometric distribution."""

from __future__ import annotations

from typing import Any

from dy2st.paddle.distribution.distribution import Distribution, as_value, parameters
from dy2st.paddle.distribution.support import open_uniform
from dy2st_runtime.ir import F
from dy2st_runtime.lazy import public_dir


class Geometric(Distribution):
    """How often a trial fails before it first succeeds: (1 - probs)**k * probs for k = 0, 1, ...

    The divergence is that of the whole distribution; PaddlePaddle's is that of one trial.

    >>> import dy2st
    >>> float(dy2st.distribution.Geometric(0.25).mean)
    3.0
    """

    probs: Any

    def __init__(self, probs: Any) -> None:
        """Take probabilities of success."""
        (self.probs,) = parameters(probs)
        super().__init__(tuple(self.probs.shape))

    @property
    def mean(self) -> Any:
        """(1 - probs) / probs."""
        return 1.0 / self.probs - 1.0

    @property
    def variance(self) -> Any:
        """(1 - probs) / probs**2."""
        return (1.0 / self.probs - 1.0) / self.probs

    @property
    def stddev(self) -> Any:
        """The root of the variance.

        >>> round(dy2st.distribution.Geometric(0.5).stddev.item(), 4)
        1.4142
        """
        return F.sqrt(self.variance)

    def pmf(self, k: Any) -> Any:
        """The probability of k failures.

        >>> dy2st.distribution.Geometric(0.5).pmf(dy2st.to_tensor([2.0])).item()
        0.125
        """
        return F.pow(1.0 - self.probs, as_value(k, self.probs)) * self.probs

    def log_pmf(self, k: Any) -> Any:
        """The logarithm of `pmf`.

        >>> round(dy2st.distribution.Geometric(0.5).log_pmf(dy2st.to_tensor([2.0])).exp().item(), 4)
        0.125
        """
        return as_value(k, self.probs) * F.log1p(-self.probs) + F.log(self.probs)

    def prob(self, value: Any) -> Any:
        """The same as `pmf`."""
        return self.pmf(value)

    def log_prob(self, value: Any) -> Any:
        """The same as `log_pmf`."""
        return self.log_pmf(value)

    def sample(self, shape: Any = ()) -> Any:
        """Draws, as floats."""
        return self.rsample(shape).detach()

    def rsample(self, shape: Any = ()) -> Any:
        """Draws, as floats: the gradient is 0, for they are whole numbers."""
        drawn = open_uniform(self._extend_shape(shape), self.probs.dtype)
        return F.floor(F.log(drawn) / F.log1p(-self.probs))

    def entropy(self) -> Any:
        """The entropy of a trial, divided by `probs`."""
        failure = 1.0 - self.probs
        return -(failure * F.log1p(-self.probs) + self.probs * F.log(self.probs)) / self.probs

    def cdf(self, k: Any) -> Any:
        """The probability of at most k failures.

        >>> dy2st.distribution.Geometric(0.5).cdf(dy2st.to_tensor([1.0])).item()
        0.75
        """
        return 1.0 - F.pow(1.0 - self.probs, as_value(k, self.probs) + 1)

    def kl_divergence(self, other: Any) -> Any:
        """The divergence from another geometric distribution."""
        failing = F.log1p(-self.probs) - F.log1p(-other.probs)
        return F.log(self.probs / other.probs) + self.mean * failing


__dir__ = public_dir(__name__)
