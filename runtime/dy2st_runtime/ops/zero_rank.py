"""Functions along an axis, of a tensor that has none: it is taken as a vector of one element."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import unwrap
from typing import Any

from dy2st_runtime.ir import F, Tensor

_ONLY = (0, -1, None)


def of_numbers_too(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of a tensor along an axis, which may be 0 or -1 of a tensor without axes.

    As in PaddlePaddle the results have no axes, either.
    """
    code = unwrap(function).__code__
    names = code.co_varnames[: code.co_argcount]
    place = names.index("axis" if "axis" in names else "dim")
    kept = names.index("keepdim") if "keepdim" in names else None

    @wraps(function)
    def run(*args: Any, **named: Any) -> Any:
        x = args[0] if args else named.get(names[0])
        if not isinstance(x, Tensor) or x.ndim:
            return function(*args, **named)
        axis = args[place] if len(args) > place else named.get(names[place])
        if type(axis) not in (int, type(None)) or axis not in _ONLY:
            return function(*args, **named)
        vector = F.reshape(x, [1])
        if args:
            args = (vector, *args[1:])
        else:
            named[names[0]] = vector
        if kept is not None and len(args) > kept:
            args = (*args[:kept], False, *args[kept + 1 :])
        elif kept is not None:
            named["keepdim"] = False
        found = function(*args, **named)
        return tuple(map(_number, found)) if isinstance(found, tuple) else _number(found)

    return run


def _number(result: Any) -> Any:
    """A result of one element without its axis; results that never had one are as they should."""
    return F.reshape(result, []) if result.ndim == 1 and result.shape[0] == 1 else result


__all__ = ["of_numbers_too"]
