"""Holds the memory of a plan, and runs it: one call at a time has it."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from typing import Any
from weakref import ref

import numpy as np

from dy2st_runtime.engine.native.convolution.library import (
    RESULT,
    SCRATCH,
    SOURCE,
    Library,
    Primitive,
)
from dy2st_runtime.engine.native.convolution.plan import Buffer, Own, Plan, Step
from dy2st_runtime.engine.native.convolution.runner import FAILED, runner
from dy2st_runtime.engine.native.text.squares import LINE

Array = np.ndarray[Any, Any]


class Weights:
    """Filters and biases as the primitives of a plan want them.

    is_finite   if not, they are not used: the library leaves out what padding is multiplied by.
    """

    def __init__(self, arrays: Sequence[Array], is_finite: bool) -> None:
        """Hold them while they are read."""
        self.arrays, self.is_finite = arrays, is_finite


class Memory:
    """The memory of one call at a time, and the library's words for it."""

    def __init__(self, plan: Plan, threads: int) -> None:
        """Take it."""
        self._plan, self._threads = plan, threads
        self._arena = aligned(plan.bytes)
        start = self._arena.ctypes.data
        library = plan.library
        # Objects of the library are made once: a call only sets addresses in them.
        self._memories = {
            id(buffer): library.memory(buffer.layout, start + buffer.offset)
            for buffer in plan.buffers
        }
        self._lists = [self._list(step) for step in plan.steps]
        self._steps = np.array(
            [
                [*_called(step.primitive, len(list), library), ctypes.addressof(list)]
                for step, list in zip(plan.steps, self._lists, strict=True)
            ],
            np.int64,
        )
        self._outer = [b for b in plan.buffers if b.given is not None or b.made is not None]
        self._kept = [b for b in plan.buffers if b.kept is not None]
        self._weights: Any = lambda: None
        self._run = runner(library)
        self._arrays = np.array([[self._memories[id(b)].value, 0] for b in self._outer], np.int64)
        self._about = (
            library.stream,
            self._steps.ctypes.data,
            len(plan.steps),
            self._arrays.ctypes.data,
            len(self._outer),
            threads,
        )

    def _list(self, step: Step) -> Any:
        memories = {n: self._memories[id(b)] for n, b in step.arguments.items()}
        if isinstance(step.primitive, Primitive):
            return _arguments(memories.items())
        return step.primitive.bind_arguments(memories)

    def run(self, weights: Weights, given: Sequence[Array], made: Sequence[Array]) -> int:
        """Do all steps; the flags that were raised."""
        # The addresses of kept weights change only when other arrays have come.
        if weights is not self._weights():
            set_handle = self._plan.library.c.dnnl_memory_set_data_handle
            for buffer in self._kept:
                assert buffer.kept is not None
                address = weights.arrays[buffer.kept].ctypes.data
                set_handle(self._memories[id(buffer)], ctypes.c_void_p(address))
            self._weights = ref(weights)  # they may go, if others come before the next call
        for number, buffer in enumerate(self._outer):
            self._arrays[number, 1] = _outer(buffer, given, made).ctypes.data
        return checked(self._run(*self._about))

    def __del__(self) -> None:
        for memory in self._memories.values():
            self._plan.library.forget(memory)


def _called(primitive: Primitive | Own, number: int, library: Library) -> tuple[int, int]:
    """What the runner knows it by: a primitive with so many arguments, or a function."""
    if isinstance(primitive, Primitive):
        return primitive.pointer.value or 0, number
    return 0, primitive.address(library)


def _outer(buffer: Buffer, given: Sequence[Array], made: Sequence[Array]) -> Array:
    if buffer.given is not None:
        return given[buffer.given]
    assert buffer.made is not None
    return made[buffer.made]


def reordered(library: Library, primitive: Primitive, source: Array, threads: int) -> Array:
    """Elements in another layout."""
    layouts = {number: primitive.layout(number) for number in (SOURCE, RESULT, SCRATCH)}
    result, scratch = (aligned(layouts[number].bytes) for number in (RESULT, SCRATCH))
    places = {SOURCE: source, RESULT: result, SCRATCH: scratch}
    memories = {n: library.memory(layouts[n], places[n].ctypes.data) for n in places}
    arguments = _arguments(memories.items())
    steps = np.array([[primitive.pointer.value, 3, ctypes.addressof(arguments)]], np.int64)
    raised = runner(library)(library.stream, steps.ctypes.data, 1, None, 0, threads)
    for memory in memories.values():
        library.forget(memory)
    checked(raised)
    return result


def checked(raised: int) -> int:
    """The flags that a run has raised, if it has not failed."""
    if raised >= FAILED:
        raise RuntimeError(f"oneDNN has failed: status {raised // FAILED}")
    return raised


def aligned(bytes: int) -> Array:
    """Memory that begins with a line of the cache, and holds no NaN by chance.

    Nor does what is behind it: the library reads whole vectors, whatever it needs of them.
    """
    made = np.zeros(bytes + 2 * LINE, np.uint8)
    offset = -made.ctypes.data % LINE
    return made[offset : offset + bytes]


class _Argument(ctypes.Structure):
    _fields_ = (("number", ctypes.c_int), ("memory", ctypes.c_void_p))


def _arguments(pairs: Iterable[tuple[int, ctypes.c_void_p]]) -> Any:
    listed = [_Argument(number, memory) for number, memory in pairs]
    return (_Argument * len(listed))(*listed)


__all__ = ["Memory", "Weights", "reordered"]
