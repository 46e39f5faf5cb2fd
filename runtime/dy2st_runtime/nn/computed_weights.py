"""Weights of layers that are computed from other parameters: weight_norm and spectral_norm.

Such a Layer is of a class of its own, made from its class, where the weight is a property. So it
always fits what it is computed from, in eager code and in a Program.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.ir.grad_mode import no_grad
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.nn.layer_tree import note_change
from dy2st_runtime.tensor import EagerTensor, Parameter

_LEAST = 1e-12
_MARK = "__computed_weights__"


def _compute(layer: Layer, name: str, function: Callable[[Any], Any]) -> None:
    """Make an attribute of one Layer a property."""
    kind = type(layer)
    known = getattr(kind, _MARK, {})
    inner = known["__class__"] if known else kind
    functions = {**known, "__class__": inner, name: function}
    _become(layer, functions)


def _become(layer: Layer, functions: dict[str, Any]) -> None:
    inner = functions["__class__"]
    names: dict[str, Any] = {
        name: property(function) for name, function in functions.items() if name != "__class__"
    }
    if not names:
        layer.__class__ = inner
        return
    names.update({_MARK: functions, "__module__": inner.__module__, "__doc__": inner.__doc__})
    layer.__class__ = type(inner.__name__, (inner,), names)


def _parameter(layer: Layer, name: str) -> Parameter:
    found: Parameter | None = layer._parameters.get(name)
    if found is None:
        raise ArgumentError(f"{type(layer).__name__} has no parameter {name!r} of its own")
    return found


def _all_but(rank: int, dim: int) -> list[int]:
    return [axis for axis in range(rank) if axis != dim]


def _lengths(v: Any, axes: list[int], keepdim: bool) -> Any:
    squares = v * v
    total = F.sum(squares, axis=axes, keepdim=keepdim) if axes else squares
    return F.sqrt(F.clip(total, _LEAST))


def weight_norm(layer: Layer, name: str = "weight", dim: int | None = 0) -> Layer:
    """w = g * v / |v|: a parameter as its lengths g and its direction v, which are trained.

    There is one length for each index of axis `dim`, one for all with None or -1. The parameters
    are `name_g` and `name_v`. Salimans and Kingma 2016.

    >>> from dy2st_runtime.nn import Linear
    >>> sorted(weight_norm(Linear(2, 3)).state_dict())
    ['bias', 'weight_g', 'weight_v']
    """
    weight = _parameter(layer, name)
    rank = weight.ndim
    if dim is not None and not -1 <= dim < rank:
        raise ArgumentError(f"dim is None or in [-1, {rank}), not {dim}")
    axes = list(range(rank)) if dim in (None, -1) else _all_but(rank, dim or 0)
    with no_grad():
        lengths = _lengths(weight, axes, False)
    note_change(layer)
    del layer._parameters[name]
    layer.add_parameter(f"{name}_v", Parameter(weight.array.copy(), weight.trainable))
    layer.add_parameter(f"{name}_g", Parameter(np.array(lengths.array), weight.trainable))
    shape = [-1 if axis not in axes else 1 for axis in range(rank)]

    def normalised(own: Any) -> Any:
        v, g = getattr(own, f"{name}_v"), getattr(own, f"{name}_g")
        return v / _lengths(v, axes, True) * (F.reshape(g, shape) if g.ndim else g)

    _compute(layer, name, normalised)
    return layer


def remove_weight_norm(layer: Layer, name: str = "weight") -> Layer:
    """Make the weight a plain parameter again, with the value that it has.

    >>> layer = dy2st.nn.utils.weight_norm(dy2st.nn.Linear(2, 3))
    >>> sorted(dy2st.nn.utils.remove_weight_norm(layer).state_dict())
    ['bias', 'weight']
    """
    functions = dict(getattr(type(layer), _MARK, {}))
    if name not in functions or f"{name}_g" not in layer._parameters:
        raise ArgumentError(f"weight_norm of {name!r} is not in this {type(layer).__name__}")
    with no_grad():
        value = Parameter(
            np.array(getattr(layer, name).array), getattr(layer, f"{name}_v").trainable
        )
    del functions[name]
    _become(layer, functions)
    for part in ("_v", "_g"):
        delattr(layer, name + part)
    layer.add_parameter(name, value)
    return layer


def spectral_norm(
    layer: Layer,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Layer:
    """w / sigma(w), sigma the largest singular value of w as a matrix with rows of axis `dim`.

    sigma = u' w v, where u and v are improved by power iterations at each call in training. The
    parameter is `name_orig`, the buffers `name_u` and `name_v`. `dim` is 1 for Linear and
    transposed convolutions, else 0. Miyato et al. 2018.

    Parameters
    ----------
    layer
        The Layer, which is changed and returned.
    n_power_iterations
        How many power iterations a call in training makes.
    eps
        The least length that vectors are divided by.

    Examples
    --------
    >>> from dy2st_runtime.nn import Linear
    >>> sorted(spectral_norm(Linear(2, 3)).state_dict())
    ['bias', 'weight_orig', 'weight_u', 'weight_v']
    """
    if n_power_iterations < 1:
        raise ArgumentError(f"there is at least one power iteration, not {n_power_iterations}")
    weight = _parameter(layer, name)
    if dim is None:
        kinds = [kind.__name__ for kind in type(layer).__mro__]
        is_second = any(kind == "Linear" or kind.endswith("Transpose") for kind in kinds)
        dim = 1 if is_second else 0
    rows = weight.shape[dim]
    columns = weight.array.size // rows
    order = [dim, *_all_but(weight.ndim, dim)]
    note_change(layer)
    del layer._parameters[name]
    layer.add_parameter(f"{name}_orig", weight)
    for part, count in (("_u", rows), ("_v", columns)):
        start = F.normal(shape=[count])
        layer.register_buffer(name + part, EagerTensor(_unit(start, eps).array))

    def matrix(own: Any) -> Any:
        return F.reshape(F.transpose(getattr(own, f"{name}_orig"), order), [rows, columns])

    def iterate(own: Any, inputs: Any) -> None:
        if not own.training:
            return
        with no_grad():
            w, u = matrix(own), getattr(own, f"{name}_u")
            for _ in range(n_power_iterations):
                v = _unit(F.matmul(w, u, transpose_x=True), eps)
                u = _unit(F.matmul(w, v), eps)
            getattr(own, f"{name}_u").set_value(u)  # in place: a trace sees that
            getattr(own, f"{name}_v").set_value(v)

    def normalised(own: Any) -> Any:
        u, v = getattr(own, f"{name}_u"), getattr(own, f"{name}_v")
        sigma = F.sum(u * F.matmul(matrix(own), v))
        return getattr(own, f"{name}_orig") / sigma

    layer.register_forward_pre_hook(iterate)
    _compute(layer, name, normalised)
    return layer


def _unit(vector: Any, eps: float) -> Any:
    """The vector with length 1."""
    return vector / F.clip(F.sqrt(F.sum(vector * vector)), eps)
