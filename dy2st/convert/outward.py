"""Calls that reach beyond the function's own objects: streams, logs, warnings, random numbers.

Python makes them once, while the function is traced. So a branch or loop that depends on a tensor
must not make them; elsewhere a warning says so.
"""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Callable
from typing import Any

from dy2st_runtime.errors import ConversionError, UnsupportedSyntax
from dy2st_runtime.ir import current_tracer, user_location
from dy2st_runtime.ir.grad_mode import is_grad_enabled
from dy2st_runtime.ops.generator import seed, set_rng_state

_IN_MEMORY = (io.StringIO, io.BytesIO)
_ON_STREAMS = frozenset({"read", "readline", "readlines", "truncate", "write", "writelines"})
_LOGS = frozenset({"critical", "debug", "error", "exception", "info", "log", "warn", "warning"})
_PRINT = "write it with print(...), which the Program does when it runs"
_DRAW = "draw it with a function of dy2st, such as rand(...), or take it as an argument"
_SEED = "call it before the converted function"
_MODE = "take it as an argument: f(x, is_grad_enabled())"
_SEEDS = {function.__name__: function for function in (seed, set_rng_state)}
_ONCE = "it would happen once, while the function is traced, and not when the Program runs"


def check_outward(function: Any) -> None:
    """Refuse a call in a branch or loop that depends on a tensor, or warn that it is made once."""
    tracer = current_tracer()
    if tracer is None:
        return
    what, hint = _what(function)
    if not what:
        return
    if hint in (_SEED, _MODE):
        raise ConversionError(what, at=user_location(), why=_ONCE, hint=hint)
    if tracer.block.parent is not None:
        raise in_a_branch(what, hint)
    if function is not warnings.warn:
        warnings.warn(
            f"{user_location()}: {what} while the function is traced: this happens at conversion, "
            f"not at every call. To have it at every call, {hint}.",
            stacklevel=3,
        )


def check_stream(file: Any) -> None:
    """Refuse `print(..., file=file)` in a branch or loop that depends on a tensor."""
    if hasattr(file, "write"):
        check_outward(file.write)


def in_a_branch(what: str, hint: str) -> UnsupportedSyntax:
    """The refusal of a call that Python would make on every path."""
    return UnsupportedSyntax(
        f"{what} in a branch or loop that depends on a tensor",
        at=user_location(),
        why=f"{_ONCE}, and on every path",
        hint=hint,
    )


def _what(function: Any) -> tuple[str, str]:
    """What a call of the function does, and what to write instead; empty for all others."""
    owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
    if owner is not None and _draws_for_all(owner):
        return "a random number of Python is drawn", _DRAW
    if name in _ON_STREAMS and _is_outside(owner):
        return f"{name}() of a stream is called", _PRINT
    if name in _LOGS and _module(function) == "logging":
        return "a message is logged", _PRINT
    if name == "is_grad_enabled" and _module(function) == is_grad_enabled.__module__:
        return "is_grad_enabled() is asked in a converted function", _MODE
    if name in _SEEDS and _module(function) == _SEEDS[name].__module__:
        return f"{name}() of dy2st is called in a converted function", _SEED
    if function is warnings.warn:
        return "a warning is given", _PRINT
    return "", ""


def _draws_for_all(owner: Any) -> bool:
    """Whether the functions of `random` or `np.random` are methods of this object."""
    python, numpy = sys.modules.get("random"), sys.modules.get("numpy.random.mtrand")
    return owner is getattr(python, "_inst", None) or owner is getattr(numpy, "_rand", None)


def _is_outside(owner: Any) -> bool:
    """Whether a stream is no text or bytes in memory, which are looked at like lists."""
    if owner is sys.stdout or owner is sys.stderr:
        return True
    return isinstance(owner, io.IOBase) and not isinstance(owner, _IN_MEMORY)


def _module(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__module__", ""))


__all__ = ["check_outward", "check_stream", "in_a_branch"]
