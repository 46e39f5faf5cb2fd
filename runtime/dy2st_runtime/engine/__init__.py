"""Engines turn a Program into something that runs. The default needs NumPy alone.

>>> sorted(ENGINES)
['numpy']
"""

from __future__ import annotations

from collections.abc import Callable

from dy2st_runtime.engine.numpy.executable import Executable
from dy2st_runtime.engine.numpy.executable import compile_program as _compile_numpy
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir.program import Program

ENGINES: dict[str, Callable[[Program], Executable]] = {"numpy": _compile_numpy}


def compile(program: Program, engine: str = "numpy") -> Executable:
    """A callable for a Program; ArgumentError if there is no engine of that name."""
    if engine not in ENGINES:
        raise ArgumentError(f"there is no engine {engine!r}: one of {', '.join(sorted(ENGINES))}")
    return ENGINES[engine](program)


__all__ = ["ENGINES", "Executable", "compile"]
