"""Defines the multinomial distribution."""

from __future__ import annotations

import math
from typing import Any

from dy2st.paddle.distribution.categorical import Categorical
from dy2st.paddle.distribution.distribution import Distribution, as_value, parameters, sample_shape
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F
from dy2st_runtime.lazy import public_dir
from dy2st_runtime.nn import functional


class Multinomial(Distribution):
    """How often each of n classes comes up in `total_count` draws: events (n,), probs (*batch, n).

    >>> import dy2st
    >>> print(dy2st.distribution.Multinomial(4, dy2st.to_tensor([0.25, 0.75])).mean)
    [1. 3.]
    """

    probs: Any

    def __init__(self, total_count: int, probs: Any) -> None:
        """Take the number of draws, and probabilities, which are divided by their sum."""
        if not isinstance(total_count, int) or total_count < 1:
            raise ArgumentError(f"total_count is an int from 1 on, not {total_count!r}")
        (given,) = parameters(probs)
        if given.ndim < 1:
            raise ArgumentError("probs has an axis of classes at least")
        self.total_count = total_count
        self.probs = given / F.sum(given, axis=-1, keepdim=True)
        self._categorical = Categorical(F.log(given))
        super().__init__(tuple(given.shape[:-1]), tuple(given.shape[-1:]))

    @property
    def mean(self) -> Any:
        """total_count * probs."""
        return self.total_count * self.probs

    @property
    def variance(self) -> Any:
        """total_count * probs * (1 - probs), of each class."""
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, shape: Any = ()) -> Any:
        """Draws, as floats: their sum over the last axis is `total_count`."""
        drawn = self._categorical.sample([self.total_count, *sample_shape(shape)])
        counted = functional.one_hot(drawn, self.probs.shape[-1])
        return F.sum(F.cast(counted, self.probs.dtype), axis=0)

    def log_prob(self, value: Any) -> Any:
        """log(n! / prod(value!) * prod(probs**value)), with 0**0 = 1."""
        value = as_value(value, self.probs)
        is_zero = F.logical_and(value == 0, self.probs == 0)
        logs = value * F.log(F.where(is_zero, F.ones_like(self.probs), self.probs))
        ways = F.lgamma(F.sum(value, axis=-1) + 1) - F.sum(F.lgamma(value + 1), axis=-1)
        return ways + F.sum(logs, axis=-1)

    def entropy(self) -> Any:
        """The entropy, by the sum over what each class may count."""
        count = self.total_count
        column = F.reshape(F.arange(1, count + 1), [-1, *([1] * self.probs.ndim)])
        support = F.cast(column, self.probs.dtype)
        rest = count - support
        ways = math.lgamma(count + 1) - F.lgamma(support + 1) - F.lgamma(rest + 1)
        weights = F.exp(ways) * F.pow(self.probs, support) * F.pow(1 - self.probs, rest)
        lost = F.sum(weights * F.lgamma(support + 1), axis=[0, -1])
        return count * self._categorical.entropy() - math.lgamma(count + 1) + lost


__dir__ = public_dir(__name__)
