"""Records the functions that one trace calls, for its report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import CodeType, FunctionType
from typing import Any

from dy2st.transpiler.compile import Statement


@dataclass(frozen=True, eq=False)
class Met:
    """A function that was called; `why` says why as it is, and is empty if in traced form."""

    code: CodeType
    name: str
    module: str
    why: str
    statements: tuple[Statement, ...]


@dataclass(eq=False)
class Record:
    """What was met, in the order in which it was.

    functions  those of Python, by the id of their code.
    others     the names of functions in C, and of classes.
    on_form    gets each function whose traced form is made.
    """

    on_form: Callable[[FunctionType], object] | None = None
    functions: dict[int, Met] = field(default_factory=dict)
    others: dict[str, None] = field(default_factory=dict)

    def met(
        self, function: FunctionType, why: str = "", statements: tuple[Statement, ...] = ()
    ) -> None:
        """Note that a function is called, in traced form or, with the reason, as it is."""
        code = function.__code__
        if id(code) not in self.functions:
            found = Met(code, function.__qualname__, str(function.__module__), why, statements)
            self.functions[id(code)] = found

    def met_other(self, called: Any) -> None:
        """Note that a function in C, or a class, is called: `len`, `numpy.float32`."""
        name = getattr(called, "__qualname__", None) or repr(called)
        module = getattr(called, "__module__", None)
        self.others[name if module in (None, "builtins") else f"{module}.{name}"] = None
