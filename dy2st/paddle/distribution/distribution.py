"""Has what all distributions share: shapes, parameters as tensors, optional methods."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from dy2st_runtime.dims import Size
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
        """The mean of each."""
        raise self._without("mean")

    @property
    def variance(self) -> Any:
        """The variance of each."""
        raise self._without("variance")

    def sample(self, shape: Any = ()) -> Any:
        """Draws of shape (*shape, *batch_shape, *event_shape)."""
        raise self._without("sample")

    def rsample(self, shape: Any = ()) -> Any:
        """Draws through which gradients reach the parameters."""
        raise self._without("rsample")

    def entropy(self) -> Any:
        """The entropy of each, in nats."""
        raise self._without("entropy")

    def kl_divergence(self, other: Distribution) -> Any:
        """The divergence of Kullback and Leibler from `other`."""
        raise self._without("kl_divergence")

    def prob(self, value: Any) -> Any:
        """The probability or density at a value."""
        return F.exp(self.log_prob(value))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the probability or density at a value."""
        raise self._without("log_prob")

    def probs(self, value: Any) -> Any:
        """The same as `prob`, by an older name."""
        return self.prob(value)

    def _without(self, name: str) -> NotImplementedError:
        return NotImplementedError(f"{type(self).__name__} has no {name}")

    def _extend_shape(self, shape: Any) -> tuple[Size, ...]:
        return (*sample_shape(shape), *self._batch_shape, *self._event_shape)


def sample_shape(shape: Any) -> tuple[Size, ...]:
    """The shape that a user gives to `sample`; TypeError for what is no sequence."""
    if not isinstance(shape, (Iterable, Tensor)):
        raise TypeError(f"the shape of samples is a list or tuple, not {shape!r}")
    return as_shape(shape if isinstance(shape, Tensor) else list(shape))


def parameters(*given: Any) -> tuple[Any, ...]:
    """Parameters as float tensors; numbers, lists and arrays in one shape and dtype.

    The dtype is that of the first tensor, else float64 if an array has it, else float32.
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
    """The shape that tensors broadcast to."""
    return broadcast_shapes("a distribution", *(tuple(tensor.shape) for tensor in tensors))


def as_value(value: Any, parameter: Any) -> Any:
    """A value as a tensor in the dtype of a parameter."""
    if isinstance(value, Tensor):
        return F.cast(value, parameter.dtype)
    return to_tensor(np.asarray(value), dtype=parameter.dtype)


def sum_last(value: Any, count: int) -> Any:
    """The sum over the last axes."""
    return F.sum(value, axis=list(range(-count, 0))) if count else value


def spread_parameters(*given: Any) -> list[Any]:
    """Parameters as float tensors that are broadcast to one shape."""
    tensors = parameters(*given)
    shape = list(shape_together(*tensors))
    return [
        tensor if list(tensor.shape) == shape else F.expand(tensor, shape) for tensor in tensors
    ]


__dir__ = public_dir(__name__)
