"""Calls that reach beyond what a trace sees: streams, clocks, random numbers, objects kept in C.

Python makes them while the function is traced: once a call, as each call is traced anew for them.
In a branch or loop that a tensor decides on they would happen on every path, so they are refused.
"""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Iterable
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import date
from enum import Enum
from pathlib import PurePath
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any

import numpy as np

from dy2st.heart.states import has_states
from dy2st.heart.trace import CONTAINERS, Trace
from dy2st.heart.values.sequences import Generated, Indexed
from dy2st.heart.values.special import Dynamic, Union
from dy2st_runtime.dims import Condition, Dim
from dy2st_runtime.errors import UnsupportedSyntax
from dy2st_runtime.ir import Tensor, user_location
from dy2st_runtime.ir.choice import Text
from dy2st_runtime.nn.layer import Layer

_RANDOM = "a random number of Python is drawn"
# What to write instead.
_PRINT = "write it with print(...), which the Program does when it runs"
_DRAW = "draw it with a function of dy2st, such as rand(...), or take it as an argument"
_BEFORE = "set it before the function is called"
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


_OS = (
    _row(
        "chdir chmod chown link mkdir makedirs open remove removedirs rename renames replace rmdir "
        "symlink truncate unlink utime write abort execv execve fork kill killpg popen putenv "
        "posix_spawn startfile system unsetenv",
        "os.{}() is called",
        _AFTER,
    ),
    _row("getrandom urandom", _RANDOM, _DRAW),
)
_BY_MODULE: dict[str, tuple[_Row, ...]] = {
    "builtins": (_row("input", "input() is called", "take it as an argument"),),
    "io": (_row("open", "a file is opened", _AFTER),),
    "_io": (_row("open", "a file is opened", _AFTER),),
    "logging": (
        _row("critical debug error exception info log warn warning", "a message is logged", _PRINT),
    ),
    "nt": _OS,
    "os": _OS,
    "posix": _OS,
    "secrets": (_row("randbelow token_bytes token_hex token_urlsafe", _RANDOM, _DRAW),),
    "shutil": (
        _row(
            "copy copy2 copyfile copymode copystat copytree move rmtree", "a file is made", _AFTER
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
}
_STREAM = _row(
    "read readline readlines truncate write writelines flush", "a stream is used", _PRINT
)
_ENVIRONMENT = _row(
    "__delitem__ __setitem__ clear pop popitem setdefault update",
    "an environment variable is set",
    _BEFORE,
)
_PATH = _row(
    "chmod hardlink_to mkdir rename replace rmdir symlink_to touch unlink write_bytes write_text",
    "a file is changed",
    _AFTER,
)
_BY_KIND: tuple[tuple[Any, _Row], ...] = (
    (io.IOBase, _STREAM),
    (PurePath, _PATH),
    (ContextVar, _row("reset set", "a context variable is set", _BEFORE)),
)
_DATE = _row("now today utcnow", "a clock is read", _CLOCK)


def note_call(trace: Trace, function: Any, given: Iterable[Any]) -> None:
    """Refuse what must not happen here; note what each call is traced anew for."""
    owner = None if isinstance(function, type) else getattr(function, "__self__", None)
    values = given if isinstance(owner, ModuleType) or owner is None else (owner, *given)
    what, hint = _what(function, next(iter(values), None) if owner is None else owner)
    if not trace.is_nested:
        if what:
            trace.read("each call", function, what, None)
        return
    if what:
        raise _in_a_branch(what, "it would happen on every path", hint)
    if _only_reads(function):
        return
    changed = next((one for one in _reached(values) if _may_change(trace, one)), None)
    if changed is not None:
        name, kind = getattr(function, "__name__", "a function"), type(changed).__name__
        raise _in_a_branch(
            f"{name}(), which is not Python code, gets a {kind} that is made outside",
            "it may change it, on every path",
            f"call it before or after, or give it a {kind} that is made in the branch or loop",
        )


def refuse_change(trace: Trace, owner: Any) -> None:
    """Refuse to change an object natively, in a branch or body, that is older."""
    if trace.is_nested and _may_change(trace, owner) and not has_states(owner):
        kind = type(owner).__name__
        raise _in_a_branch(
            f"an item of a {kind} is set or deleted",
            "it would be done on every path",
            "use a dict or list of Python, or change it before or after",
        )


def _in_a_branch(what: str, why: str, hint: str) -> UnsupportedSyntax:
    return UnsupportedSyntax(
        f"{what} in a branch or loop that depends on a tensor",
        at=user_location(),
        why=f"Python runs it while the function is traced: {why}",
        hint=hint,
    )


def _what(function: Any, owner: Any) -> tuple[str, str]:
    """What a call of the function does, and what to write instead; empty for all others."""
    name = getattr(function, "__name__", "")
    if function is warnings.warn:
        return "a warning is given", _PRINT
    if _draws_for_all(owner):
        return _RANDOM, _DRAW
    if _is_silent(owner, name):
        return "", ""
    for row in _rows(owner, str(getattr(function, "__module__", ""))):
        if name in row.names:
            return row.what.format(name), row.hint
    return "", ""


def _rows(owner: Any, module: str) -> tuple[_Row, ...]:
    if owner is os.environ:
        return (_ENVIRONMENT,)
    if isinstance(owner, type) and issubclass(owner, date):
        return (_DATE,)
    for kind, row in _BY_KIND:
        if isinstance(owner, kind):
            return (row,)
    return _BY_MODULE.get(module, ())


def _is_silent(owner: Any, name: str) -> bool:
    """Whether this is a method of a logger for messages of a level that it does not take."""
    logging = sys.modules.get("logging")
    if logging is None or not isinstance(owner, logging.Logger):
        return False
    level = {"warn": "WARNING", "exception": "ERROR"}.get(name, name.upper())
    number = getattr(logging, level, None)
    return isinstance(number, int) and not owner.isEnabledFor(number)


def _draws_for_all(owner: Any) -> bool:
    """Whether this is a generator of random numbers of Python or NumPy."""
    python = sys.modules.get("random")
    if python is not None and isinstance(owner, python.Random):
        return True
    return isinstance(owner, (np.random.RandomState, np.random.Generator))


# -- what may be changed ----------------------------------------------------------------------

# Modules whose functions change none of their arguments, unless their name says so.
_READING = frozenset(
    {
        *("math", "cmath", "operator", "_operator", "itertools", "functools", "_functools", "re"),
        *("string", "textwrap", "statistics", "fractions", "decimal", "numbers", "inspect", "enum"),
        *(
            "typing",
            "types",
            "dataclasses",
            "abc",
            "posixpath",
            "ntpath",
            "json",
            "keyword",
            "copy",
        ),
        *("builtins", "numpy", "dy2st", "dy2st_runtime", "collections"),
    }
)
_CHANGING = frozenset(
    {
        *("copyto", "put", "place", "putmask", "fill_diagonal", "shuffle", "setitem", "delitem"),
        *("iadd", "iconcat", "imul", "ior", "iand", "ixor", "isub", "setattr", "delattr", "next"),
        *("exec", "eval", "set_value"),
    }
)
_KNOWN = (
    *(bool, int, float, complex, str, bytes, type(None), type(...), type(NotImplemented), range),
    *(slice, frozenset, type, ModuleType, FunctionType, BuiltinFunctionType, MethodType, CodeType),
    *(GetSetDescriptorType, Enum, Tensor, Dim, Condition, Text, Layer, np.dtype, np.generic),
    *(np.random.SeedSequence, PurePath, BaseException, Dynamic, Union, Indexed, Generated),
)


def _only_reads(function: Any) -> bool:
    """Whether a function is known to change nothing that it is given."""
    if function is super:
        return True
    name = getattr(function, "__name__", "")
    owner = None if isinstance(function, type) else getattr(function, "__self__", None)
    if isinstance(owner, np.ndarray):
        return name not in _OF_ARRAYS
    if owner is not None and not isinstance(owner, (ModuleType, type)):
        return name in _ASKING
    module = str(getattr(function, "__module__", "") or "")
    return module.partition(".")[0] in _READING and name not in _CHANGING


# Methods that change an array.
_OF_ARRAYS = frozenset(
    ["fill", "sort", "resize", "put", "itemset", "partition", "setflags", "byteswap", "setfield"]
)
# Methods in C that only ask.
_ASKING = frozenset(
    {
        *("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__", "__len__"),
        *("__repr__", "__str__", "__format__", "__contains__", "__getitem__", "__bool__", "get"),
        *("keys", "values", "items", "copy", "index", "count", "__class__", "__init_subclass__"),
        *("isEnabledFor", "getEffectiveLevel", "mro", "__subclasses__", "__dir__", "__sizeof__"),
    }
)


def is_fresh(function: Any, given: Iterable[Any], found: Any) -> bool:
    """Whether a function in C has made what it gives: a list of a str's, an array of NumPy's."""
    if not isinstance(found, (list, dict, set, np.ndarray)):
        return False
    if getattr(found, "base", None) is not None or any(found is one for one in given):
        return False
    owner = getattr(function, "__self__", None)
    module = str(getattr(function, "__module__", "") or "").partition(".")[0]
    return isinstance(owner, (str, bytes, np.ndarray)) or module in ("numpy", "re", "json")


def _reached(values: Iterable[Any]) -> list[Any]:
    """The values, and what stands in tuples among them."""
    found: list[Any] = []
    for value in values:
        found += _reached(value) if isinstance(value, tuple) else [value]
    return found


def _may_change(trace: Trace, value: Any) -> bool:
    """Whether somebody else would see a change of a value."""
    if isinstance(value, _KNOWN) and type(value) not in CONTAINERS:
        return False
    return not trace.is_made_here(value)


__all__ = ["is_fresh", "note_call", "refuse_change"]
