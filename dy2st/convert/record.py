"""Records what one trace meets: functions, of which it makes a report, and the paths of Layers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from types import CodeType, FunctionType
from typing import Any, TypeAlias

from dy2st.convert.call_context import Answer, free_name
from dy2st.transpiler.compile import Statement
from dy2st_runtime.errors import Location
from dy2st_runtime.html_page import of_text
from dy2st_runtime.ir import Variable
from dy2st_runtime.ir.location import is_own_file
from dy2st_runtime.ir.tracing.growth import STAYS_A_LOOP, Unrolled
from dy2st_runtime.nn.layer import Layer


@dataclass(eq=False)
class LayerPaths:
    """Layers by id, with their paths; each entry holds its Layer, so that the id stays its own."""

    _known: dict[int, tuple[Layer, str]] = field(default_factory=dict)
    _taken: set[str] = field(default_factory=set)

    def of(self, layer: Layer, around: str) -> str:
        """The path of a Layer that is called while one of the path `around` runs.

        What no Layer holds, or a list of Python's, is called by its class.
        """
        if id(layer) not in self._known:
            name = type(layer).__name__
            wish = f"{around}.{name}" if around else name
            self.enter(layer, free_name(wish, self._taken))
        return self._known[id(layer)][1]

    def enter(self, layer: Layer, path: str) -> None:
        """Know a Layer and all inside of it; those that are known keep the path that they have."""
        todo = [(layer, path)]
        while todo:
            layer, path = todo.pop()
            if id(layer) in self._known:
                continue
            self._known[id(layer)] = layer, path
            self._taken.add(path)
            held = layer.__dict__.get("_sub_layers", {})
            inner = [(one, f"{path}.{name}" if path else name) for name, one in held.items()]
            todo += [entry for entry in reversed(inner) if entry[0] is not None]


Staged: TypeAlias = "tuple[str, str, int, int]"  # its kind, such as "if", file, line and column


def _reason(why: str, hint: str) -> str:
    """The lines of a reason, and of what to write instead."""
    found = f"\n    because: {why}" if why else ""
    return found + (f"\n    instead: {hint}" if hint else "")


@dataclass(frozen=True)
class StatementReport:
    """One `if`, loop or other choice: how it was taken, or "left as Python" and why.

    `how` is "staged", "run by Python", or "unrolled" of a loop that made many operators.
    """

    kind: str
    line: int
    column: int
    how: str
    why: str = ""
    hint: str = ""

    def __str__(self) -> str:
        """One line, and those of the reason."""
        text = f"  line {self.line}: {self.kind}: {self.how}"
        return text + _reason(self.why, self.hint)


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
        head = f"{self.name} ({Location(self.file, self.line)}): {how}"
        return "\n".join([head, *map(str, self.statements)])


@dataclass(eq=False)
class Record:
    """What was met, in the order in which it was."""

    on_form: Callable[[FunctionType], object] | None = None  # gets each whose traced form is made
    # The functions of Python, each with its code, by the id of that
    functions: dict[int, tuple[CodeType, FunctionReport]] = field(default_factory=dict)
    others: dict[str, None] = field(default_factory=dict)  # names of functions in C, and of classes
    staged: dict[Staged, None] = field(default_factory=dict)  # branches and loops of the Program
    ends: list[bool] = field(default_factory=list)  # whether those traced now surely end
    answers: list[Answer] = field(default_factory=list)  # those of caches of the user's functions
    # Objects from outside of which code has asked whether they are one; pairs of tensors that are
    # inputs, and where
    apart: list[Any] = field(default_factory=list)
    distinct: list[tuple[Variable, Variable, Location | None]] = field(default_factory=list)
    # Objects outside whose states are inputs, and which part of one each is, by its name
    states: dict[str, tuple[Any, int]] = field(default_factory=dict)
    # Generators of random numbers from outside, and how many Python has drawn of each
    drawn: dict[int, tuple[Any, int]] = field(default_factory=dict)
    emptied: dict[int, Any] = field(default_factory=dict)  # containers outside, emptied by the code
    # What `raise` has raised: faults, and no Exceptions; what operators raise, where that is caught
    thrown: list[BaseException] = field(default_factory=list)
    of_operators: list[BaseException] = field(default_factory=list)
    shown: list[Any] = field(default_factory=list)  # containers whose texts are being written
    has_written: bool = False  # whether anything outside would be other than before
    layer_paths: LayerPaths = field(default_factory=LayerPaths)

    def met(
        self, function: FunctionType, why: str = "", statements: tuple[Statement, ...] = ()
    ) -> None:
        """Note that a function is called, in traced form or, with the reason, as it is."""
        code = function.__code__
        if id(code) not in self.functions:
            place = str(function.__module__), code.co_filename, code.co_firstlineno
            own = tuple(StatementReport(*one, "run by Python") for one in statements)
            found = FunctionReport(function.__qualname__, *place, why, own)
            self.functions[id(code)] = code, found

    def met_other(self, called: Any) -> None:
        """Note that a function in C, or a class, is called: `len`, `numpy.float32`."""
        name = getattr(called, "__qualname__", None) or repr(called)
        module = getattr(called, "__module__", None)
        self.others[name if module in (None, "builtins") else f"{module}.{name}"] = None


@dataclass(eq=False)
class Break:
    """Why a function ran as Python, and what it cost so far: calls, and seconds in its own code.

    name, place  the function, and where it begins.
    at           where it was refused, there or in what it calls.
    """

    name: str
    place: Location | None
    at: Location | None
    what: str
    why: str = ""
    hint: str = ""
    calls: int = 0
    seconds: float = 0.0

    def __str__(self) -> str:
        """The function with its cost, and the lines of the reason."""
        calls = "1 call" if self.calls == 1 else f"{self.calls} calls"
        text = f"  {self.name} ({self.place}): {calls}, {self.seconds:.3g} s in Python"
        return f"{text}\n    {self.at}: {self.what}" + _reason(self.why, self.hint)


@dataclass(frozen=True)
class Report:
    """Functions in the order of their first calls; `others` are C functions and classes.

    again     what has changed since the trace before, of calls like this one.
    constants  the numbers that every Program has as constants, each with the reason.
    unrolled  the loops whose iterations made many operators, one after the other.
    compiling  what is compiled now, in the background.
    whole     whether the text has the functions of libraries, too.
    breaks    what runs as Python with `full_graph=False`.
    """

    functions: tuple[FunctionReport, ...]
    others: tuple[str, ...]
    again: str = ""
    constants: tuple[tuple[str, str], ...] = ()
    unrolled: tuple[Unrolled, ...] = ()
    compiling: tuple[str, ...] = ()
    whole: bool = False
    breaks: tuple[Break, ...] = ()

    def __str__(self) -> str:
        """The user's functions one by one; those of libraries by name, if all are wanted."""
        of_library = "functions of the module"  # why nothing of it is converted
        own = [f for f in self.functions if not f.why.startswith(of_library)]
        every, mine = ({f"{f.module}.{f.name}" for f in some} for some in (self.functions, own))
        libraries = sorted(every - mine)
        # Neither what is ours, nor Python's own library; packages may be the user's.
        python = f"{os.path.dirname(os.__file__)}{os.sep}"
        others = [f for f in own if not f.file.startswith(python) or "site-packages" in f.file]
        shown = own if self.whole else [f for f in others if not is_own_file(f.file)]
        parts = [f"traced again, since {self.again}"] if self.again else []
        parts += [f"`{name}` is a constant, since {why}" for name, why in self.constants]
        parts += map(str, shown)
        if self.whole and libraries:
            parts.append(f"library functions, called as they are: {', '.join(libraries)}")
        if self.whole and self.others:
            parts.append(f"C functions and classes, called as they are: {', '.join(self.others)}")
        rest = len(libraries) + len(self.others) + len(own) - len(shown)
        if rest and not self.whole:
            functions = "function" if rest == 1 else "functions"
            parts.append(f"and {rest} {functions} of libraries: report(whole=True) names them")
        if self.unrolled:
            parts += [f"unrolled: {loop}" for loop in self.unrolled]
            parts.append(f"  instead: {STAYS_A_LOOP}")
        if self.breaks:
            parts += [f"graph breaks: {len(self.breaks)}", *map(str, self.breaks)]
        return "\n".join([*parts, *self.compiling])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return of_text(str(self))


def report_of(record: Record, unrolled: Iterable[Unrolled]) -> Report:
    """The report of a trace that met this, and has staged or unrolled some of it."""
    functions, unrolled = [], tuple(unrolled)
    loops = {(one.at.file, one.at.line) for one in unrolled if one.at is not None}
    for code, met in record.functions.values():
        found = _statements(met, _inside(code, record.staged), loops) if met.converted else ()
        functions.append(replace(met, statements=found))
    return Report(tuple(functions), tuple(sorted(record.others)), unrolled=unrolled)


def _statements(
    met: FunctionReport, staged: set[Statement], unrolled: set[tuple[str, int]]
) -> tuple[StatementReport, ...]:
    """The branches and loops of a function, and the expressions of it that were staged."""
    found = set()
    for one in met.statements:
        # Before Python 3.11 only the line of what runs is known.
        is_staged = not staged.isdisjoint((one.kind, one.line, at) for at in (one.column, 0))
        # Its `break` may be staged: what matters to the reader is how often it stands there.
        is_unrolled = one.kind in ("for", "while") and (met.file, one.line) in unrolled
        how = "unrolled" if is_unrolled else "staged" if is_staged else one.how
        found.add(replace(one, how=how))
    found |= {StatementReport(*place, "staged") for place in staged if place[0] in _EXPRESSIONS}
    return tuple(sorted(found, key=lambda one: (one.line, one.column, one.kind)))


# Other places where something is staged are of statements that a rewrite has made.
_EXPRESSIONS = frozenset({"if expression", "and", "or"})


def _inside(code: CodeType, staged: Iterable[Staged]) -> set[Statement]:
    """What stands in the lines of a code."""
    lines = [line for _, _, line in code.co_lines() if line is not None]
    first, last = code.co_firstlineno, max(lines, default=code.co_firstlineno)
    return {
        (kind, line, column)
        for kind, file, line, column in staged
        if file == code.co_filename and first <= line <= last
    }
