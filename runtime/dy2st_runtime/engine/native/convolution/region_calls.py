"""Computes a region when machine code calls: arrays in, arrays out.

What oneDNN does not do, or would do otherwise than NumPy, is computed by NumPy's kernels: tensors
without elements, weights that are infinite, and calls in which an activation met NaN.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from dy2st_runtime.dims import Dim, evaluate, is_symbol, symbols
from dy2st_runtime.engine.native.convolution import weights
from dy2st_runtime.engine.native.convolution.channels import kernel_of
from dy2st_runtime.engine.native.convolution.library import Library, Refused, find
from dy2st_runtime.engine.native.convolution.memory import Memory
from dy2st_runtime.engine.native.convolution.packing import Packing
from dy2st_runtime.engine.native.convolution.plan import Plan
from dy2st_runtime.engine.native.convolution.primitives import plan
from dy2st_runtime.engine.native.convolution.recipe import nodes_of
from dy2st_runtime.engine.native.convolution.regions import Region, is_constant
from dy2st_runtime.engine.native.convolution.runner import INVALID, OVERFLOW
from dy2st_runtime.engine.native.convolution.transposed_sizes import enlarging_kernel
from dy2st_runtime.engine.native.machine.kernels import kernel_call
from dy2st_runtime.engine.native.machine.threads import counter, quiet
from dy2st_runtime.ir.program import Operator, Variable

Array = np.ndarray[Any, Any]

_MOST_PLANS, _MOST_SEEN = 16, 256


class RegionCall:
    """A region, ready to be called by several threads at once."""

    def __init__(self, region: Region, program: str, library: Library) -> None:
        """Take the Program's name for what errors say."""
        self._region, self._library = region, library
        self._threads, self._quiet = counter(), quiet()
        self._constants = {v: _value(v) for v in _constants(region)}
        self._kernels = [
            kernel_of(one) or enlarging_kernel(one, program) or kernel_call(one, program, False)
            for one in region.operators
        ]
        self._last_read = _last_read(region)
        self._nodes = nodes_of(region.operators, region.results)
        # Sizes that are known are so in every call.
        shapes = [variable.tensor_type.shape for variable in region.operands]
        self._free = [
            n for n, shape in enumerate(shapes) if not all(isinstance(size, int) for size in shape)
        ]
        self._plans: dict[tuple[Any, ...], Ready | None] = {}
        self._seen: dict[tuple[Any, ...], None] = {}
        read = {region.views.get(v, v) for node in self._nodes for v in weights.read_by(node)}
        self._weights = [n for n, v in enumerate(region.operands) if v in read]
        self._packing: Packing | None = None

    def __call__(self, *arrays: Array) -> Any:
        """The results: one array, or a tuple of them."""
        ready = self._ready(arrays)
        if ready is not None and ready.threads > 1:
            self._quiet.value = 1  # the cores are for the library's threads
        results = ready.run(arrays, self._packed(arrays)) if ready is not None else None
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
        # A plan pays at once, or when sizes have come before.
        operands = zip(self._region.operands, arrays, strict=True)
        shapes = {variable: array.shape for variable, array in operands}
        if self._free and key not in self._seen and not is_much(self._region, shapes):
            if len(self._seen) >= _MOST_SEEN:
                self._seen.pop(next(iter(self._seen), key), None)
            self._seen[key] = None
            return None
        ready = self._prepared(arrays, threads)
        if len(self._plans) >= _MOST_PLANS:
            self._plans.pop(next(iter(self._plans), key), None)
        self._plans[key] = ready
        return ready

    def _packed(self, arrays: Sequence[Array]) -> Packing:
        """What is made of the weights among these arrays."""
        sources, packing = [arrays[place] for place in self._weights], self._packing
        if packing is None or not packing.is_of(sources):
            packing = self._packing = Packing(sources, self._values(sources, self._weights))
        return packing

    def _prepared(self, arrays: Sequence[Array], threads: int) -> Ready | None:
        """A plan for arrays of these shapes; None if there is none."""
        if any(not array.size for array in arrays):
            return None
        values = self._values(arrays)
        shapes = {variable: array.shape for variable, array in values.items()}
        try:
            with _Threads(self._library, threads):
                made = plan(self._library, self._nodes, self._region.results, shapes)
        except Refused:
            return None
        return Ready(made, self._region, self._constants, threads)

    def _values(
        self, arrays: Sequence[Array], places: Sequence[int] | None = None
    ) -> dict[Variable, Array]:
        """What the region reads: constants, operands, all or those at some places, and views."""
        operands = self._region.operands
        named = operands if places is None else [operands[place] for place in places]
        values = {**self._constants, **dict(zip(named, arrays, strict=True))}
        for view, vector in self._region.views.items():
            if vector in values:
                values[view] = values[vector].reshape(view.tensor_type.shape)
        return values

    def _by_kernels(self, arrays: Sequence[Array]) -> list[Array]:
        values = self._values(arrays)
        steps = zip(self._region.operators, self._kernels, self._last_read, strict=True)
        for operator, kernel, last_read in steps:
            made = kernel(*[values[one] for one in operator.operands])
            made = made if len(operator.results) > 1 else (made,)
            values.update(zip(operator.results, made, strict=True))
            for variable in last_read:
                del values[variable]
        return [values[result] for result in self._region.results]


def _last_read(region: Region) -> list[list[Variable]]:
    """For each operator the values of the region that nobody reads after it."""
    last = {v: number for number, one in enumerate(region.operators) for v in one.operands}
    kept, found = set(region.results), list[list[Variable]]([] for _ in region.operators)
    for result in (result for operator in region.operators for result in operator.results):
        if result in last and result not in kept:
            found[last[result]].append(result)
    return found


def _constants(region: Region) -> list[Variable]:
    read = dict.fromkeys(v for operator in region.operators for v in operator.operands)
    return [variable for variable in read if is_constant(variable)]


def _value(variable: Variable) -> Array:
    assert isinstance(variable.maker, Operator)
    array = np.array(variable.maker.attributes["value"], order="C")
    array.flags.writeable = False
    return array


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


class Ready:
    """A plan, and memory for as many calls as run at the same time."""

    def __init__(
        self, plan: Plan, region: Region, constants: dict[Variable, Array], threads: int
    ) -> None:
        """Nothing is taken before the first call."""
        self.plan, self.threads = plan, threads
        self._constants = constants
        places = {variable: n for n, variable in enumerate(region.operands)}
        places |= {view: places[vector] for view, vector in region.views.items()}  # as they lie
        self._given = [places.get(variable) for variable in plan.given]
        names = [node.operator.name for node in plan.nodes]
        self._seeks_largest = not {"max_pool", "window_max"}.isdisjoint(names)
        makers = [result.maker for result in region.results]
        self._gradients = [
            number
            for number, maker in enumerate(makers)
            if isinstance(maker, Operator) and maker.name == "conv_weight"
        ]
        self._spare: list[Memory] = []

    def run(self, arrays: Sequence[Array], packing: Packing) -> list[Array] | None:
        """The results; None if NumPy must say what they are."""
        packed = packing.weights(self.plan, self.threads)
        if not packed.is_finite:
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
        # NumPy's kernels would give the same if no NaN was made or met. Where the largest is sought
        # nothing may be infinite: the library begins with the lowest number. Nor may a gradient of
        # filters: it leaves padding out.
        if raised & INVALID:
            return None
        if self._seeks_largest and (raised & OVERFLOW or not _are_finite(given)):
            return None
        is_right = _are_finite(made[number] for number in self._gradients)
        return made if is_right else None


def _are_finite(arrays: Iterable[Array]) -> bool:
    return all(np.isfinite(array).all() for array in arrays)


_FEW = 20_000_000
"""So many products take NumPy as much longer than oneDNN as a primitive takes to be made."""


def is_much(region: Region, shapes: Mapping[Variable, Sequence[int]]) -> bool:
    """Whether a plan for operands of these shapes pays for the first call."""
    sizes: dict[Dim, int] = {}
    for variable, shape in shapes.items():
        pairs = zip(variable.tensor_type.shape, shape, strict=True)
        sizes.update((own, size) for own, size in pairs if isinstance(own, Dim) and is_symbol(own))
    convolutions = [one for one in region.operators if one.name.startswith("conv")]
    total = math.fsum(_products(one, sizes) for one in convolutions)
    return total >= _FEW * len(convolutions)


def _products(operator: Operator, sizes: Mapping[Dim, int]) -> float:
    """How many numbers are multiplied; infinitely many where sizes are unknown."""
    read, weights = (operand.tensor_type.shape for operand in operator.operands[:2])
    made = operator.results[0].tensor_type.shape
    # Of each pair of elements one is at a place, the other in a filter.
    places, filters = (weights, made) if operator.name == "conv_weight" else (made, weights)
    if operator.name == "conv_transpose":
        places = read
    counted = (*places, *filters[1:])
    if any(symbol not in sizes for symbol in symbols(counted)):
        return math.inf
    return float(math.prod([int(evaluate(size, sizes)) for size in counted]))


__all__ = ["RegionCall", "is_much", "region_call"]
