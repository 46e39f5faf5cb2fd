"""Makes the last batch axes of a distribution one event."""

from __future__ import annotations

from typing import Any

from dy2st.paddle.distribution.distribution import Distribution, sum_last
from dy2st_runtime.errors import ArgumentError, WrongKind
from dy2st_runtime.lazy import public_dir


class Independent(Distribution):
    """A distribution of which some batch axes are taken as axes of one event.

    >>> import dy2st
    >>> from dy2st.paddle.distribution import Independent, Normal
    >>> joint = Independent(Normal([0.0, 1.0], [1.0, 1.0]), 1)
    >>> joint.batch_shape, joint.event_shape, joint.entropy().shape
    ((), (2,), [])
    """

    def __init__(self, base: Distribution, reinterpreted_batch_rank: int) -> None:
        """Take the distribution, and how many of its last batch axes are meant."""
        if not isinstance(base, Distribution):
            raise WrongKind(f"Independent takes a Distribution, not {type(base).__name__}")
        rest = len(base.batch_shape) - reinterpreted_batch_rank
        if not 0 <= rest < len(base.batch_shape):
            raise ArgumentError(
                f"reinterpreted_batch_rank is from 1 to {len(base.batch_shape)}, "
                f"not {reinterpreted_batch_rank}"
            )
        self._base = base
        self._reinterpreted_batch_rank = reinterpreted_batch_rank
        shape = (*base.batch_shape, *base.event_shape)
        super().__init__(shape[:rest], shape[rest:])

    @property
    def mean(self) -> Any:
        """The means."""
        return self._base.mean

    @property
    def variance(self) -> Any:
        """The variances."""
        return self._base.variance

    def sample(self, shape: Any = ()) -> Any:
        """Draws."""
        return self._base.sample(shape)

    def rsample(self, shape: Any = ()) -> Any:
        """Draws through which gradients reach the parameters."""
        return self._base.rsample(shape)

    def log_prob(self, value: Any) -> Any:
        """The sum of the logarithms over an event."""
        return sum_last(self._base.log_prob(value), self._reinterpreted_batch_rank)

    def entropy(self) -> Any:
        """The sum of the entropies over an event."""
        return sum_last(self._base.entropy(), self._reinterpreted_batch_rank)


__dir__ = public_dir(__name__)
