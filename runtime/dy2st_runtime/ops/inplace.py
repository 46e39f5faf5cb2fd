"""In-place forms: `x.add_(y)` lets x be `add(x, y)` from there on, for all who hold x.

One mechanism makes all of them, and `x[...] = y`. Tensors that share memory with x change with it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

from dy2st_runtime.dims import require_equal
from dy2st_runtime.errors import ArgumentError, ShapeError
from dy2st_runtime.ir import F, Tensor
from dy2st_runtime.ir.arguments import as_shape, shape_of
from dy2st_runtime.ir.dispatch import FUNCTIONS, METHODS, SPELLED
from dy2st_runtime.ir.location import without_own_frames
from dy2st_runtime.ops.in_place_docs import docstring
from dy2st_runtime.ops.lazy import IN_PLACE, IN_PLACE_RESHAPING
from dy2st_runtime.ops.rules import fitted

Function = Callable[..., Any]


def _with_alpha(name: str) -> Function:
    def changed(x: Any, y: Any, name: str | None = None, *, alpha: Any = 1) -> Any:
        return function(x, y if type(alpha) is int and alpha == 1 else F.multiply(y, alpha))

    function = getattr(F, name)
    return changed


def _filled(make: Callable[..., Any]) -> Function:
    """x with every element replaced: gradients of 0 flow through."""

    @wraps(make)
    def changed(x: Any, *args: Any, **kwargs: Any) -> Any:
        return F.where(True, fitted(make(x, *args, **kwargs), x.dtype), x)

    return changed


@_filled
def _uniform(x: Any, min: Any = 0, max: Any = 1.0, seed: int = 0, name: Any = None) -> Any:
    return F.uniform(x.shape, x.dtype, min, max)


def _normal(x: Any, mean: Any = 0.0, std: Any = 1.0, name: Any = None) -> Any:
    return F.add(F.multiply(F.randn(x.shape, x.dtype), std), mean)


@_filled
def _exponential(x: Any, lam: float = 1.0, name: Any = None) -> Any:
    return F.divide(F.neg(F.log1p(F.neg(F.rand(x.shape, x.dtype)))), lam)


@_filled
def _log_normal(x: Any, mean: Any = 1.0, std: Any = 2.0, name: Any = None) -> Any:
    return F.exp(_normal(x, mean, std))


@_filled
def _cauchy(x: Any, loc: Any = 0, scale: Any = 1, name: Any = None) -> Any:
    angle = F.multiply(F.subtract(F.rand(x.shape, x.dtype), 0.5), 3.141592653589793)
    return F.add(F.multiply(F.tan(angle), scale), loc)


@_filled
def _geometric(x: Any, probs: Any, name: Any = None) -> Any:
    tries = F.divide(
        F.log1p(F.neg(F.rand(x.shape, x.dtype))), F.log1p(F.neg(F.cast(probs, x.dtype)))
    )
    return F.maximum(F.ceil(tries), 1.0)


@_filled
def _bernoulli(x: Any, p: Any = 0.5, name: Any = None) -> Any:
    return F.cast(F.less_than(F.rand(x.shape, "float64"), p), x.dtype)


def _set(x: Any, source: Any = None, shape: Any = None, stride: Any = None, offset: int = 0) -> Any:
    if stride is not None or offset:
        raise ArgumentError("set_: strides are not here: take source[...] and reshape it")
    source = F.empty([0], x.dtype) if source is None else F.assign(source)
    return source if shape is None else F.reshape(source, as_shape(shape))


def _diagonal(x: Any, value: Any, offset: int = 0, wrap: bool = False, name: Any = None) -> Any:
    if wrap or x.ndim != 2:
        raise ArgumentError("fill_diagonal_ takes a matrix, without wrap")
    is_on = F.equal(F.arange(x.shape[1]), F.unsqueeze(F.arange(x.shape[0]), 1) + offset)
    return F.masked_fill(x, is_on, value)


MADE: dict[str, Function] = {
    "add": _with_alpha("add"),
    "subtract": _with_alpha("subtract"),
    "zero": _filled(lambda x: 0),
    "fill": _filled(lambda x, value: value),
    "copy": lambda x, other, blocking=False: fitted(F.broadcast_to(other, x.shape), x.dtype),
    "uniform": _uniform,
    "normal": _filled(_normal),
    "exponential": _exponential,
    "log_normal": _log_normal,
    "cauchy": _cauchy,
    "geometric": _geometric,
    "bernoulli": _bernoulli,
    "fill_diagonal": _diagonal,
    "set": _set,
}
for _name, _function in MADE.items():  # in errors about their arguments
    _function.__name__ = _function.__qualname__ = f"{_name}_"


def _in_place(name: str, place: int, keeps_shape: bool) -> Function:
    """The form of a function that changes its argument at a place."""
    is_same_memory = not keeps_shape and name != "set"

    @without_own_frames
    def change(*args: Any, **kwargs: Any) -> Any:
        if name in MADE:
            function: Function = MADE[name]
        else:
            found: Function = getattr(F, name)
            function = SPELLED.get(name, found)
        if len(args) <= place:
            bound = inspect.signature(function).bind(*args, **kwargs)
            args, kwargs = bound.args, bound.kwargs
        tensor = args[place]
        if not isinstance(tensor, Tensor):
            raise ArgumentError(f"{name}_ changes a tensor, not {tensor!r:.80}")

        def compute(old: Any) -> Any:
            new = function(*args[:place], old, *args[place + 1 :], **kwargs)
            if keeps_shape:
                before, after = shape_of(old), shape_of(new)
                reason = f"{name}_: the result has the shape {after}, the tensor {before}"
                if len(before) != len(after):
                    raise ShapeError(reason)
                for size, made in zip(before, after, strict=True):
                    require_equal(size, made, reason)
            return new

        tensor.replace(compute, is_same_memory)
        return tensor

    change.__name__ = change.__qualname__ = f"{name}_"
    change.__doc__ = docstring(name, keeps_shape)
    return change


def _enter(names: str, keeps_shape: bool = True, place: int = 0) -> None:
    for name in names.split():
        FUNCTIONS[f"{name}_"] = globals()[f"{name}_"] = _in_place(name, place, keeps_shape)
        METHODS.append(f"{name}_")


_enter(IN_PLACE)
_enter(IN_PLACE_RESHAPING, keeps_shape=False)
_enter("where", place=1)
