"""Defines the categorical distribution."""

from __future__ import annotations

import math
from typing import Any

from dy2st.paddle.distribution.distribution import Distribution, parameters, sample_shape
from dy2st_runtime.ir import F, apply
from dy2st_runtime.lazy import public_dir


class Categorical(Distribution):
    """An index of the last axis of `logits`: (*batch, n).

    PaddlePaddle reads `logits` in two ways, and so does this: `probs` and `log_prob` divide them
    by their sum, as probabilities not yet normalised; `sample`, `entropy` and `kl_divergence` take
    their softmax, as logarithms of them.

    >>> import dy2st
    >>> table = dy2st.distribution.Categorical(dy2st.to_tensor([1.0, 3.0]))
    >>> print(table.probs(dy2st.to_tensor([1, 0])))
    [0.75 0.25]
    """

    def __init__(self, logits: Any, name: str | None = None) -> None:
        """Take the weights of the classes in the last axis."""
        self.name = name or "Categorical"
        (self.logits,) = parameters(logits)
        self.dtype = self.logits.dtype
        self._prob = self.logits / F.sum(self.logits, axis=-1, keepdim=True)
        super().__init__(tuple(self.logits.shape[:-1]))

    def sample(self, shape: Any = ()) -> Any:
        """Indices with the probabilities softmax(logits): (*shape, *batch) int64."""
        wanted = sample_shape(shape)
        weights = F.softmax(self.logits, axis=-1)
        drawn = apply("multinomial", weights, num_samples=math.prod(wanted), replacement=True)
        return F.reshape(F.moveaxis(drawn, -1, 0), [*wanted, *self.batch_shape])

    def entropy(self) -> Any:
        """-sum(p * log(p)) with p = softmax(logits)."""
        logs = F.log_softmax(self.logits, axis=-1)
        return -F.sum(F.exp(logs) * logs, axis=-1)

    def kl_divergence(self, other: Any) -> Any:
        """sum(p * (log(p) - log(q))) with p and q = softmax(logits): (*batch, 1)."""
        logs = F.log_softmax(self.logits, axis=-1)
        others = F.log_softmax(other.logits, axis=-1)
        return F.sum(F.exp(logs) * (logs - others), axis=-1, keepdim=True)

    def probs(self, value: Any) -> Any:
        """logits / sum(logits) at indices: a 1-d value holds for all of a batch.

        For logits (n,) any shape gives its own; for (*batch, n), (k,) gives (*batch, k), and
        (*batch, k) gives (*batch, k).
        """
        rank = len(self.batch_shape)
        if rank == 0:
            found = F.gather(self._prob, F.reshape(value, [-1]))
            return F.reshape(found, value.shape)
        if len(value.shape) == 1:
            value = F.reshape(value, [*([1] * rank), -1])
        return F.take_along_axis(self._prob, value, -1)

    def prob(self, value: Any) -> Any:
        """The same as `probs`."""
        return self.probs(value)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of `probs`."""
        return F.log(self.probs(value))


__dir__ = public_dir(__name__)
