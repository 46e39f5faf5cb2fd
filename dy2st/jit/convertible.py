"""What can be converted, and what is said of all else."""

from __future__ import annotations

import functools
from types import FunctionType, MethodType
from typing import Any

from dy2st_runtime.errors import NotConvertible

_OF_TORCH = "it is a Module of torch's: write it with dy2st.nn"


def why_not(function: Any) -> str:
    """Why something cannot be converted; empty if it can."""
    while isinstance(function, functools.partial):
        function = function.func
    if isinstance(function, type):
        return "it is a class"
    if any(kind.__module__.startswith("torch.") for kind in type(function).__mro__):
        return _OF_TORCH
    if not callable(function):
        return "it cannot be called"
    if isinstance(function, (FunctionType, MethodType, functools._lru_cache_wrapper)):
        return ""
    is_python = isinstance(type(function).__call__, FunctionType)
    return "" if is_python else "it is no Python code"


def not_convertible(what: str, function: Any, why: str) -> NotConvertible:
    """The refusal of what a function of ours does not take."""
    if why == _OF_TORCH:
        hint = 'dy2st.utils.load_weights(layer, "weights.pt", transpose=True) reads its weights'
    elif isinstance(function, type):
        hint = "decorate its methods, or convert an object of it"
    else:
        hint = "write a Python function that calls it, and convert that"
    return NotConvertible(f"{what}, not {function!r:.80}", why=why, hint=hint)
