"""Calls that reach beyond the function's own objects: streams, logs, warnings, random numbers.

Python makes them while the function is traced. So a branch or loop that depends on a tensor must
not make them; elsewhere each call is traced anew for them.
"""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import PurePath
from typing import Any

from dy2st.convert.once import LRU_CACHE, call_of
from dy2st_runtime.errors import ConversionError, UnsupportedSyntax
from dy2st_runtime.ir import current_tracer, user_location
from dy2st_runtime.ir.grad_mode import is_grad_enabled
from dy2st_runtime.ops.generator import seed

_IN_MEMORY = (io.StringIO, io.BytesIO)
_ONCE = "it would happen once, while the function is traced, and not when the Program runs"
_RANDOM = "a random number of Python is drawn"
# What to write instead.
_PRINT = "write it with print(...), which the Program does when it runs"
_DRAW = "draw it with a function of dy2st, such as rand(...), or take it as an argument"
_SEED = "call it before the converted function"
_MODE = "take it as an argument: f(x, is_grad_enabled())"
_BEFORE = "set it before the converted function is called"
_AFTER = "do it after the call, on what the function returns"
_CLOCK = "take the time as an argument, or measure around the call"


@dataclass(frozen=True)
class _Row:
    """Names of functions, what a call of one does, and what to write instead."""

    names: frozenset[str]
    what: str
    hint: str


def _row(names: str, what: str, hint: str) -> _Row:
    return _Row(frozenset(names.split()), what, hint)


_STREAM = _row(
    "read readline readlines truncate write writelines", "{}() of a stream is called", _PRINT
)
_ENVIRONMENT = _row(
    "__delitem__ __setitem__ clear pop popitem setdefault update",
    "an environment variable is set",
    _BEFORE,
)
_PATH = _row(
    "chmod hardlink_to mkdir rename replace rmdir symlink_to touch unlink write_bytes write_text",
    "{}() of a path is called",
    _AFTER,
)
_CACHE = _row("cache_clear cache_info", "{}() of a function with a cache is called", _AFTER)
_CONTEXT = _row("reset set", "a context variable is set", _BEFORE)
_DATE = _row("now today utcnow", "a clock is read", _CLOCK)
_OS = (
    _row(
        "chdir chmod chown link mkdir makedirs open remove removedirs rename renames replace rmdir "
        "symlink truncate unlink utime write",
        "os.{}() is called",
        _AFTER,
    ),
    _row(
        "abort execv execve fork kill killpg popen posix_spawn putenv startfile system unsetenv",
        "os.{}() is called",
        _AFTER,
    ),
    _row("getrandom urandom", _RANDOM, _DRAW),
)
_BY_MODULE: dict[str, tuple[_Row, ...]] = {
    "builtins": (_row("input", "input() is called", "take it as an argument"),),
    "logging": (
        _row("critical debug error exception info log warn warning", "a message is logged", _PRINT),
    ),
    "nt": _OS,
    "os": _OS,
    "posix": _OS,
    "secrets": (_row("randbelow token_bytes token_hex token_urlsafe", _RANDOM, _DRAW),),
    "shutil": (
        _row(
            "copy copy2 copyfile copymode copystat copytree move rmtree",
            "shutil.{}() is called",
            _AFTER,
        ),
    ),
    "subprocess": (
        _row("call check_call check_output getoutput run", "a process is started", _AFTER),
    ),
    "time": (
        _row("sleep", "time.sleep() is called", _AFTER),
        _row(
            "monotonic monotonic_ns perf_counter perf_counter_ns process_time process_time_ns "
            "thread_time thread_time_ns time time_ns",
            "a clock is read",
            _CLOCK,
        ),
    ),
    "uuid": (_row("uuid1 uuid4", _RANDOM, _DRAW),),
    is_grad_enabled.__module__: (
        _row("is_grad_enabled", "is_grad_enabled() is asked in a converted function", _MODE),
    ),
    seed.__module__: (
        _row("seed set_rng_state", "{}() of dy2st is called in a converted function", _SEED),
    ),
}


def outward(function: Any) -> Any:
    """What to call instead of a function that reaches beyond the trace, or the function itself.

    Refused in a branch or loop that depends on a tensor; elsewhere each call is traced for it.
    """
    tracer = current_tracer()
    if tracer is None:
        return function
    what, hint = _what(function)
    if not what:
        return function
    if hint in (_SEED, _MODE):
        raise ConversionError(what, at=user_location(), why=_ONCE, hint=hint)
    if tracer.block.parent is not None:
        raise in_a_branch(what, hint)
    tracer.effects.append(f"{what} at {user_location()}: {hint}")
    owner = getattr(function, "__self__", None)
    if hint == _DRAW:
        call_of(tracer).draws(owner)
    if hint in (_DRAW, _CLOCK):
        return function
    if hint == _PRINT and not _is_outside(owner):  # a warning or message says who has called it
        return call_of(tracer).once_in_place(function, what)
    return call_of(tracer).once(function, what)


def outward_print(file: Any, run: Callable[..., Any]) -> Callable[..., Any]:
    """What to call instead of `print` to a file, which `run` does."""
    tracer, write, plain = current_tracer(), getattr(file, "write", None), partial(run, file=file)
    if tracer is None or outward(write) is write:
        return plain
    return call_of(tracer).once(write, _STREAM.what.format("write"), plain)


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
    if function is warnings.warn:
        return "a warning is given", _PRINT
    owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
    if owner is not None and _draws_for_all(owner):
        return _RANDOM, _DRAW
    if owner is None and "." in getattr(function, "__qualname__", ""):
        return "", ""  # a method: it is asked again with its object
    if _is_silent(owner, name):
        return "", ""
    for row in _rows(owner, str(getattr(function, "__module__", ""))):
        if name in row.names:
            return row.what.format(name), row.hint
    return "", ""


def _rows(owner: Any, module: str) -> tuple[_Row, ...]:
    """What is known of the methods of an object, or of the functions of a module."""
    if owner is os.environ:
        return (_ENVIRONMENT,)
    if type(owner) is LRU_CACHE:
        return (_CACHE,)
    if isinstance(owner, type) and issubclass(owner, date):
        return (_DATE,)
    for kind, row in ((PurePath, _PATH), (ContextVar, _CONTEXT)):
        if isinstance(owner, kind):
            return (row,)
    return (_STREAM,) if _is_outside(owner) else _BY_MODULE.get(module, ())


def _is_silent(owner: Any, name: str) -> bool:
    """Whether this is a method of a logger for messages of a level that it does not take."""
    logging = sys.modules.get("logging")
    if logging is None or not isinstance(owner, logging.Logger):
        return False
    level = {"warn": "WARNING", "exception": "ERROR"}.get(name, name.upper())
    number = getattr(logging, level, None)
    return isinstance(number, int) and not owner.isEnabledFor(number)


def _draws_for_all(owner: Any) -> bool:
    """Whether the functions of `random`, `secrets` or `np.random` are methods of this object."""
    python, numpy = sys.modules.get("random"), sys.modules.get("numpy.random.mtrand")
    if python is not None and isinstance(owner, python.SystemRandom):
        return True
    return owner is getattr(python, "_inst", None) or owner is getattr(numpy, "_rand", None)


def _is_outside(owner: Any) -> bool:
    """Whether a stream is no text or bytes in memory, which are looked at like lists."""
    if owner is sys.stdout or owner is sys.stderr:
        return True
    return isinstance(owner, io.IOBase) and not isinstance(owner, _IN_MEMORY)


__all__ = ["in_a_branch", "outward", "outward_print"]
