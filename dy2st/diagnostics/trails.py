"""Records what each operator of a call reads and gives: of eager calls, and of Programs.

A Program that runs meanwhile is interpreted, operator by operator, instead of what was compiled.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from threading import get_ident
from typing import Any

import numpy as np

from dy2st.diagnostics.recorder import Where, compiled, watching_calls, where_now
from dy2st.diagnostics.rounding import rounding
from dy2st_runtime.ir.definition import OperatorDefinition
from dy2st_runtime.ir.dispatch import Interpreter, eagerly, watched
from dy2st_runtime.ir.grad_mode import no_grad
from dy2st_runtime.ir.interpret import Run
from dy2st_runtime.ir.program import Program
from dy2st_runtime.ops.generator import get_rng_state
from dy2st_runtime.resident import Resident
from dy2st_runtime.tensor import EagerTensor


@dataclass(eq=False, slots=True)
class Step:
    """An operator that ran: where, on which arrays, with which results."""

    name: str
    where: Where
    attributes: Mapping[str, Any]
    operands: list[Any]
    results: list[Any]

    @property
    def key(self) -> tuple[Any, ...]:
        """What it has in common with the same operator of another run; files keep no folders."""
        place = self.where.place
        return (self.name, *((place.file_name, place.line) if place is not None else ()))

    @property
    def is_constant(self) -> bool:
        """Whether it only gives a number that Python has."""
        return self.name == "constant"


@dataclass(eq=False, slots=True)
class Ran:
    """A Program that ran in a call: on what, what it gave, and where random numbers stood."""

    executable: Any
    arrays: list[Any]
    results: list[Any]
    random: Any

    @property
    def program(self) -> Program:
        """The Program."""
        program: Program = self.executable.program
        return program


@dataclass(eq=False)
class Trail:
    """The operators of a call, in order."""

    steps: list[Step] = field(default_factory=list)

    @property
    def count(self) -> int:
        """How many there are."""
        return sum(not step.is_constant for step in self.steps)

    @contextmanager
    def recording(self, paths: Mapping[int, str], seed: int | None = None) -> Iterator[None]:
        """Record what this thread runs inside of the `with`; with a seed by other roundings."""
        with ExitStack() as stack:
            if seed is not None:
                stack.enter_context(rounding(seed))
            stack.enter_context(watched(lambda inner: _Watched(inner, self.steps, paths)))
            for executable in compiled():
                stack.enter_context(watching_calls(executable, _interpreting))
            yield


class _Watched:
    """An interpreter that keeps what the outermost operators read and give."""

    def __init__(self, inner: Interpreter, steps: list[Step], paths: Mapping[int, str]) -> None:
        self._inner, self._steps, self._paths = inner, steps, paths
        self._thread, self._depth = get_ident(), 0
        self.share, self.separate = inner.share, inner.separate

    def run(
        self, definition: OperatorDefinition, inputs: tuple[Any, ...], attributes: dict[str, Any]
    ) -> Any:
        if get_ident() != self._thread or self._depth:
            return self._inner.run(definition, inputs, attributes)
        # Before it runs: what is changed in place afterwards gets other arrays.
        operands = [array_of(one) for one in inputs]
        self._depth += 1
        try:
            made = self._inner.run(definition, inputs, attributes)
        finally:
            self._depth -= 1
        results = [array_of(one) for one in (made if isinstance(made, tuple) else (made,))]
        where = where_now(sys._getframe(1), self._paths)
        self._steps.append(Step(definition.name, where, attributes, operands, results))
        return made

    share: Callable[..., None]
    separate: Callable[[Any], None]


def array_of(value: Any) -> Any:
    """The array of a tensor; lists of them, and others as they are."""
    if isinstance(value, EagerTensor):
        return value.array
    if isinstance(value, Resident):
        return value.array
    return [array_of(one) for one in value] if isinstance(value, (list, tuple)) else value


def tensor_of(value: Any) -> Any:
    """The tensor of an array; lists of them."""
    if isinstance(value, list):
        return [tensor_of(one) for one in value]
    return value if isinstance(value, EagerTensor) else EagerTensor(np.asarray(value))


def interpreted(program: Program, arrays: Sequence[Any], run: Run | None = None) -> list[Any]:
    """What the Block of a Program yields, by NumPy's kernels, operator by operator."""
    run = run or Run(program)
    values = [tensor_of(array_of(one)) for one in arrays]
    with eagerly(as_recorded=True), no_grad():
        results = run.block(program.block, values, run.sizes_of(values))
    return [array_of(one) for one in results]


def _interpreting(executable: Any, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        return interpreted(executable.program, arrays_given(name, args))

    return run


def arrays_given(name: str, args: tuple[Any, ...]) -> list[Any]:
    """All arrays that a way to call an executable was given: inputs, then state."""
    return list(args) if name == "entry" else [array_of(one) for part in args[:2] for one in part]


class RunsOf:
    """The executables that run in a call of this thread, in order."""

    def __init__(self) -> None:
        """Start empty."""
        self.ran: list[Ran] = []
        self._thread, self._is_inside = get_ident(), False

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Record inside the `with`."""
        with ExitStack() as stack:
            for executable in compiled():
                stack.enter_context(watching_calls(executable, self._noting))
            yield

    def _noting(self, executable: Any, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*args: Any, **kwargs: Any) -> Any:
            if get_ident() != self._thread or self._is_inside:
                return call(*args, **kwargs)
            random, arrays = get_rng_state(), arrays_given(name, args)
            self._is_inside = True
            try:
                results = call(*args, **kwargs)
            finally:
                self._is_inside = False
            if results is not None:  # an entry leaves what it does not take to `run`
                given = [array_of(one) for one in results]
                self.ran.append(Ran(executable, arrays, given, random))
            return results

        return noted


__all__ = ["Ran", "RunsOf", "Step", "Trail", "array_of", "interpreted", "tensor_of"]
