"""Compiles for the engines `native` and `auto`: at once, or in the background.

NumPy's engine runs a Program until its machine code is there. The engine `native` begins at once,
and does so with large Programs only; the engine `auto` begins when calls of a Program have taken so
long that code is worth its while. One thread compiles, one Program after the other, so calls go on
meanwhile, and nobody waits for it where the process ends: what takes LLVM long is done in a process
of its own. `DY2ST_NATIVE_BACKGROUND=off` compiles each Program where it is asked for.

What writes code and LLVM are loaded when they are needed, for `auto` by that thread.
"""

from __future__ import annotations

import atexit
import os
import warnings
from collections import deque
from collections.abc import Callable, Collection, Container, Sequence
from contextlib import suppress
from itertools import islice
from time import perf_counter
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np

from dy2st_runtime.engine.numpy import executable as reference
from dy2st_runtime.engine.runner import Clock, Span
from dy2st_runtime.errors import ArgumentError, LimitExceeded
from dy2st_runtime.ir.program import Program
from dy2st_runtime.ir.types import ArrayType
from dy2st_runtime.lazy import Lazy, once

if TYPE_CHECKING:
    import logging
    import threading
    from importlib import util as import_util

    from dy2st_runtime import progress
    from dy2st_runtime.engine.native import executable as native
    from dy2st_runtime.engine.native.machine import (
        abi,
        aligned_arrays,
        llvm,
        subprocess_compiler,
    )
    from dy2st_runtime.ir import functions
else:
    logging, threading, import_util = map(Lazy, ("logging", "threading", "importlib.util"))
    progress = Lazy("dy2st_runtime.progress")
    functions = Lazy("dy2st_runtime.ir.functions")
    native = Lazy("dy2st_runtime.engine.native.executable")
    abi = Lazy("dy2st_runtime.engine.native.machine.abi")
    aligned_arrays = Lazy("dy2st_runtime.engine.native.machine.aligned_arrays")
    llvm = Lazy("dy2st_runtime.engine.native.machine.llvm")
    subprocess_compiler = Lazy("dy2st_runtime.engine.native.machine.subprocess_compiler")

Array = np.ndarray[Any, Any]

_MANY = 1000
"""From so many operators on, which take seconds, a Program is compiled while NumPy runs it.

Smaller ones are worth waiting for: all calls then have the same last bits.
"""

_MOST_WITH_WEIGHTS = 20_000
"""So many operators a Program may have with those of its functions in place of calls, if these take
weights, which then are prepacked; else `_MANY`. With more of them LLVM takes longer than calls."""

_WORTH, _WORTH_AN_OPERATOR, _WORTH_A_HINT = 0.15, 0.0003, 0.05
"""The seconds that calls have taken when code, or a word on where it is, is worth its while.

Compiling takes as long of Python's time, and most of it for the first Program, which loads what
writes code: so who calls a function a few times pays nothing, and who calls it often pays little.
"""


class Background:
    """A Program that NumPy's engine runs until its machine code is there."""

    has_resident_state = False

    def __init__(self, program: Program, worth: float | None = None) -> None:
        """Begin to compile when calls have taken so many seconds; now, if none are given."""
        self.program = program
        self._reference = reference.compile_program(program)
        self._now: native.Executable | reference.Executable = self._reference
        self._worth, self._seconds = worth, 0.0
        self._begun: dict[int, _Begun] = {}  # by process
        self._made: native.Executable | None = None
        self._failure: Exception | None = None
        self._unreported: deque[str] = deque()
        self._is_over = self._is_settled = self._is_measured = False
        self.entry: Callable[..., list[Array] | None] = _no_entry
        if worth is None:
            self._begin()

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
        if self._is_settled:
            return self._now.run(inputs, state, as_is, as_one, bare)
        if self._is_over and not self._is_measured:
            self._settle()
            if self._unreported:
                self._report()
        elif self._worth is None or self._seconds >= self._worth:
            self._begin()
        start = perf_counter()
        results = self._now.run(inputs, state, as_is, as_one, bare)
        self._seconds += perf_counter() - start
        return results

    def check(self, inputs: Sequence[Array]) -> None:
        """As the contract says."""
        self._reference.check(inputs)

    def takes_shapes(self, shapes: Sequence[Sequence[int]]) -> bool:
        """As the contract says."""
        return self._reference.takes_shapes(shapes)

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until all is compiled, or so long; whether machine code runs from now on."""
        if not self._is_over:
            self._begin()
        begun = self._begun.get(os.getpid())
        if begun is not None:
            begun.is_over.wait(seconds)
        if self._made is not None and self._is_over and not self._is_measured:
            self._settle()
        return self._now is not self._reference

    def explain(self, profile: bool = False) -> str:
        """What runs it now; with `profile` as that of machine code, which is waited for."""
        if profile:
            return self._compiled().explain(profile)
        if self._made is not None:
            return self._made.explain()
        return f"{self.status}\n{self._reference.explain()}"

    @property
    def status(self) -> str:
        """What becomes of it, in a line; empty where machine code runs."""
        if self._made is not None:
            return ""
        if self._failure is not None:
            return _refusal(self.program, self._failure)
        if self._is_over:
            return f"NumPy's engine runs it: there is no machine code ({_MISSING})"
        return self.compiling or (
            f"NumPy's engine runs it: its calls have taken {1e3 * self._seconds:.0f} ms, and from "
            f"{1e3 * (self._worth or 0.0):.0f} ms on machine code is compiled"
        )

    @property
    def compiling(self) -> str:
        """That it is being compiled, and for how long; empty if it is not."""
        begun = self._begun.get(os.getpid())
        if begun is None or self._is_over:
            return ""
        return (
            "machine code is being compiled in the background, for "
            f"{perf_counter() - begun.start:.1f} s so far; NumPy's engine runs it until then"
        )

    def profile(self, on: bool = True) -> None:
        """As that of machine code, which is waited for."""
        made = self._compiled()
        made.profile(on)
        self.entry = made.entry or _no_entry

    def measure(self, clock: Clock | None) -> None:
        """What runs it now measures, and goes on to; code that was asked for is waited for."""
        if self._worth is None:
            self.wait()
        self._is_measured = clock is not None
        self._now.measure(clock)

    def spans(self) -> list[Span]:
        """As those of what runs it now."""
        return self._now.spans()

    def _compiled(self) -> native.Executable:
        if self.wait():
            assert self._made is not None
            return self._made
        raise ArgumentError(self.status) from self._failure

    def _begin(self) -> None:
        """Let it be compiled: once, and in a forked child, where no thread is left, once more."""
        process, mine = os.getpid(), _Begun()
        if self._begun.setdefault(process, mine) is not mine:
            return
        if self._worth is None or is_installed():
            _worker(process).put(ref(self))
            return
        if self._seconds >= self._worth:
            _hint(
                f"calls of {self.program.name}() have taken {1e3 * self._seconds:.0f} ms in all; "
                f"machine code may be faster: {_MISSING}"
            )
        self._end()

    def _compile(self) -> None:
        """What the thread does."""
        try:
            with progress.Progress(f"compiling {self.program.name}"):
                if abi.is_known():
                    aligned_arrays.align_arrays()  # loads LLVM
                    made = native.Executable(_few_functions(self.program))
                    made.reference = self._reference
                    self._made = made
        except Exception as error:  # reported by the next call, which NumPy's engine runs
            self._failure = error
            self._unreported.append(_refusal(self.program, error))
        self._end()

    def _end(self) -> None:
        self._is_over = True
        self._begun[os.getpid()].is_over.set()

    def _settle(self) -> None:
        """From now on calls run what was made."""
        if self._made is not None:
            aligned_arrays.align_arrays()
            self._now, self.entry = self._made, self._made.entry or _no_entry
        self._is_settled = True

    def _report(self) -> None:
        """Say once why there is no code."""
        with suppress(IndexError):  # another thread says it
            text = self._unreported.pop()
            if self._worth is not None:
                _hint(text)  # nobody has asked for code, so their call goes on with `-W error` too
            else:
                warnings.warn(text, RuntimeWarning, stacklevel=4)


class _Begun:
    """When a process has begun to compile, and whether that is over."""

    def __init__(self) -> None:
        self.start = perf_counter()
        self.is_over = threading.Event()


def _no_entry(*arrays: Array) -> None:
    """`run` is to be asked."""


_MISSING = "pip install 'dy2st[native]'"


@once
def is_installed() -> bool:
    """Whether there is LLVM, which is not loaded for that."""
    return import_util.find_spec("llvmlite") is not None


def pays(seconds: float) -> bool:
    """Whether what has taken so many seconds is worth to be compiled here."""
    return seconds >= _WORTH and is_installed()


def _hint(text: str) -> None:
    """Say once a process what could be better; who has named the engine NumPy is told nothing."""
    said = _said()
    if not said:
        said.append(text)
        more = "said once; DY2ST_ENGINE=numpy says nothing"
        logging.getLogger("dy2st").warning("dy2st: %s (%s)", text, more)


@once
def _said() -> list[str]:
    """The hints of this process."""
    return []


def _refusal(program: Program, error: Exception) -> str:
    return (
        f"the engine 'native' could not compile {program.name!r}, which NumPy's engine runs: "
        f"{type(error).__name__}: {error}"
    )


class _Worker:
    """Jobs, one after the other, in a thread that is there while there are any."""

    def __init__(self) -> None:
        self._jobs: deque[ref[Background]] = deque()
        self._lock = threading.Lock()
        self._is_at_work = False
        # What LLVM does in this process cannot be left: who ends it takes this for ever.
        self._using_llvm = threading.Lock()
        self._elsewhere: subprocess_compiler.Elsewhere | None = None
        self._process = os.getpid()
        atexit.register(self._end)

    def _end(self) -> None:
        """Wait until LLVM is not at work here, and let nothing begin that cannot be left."""
        if os.getpid() == self._process:  # not in a forked child
            self._using_llvm.acquire()
            if self._elsewhere is not None:
                self._elsewhere.end()

    def put(self, job: ref[Background]) -> None:
        """Add what is to be compiled; it is left out if nobody holds it any more."""
        with self._lock:
            self._jobs.append(job)
            is_first, self._is_at_work = not self._is_at_work, True
        if is_first:
            threading.Thread(target=self._work, name="dy2st compiles", daemon=True).start()

    def _work(self) -> None:
        if self._elsewhere is None:
            self._elsewhere = subprocess_compiler.Elsewhere(self._using_llvm)
        with llvm.compiling_by(self._elsewhere.compile, self._using_llvm):
            while (job := self._next()) is not None:
                held = job()
                if held is not None:
                    held._compile()
                del held

    def _next(self) -> ref[Background] | None:
        with self._lock:
            if self._jobs:
                return self._jobs.popleft()
            self._is_at_work = False
            return None


@once
def _worker(process: int) -> _Worker:
    """The one of a process: a forked child begins anew."""
    return _Worker()


def compile_program(program: Program) -> native.Executable | Background | reference.Executable:
    """Machine code; NumPy's engine for lists among the inputs, and where this build of Python
    lays its objects differently."""
    if _takes_lists(program) or not abi.is_known():
        return reference.compile_program(program)
    llvm.Processor.host()  # says what is missing
    aligned_arrays.align_arrays()
    is_off = os.environ.get("DY2ST_NATIVE_BACKGROUND", "") == "off"
    few = _few_functions(program)
    if not is_off and next(islice(few.walk(), _MANY, None), None) is not None:
        return Background(program)
    with progress.Progress(f"compiling {program.name}"):
        return native.Executable(few)


def compile_when_it_pays(
    program: Program,
) -> Background | native.Executable | reference.Executable:
    """NumPy's engine at first, and machine code when that is worth its while."""
    if _takes_lists(program):
        return reference.compile_program(program)
    if not is_installed():
        return Background(program, _WORTH_A_HINT)
    if os.environ.get("DY2ST_NATIVE_BACKGROUND", "") == "off":
        return compile_program(program)
    operators = sum(1 for _ in program.walk())
    return Background(program, _WORTH + _WORTH_AN_OPERATOR * operators)


def _few_functions(program: Program) -> Program:
    """The Program with operators in place of calls, which then are fused, unless they are many."""
    if not program.functions:
        return program
    weights = set(program.state.values())
    calls = (one for one in program.operators if one.name == functions.CALL)
    takes_weights = any(not weights.isdisjoint(one.operands) for one in calls)
    try:
        return functions.inlined(program, _MOST_WITH_WEIGHTS if takes_weights else _MANY)
    except LimitExceeded:
        return program


def _takes_lists(program: Program) -> bool:
    """Whether lists are among the inputs, for which there is no code."""
    return any(isinstance(variable.type, ArrayType) for variable in program.inputs)


compile_program.takes_functions = True  # type: ignore[attr-defined]
compile_when_it_pays.takes_functions = True  # type: ignore[attr-defined]

__all__ = ["Background", "compile_program", "compile_when_it_pays", "pays"]
