"""What machine code calls to compute a region: arrays in, arrays out.

What oneDNN does not do, or would do otherwise than NumPy, is computed by NumPy's kernels: tensors
without elements, weights that are infinite, and calls in which an activation met NaN.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from operator import is_
from typing import Any

import numpy as np

from dy2st_runtime import lent
from dy2st_runtime.engine.native.convolution import weights
from dy2st_runtime.engine.native.convolution.library import Library, Refused, find
from dy2st_runtime.engine.native.convolution.plan import Buffer, Plan, plan
from dy2st_runtime.engine.native.convolution.recipe import nodes_of
from dy2st_runtime.engine.native.convolution.regions import Region, is_constant
from dy2st_runtime.engine.native.convolution.runner import FAILED, INVALID, OVERFLOW, runner
from dy2st_runtime.engine.native.kernels import kernel_call
from dy2st_runtime.engine.native.threads import counter
from dy2st_runtime.ir.program import Operator, Variable

Array = np.ndarray[Any, Any]

_MOST_PLANS = 16


class RegionCall:
    """A region, ready to be called by several threads at once."""

    def __init__(self, region: Region, program: str, library: Library) -> None:
        """Take the Program's name for what errors say."""
        self._region, self._library = region, library
        self._threads = counter()
        self._constants = {v: _value(v) for v in _constants(region)}
        self._kernels = [kernel_call(one, program, False) for one in region.operators]
        self._nodes = nodes_of(region.operators, region.results)
        # Sizes that are known are so in every call.
        self._free = [n for n, v in enumerate(region.operands) if not _is_known(v)]
        self._plans: dict[tuple[Any, ...], Ready | None] = {}

    def __call__(self, *arrays: Array) -> Any:
        """The results: one array, or a tuple of them."""
        ready = self._ready(arrays)
        results = ready.run(arrays) if ready is not None else None
        if results is None:
            results = self._by_kernels(arrays)
        return results[0] if len(results) == 1 else tuple(results)

    def _ready(self, arrays: Sequence[Array]) -> Ready | None:
        """The plan for arrays of these shapes: one of those that were made, or a new one."""
        threads = self._threads.value if self._library.has_helpers else 1
        key = (threads, *[arrays[n].shape for n in self._free])
        known = self._plans.get(key, self)
        if not isinstance(known, RegionCall):
            return known
        ready = self._prepared(arrays, threads)
        if len(self._plans) >= _MOST_PLANS:
            self._plans.pop(next(iter(self._plans), key), None)
        self._plans[key] = ready
        return ready

    def _prepared(self, arrays: Sequence[Array], threads: int) -> Ready | None:
        """A plan for arrays of these shapes; None if there is none."""
        if any(not array.size for array in arrays):
            return None
        values = {**self._constants, **dict(zip(self._region.operands, arrays, strict=True))}
        shapes = {variable: array.shape for variable, array in values.items()}
        try:
            with _Threads(self._library, threads):
                made = plan(self._library, self._nodes, self._region.results, shapes)
        except Refused:
            return None
        return Ready(made, self._region, self._constants, threads)

    def _by_kernels(self, arrays: Sequence[Array]) -> list[Array]:
        values = {**self._constants, **dict(zip(self._region.operands, arrays, strict=True))}
        for operator, kernel in zip(self._region.operators, self._kernels, strict=True):
            made = kernel(*[values[one] for one in operator.operands])
            values[operator.results[0]] = made[0] if isinstance(made, tuple) else made
        return [values[result] for result in self._region.results]


def _constants(region: Region) -> list[Variable]:
    read = dict.fromkeys(v for operator in region.operators for v in operator.operands)
    return [variable for variable in read if is_constant(variable)]


def _value(variable: Variable) -> Array:
    assert isinstance(variable.maker, Operator)
    array = np.array(variable.maker.attributes["value"], order="C")
    array.flags.writeable = False
    return array


def _is_known(variable: Variable) -> bool:
    return all(isinstance(size, int) for size in variable.tensor_type.shape)


class _Threads:
    """So many threads work, of those that the calling thread has."""

    def __init__(self, library: Library, count: int) -> None:
        self._library, self._count = library, count

    def __enter__(self) -> None:
        self._before = self._library.c.omp_get_max_threads()
        self._library.c.omp_set_num_threads(self._count)

    def __exit__(self, *error: object) -> None:
        self._library.c.omp_set_num_threads(self._before)


def region_call(region: Region, program: str) -> RegionCall:
    """What computes a region, where the library is found."""
    library = find()
    assert library is not None, "regions are only looked for where there is a library"
    return RegionCall(region, program, library)


class Packed:
    """Weights as primitives want them.

    sources    what they were made of.
    is_sound   whether all are finite: the library leaves out what is multiplied by padding.
    """

    def __init__(self, ready: Ready, values: weights.Values, sources: Sequence[Array]) -> None:
        """Make them all."""
        self.sources, self._lent = tuple(sources), int(lent.COUNT)
        self._is_constant = all(map(lent.is_constant, sources))
        self.is_sound, self.arrays = True, []
        for kept in ready.plan.kept:
            made = kept.make(kept.node, values)
            assert made is not None
            plain = np.ascontiguousarray(made, np.float32)
            self.is_sound = self.is_sound and bool(np.isfinite(plain).all())
            self.arrays.append(plain if kept.reorder is None else ready.reordered(kept, plain))

    def is_of(self, sources: Sequence[Array]) -> bool:
        """Whether they are still right."""
        if self._lent != lent.COUNT:
            self._lent = int(lent.COUNT)
            self._is_constant = all(map(lent.is_constant, self.sources))
        return self._is_constant and all(map(is_, self.sources, sources))


class Ready:
    """A plan, its weights, and memory for as many calls as run at the same time."""

    def __init__(
        self, plan: Plan, region: Region, constants: dict[Variable, Array], threads: int
    ) -> None:
        """Nothing is taken before the first call."""
        self.plan, self.threads = plan, threads
        self._constants, self._operands = constants, region.operands
        places = {variable: n for n, variable in enumerate(region.operands)}
        read = dict.fromkeys(v for kept in plan.kept for v in weights.read_by(kept.node))
        self._weights = [v for v in read if v not in constants]
        self._places = [places[variable] for variable in self._weights]
        self._given = [places.get(variable) for variable in plan.given]
        names = [node.operator.name for node in plan.nodes]
        self._seeks_largest = not {"max_pool", "window_max"}.isdisjoint(names)
        makers = [result.maker for result in region.results]
        self._gradients = [
            number
            for number, maker in enumerate(makers)
            if isinstance(maker, Operator) and maker.name == "conv_weight"
        ]
        self._packed: Packed | None = None
        self._spare: list[Memory] = []

    def run(self, arrays: Sequence[Array]) -> list[Array] | None:
        """The results; None if NumPy must say what they are."""
        packed = self._weights_of(arrays)
        if not packed.is_sound:
            return None
        given = [
            self._constants[variable] if place is None else arrays[place]
            for variable, place in zip(self.plan.given, self._given, strict=True)
        ]
        try:
            memory = self._spare.pop()
        except IndexError:
            memory = Memory(self.plan, self.threads)
        made = [np.empty(shape, np.float32) for shape in self.plan.shapes]
        raised = memory.run(packed, given, made)
        self._spare.append(memory)
        return made if self._is_right(raised, given, made) else None

    def _is_right(self, raised: int, given: Sequence[Array], made: Sequence[Array]) -> bool:
        """Whether NumPy's kernels would give the same.

        No NaN was made or met. Where the largest is sought nothing is infinite: the library begins
        with the lowest number. Nor is a gradient of filters: it leaves padding out.
        """
        if raised >= FAILED:
            raise RuntimeError(f"oneDNN has failed: {raised // FAILED}")
        if raised & INVALID:
            return False
        if self._seeks_largest and (raised & OVERFLOW or not _are_finite(given)):
            return False
        return _are_finite(made[number] for number in self._gradients)

    def _weights_of(self, arrays: Sequence[Array]) -> Packed:
        sources = [arrays[place] for place in self._places]
        packed = self._packed
        if packed is None or not packed.is_of(sources):
            values = {**self._constants, **dict(zip(self._weights, sources, strict=True))}
            packed = self._packed = Packed(self, values, sources)
        return packed

    def reordered(self, kept: Any, plain: Array) -> Array:
        """Elements in another layout."""
        library = self.plan.library
        result = aligned(kept.layout.bytes)
        memories = [
            library.memory(kept.plain, plain.ctypes.data),
            library.memory(kept.layout, result.ctypes.data),
        ]
        scratch = kept.reorder.layout(80)
        space = aligned(max(scratch.bytes, 64))
        memories.append(library.memory(scratch, space.ctypes.data))
        arguments = _arguments(zip((1, 17, 80), memories))
        steps = np.array([[kept.reorder.pointer.value, 3, ctypes.addressof(arguments)]], np.int64)
        raised = runner(library)(library.stream, steps.ctypes.data, 1, None, 0, self.threads)
        for memory in memories:
            library.forget(memory)
        if raised >= FAILED:
            raise RuntimeError(f"oneDNN has failed: {raised // FAILED}")
        return result


def _are_finite(arrays: Iterable[Array]) -> bool:
    return all(np.isfinite(array).all() for array in arrays)


def aligned(bytes: int) -> Array:
    """Memory that begins with a line of the cache, and holds no NaN by chance."""
    made = np.zeros(bytes + 64, np.uint8)
    offset = -made.ctypes.data % 64
    return made[offset : offset + bytes]


class _Argument(ctypes.Structure):
    _fields_ = (("number", ctypes.c_int), ("memory", ctypes.c_void_p))


def _arguments(pairs: Any) -> Any:
    listed = [_Argument(number, memory) for number, memory in pairs]
    return (_Argument * len(listed))(*listed)


class Memory:
    """The memory of one call at a time, and the library's words for it."""

    def __init__(self, plan: Plan, threads: int) -> None:
        """Take it."""
        self._plan, self._threads = plan, threads
        self._arena = aligned(plan.bytes)
        start = self._arena.ctypes.data
        library = plan.library
        self._memories = {
            id(buffer): library.memory(buffer.layout, start + buffer.offset)
            for buffer in plan.buffers
        }
        self._lists = [
            _arguments((n, self._memories[id(b)]) for n, b in step.arguments.items())
            for step in plan.steps
        ]
        self._steps = np.array(
            [
                [step.primitive.pointer.value, len(list), ctypes.addressof(list)]
                for step, list in zip(plan.steps, self._lists, strict=True)
            ],
            np.int64,
        )
        self._outer = [b for b in plan.buffers if b.given is not None or b.made is not None]
        self._kept = [b for b in plan.buffers if b.kept is not None]
        self._packed: Packed | None = None
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

    def run(self, packed: Packed, given: Sequence[Array], made: Sequence[Array]) -> int:
        """Do all steps; the flags that were raised."""
        if packed is not self._packed:
            self._take(packed)
        for number, buffer in enumerate(self._outer):
            self._arrays[number, 1] = _outer(buffer, given, made).ctypes.data
        return int(self._run(*self._about))

    def _take(self, packed: Packed) -> None:
        set_handle = self._plan.library.c.dnnl_memory_set_data_handle
        for buffer in self._kept:
            assert buffer.kept is not None
            address = packed.arrays[buffer.kept].ctypes.data
            set_handle(self._memories[id(buffer)], ctypes.c_void_p(address))
        self._packed = packed

    def __del__(self) -> None:
        for memory in self._memories.values():
            self._plan.library.forget(memory)


def _outer(buffer: Buffer, given: Sequence[Array], made: Sequence[Array]) -> Array:
    if buffer.given is not None:
        return given[buffer.given]
    assert buffer.made is not None
    return made[buffer.made]


__all__ = ["RegionCall", "region_call"]
