"""Compiles for the engine `native`: at once, or large Programs in the background.

NumPy's engine runs these until then. One thread compiles, one Program after the other, with LLVM in
a process of its own, so calls go on meanwhile, and nobody waits for it where the process ends.
`DY2ST_NATIVE_BACKGROUND=off` compiles every Program where it is asked for.
"""

from __future__ import annotations

import os
import threading
import warnings
from collections import deque
from collections.abc import Callable, Collection, Container, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any
from weakref import WeakMethod

import numpy as np

from dy2st_runtime.engine.measuring import Clock, Span
from dy2st_runtime.engine.native.executable import Executable
from dy2st_runtime.engine.native.machine import abi
from dy2st_runtime.engine.native.machine.aligned_arrays import align_arrays
from dy2st_runtime.engine.native.machine.llvm import Processor, compiling_by
from dy2st_runtime.engine.numpy import executable as reference
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir.program import Program
from dy2st_runtime.ir.types import ArrayType
from dy2st_runtime.lazy import Lazy
from dy2st_runtime.singletons import once

elsewhere = Lazy("dy2st_runtime.engine.native.machine.subprocess_compiler")

Array = np.ndarray[Any, Any]

_MANY = 1000
"""From so many operators on, which take seconds, a Program is compiled while NumPy runs it.

Smaller ones are worth waiting for: all calls then have the same last bits.
"""


class Background:
    """A Program that NumPy's engine runs until its machine code is there."""

    def __init__(self, program: Program) -> None:
        """Begin to compile."""
        self.program = program
        self._reference = reference.compile_program(program)
        self._now: Executable | reference.Executable = self._reference
        self._failure: Exception | None = None
        self._unreported: deque[Exception] = deque()
        self._is_done = threading.Event()
        self._process = os.getpid()
        _worker(self._process).put(WeakMethod(self._compile))

    @property
    def source(self) -> str:
        """As the contract says."""
        return self._now.source

    def run(
        self,
        inputs: Sequence[Array],
        state: Sequence[Array],
        as_is: Container[int] = (),
        as_one: Collection[int] = (),
        bare: int = 0,
    ) -> list[Array]:
        """As the contract says."""
        if self._unreported:
            with suppress(IndexError):  # another thread reports it
                self._unreported.pop()
                warnings.warn(self._refusal(), RuntimeWarning, stacklevel=3)
        return self._now.run(inputs, state, as_is, as_one, bare)

    def check(self, inputs: Sequence[Array]) -> None:
        """As the contract says."""
        self._reference.check(inputs)

    def takes_shapes(self, shapes: Sequence[Sequence[int]]) -> bool:
        """As the contract says."""
        return self._reference.takes_shapes(shapes)

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until all is compiled, or so long; whether machine code runs from now on."""
        if os.getpid() == self._process:
            self._is_done.wait(seconds)
        elif not self._is_done.is_set():  # a forked child has no thread that compiles
            self._compile()
        return isinstance(self._now, Executable)

    def explain(self, profile: bool = False) -> str:
        """As that of machine code, which is waited for."""
        return self._compiled().explain(profile)

    def profile(self, on: bool = True) -> None:
        """As that of machine code, which is waited for."""
        self._compiled().profile(on)

    def measure(self, clock: Clock | None) -> None:
        """As that of machine code, which is waited for; of NumPy's engine if there is none."""
        self.wait()
        self._now.measure(clock)

    def spans(self) -> list[Span]:
        """As that of machine code."""
        return self._now.spans()

    def _compiled(self) -> Executable:
        self.wait()
        if not isinstance(self._now, Executable):
            raise ArgumentError(self._refusal()) from self._failure
        return self._now

    def _compile(self) -> None:
        try:
            made = Executable(self.program)
            made.reference = self._reference
            self._now = made
        except Exception as error:  # shown by the next call, which NumPy's engine runs
            self._failure = error
            self._unreported.append(error)
        self._is_done.set()

    def _refusal(self) -> str:
        error = self._failure
        return (
            f"the engine 'native' could not compile {self.program.name!r}, which NumPy's engine "
            f"runs: {type(error).__name__}: {error}"
        )


class _Worker:
    """Jobs, one after the other, in a thread that is there while there are any."""

    def __init__(self) -> None:
        self._elsewhere = elsewhere.Elsewhere()
        self._jobs: deque[WeakMethod[Callable[[], None]]] = deque()
        self._lock = threading.Lock()
        self._is_at_work = False

    def put(self, job: WeakMethod[Callable[[], None]]) -> None:
        """Add a job; it is left out if nobody holds its object any more."""
        with self._lock:
            self._jobs.append(job)
            is_first, self._is_at_work = not self._is_at_work, True
        if is_first:
            threading.Thread(target=self._work, name="dy2st compiles", daemon=True).start()

    def _work(self) -> None:
        with compiling_by(self._elsewhere.compile, self._elsewhere.linking):
            while (job := self._next()) is not None:
                do = job()
                if do is not None:
                    do()
                del do

    def _next(self) -> WeakMethod[Callable[[], None]] | None:
        with self._lock:
            if self._jobs:
                return self._jobs.popleft()
            self._is_at_work = False
            return None


@once
def _worker(process: int) -> _Worker:
    """The one of a process: a forked child begins anew."""
    return _Worker()


def compile_program(program: Program) -> Executable | Background | reference.Executable:
    """Machine code; NumPy's engine for lists among the inputs, and where this build of Python
    lays its objects differently."""
    takes_lists = any(isinstance(variable.type, ArrayType) for variable in program.inputs)
    if takes_lists or not abi.is_known():
        return reference.compile_program(program)
    Processor.host()  # says what is missing
    align_arrays()
    is_off = os.environ.get("DY2ST_NATIVE_BACKGROUND", "") == "off"
    is_large = not is_off and next(islice(program.block.walk(), _MANY, None), None) is not None
    return Background(program) if is_large else Executable(program)


__all__ = ["Background", "compile_program"]
