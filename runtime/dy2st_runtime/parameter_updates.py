"""Arithmetic of the rules that update parameters: on arrays, or on traced tensors.

A rule is written once. Eagerly it gets arrays, which is ten times as fast as operators are; in a
converted function it gets tensors, and is recorded into the Program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from dy2st_runtime.ir import Tensor, current_tracer
from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.tensor import EagerTensor

_HALF = 2  # bytes
Value = Any
"""An array, or a tensor of a converted function."""


class Changing(frozenset[str]):
    """The attributes of a class that change from call to call: a Program has them as inputs."""


def value_of(tensor: Any) -> Value:
    """The numbers of a tensor."""
    tracer = current_tracer()
    return tensor.array if tracer is None else tracer.variable(tensor)


def put(tensor: Any, value: Value) -> None:
    """Let a tensor hold other numbers; what is a leaf stays one."""
    tracer = current_tracer()
    if tracer is None:
        tensor.put(np.asarray(value, tensor.array.dtype))
    else:
        tracer.renew(tensor, F.cast(value, tensor.dtype) if value.dtype != tensor.dtype else value)


def gradient_of(parameter: Any) -> Any:
    """The gradient that a step is taken by, None if there is none."""
    return parameter.grad


def stays(tensor: Any) -> bool:
    """Whether a tensor stays the same object behind the call; others are values of a Program."""
    return isinstance(tensor, EagerTensor)


def is_spent(loss: Any) -> bool:
    """Whether `backward` has gone through a tensor, and there is no way back any more."""
    tracer = current_tracer()
    if tracer is None:
        return loss.node is not None and loss.node.edges is None
    return tracer.captured(loss).maker in tracer.state.spent


def tensor_of(value: Value) -> Any:
    """A tensor without gradients that holds numbers."""
    return value if isinstance(value, Tensor) else EagerTensor(np.asarray(value))


def _either(of_arrays: Callable[..., Any], name: str) -> Callable[..., Any]:
    def compute(*values: Value, **options: Any) -> Value:
        is_traced = any(isinstance(value, Tensor) for value in values)
        return getattr(F, name)(*values, **options) if is_traced else of_arrays(*values, **options)

    compute.__doc__ = f"`{name}` of arrays or tensors."
    return compute


sqrt, sign, absolute = _either(np.sqrt, "sqrt"), _either(np.sign, "sign"), _either(np.abs, "abs")
maximum, where, clip = (
    _either(np.maximum, "maximum"),
    _either(np.where, "where"),
    _either(np.clip, "clip"),
)


def scaled(value: Value, factor: Any) -> Value:
    """A value times a number, in its dtype; a short float is multiplied in float32."""
    if value.dtype.itemsize > _HALF:
        return value * factor
    return (value.astype("float32") * factor).astype(value.dtype)


def full_like(value: Value, number: float) -> Value:
    """A constant of the shape and dtype of a value."""
    if isinstance(value, Tensor):
        return F.full_like(value, number)
    return np.full_like(value, number)


def rows_like(value: Value, count: int) -> Value:
    """So many zeros of the shape and dtype of a value, along a new first axis."""
    shape = (count, *value.shape)
    if isinstance(value, Tensor):
        return F.zeros(shape, value.dtype)
    return np.zeros(shape, value.dtype)


def with_row(value: Value, place: Any, row: Value) -> Value:
    """A value with another row at a place of its first axis."""
    if isinstance(value, Tensor):
        return F.setitem(value, place, row)
    changed = value.copy()
    changed[place] = row
    return changed


def kept(number: float) -> Value:
    """A number that a state keeps: float64, (1,)."""
    return F.full([1], number, "float64") if current_tracer() is not None else np.full(1, number)


def norm(values: Iterable[Value]) -> Any:
    """The length of all values together, summed up in float64, as a Python number."""
    squares = [(value.astype("float64") ** 2).sum() for value in values]
    return sqrt(sum(squares)).item() if squares else 0.0


__all__ = [
    "Changing",
    "Value",
    "absolute",
    "clip",
    "full_like",
    "is_spent",
    "kept",
    "maximum",
    "norm",
    "put",
    "rows_like",
    "scaled",
    "sign",
    "sqrt",
    "tensor_of",
    "value_of",
    "where",
    "with_row",
]
