"""Functions of the user that are called while a function is traced: in their traced form."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from dy2st_runtime.ir.tracing.tracer import current_tracer


def converted(function: Callable[..., Any]) -> Callable[..., Any]:
    """What is called instead of the user's function: while one is traced, its traced form."""
    tracer = current_tracer()
    if tracer is None or tracer.call is None:
        return function
    return partial(tracer.call, function)


__all__ = ["converted"]
