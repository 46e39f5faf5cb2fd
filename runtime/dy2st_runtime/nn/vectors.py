"""Many parameters at once: as one vector, and their gradients within limits."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from math import inf, prod
from typing import Any

from dy2st_runtime.errors import ArgumentError, ShapeError
from dy2st_runtime.ir import Tensor
from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.ir.grad_mode import no_grad


def parameters_to_vector(parameters: Iterable[Any], name: str | None = None) -> Any:
    """All elements of all parameters in one vector.

    >>> from dy2st_runtime.nn import Linear
    >>> parameters_to_vector(Linear(2, 3).parameters()).shape
    [9]
    """
    return F.concat([F.reshape(parameter, [-1]) for parameter in parameters])


def vector_to_parameters(vec: Any, parameters: Iterable[Any], name: str | None = None) -> None:
    """Give parameters the elements of a vector; ShapeError if there are more or fewer.

    >>> layer = dy2st.nn.Linear(1, 2)
    >>> dy2st.nn.utils.vector_to_parameters(dy2st.arange(4.0), layer.parameters())
    >>> layer.weight.tolist(), layer.bias.tolist()
    ([[0.0, 1.0]], [2.0, 3.0])
    """
    parameters = list(parameters)
    sizes = [prod(parameter.shape) for parameter in parameters]
    if vec.shape != [sum(sizes)]:
        raise ShapeError(f"the parameters have {sum(sizes)} elements, the vector {vec.shape}")
    for parameter, size, end in zip(parameters, sizes, accumulate(sizes), strict=True):
        parameter.set_value(F.reshape(vec[end - size : end], parameter.shape))


def _with_gradients(parameters: Any) -> list[Any]:
    entries = [parameters] if isinstance(parameters, Tensor) else parameters
    return [entry for entry in entries if entry.grad is not None]


def clip_grad_norm_(
    parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False
) -> Any:
    """Gradients g times min(1, max_norm / (|all of them| + 1e-6)), in their places; gives |...|.

    `norm_type` is the p of the norm, inf for the largest element.

    >>> weight = dy2st.create_parameter([2], "float32")
    >>> weight.grad = dy2st.to_tensor([3.0, 4.0])
    >>> dy2st.nn.utils.clip_grad_norm_([weight], 1.0).item()
    5.0
    >>> print(weight.grad.round(4))
    [0.6 0.8]
    """
    found = _with_gradients(parameters)
    if not found:
        return F.zeros([])
    with no_grad():
        power = float(norm_type)
        norm = _norm([_norm([entry.grad], power) for entry in found], power)
        if error_if_nonfinite and not F.isfinite(norm):
            raise ArgumentError("the norm of the gradients is inf or NaN")
        factor = F.clip(float(max_norm) / (norm + 1e-6), max=1.0)
        for entry in found:
            entry.grad = entry.grad * F.cast(factor, entry.grad.dtype)
    return norm


def _norm(parts: list[Any], power: float) -> Any:
    rows = F.abs(F.stack([F.cast(part, parts[0].dtype) for part in parts]))
    return F.max(rows) if power == inf else F.sum(rows**power) ** (1 / power)


def clip_grad_value_(parameters: Any, clip_value: float) -> None:
    """Every element of the gradients between -clip_value and clip_value, in their places.

    >>> weight = dy2st.create_parameter([2], "float32")
    >>> weight.grad = dy2st.to_tensor([-3.0, 0.5])
    >>> dy2st.nn.utils.clip_grad_value_([weight], 1.0)
    >>> weight.grad.tolist()
    [-1.0, 0.5]
    """
    limit = float(clip_value)
    with no_grad():
        for entry in _with_gradients(parameters):
            entry.grad = F.clip(entry.grad, -limit, limit)
