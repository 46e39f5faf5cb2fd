"""Defines the normal distribution of vectors."""

from __future__ import annotations

import math
from typing import Any

from dy2st.paddle.distribution.distribution import Distribution, as_value, parameters
from dy2st_runtime.errors import ArgumentError, ShapeError
from dy2st_runtime.ir import F
from dy2st_runtime.lazy import public_dir
from dy2st_runtime.ops.rules import broadcast_shapes


class MultivariateNormal(Distribution):
    """Normal vectors with a mean and one of a covariance, its inverse, or its lower triangle.

    loc (..., n), a matrix (..., n, n): events (n,).

    >>> import dy2st
    >>> law = dy2st.distribution.MultivariateNormal(dy2st.zeros([2]), dy2st.eye(2))
    >>> round(float(law.log_prob(dy2st.zeros([2]))), 4)
    -1.8379
    """

    def __init__(
        self,
        loc: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
    ) -> None:
        """Take the means and one matrix."""
        given = [covariance_matrix, precision_matrix, scale_tril]
        if sum(matrix is not None for matrix in given) != 1:
            raise ArgumentError("give one of covariance_matrix, precision_matrix and scale_tril")
        (mean,) = parameters([loc] if isinstance(loc, (int, float)) else loc)
        mean = mean if mean.ndim else F.reshape(mean, [1])
        self.dtype = mean.dtype
        (matrix,) = (as_value(matrix, mean) for matrix in given if matrix is not None)
        if matrix.ndim < 2:
            raise ShapeError(f"a matrix has two axes at least, not the shape {matrix.shape}")
        batch = _together(tuple(matrix.shape[:-2]), tuple(mean.shape[:-1]))
        wide = F.expand(matrix, [*batch, *matrix.shape[-2:]])
        self.covariance_matrix = wide if covariance_matrix is not None else None
        self.precision_matrix = wide if precision_matrix is not None else None
        self.scale_tril = wide if scale_tril is not None else None
        self.loc = F.expand(mean, [*batch, mean.shape[-1]])
        self._triangle = _triangle(matrix, given)
        super().__init__(batch, tuple(mean.shape[-1:]))

    @property
    def mean(self) -> Any:
        """The means."""
        return self.loc

    @property
    def variance(self) -> Any:
        """The diagonal of the covariance."""
        squares = F.sum(F.square(self._triangle), axis=-1)
        return F.expand(squares, [*self.batch_shape, *self.event_shape])

    def sample(self, shape: Any = ()) -> Any:
        """Draws without gradients."""
        return self.rsample(shape).detach()

    def rsample(self, shape: Any = ()) -> Any:
        """Draws through which gradients reach the parameters."""
        normal = F.randn(list(self._extend_shape(shape)), self.dtype)
        return self.loc + F.squeeze(F.matmul(self._triangle, F.unsqueeze(normal, -1)), -1)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        square = _squared_length(self._triangle, as_value(value, self.loc) - self.loc)
        return -0.5 * (square + self.event_shape[0] * math.log(2 * math.pi)) - self._half_log_det()

    def entropy(self) -> Any:
        """n / 2 * (1 + log(2 * pi)) + half the logarithm of the determinant."""
        found = 0.5 * self.event_shape[0] * (1 + math.log(2 * math.pi)) + self._half_log_det()
        return F.expand(found, list(self.batch_shape)) if self.batch_shape else found

    def kl_divergence(self, other: Any) -> Any:
        """The divergence from another of these distributions."""
        batch = list(_together(self.batch_shape, other.batch_shape))
        mine, theirs = (
            F.expand(law._triangle, [*batch, *law._triangle.shape[-2:]]) for law in (self, other)
        )
        relative = F.triangular_solve(theirs, mine, upper=False)
        trace = F.sum(F.square(relative), axis=[-2, -1])
        distance = _squared_length(other._triangle, self.loc - other.loc)
        half = other._half_log_det() - self._half_log_det()
        return half + 0.5 * (trace + distance - self.event_shape[0])

    def _half_log_det(self) -> Any:
        return F.sum(F.log(F.diagonal(self._triangle, axis1=-2, axis2=-1)), axis=-1)


def _triangle(matrix: Any, given: list[Any]) -> Any:
    """The lower triangle whose product with its transpose is the covariance."""
    covariance, precision, _ = given
    if covariance is not None:
        return F.cholesky(matrix)
    if precision is None:
        return matrix
    # The reversed triangle of the reversed matrix is an upper one: its inverse, turned, is ours.
    upper = F.flip(F.cholesky(F.flip(matrix, [-2, -1])), [-2, -1])
    return F.matrix_transpose(F.inverse(upper))


def _squared_length(triangle: Any, difference: Any) -> Any:
    """The squared length of the inverse of a triangle times vectors: (..., n) -> (...)."""
    batch = _together(tuple(triangle.shape[:-2]), tuple(difference.shape[:-1]))
    wide = F.expand(triangle, [*batch, *triangle.shape[-2:]])
    column = F.unsqueeze(F.expand(difference, [*batch, difference.shape[-1]]), -1)
    return F.sum(F.square(F.triangular_solve(wide, column, upper=False)), axis=[-2, -1])


def _together(*shapes: Any) -> Any:
    return broadcast_shapes("MultivariateNormal", *shapes)


__dir__ = public_dir(__name__)
