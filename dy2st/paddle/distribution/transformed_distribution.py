"""Transforms a distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dy2st.paddle.distribution.distribution import Distribution, sum_last
from dy2st.paddle.distribution.transform_base import ChainTransform, Transform, sum_slope
from dy2st_runtime.dims import Size
from dy2st_runtime.errors import ArgumentError, WrongKind
from dy2st_runtime.lazy import public_dir


class TransformedDistribution(Distribution):
    """The distribution of t_n(...t_1(x)), with x of a base.

    >>> import dy2st
    >>> from dy2st.paddle.distribution import ExpTransform, Normal, TransformedDistribution
    >>> made = TransformedDistribution(Normal(0.0, 1.0), [ExpTransform()])
    >>> round(float(made.log_prob(dy2st.to_tensor(1.0))), 4)
    -0.9189
    """

    def __init__(self, base: Distribution, transforms: Sequence[Transform]) -> None:
        """Take the base and the transforms in the order in which they are applied."""
        if not isinstance(base, Distribution):
            raise WrongKind(f"the base is a Distribution, not {type(base).__name__}")
        if not all(isinstance(entry, Transform) for entry in transforms):
            raise WrongKind("transforms are a sequence of Transform")
        self._base = base
        self._transforms = list(transforms)
        super().__init__(*_shapes(base, self._transforms))

    def sample(self, shape: Any = ()) -> Any:
        """Draws of the base, transformed."""
        return self._transformed(self._base.sample(shape))

    def rsample(self, shape: Any = ()) -> Any:
        """Draws through which gradients reach the parameters of the base."""
        return self._transformed(self._base.rsample(shape))

    def log_prob(self, value: Any) -> Any:
        """The base's at the inverse, less the logarithms of the slopes."""
        rank = len(self.event_shape)
        slopes: Any = 0.0
        for entry in reversed(self._transforms):
            inverse = entry.inverse(value)
            rank += entry._domain.event_rank - entry._codomain.event_rank
            slopes = slopes + sum_slope(entry, inverse, rank)
            value = inverse
        base = self._base.log_prob(value)
        return sum_last(base, rank - len(self._base.event_shape)) - slopes

    def _transformed(self, x: Any) -> Any:
        for entry in self._transforms:
            x = entry.forward(x)
        return x


def _shapes(
    base: Distribution, transforms: list[Transform]
) -> tuple[tuple[Size, ...], tuple[Size, ...]]:
    """The batch's and the event's: an event has all axes that the transforms take together."""
    if not transforms:
        return base.batch_shape, base.event_shape
    chain = ChainTransform(transforms)
    shape = (*base.batch_shape, *base.event_shape)
    taken, given = chain._domain.event_rank, chain._codomain.event_rank
    if len(shape) < taken:
        raise ArgumentError(
            f"these transforms take events of {taken} axes; the base has the shape {list(shape)}"
        )
    after = tuple(chain.forward_shape(shape))
    batch = len(after) - given - max(len(base.event_shape) - taken, 0)
    return after[:batch], after[batch:]


__dir__ = public_dir(__name__)
