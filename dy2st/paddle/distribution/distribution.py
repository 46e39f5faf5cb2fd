"""Has what all distributions share: shapes, parameters as tensors, optional methods."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from dy2st_runtime.dims import Size
from dy2st_runtime.errors import WrongKind
from dy2st_runtime.ir import F, Tensor
from dy2st_runtime.ir.arguments import as_shape
from dy2st_runtime.ir.types import is_floating
from dy2st_runtime.lazy import public_dir
from dy2st_runtime.ops.rules import broadcast_shapes
from dy2st_runtime.tensor import to_tensor


class Distribution:
    """A probability distribution: a batch of them, each of events of one shape.

    >>> import dy2st
    >>> normal = dy2st.distribution.Normal([0.0, 1.0], [1.0, 2.0])
    >>> normal.batch_shape, normal.event_shape, normal.sample([5]).shape
    ((2,), (), [5, 2])
    """

    def __init__(self, batch_shape: Sequence[Size] = (), event_shape: Sequence[Size] = ()) -> None:
        """Keep the shapes."""
        self._batch_shape = tuple(batch_shape)
        self._event_shape = tuple(event_shape)

    @property
    def batch_shape(self) -> tuple[Size, ...]:
        """The shape of the distributions that are one object."""
        return self._batch_shape

    @property
    def event_shape(self) -> tuple[Size, ...]:
        """The shape of one draw from one of them."""
        return self._event_shape

    @property
    def mean(self) -> Any:
        """The mean of each.

        >>> dy2st.distribution.Uniform(0.0, 1.0).mean.item()
        0.5
        """
        raise self._without("mean")

    @property
    def variance(self) -> Any:
        """The variance of each.

        >>> dy2st.distribution.Normal(0.0, 2.0).variance.item()
        4.0
        """
        raise self._without("variance")

    def sample(self, shape: Any = ()) -> Any:
        """Draws of shape (*shape, *batch_shape, *event_shape)."""
        raise self._without("sample")

    def rsample(self, shape: Any = ()) -> Any:
        """Draws through which gradients reach the parameters.

        >>> scale = dy2st.to_tensor([2.0], stop_gradient=False)
        >>> draw = dy2st.distribution.Normal(dy2st.zeros([1]), scale).rsample()
        >>> draw.backward()
        >>> bool((scale.grad * 2.0 - draw).abs().item() < 1e-5)
        True
        """
        raise self._without("rsample")

    def entropy(self) -> Any:
        """The entropy of each, in nats.

        >>> dy2st.distribution.Uniform(0.0, 1.0).entropy().item()
        0.0
        """
        raise self._without("entropy")

    def kl_divergence(self, other: Distribution) -> Any:
        """The divergence of Kullback and Leibler from `other`.

        >>> one, other = dy2st.distribution.Normal(0.0, 1.0), dy2st.distribution.Normal(1.0, 1.0)
        >>> one.kl_divergence(other).item()
        0.5
        """
        raise self._without("kl_divergence")

    def prob(self, value: Any) -> Any:
        """The probability or density at a value.

        >>> density = dy2st.distribution.Uniform(0.0, 4.0).prob(dy2st.to_tensor([1.0]))
        >>> density.item()
        0.25
        """
        return F.exp(self.log_prob(value))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the probability or density at a value.

        >>> found = dy2st.distribution.Uniform(0.0, 4.0).log_prob(dy2st.to_tensor([1.0]))
        >>> round(found.exp().item(), 4)
        0.25
        """
        raise self._without("log_prob")

    def probs(self, value: Any) -> Any:
        """The same as `prob`, by an older name.

        >>> dy2st.distribution.Uniform(0.0, 4.0).probs(dy2st.to_tensor([1.0])).item()
        0.25
        """
        return self.prob(value)

    def _without(self, name: str) -> NotImplementedError:
        return NotImplementedError(f"{type(self).__name__} has no {name}")

    def _extend_shape(self, shape: Any) -> tuple[Size, ...]:
        return (*sample_shape(shape), *self._batch_shape, *self._event_shape)


def sample_shape(shape: Any) -> tuple[Size, ...]:
    """The shape that a user gives to `sample`; TypeError for what is no sequence.

    >>> sample_shape([2, 3])
    (2, 3)
    """
    if not isinstance(shape, (Iterable, Tensor)):
        raise WrongKind(f"the shape of samples is a list or tuple, not {shape!r}")
    return as_shape(shape if isinstance(shape, Tensor) else list(shape))


def parameters(*given: Any) -> tuple[Any, ...]:
    """Parameters as float tensors; numbers, lists and arrays in one shape and dtype.

    The dtype is that of the first tensor, else float64 if an array has it, else float32.

    >>> [(x.shape, x.dtype.name) for x in parameters(1.0, [2.0, 3.0])]
    [([2], 'float32'), ([2], 'float32')]
    """
    tensors = [entry for entry in given if isinstance(entry, Tensor)]
    plain = [np.asarray(entry) for entry in given if not isinstance(entry, Tensor)]
    dtype: Any = "float32"
    if tensors:
        dtype = tensors[0].dtype if is_floating(tensors[0].dtype) else "float32"
    elif any(isinstance(entry, np.ndarray) and entry.dtype == np.float64 for entry in given):
        dtype = "float64"
    spread = iter(np.broadcast_arrays(*plain)) if plain else iter(())
    return tuple(
        F.cast(entry, dtype)
        if isinstance(entry, Tensor)
        else to_tensor(np.array(next(spread)), dtype=dtype)
        for entry in given
    )


def shape_together(*tensors: Any) -> tuple[Size, ...]:
    """The shape that tensors broadcast to.

    >>> shape_together(dy2st.ones([2, 1]), dy2st.ones([3]))
    (2, 3)
    """
    return broadcast_shapes("a distribution", *(tuple(tensor.shape) for tensor in tensors))


def as_value(value: Any, parameter: Any) -> Any:
    """A value as a tensor in the dtype of a parameter.

    >>> as_value([1, 2], dy2st.ones([2])).dtype.name
    'float32'
    """
    if isinstance(value, Tensor):
        return F.cast(value, parameter.dtype)
    return to_tensor(np.asarray(value), dtype=parameter.dtype)


def sum_last(value: Any, count: int) -> Any:
    """The sum over the last axes.

    >>> sum_last(dy2st.ones([2, 3, 4]), 2).tolist()
    [12.0, 12.0]
    """
    return F.sum(value, axis=list(range(-count, 0))) if count else value


def spread_parameters(*given: Any) -> list[Any]:
    """Parameters as float tensors that are broadcast to one shape.

    >>> [x.shape for x in spread_parameters(1.0, [2.0, 3.0])]
    [[2], [2]]
    """
    tensors = parameters(*given)
    shape = list(shape_together(*tensors))
    return [
        tensor if list(tensor.shape) == shape else F.expand(tensor, shape) for tensor in tensors
    ]


__dir__ = public_dir(__name__)
