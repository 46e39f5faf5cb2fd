"""What became of every function and statement that one trace met: print it."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterable
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from dy2st.convert.call import conversion_of, reason_not_converted
from dy2st.convert.record import Record
from dy2st.convert.swapping import own_code
from dy2st.transpiler import REASONS, is_converted

# Kinds that a conversion lists; others are expressions.
_STATEMENTS = frozenset({"if", "while", "for"})


@dataclass(frozen=True)
class StatementReport:
    """One `if`, loop or other choice: "staged", "run by Python", or "left as Python" and why."""

    kind: str
    line: int
    column: int
    how: str
    why: str = ""
    hint: str = ""

    def __str__(self) -> str:
        """One line, and those of the reason."""
        text = f"  line {self.line}: {self.kind}: {self.how}"
        if self.why:
            text += f"\n    because: {self.why}"
        if self.hint:
            text += f"\n    instead: {self.hint}"
        return text


@dataclass(frozen=True)
class FunctionReport:
    """One function; `why` says why it was left as Python and is empty if it was converted."""

    name: str
    module: str
    file: str
    line: int
    why: str
    statements: tuple[StatementReport, ...] = ()

    @property
    def converted(self) -> bool:
        """Whether its converted form was called."""
        return not self.why

    def __str__(self) -> str:
        """The function, and its statements below."""
        how = "converted" if self.converted else f"left as Python: {self.why}"
        return "\n".join(
            [f"{self.name} ({self.file}:{self.line}): {how}", *map(str, self.statements)]
        )


@dataclass(frozen=True)
class Report:
    """Functions in the order of their first calls; `others` are C functions and classes."""

    functions: tuple[FunctionReport, ...]
    others: tuple[str, ...]

    def __str__(self) -> str:
        """The user's functions one by one, those of libraries by name."""
        own = [f for f in self.functions if f.converted or not _is_library(f)]
        libraries = sorted({f"{f.module}.{f.name}" for f in self.functions} - _names(own))
        parts = [str(function) for function in own]
        if libraries:
            parts.append(f"library functions, called as they are: {', '.join(libraries)}")
        if self.others:
            parts.append(f"C functions and classes, called as they are: {', '.join(self.others)}")
        return "\n".join(parts)

    __repr__ = __str__


def report_of(
    functions: Iterable[FunctionType], swapped: Iterable[FunctionType], record: Record
) -> Report:
    """The report of a trace that called these functions.

    Python calls `swapped` functions by itself: those stand here that staged something.
    """
    met = [*functions, *(f for f in swapped if _staged_in(f, record))]
    by_code = {id(own_code(function)): function for function in reversed(met)}
    found = [_function(function, record) for function in reversed([*by_code.values()])]
    others = {_name(called) for called in record.called.values()}
    return Report(tuple(found), tuple(sorted(others)))


def _function(function: FunctionType, record: Record) -> FunctionReport:
    code = own_code(function)
    why = reason_not_converted(function)
    is_rewritten = not why and not is_converted(code)
    return FunctionReport(
        function.__qualname__,
        str(function.__module__),
        code.co_filename,
        code.co_firstlineno,
        why,
        tuple(_statements(function, record)) if is_rewritten else (),
    )


def _statements(function: FunctionType, record: Record) -> list[StatementReport]:
    conversion = conversion_of(function)
    if conversion is None:
        return []
    file = own_code(function).co_filename
    found: set[StatementReport] = set()
    for info in conversion.statements.values():
        if info.kind == "if" and _is_made(file, info.line, info.column):
            continue
        is_staged = (info.kind, file, info.line, info.column) in record.staged
        how = "staged" if is_staged else "run by Python"
        found.add(StatementReport(info.kind, info.line, info.column, how))
    for line, (code, name) in conversion.left:
        reason = REASONS[code]
        why, hint = reason.why.format(name=name), reason.hint.format(name=name)
        found.add(StatementReport("statement", line, 0, "left as Python", why, hint))
    for kind, line, column in _staged_in(function, record):
        if kind not in _STATEMENTS:
            found.add(StatementReport(kind, line, column, "staged"))
    return sorted(found, key=lambda statement: (statement.line, statement.column, statement.kind))


# Where one of these stands, the rewrite has put an `if` around what follows a jump.
_OTHERS = re.compile(r"(for|while|try|with|async|return|break|continue)\b")


def _is_made(file: str, line: int, column: int) -> bool:
    """Whether the user has written something else where an `if` stands."""
    return _OTHERS.match(linecache.getline(file, line)[max(column - 1, 0) :]) is not None


def _staged_in(function: FunctionType, record: Record) -> list[tuple[str, int, int]]:
    """What was staged in the lines of a function: kind, line and column."""
    code = own_code(function)
    lines = [line for _, _, line in code.co_lines() if line is not None]
    first, last = code.co_firstlineno, max(lines, default=code.co_firstlineno)
    return [
        (kind, line, column)
        for kind, file, line, column in record.staged
        if file == code.co_filename and first <= line <= last
    ]


def _is_library(function: FunctionReport) -> bool:
    return function.why.startswith("functions of the module")


def _names(functions: Iterable[FunctionReport]) -> set[str]:
    return {f"{function.module}.{function.name}" for function in functions}


def _name(called: Any) -> str:
    """`len`, `numpy.float32`, `list.append`."""
    name = getattr(called, "__qualname__", None) or repr(called)
    module = getattr(called, "__module__", None)
    return name if module in (None, "builtins") else f"{module}.{name}"
