"""Measures how long each step takes: a second module of a Program, whose steps look at the clock.

The ordinary code has nothing of this. The time and the calls of a step are added to its row of a
table in the module, by atomic additions, so several threads may run it. The clock is the counter of
the processor where programs may read it; what has passed on Python's clock says what a tick is.
"""

from __future__ import annotations

import ctypes
import platform
from dataclasses import dataclass
from time import perf_counter, sleep

from dy2st_runtime.engine.native.entry import write
from dy2st_runtime.engine.native.linked_module import Linked
from dy2st_runtime.engine.native.machine.kernels import Functions
from dy2st_runtime.engine.native.program.lifetimes import is_alias
from dy2st_runtime.engine.native.program.planner import Planned, Step
from dy2st_runtime.engine.native.program.steps import Body
from dy2st_runtime.ir.program import Program

_SHORTEST = 1e-3
"""For how many seconds at least both clocks run before they are compared."""

_COUNTER = """\
declare i64 @llvm.readcyclecounter()
define i64 @now() {
  %now = call i64 @llvm.readcyclecounter()
  ret i64 %now
}
"""

_CLOCK = """\
declare i32 @clock_gettime(i32, ptr)
define i64 @now() {
  %place = alloca { i64, i64 }
  %failed = call i32 @clock_gettime(i32 1, ptr %place)
  %seconds = load i64, ptr %place
  %second = getelementptr i64, ptr %place, i64 1
  %nanoseconds = load i64, ptr %second
  %scaled = mul i64 %seconds, 1000000000
  %now = add i64 %scaled, %nanoseconds
  ret i64 %now
}
"""

# Row 0 is the whole run's; a row is of ticks, and of calls.
_TABLE = """\
@profile = global [{count} x i64] zeroinitializer
define internal void @passed(i64 %row, i64 %start) alwaysinline {{
  %now = call i64 @now()
  %time = sub i64 %now, %start
  %ticks = getelementptr {{ i64, i64 }}, ptr @profile, i64 %row
  %calls = getelementptr i64, ptr %ticks, i64 1
  %a = atomicrmw add ptr %ticks, i64 %time monotonic
  %b = atomicrmw add ptr %calls, i64 1 monotonic
  ret void
}}
define ptr @run(ptr %self, ptr %given, i64 %count) {{
  %start = call i64 @now()
  %results = call ptr @steps(ptr %self, ptr %given, i64 %count)
  call void @passed(i64 0, i64 %start)
  ret ptr %results
}}
"""


@dataclass
class Row:
    """How often a step ran, and for how long, without what runs inside of it.

    step    None is for the rest of a run: what it checks, takes and gives.
    """

    step: Step | None
    calls: int
    seconds: float


class Profile:
    """The code of a Program that measures its steps, from when it is made on."""

    def __init__(self, program: Program, functions: Functions) -> None:
        """Write, compile and link it."""
        self.written = write(program, functions, "steps", _TimedBody)
        rows = 1 + max((_place(step) for step in self.written.steps.all()), default=0)
        module, count = self.written.module, 2 * rows
        module.add("now", _COUNTER if platform.machine() == "x86_64" else _CLOCK)
        module.add("profile", _TABLE.format(count=count))
        self.linked = Linked(module, ("profile", "now"))
        self._table = (ctypes.c_int64 * count).from_address(self.linked.addresses["profile"])
        self._now = ctypes.CFUNCTYPE(ctypes.c_int64)(self.linked.addresses["now"])
        self._start = perf_counter(), self._now()

    def rows(self) -> list[Row]:
        """The rest of all runs, then the steps that have run, in their order."""
        # The seconds of a tick.
        start, ticks = self._start
        if perf_counter() - start < _SHORTEST:
            sleep(_SHORTEST)
        passed: int = self._now() - ticks
        scale, table = (perf_counter() - start) / passed, list(self._table)

        def row(step: Step | None, planned: list[Planned]) -> Row:
            at = 0 if step is None else _place(step)
            inner = sum(table[2 * _place(one)] for part in planned for one in part.steps)
            return Row(step, table[2 * at + 1], scale * (table[2 * at] - inner))

        rows = [row(step, step.inner) for step in self.written.steps.all()]
        return [row(None, [self.written.steps]), *(one for one in rows if one.calls)]


class _TimedBody(Body):
    """Steps that look at the clock before and after."""

    def step(self, step: Step) -> None:
        """One step, and its time; those without code have none."""
        operator = step.operator
        if not (operator is None or not (operator.name == "constant" or is_alias(operator))):
            super().step(step)
            return
        start = self.function.let("call i64 @now()")
        super().step(step)
        self.function.line(f"call void @passed(i64 {_place(step)}, i64 {start})")


def _place(step: Step) -> int:
    return step.number + 1


__all__ = ["Profile", "Row"]
