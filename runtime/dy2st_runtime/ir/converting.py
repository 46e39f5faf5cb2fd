"""Functions of the user that are called while a function is traced: in their converted form."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from dy2st_runtime.ir.tracer import current_tracer

# What turns a user's function into its converted form while a function is traced. The compiler
# sets it; the runtime alone never traces.
_converter: list[Callable[[Callable[..., Any]], Callable[..., Any]]] = [lambda function: function]


def install_converter(convert: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Set what converts forwards and hooks that a Layer calls while a function is traced."""
    _converter[0] = convert


def converted(function: Callable[..., Any]) -> Callable[..., Any]:
    """What a Layer calls instead of the user's function: while one is traced, its own form."""
    tracer = current_tracer()
    if tracer is None:
        return function
    return _converter[0](function) if tracer.call is None else partial(tracer.call, function)


__all__ = ["converted", "install_converter"]
