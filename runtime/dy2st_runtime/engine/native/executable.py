"""Runs a Program as machine code, behind the contract of all engines.

What the code does not take, since an argument has another type, size or order in memory than the
Program wants, or since a constraint is broken, is left to NumPy's engine: it says what is wrong,
and so both say the same.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Sequence
from typing import Any

import numpy as np

from dy2st_runtime.engine.native import report
from dy2st_runtime.engine.native.entry import Written, write
from dy2st_runtime.engine.native.linked_module import Linked
from dy2st_runtime.engine.native.machine.kernels import Functions, Run
from dy2st_runtime.engine.native.nests.identity import same
from dy2st_runtime.engine.native.profiling import Profile, Row
from dy2st_runtime.engine.native.program.broadcast_outputs import without_repeated
from dy2st_runtime.engine.numpy import executable as reference
from dy2st_runtime.engine.runner import Clock, Runner, Span
from dy2st_runtime.ir.functions import program_of
from dy2st_runtime.ir.program import ArrayType, Operator, Program, Variable
from dy2st_runtime.ir.types import own_dtype
from dy2st_runtime.lazy import cached_property

Array = np.ndarray[Any, Any]


class Executable(Runner):
    """A Program that runs as machine code. Several threads may call it at once."""

    def __init__(self, program: Program, functions: Functions | None = None) -> None:
        """Write, compile and link the code of the Program, and of what it calls.

        `functions` are those of the Program that calls this one.
        """
        super().__init__(program)
        self._functions = Functions(program) if functions is None else functions
        self._written, repeated = without_repeated(program)
        written = write(self._written, self._functions)
        self._linked = Linked(written.module)
        self.source, self._function = self._linked.source, self._linked.function
        self._profile: Profile | None = None
        self._is_profiled = False
        self._rows: dict[Any, Row] = {}  # as they were when their spans were asked for
        self._was_profiled = False
        # Of each yield: which result of the code it is; ~n for the n-th parameter. Those that the
        # code does not make come after its own.
        self._repeated = list(repeated.values())
        count = len(written.own)
        places = [_place(variable, written) for variable in written.steps.block.yields]
        for number, place in enumerate(repeated):
            places.insert(place, count + number)
        self._places = places
        self._copied = [p < 0 or (p < count and written.shared[p]) for p in places]
        self._given = [0 <= p < count and written.given[p] for p in places]
        makers = [same(variable).maker for variable in program.block.yields]
        # Whether a value is the result of a branch or a loop.
        self._flows = [isinstance(maker, Operator) and bool(maker.blocks) for maker in makers]
        # Code does not say which arrays stand in a list, nor which buffer a result of a branch is.
        self._ambiguous = [
            place
            for place, variable in enumerate(program.block.yields)
            if isinstance(variable.type, ArrayType) or (program.updates and self._flows[place])
        ]
        self._is_in_order = places == list(range(count))
        self._is_plain = not any(0 <= p < count and written.shared[p] for p in places)
        # The yields that are, or may be, arrays that the call was given.
        self._passed_on = [n for n, p in enumerate(places) if p < 0 or self._given[n]]
        self._count = len(program.block.parameters)
        self._is_bare = self._is_in_order and self._is_plain and not self._passed_on
        self.entry = self._function if self._is_bare else None
        if functions is None:
            for name in program.functions:
                self._functions.made[name] = _callee(program, name, self._functions)

    @cached_property
    def reference(self) -> reference.Executable:
        """The same Program in NumPy's engine."""
        return reference.compile_program(self.program)

    def explain(self, profile: bool = False) -> str:
        """What is machine code, and what NumPy computes: a line a step, with the user's lines.

        With `profile` how long each step took since it was first asked for: see `profile`.
        """
        if not profile:
            return report.explain(write(self._written, self._functions), self._linked.kept_bytes)
        self.profile()
        assert self._profile is not None
        return report.profile(self._profile.rows())

    def profile(self, on: bool = True) -> None:
        """Measure each step from now on, by other code; or run the ordinary code again."""
        if on and self._profile is None:
            self._profile = Profile(self._written, self._functions)
        self._is_profiled = on and self._profile is not None
        chosen = self._profile.linked if on and self._profile else self._linked
        self._function = chosen.function
        self.entry = self._function if self._is_bare else None

    def measure(self, clock: Clock | None) -> None:
        """Count the time of each step from now on, whatever the clock; None ends that."""
        if clock is None:
            self.profile(self._was_profiled)
            return
        self._was_profiled = self._profile is not None and self._is_profiled
        self.profile()
        self.spans()

    def spans(self) -> list[Span]:
        """How long each step took since this was asked last."""
        if self._profile is None:
            return []
        found = []
        for row in self._profile.rows():
            before = self._rows.get(row.step)
            calls = row.calls - (before.calls if before else 0)
            seconds = row.seconds - (before.seconds if before else 0.0)
            self._rows[row.step] = row
            if calls:
                found.append(_span(row, calls, max(0.0, seconds)))
        return found

    def run(
        self,
        inputs: Sequence[Array],
        state: Sequence[Array],
        as_is: Container[int] = (),
        as_one: Collection[int] = (),
        bare: int = 0,
    ) -> list[Array]:
        """As the contract says."""
        results: list[Any] | None = None
        # Which results of a branch are one array, code does not say.
        is_known = not as_one or not any(self._flows[place] for place in as_one)
        is_known = is_known and not (self._ambiguous and any(n in as_is for n in self._ambiguous))
        if is_known and len(inputs) + len(state) == self._count:
            results = self._function(*inputs, *state)
            if results is None:
                # Once more with copies that are in order: most arrays are, and no call looks at
                # that before.
                results = self._function(*map(_in_order, inputs), *map(_in_order, state))
        if results is None:  # the code does not take these arrays
            return self.reference.run(inputs, state, as_is, as_one, bare)
        is_plain = self._is_plain and not as_one
        unlike = [n for n in self._passed_on if n not in as_is]  # those become new arrays
        if is_plain and self._is_in_order and not unlike:
            return results
        held = [*inputs, *state]
        if not self._is_in_order:
            results += self._repeated
            results = [results[n] if n >= 0 else held[~n] for n in self._places]
        if is_plain and not any([results[n] is array for n in unlike for array in held]):
            return results
        ids = {id(array) for array in held}
        copied = [
            may or (is_given and id(one) in ids)
            for may, is_given, one in zip(self._copied, self._given, results, strict=True)
        ]
        return self.given(results, (inputs, state), as_is, as_one, bare, copied)

    def check(self, inputs: Sequence[Array]) -> None:
        """As the contract says."""
        self.reference.check(inputs)

    def takes_shapes(self, shapes: Sequence[Sequence[int]]) -> bool:
        """As the contract says."""
        return self.reference.takes_shapes(shapes)


def _callee(program: Program, name: str, functions: Functions) -> tuple[Run | None, Run]:
    """What runs a function of a Program: NumPy's engine, if it takes lists."""
    made = program_of(program, name)
    if any(isinstance(variable.type, ArrayType) for variable in made.inputs):
        return None, reference.compile_program(made).run
    executable = Executable(made, functions)
    return executable.entry, executable.run


def _span(row: Row, calls: int, seconds: float) -> Span:
    if row.step is None:
        return Span("what a run checks, takes and gives", (), 0.0, seconds, calls, True)
    step, (word, what) = row.step, report.words_of(row.step)
    # The operator that names a step stands last; what ends a product is part of it.
    operators = [*step.operators, *([step.operator] if step.operator is not None else ())]
    return Span(f"{word} {what}", operators, 0.0, seconds, calls, True)


def _in_order(array: Array) -> Array:
    """An array whose elements lie row by row, without gaps, and that has NumPy's own dtype."""
    if not isinstance(array, np.ndarray):
        return array
    return np.asarray(np.asarray(array, order="C"), own_dtype(array.dtype))


def _place(variable: Variable, written: Written) -> int:
    """Where a yield is among the results of the code; ~n if it is the n-th parameter."""
    variable, block = same(variable), written.steps.block
    if variable.maker is block:
        return ~[id(one) for one in block.parameters].index(id(variable))
    return [id(one) for one in written.own].index(id(variable))


__all__ = ["Executable"]
