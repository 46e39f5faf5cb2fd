"""Has what follows from the normaliser of a density that is exp of an inner product."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dy2st.paddle.distribution.distribution import Distribution, sum_last
from dy2st_runtime.autograd import grad
from dy2st_runtime.ir import F
from dy2st_runtime.lazy import public_dir


class ExponentialFamily(Distribution):
    """Density exp(sum(statistics(x) * natural) - log_normalizer(natural) + carrier(x)).

    A subclass has `_natural_parameters`, `_log_normalizer(*natural)` and `_mean_carrier_measure`,
    from which entropies and divergences are derived, for eager tensors.

    >>> isinstance(dy2st.distribution.Beta(2.0, 3.0), dy2st.distribution.ExponentialFamily)
    True
    """

    @property
    def _natural_parameters(self) -> Sequence[Any]:
        raise self._without("natural parameters")

    def _log_normalizer(self, *natural: Any) -> Any:
        raise self._without("logarithm of its normaliser")

    @property
    def _mean_carrier_measure(self) -> Any:
        raise self._without("mean of its carrier measure")

    def entropy(self) -> Any:
        """The entropy, by Bregman's divergence of the normaliser."""
        natural, normaliser, slopes = self.natural_slopes()
        found = -self._mean_carrier_measure + normaliser
        for parameter, slope in zip(natural, slopes, strict=True):
            found = found - sum_last(parameter * slope, len(self.event_shape))
        return found

    def natural_slopes(self) -> tuple[list[Any], Any, list[Any]]:
        """The natural parameters, the logarithm of the normaliser, and its gradient by them.

        >>> one = dy2st.distribution.Exponential(dy2st.ones([1]))
        >>> natural, _, slopes = one.natural_slopes()
        >>> [x.tolist() for x in natural], [x.tolist() for x in slopes]
        ([[-1.0]], [[1.0]])
        """
        natural = []
        for parameter in self._natural_parameters:
            leaf = parameter.detach()
            leaf.stop_gradient = False
            natural.append(leaf)
        normaliser = self._log_normalizer(*natural)
        return natural, normaliser, grad(F.sum(normaliser), natural, create_graph=True)


__dir__ = public_dir(__name__)
