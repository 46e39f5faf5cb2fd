"""What is said of a function when it is converted, if that was asked for."""

from __future__ import annotations

import sys
from types import FunctionType

from dy2st.jit.code_level import ALL, settings
from dy2st.transpiler.functional import STEPS, functional_form, left_as_python


def show(function: FunctionType) -> None:
    """Print the code, and the notes, that were asked for."""
    if settings.code_level is not None:
        text = functional_form(function, min(settings.code_level or ALL, len(STEPS)))
        print(text, file=settings.code_stream or sys.stderr)
    if settings.verbosity:
        for line in _notes(function):
            print(line, file=settings.verbosity_stream or sys.stderr)


def _notes(function: FunctionType) -> list[str]:
    code = function.__code__
    lines = [f"dy2st: converted {function.__qualname__} ({code.co_filename}:{code.co_firstlineno})"]
    if settings.verbosity > 1:
        for line, (reason, name) in left_as_python(function):
            about = f" `{name}`" if name else ""
            lines.append(f"dy2st:   line {line} is left as Python: {reason}{about}")
    return lines
