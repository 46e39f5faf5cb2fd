"""Defines the distribution of Lewandowski, Kurowicka and Joe, by Cholesky factors."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from dy2st.paddle.distribution.beta import Beta
from dy2st.paddle.distribution.distribution import Distribution, as_value, parameters, sample_shape
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F
from dy2st_runtime.lazy import public_dir


class LKJCholesky(Distribution):
    """Lower triangles L of correlation matrices L @ L.T: events (dim, dim).

    The density of the matrices is in proportion to det(L @ L.T)**(concentration - 1).

    >>> import dy2st
    >>> dy2st.distribution.LKJCholesky(3, 1.0).sample([5]).shape
    [5, 3, 3]
    """

    def __init__(
        self,
        dim: int = 2,
        concentration: Any = 1.0,
        sample_method: Literal["onion", "cvine"] = "onion",
    ) -> None:
        """Take the number of rows, the concentrations, and one of two ways to draw."""
        if not isinstance(dim, int) or dim < 2:
            raise ArgumentError(f"dim is an int from 2 on, not {dim!r}")
        if sample_method not in ("onion", "cvine"):
            raise ArgumentError(f"sample_method is 'onion' or 'cvine', not {sample_method!r}")
        (self.concentration,) = parameters(concentration)
        self.dtype = self.concentration.dtype
        self.dim, self.sample_method = dim, sample_method
        super().__init__(tuple(self.concentration.shape), (dim, dim))

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draws without gradients."""
        draw = self._onion if self.sample_method == "onion" else self._vine
        return draw(sample_shape).detach()

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density of a triangle."""
        value = as_value(value, self.concentration)
        diagonal = F.diagonal(value, axis1=-2, axis2=-1)[..., 1:]
        order = self.dim - self._numbers(2, self.dim + 1)
        powers = 2 * F.unsqueeze(self.concentration - 1, -1) + order
        # the logarithm of the density's normaliser
        rank = self.dim - 1
        middle = self.concentration + 0.5 * rank
        volume = F.multigammaln(middle - 0.5, rank) - rank * F.lgamma(middle)
        return F.sum(powers * F.log(diagonal), axis=-1) - (volume + 0.5 * rank * math.log(math.pi))

    def _onion(self, shape: Any) -> Any:
        """Row by row: a random direction, and a length from a beta distribution."""
        # PaddlePaddle's first parameter is twice too large from the third row on.
        offset = 0.5 * F.concat([self._numbers(0, 1), self._numbers(0, self.dim - 1)])
        marginal = F.unsqueeze(self.concentration + 0.5 * (self.dim - 2), -1)
        squares = Beta(offset + 0.5, marginal - offset).sample(shape)
        normal = F.tril(F.randn(list(self._extend_shape(shape)), self.dtype), -1)
        length = F.sqrt(F.sum(F.square(normal), axis=-1, keepdim=True))
        direction = normal / F.where(length > 0, length, F.ones_like(length))
        below = F.sqrt(F.unsqueeze(squares, -1)) * direction
        rest = 1 - F.sum(F.square(below), axis=-1)
        return below + F.diag_embed(F.sqrt(F.clip(rest, float(np.finfo(self.dtype).tiny), 1.0)))

    def _vine(self, shape: Any) -> Any:
        """By partial correlations, which are beta distributed in each column."""
        marginal = F.unsqueeze(F.unsqueeze(self.concentration + 0.5 * (self.dim - 2), -1), -1)
        column = F.minimum(self._numbers(0, self.dim), self._numbers(0, 1) + (self.dim - 2))
        wide = F.expand(marginal - 0.5 * column, [*self.batch_shape, self.dim, self.dim])
        partial = F.tril(2 * Beta(wide, wide).sample(sample_shape(shape)) - 1, -1)
        left = F.cumprod(F.sqrt(1 - F.square(partial)), dim=-1)
        left = F.concat([F.ones_like(left[..., :1]), left[..., :-1]], axis=-1)
        return (partial + F.eye(self.dim, dtype=self.dtype)) * left

    def _numbers(self, start: int, end: int) -> Any:
        return F.cast(F.arange(start, end), self.dtype)


__dir__ = public_dir(__name__)
