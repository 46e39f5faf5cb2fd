"""Showing rewritten code, and saying what is converted: silent unless asked for."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import FunctionType
from typing import TextIO

from dy2st.convert.call import on_conversion
from dy2st.transpiler import PIPELINE, code_after, transpile

_ALL = 100


class _Settings:
    code_level: int | None = None
    code_stream: TextIO | None = None
    verbosity = 0
    verbosity_stream: TextIO | None = None


_settings = _Settings()


def set_code_level(level: int = _ALL, also_to_stdout: bool = False) -> None:
    """Print the rewritten code of every function when it is converted, from now on.

    Level n (from 1) prints the code after the n-th rewrite, 100 the final code, 0 nothing. It goes
    to the standard error stream, or with `also_to_stdout` to the standard output.

    >>> set_code_level(0)
    """
    if not isinstance(level, int) or isinstance(level, bool) or level < 0:
        raise TypeError(f"the code level is an int from 0 to {_ALL}, not {level!r}")
    _settings.code_level = level or None
    _settings.code_stream = sys.stdout if also_to_stdout else None


def set_verbosity(level: int = 0, also_to_stdout: bool = False) -> None:
    """Say what is converted: 0 nothing, 1 every function, 2 also what is left as Python and why.

    >>> set_verbosity(0)
    """
    if not isinstance(level, int) or isinstance(level, bool) or level < 0:
        raise TypeError(f"the verbosity is an int from 0, not {level!r}")
    _settings.verbosity = level
    _settings.verbosity_stream = sys.stdout if also_to_stdout else None


def note(text: str) -> None:
    """Say something about a conversion, if that was asked for."""
    if _settings.verbosity:
        print(f"dy2st: {text}", file=_settings.verbosity_stream or sys.stderr)


def _report(function: FunctionType) -> None:
    if _settings.code_level is not None:
        print(_code(function), file=_settings.code_stream or sys.stderr)
    if _settings.verbosity:
        for line in _notes(function):
            print(line, file=_settings.verbosity_stream or sys.stderr)


def _code(function: FunctionType) -> str:
    level = _settings.code_level or _ALL
    if level >= len(PIPELINE):
        return transpile(function).code
    return code_after(function, level)


def _notes(function: FunctionType) -> list[str]:
    code = function.__code__
    lines = [f"dy2st: converted {function.__qualname__} ({code.co_filename}:{code.co_firstlineno})"]
    if _settings.verbosity > 1:
        for line, (reason, name) in transpile(function).left:
            about = f" `{name}`" if name else ""
            lines.append(f"dy2st:   line {line} is left as Python: {reason}{about}")
    return lines


def _install(hook: Callable[[FunctionType], None]) -> None:
    on_conversion.append(hook)
    # DY2ST_DEBUG: 1 and 2 are the verbosity, 3 shows the rewritten code as well.
    debug = os.environ.get("DY2ST_DEBUG", "0")
    level = int(debug) if debug.isdigit() else 0
    _settings.verbosity = min(level, 2)
    _settings.code_level = _ALL if level >= 3 else None


_install(_report)
