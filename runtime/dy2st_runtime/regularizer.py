"""Regularizers: terms that are added to the gradient of a weight so that it stays small."""

from __future__ import annotations

from dy2st_runtime.ir.location import without_own_frames
from dy2st_runtime.parameter_updates import Value, sign


class WeightDecayRegularizer:
    """Base: called on a weight, it gives what is added to its gradient."""

    @without_own_frames
    def __init__(self, coeff: float = 0.0):
        """Take the coefficient."""
        self._coeff = float(coeff)

    @property
    def coeff(self) -> float:
        """The coefficient."""
        return self._coeff

    def __call__(self, weight: Value) -> Value:
        """What is added to the gradient, of the weight's shape and dtype."""
        raise NotImplementedError

    def __str__(self) -> str:
        """Name and coefficient."""
        return f"{type(self).__name__}, coeff={self._coeff:f}"


class L2Decay(WeightDecayRegularizer):
    """coeff * weight: the gradient of coeff / 2 * |weight|**2.

    >>> import numpy as np
    >>> L2Decay(0.5)(np.array([1.0, -2.0]))
    array([ 0.5, -1. ])
    """

    def __call__(self, weight: Value) -> Value:
        """What is added to the gradient."""
        return weight * self._coeff


class L1Decay(WeightDecayRegularizer):
    """coeff * sign(weight): the gradient of coeff * sum(|weight|).

    >>> import numpy as np
    >>> L1Decay(0.5)(np.array([3.0, -2.0]))
    array([ 0.5, -0.5])
    """

    def __call__(self, weight: Value) -> Value:
        """What is added to the gradient."""
        return sign(weight) * self._coeff


__all__ = ["L1Decay", "L2Decay", "WeightDecayRegularizer"]
