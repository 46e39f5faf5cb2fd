"""Showing rewritten code, and saying what is converted: silent unless asked for."""

from __future__ import annotations

import os
import sys
from typing import TextIO

from dy2st_runtime.errors import WrongKind

ALL, FULL = 100, "full"


class _Settings:
    code_level: int | str | None = None
    code_stream: TextIO | None = None
    verbosity = 0
    verbosity_stream: TextIO | None = None


settings = _Settings()


def set_code_level(level: int | str = ALL, also_to_stdout: bool = False) -> None:
    """Print the rewritten code of every function when it is converted, from now on.

    Level n (from 1) prints the code after the n-th rewrite, 100 the code that runs, 0 nothing;
    "full" prints its operators, attributes and items as the calls that they are. It goes to the
    standard error stream, or with `also_to_stdout` to the standard output.

    >>> set_code_level(0)
    """
    is_level = isinstance(level, int) and not isinstance(level, bool) and level >= 0
    if not is_level and level != FULL:
        raise WrongKind(f'the code level is "{FULL}" or an int from 0 to {ALL}, not {level!r}')
    settings.code_level = level or None
    settings.code_stream = sys.stdout if also_to_stdout else None


def set_verbosity(level: int = 0, also_to_stdout: bool = False) -> None:
    """Say what is converted: 0 nothing, 1 every function, 2 also what is left as Python and why.

    >>> set_verbosity(0)
    """
    if not isinstance(level, int) or isinstance(level, bool) or level < 0:
        raise WrongKind(f"the verbosity is an int from 0, not {level!r}")
    settings.verbosity = level
    settings.verbosity_stream = sys.stdout if also_to_stdout else None


def note(text: str) -> None:
    """Say something about a conversion, if that was asked for."""
    if settings.verbosity:
        print(f"dy2st: {text}", file=settings.verbosity_stream or sys.stderr)


# DY2ST_DEBUG: 1 and 2 are the verbosity, 3 shows the rewritten code as well.
_debug = os.environ.get("DY2ST_DEBUG", "0")
_level = int(_debug) if _debug.isdigit() else 0
settings.verbosity = min(_level, 2)
settings.code_level = ALL if _level >= 3 else None
