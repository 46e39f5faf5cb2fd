"""Many parameters at once: as one vector, and their gradients within limits."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from dy2st_runtime.errors import ArgumentError, ShapeError
from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.tensor import EagerTensor


def parameters_to_vector(parameters: Iterable[Any], name: str | None = None) -> Any:
    """All elements of all parameters in one vector.

    >>> from dy2st_runtime.nn import Linear
    >>> parameters_to_vector(Linear(2, 3).parameters()).shape
    [9]
    """
    return F.concat([F.reshape(parameter, [-1]) for parameter in parameters])


def vector_to_parameters(vec: Any, parameters: Iterable[Any], name: str | None = None) -> None:
    """Give parameters the elements of a vector; ShapeError if there are more or fewer."""
    parameters = list(parameters)
    sizes = [parameter.array.size for parameter in parameters]
    if vec.shape != [sum(sizes)]:
        raise ShapeError(f"the parameters have {sum(sizes)} elements, the vector {vec.shape}")
    ends = np.cumsum(sizes)
    for parameter, size, end in zip(parameters, sizes, ends, strict=True):
        parameter.set_value(vec.array[end - size : end].reshape(parameter.shape))


def _with_gradients(parameters: Any) -> list[Any]:
    entries = [parameters] if isinstance(parameters, EagerTensor) else parameters
    return [entry for entry in entries if entry.grad is not None]


def clip_grad_norm_(
    parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False
) -> Any:
    """Gradients g times min(1, max_norm / (|all of them| + 1e-6)), in their places; gives |...|.

    `norm_type` is the p of the norm, inf for the largest element.
    """
    found = _with_gradients(parameters)
    if not found:
        return EagerTensor(np.zeros((), np.float32))
    power = float(norm_type)
    arrays = [np.abs(entry.grad.array) for entry in found]
    if power == np.inf:
        norm = np.max([np.max(array) for array in arrays])
    else:
        norms = [np.sum(array**power) ** (1 / power) for array in arrays]
        norm = np.sum(np.asarray(norms) ** power) ** (1 / power)
    if error_if_nonfinite and not np.isfinite(norm):
        raise ArgumentError(f"the norm of the gradients is {norm}")
    factor = min(1.0, float(max_norm) / (float(norm) + 1e-6))
    for entry in found:
        array = entry.grad.array
        entry.grad = EagerTensor((array * array.dtype.type(factor)).astype(array.dtype))
    return EagerTensor(np.asarray(norm, arrays[0].dtype))


def clip_grad_value_(parameters: Any, clip_value: float) -> None:
    """Every element of the gradients between -clip_value and clip_value, in their places."""
    limit = float(clip_value)
    for entry in _with_gradients(parameters):
        entry.grad = EagerTensor(np.clip(entry.grad.array, -limit, limit))
