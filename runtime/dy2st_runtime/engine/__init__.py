"""Engines turn a Program into something that runs. The default needs NumPy alone.

>>> sorted(ENGINES)
['numpy']
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir.program import Program
from dy2st_runtime.late import Late, late_names
from dy2st_runtime.thread_state import put_back_after_errors

if TYPE_CHECKING:
    from dy2st_runtime.engine.numpy import executable
    from dy2st_runtime.engine.numpy.executable import Executable
else:
    executable = Late("dy2st_runtime.engine.numpy.executable")
    __getattr__ = late_names(
        __name__, {"Executable": "dy2st_runtime.engine.numpy.executable:Executable"}
    )


def _compile_numpy(program: Program) -> Executable:
    return executable.compile_program(program)


ENGINES: dict[str, Callable[[Program], Executable]] = {"numpy": _compile_numpy}


@put_back_after_errors
def compile(program: Program, engine: str = "numpy") -> Executable:
    """A callable for a Program; ArgumentError if there is no engine of that name."""
    if engine not in ENGINES:
        raise ArgumentError(f"there is no engine {engine!r}: one of {', '.join(sorted(ENGINES))}")
    return ENGINES[engine](program)


__all__ = ["ENGINES", "Executable", "compile"]
