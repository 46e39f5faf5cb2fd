"""Runs a compiled Program: checks what it is called with, and names the user's line on failure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from types import FunctionType, TracebackType
from typing import Any

import numpy as np

from dy2st_runtime.engine.numpy.codegen import Generated, generate, with_clock
from dy2st_runtime.engine.numpy.sizes_code import SizesOfCalls
from dy2st_runtime.engine.runner import Clock, Runner, Span
from dy2st_runtime.errors import ShapeError
from dy2st_runtime.ir.checks.broken_sizes import check_inputs, place_text
from dy2st_runtime.ir.checks.tracebacks import show_operator
from dy2st_runtime.ir.functions import root_name
from dy2st_runtime.ir.location import entries_of
from dy2st_runtime.ir.program import Operator, Program
from dy2st_runtime.ir.sizes import input_sizes
from dy2st_runtime.lazy import Lazy

report = Lazy("dy2st_runtime.engine.numpy.report")

Array = np.ndarray[Any, Any]

_numbers = count(1)


class Executable(Runner):
    """A Program that runs on NumPy arrays. Several threads may call it at once."""

    def __init__(self, program: Program) -> None:
        """Generate and compile the Python function of the Program."""
        super().__init__(program)
        generated = self._generated = generate(program)
        self.source = generated.source
        self._sizes: SizesOfCalls | None = None
        namespace = self._load(generated)
        self._fits: FunctionType = namespace["fits"]
        if "sizes" in namespace:
            self._sizes = namespace["of_calls"] = SizesOfCalls(program, namespace["sizes"])
        self._measured: list[tuple[int, Any, Any]] = []
        self._timed: list[Operator] = []

    def _load(self, generated: Generated) -> dict[str, Any]:
        """Let the function be that of a generated text, whose globals are returned."""
        self._lines = generated.lines
        module = f"<dy2st {ascii(self.program.name)[1:-1]}>"  # a name may hold any character
        namespace = generated.namespace
        # Debuggers, and the tracebacks that DY2ST_DEBUG shows, ask the loader for the lines.
        namespace |= {"__name__": module, "__loader__": _Text(generated.source)}
        exec(compile(generated.source, f"{module[:-1]} {next(_numbers)}>.py", "exec"), namespace)
        self._function: FunctionType = namespace["run"]
        return namespace

    def measure(self, clock: Clock | None) -> None:
        """Read a clock before and after each operator from now on; None ends that."""
        if clock is None:
            self._load(self._generated)
            return
        timed, self._timed = with_clock(self._generated, clock, self._measured.append)
        self._load(timed)

    def spans(self) -> list[Span]:
        """The operators that ran since this was asked last, in their order."""
        measured = self._measured[:]
        del self._measured[: len(measured)]
        timed = [(self._timed[number], start, end) for number, start, end in measured]
        outer = self._generated.outer
        return [Span(one.name, (outer.get(one, one),), start, end) for one, start, end in timed]

    def compute(self, inputs: Sequence[Array], state: Sequence[Array]) -> list[Any]:
        """Call the generated function; what it raises names the operator's place."""
        try:
            results: list[Any] = self._function(*inputs, *state)
        except ZeroDivisionError as error:
            # The error itself if a kernel raised it; else a size that only the data decides is 0.
            trace = error.__traceback__
            while trace is not None and trace.tb_next is not None:
                trace = trace.tb_next
            if trace is None or not self._is_generated(trace):
                self._add_place(error)
                division: Exception = error
            else:
                operator = self._lines.get(trace.tb_lineno)
                place = place_text(operator.location) if operator and operator.location else "?"
                division = ShapeError(
                    f"a size is divided by another, which is 0 in this call (from {place})"
                )
            raise division from None
        except Exception as error:  # goes on, with the place of the operator
            self._add_place(error)
            raise
        return results

    def explain(self) -> str:
        """A line an operator: a call of NumPy's, a view, or what is written over an operand."""
        return str(report.explain(self.program))

    def check(self, inputs: Sequence[Array]) -> None:
        """Raise SpecError unless number, dtypes and shapes of the inputs fit the Program."""
        try:
            if len(inputs) == len(self.program.inputs) and self._fits(*inputs):
                return
        except (ShapeError, ZeroDivisionError):  # a formula that has no value
            pass
        check_inputs(self.program, inputs)

    def takes_shapes(self, shapes: Sequence[Sequence[int]]) -> bool:
        """Whether inputs of the right ranks with these shapes satisfy all that is required."""
        if self._sizes is None:
            return True
        return self._sizes.fit(tuple(input_sizes(self.program, shapes).values()))

    def _add_place(self, error: Exception) -> None:
        """Say which operator failed, and where the user called it."""
        for entry in entries_of(error.__traceback__):
            operator = self._lines.get(entry.tb_lineno) if self._is_generated(entry) else None
            if operator is not None and not operator.blocks:
                show_operator(error, operator, entry, root_name(operator) or self.program.name)

    def _is_generated(self, entry: TracebackType) -> bool:
        return entry.tb_frame.f_code.co_filename == self._function.__code__.co_filename


class _Text:
    """What knows the text of a generated function, as the loader of a module does."""

    def __init__(self, source: str) -> None:
        self._source = source

    def get_source(self, name: str) -> str:
        """The text."""
        return self._source


def compile_program(program: Program) -> Executable:
    """Compile a Program for NumPy."""
    return Executable(program)


compile_program.takes_functions = True  # type: ignore[attr-defined]

__all__ = ["Executable", "compile_program"]
