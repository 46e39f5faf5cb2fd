"""Shows a model layer by layer, its shapes, parameters and operations: `summary` and `flops`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from dy2st_runtime import nn
from dy2st_runtime.errors import ArgumentError, counted
from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.ir.grad_mode import no_grad
from dy2st_runtime.ir.tensor import Tensor

Layer = nn.Layer
Count = Callable[[Any, Any, Any], int]


@dataclass(frozen=True, slots=True)
class _Row:
    """A call of one layer that has no layers inside."""

    name: str
    layer: Any
    inputs: tuple[Any, ...]
    output: Any


def summary(
    net: Layer, input_size: Any = None, dtypes: Any = None, input: Any = None
) -> dict[str, int]:
    """Print the layers of a model that is run once; give its numbers of parameters.

    `input_size` is a shape, a list of shapes, or an InputSpec; unknown sizes are 1. `input` is what
    the model is called with instead. Running means count as parameters that are not trained.

    >>> summary(nn.Sequential(nn.Linear(2, 3)), (1, 2))["total_params"]
    Layer     Output shape  Parameters
    Linear-1  [1, 3]                 9
    9 parameters, 9 of them trained
    9
    """
    rows = _rows(net, _inputs(input_size, dtypes, input))
    # columns as wide as what stands in them
    heads = ("Layer", "Output shape", "Parameters")
    cells = [
        (
            row.name,
            _shape(row.output),
            str(sum(value.array.size for value in row.layer.state_dict().values())),
        )
        for row in rows
    ]
    first, second, third = (max(map(len, column)) for column in zip(heads, *cells))
    for name, shape, size in (heads, *cells):
        print(f"{name:<{first}}  {shape:<{second}}  {size:>{third}}")
    state = {id(value): value for value in net.state_dict().values()}
    total = sum(value.array.size for value in state.values())
    trained = sum(value.array.size for value in state.values() if not value.stop_gradient)
    print(f"{counted(total, 'parameter')}, {trained} of them trained")
    return {"total_params": total, "trainable_params": trained}


def flops(
    net: Layer,
    input_size: Any,
    custom_ops: Mapping[type, Count] | None = None,
    print_detail: bool = False,
) -> int:
    """How many multiply-adds one run of a model needs: of convolutions, linear layers, pools.

    Convolutions count (in / groups * kernel + bias) an output, Linear `in` an output, normalisation
    of images 2, as PaddlePaddle does; other layers count nothing. `custom_ops` gives
    functions (layer, inputs, output) -> int by class.

    >>> flops(nn.Sequential(nn.Linear(4, 5)), [2, 4])
    40
    """
    rules = {**_RULES, **(custom_ops or {})}
    total = 0
    for row in _rows(net, _inputs(input_size, None, None)):
        rule = next((rules[kind] for kind in type(row.layer).__mro__ if kind in rules), None)
        count = 0 if rule is None else int(rule(row.layer, row.inputs, row.output))
        total += count
        if print_detail:
            print(f"{row.name:<20} {_shape(row.output):<20} {count:>12}")
    return total


# -- running --------------------------------------------------------------------------------------


def _inputs(sizes: Any, dtypes: Any, given: Any) -> tuple[Any, ...]:
    if given is not None:
        return tuple(given) if isinstance(given, (list, tuple)) else (given,)
    if sizes is None:
        raise ArgumentError("give the shape of the input, input_size, or the input itself")
    several = isinstance(sizes, list) and not isinstance(sizes[0], (int, type(None)))
    shapes = sizes if several else [sizes]
    kinds = dtypes if isinstance(dtypes, (list, tuple)) else [dtypes] * len(shapes)
    made = []
    for size, kind in zip(shapes, kinds, strict=True):
        shape = size.shape if hasattr(size, "shape") else size
        shape = [entry if isinstance(entry, int) and entry > 0 else 1 for entry in shape]
        made.append(F.ones(shape, kind or getattr(size, "dtype", None) or "float32"))
    return tuple(made)


def _rows(net: Layer, inputs: tuple[Any, ...]) -> list[_Row]:
    rows: list[_Row] = []
    counts: dict[str, int] = {}

    def note(layer: Any, given: Any, output: Any) -> None:
        kind = type(layer).__name__
        counts[kind] = counts.get(kind, 0) + 1
        rows.append(_Row(f"{kind}-{counts[kind]}", layer, tuple(given), output))

    with _watched(net, note), no_grad():
        net(*inputs)
    return rows


@contextmanager
def _watched(net: Layer, note: Callable[[Any, Any, Any], None]) -> Iterator[None]:
    """In evaluation, with a hook on every layer that has no layers inside."""
    layers = net.sublayers(include_self=True)
    training = [layer.training for layer in layers]
    leaves = [layer for layer in layers if not list(layer.children())]
    hooks = [layer.register_forward_post_hook(note) for layer in leaves]
    net.eval()
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
        for layer, mode in zip(layers, training, strict=True):
            layer.training = mode


def _shape(output: Any) -> str:
    return str(output.shape) if isinstance(output, Tensor) else "several"


# -- counting -------------------------------------------------------------------------------------


def _numel(tensor: Any) -> int:
    return math.prod(tensor.shape)


def _convolution(layer: Any, inputs: Any, output: Any) -> int:
    weight = layer.weight.shape
    transposed = type(layer).__name__.endswith("Transpose")
    inside = (
        weight[0] // int(getattr(layer, "_groups", 0) or getattr(layer, "groups", 1) or 1)
        if transposed
        else weight[1]
    )
    each: int = inside * math.prod(weight[2:]) + (layer.bias is not None)
    return _numel(output) * each


def _adaptive(layer: Any, inputs: Any, output: Any) -> int:
    sizes = zip(inputs[0].shape[2:], output.shape[2:], strict=True)
    return _numel(output) * (math.prod(int(np.floor_divide(n, m)) for n, m in sizes) + 1)


_RULES: dict[type, Count] = {
    **{
        getattr(nn, name): _convolution
        for name in ("Conv1D", "Conv2D", "Conv3D", "Conv1DTranspose", "Conv2DTranspose")
        + ("Conv3DTranspose",)
    },
    nn.Linear: lambda layer, inputs, output: int(layer.weight.shape[0]) * _numel(output),
    nn.BatchNorm2D: lambda layer, inputs, output: 2 * _numel(output),
    nn.LeakyReLU: lambda layer, inputs, output: _numel(output),
    nn.AvgPool1D: lambda layer, inputs, output: _numel(output),
    nn.AvgPool2D: lambda layer, inputs, output: _numel(output),
    nn.AdaptiveAvgPool1D: _adaptive,
    nn.AdaptiveAvgPool2D: _adaptive,
}

__all__ = ["flops", "summary"]
