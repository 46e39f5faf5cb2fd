"""What is made of parameters alone, once for each array: the panels of weights.

The arrays of tensors do not change: a tensor of new numbers has a new array. So what was made of an
array is right for as long as that very array comes again, and code compares no more than addresses.
It is made when an array comes the second time, so a step of training, after which all arrays are
new, makes nothing.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from weakref import ref

import numpy as np

from dy2st_runtime import lent
from dy2st_runtime.engine.native.lanes import DType
from dy2st_runtime.engine.native.llvm import Processor
from dy2st_runtime.engine.native.planned import Planned, Step
from dy2st_runtime.engine.native.product import linked
from dy2st_runtime.engine.native.sides import is_product, sides
from dy2st_runtime.ir.program import Operator, Program, Variable

Array = np.ndarray[Any, Any]

_LEAST = 1 << 10
"""Matrices of fewer elements are read as they are."""

_LINE = 64


@dataclass(frozen=True)
class Recipe:
    """Panels of a matrix.

    source   which argument of the call it is.
    sizes    its columns and rows, and the strides along a column and along a row.
    """

    source: int
    dtype: DType
    sizes: tuple[int, int, int, int]

    def make(self, array: Array) -> Array:
        """The panels of an array, from the start of a cache line on."""
        columns, rows, *_ = self.sizes
        bytes = _function(self.dtype, "packed_bytes", [], 2)(columns, rows)
        room = np.empty(bytes + _LINE, np.uint8)
        start = -room.ctypes.data % _LINE
        panels = room[start : start + bytes]
        pack = _function(self.dtype, "pack", [ctypes.c_void_p] * 2, 4)
        pack(panels.ctypes.data, array.ctypes.data, *self.sizes)
        return panels


def _function(dtype: DType, stem: str, pointers: list[Any], sizes: int) -> Callable[..., Any]:
    """A function of the products of a dtype."""
    suffix = f"f{8 * dtype.itemsize}"
    address = linked(Processor.host(), suffix).addresses[f"{stem}_{suffix}"]
    result = None if pointers else ctypes.c_int64
    return ctypes.CFUNCTYPE(result, *pointers, *[ctypes.c_int64] * sizes)(address)


# -- which ones ------------------------------------------------------------------------------------


Root = Callable[[Variable], Variable]


def constants(program: Program) -> dict[Variable, int]:
    """The parameters and buffers that a Program does not change, with their numbers."""
    own = [variable for name, variable in program.state.items() if name not in program.updates]
    numbers = {variable: number for number, variable in enumerate(program.block.parameters)}
    return {variable: numbers[variable] for variable in own}


def recipes(planned: Planned, numbers: dict[Variable, int], root: Root) -> list[Recipe]:
    """All that is to be kept for a Program, each once."""
    operators = [step.operator for step in _all_steps(planned) if step.operator is not None]
    found = [recipe_of(operator, numbers, root) for operator in operators]
    return list(dict.fromkeys(recipe for recipe in found if recipe is not None))


def recipe_of(operator: Operator, numbers: dict[Variable, int], root: Root) -> Recipe | None:
    """What a product would have kept: its right side, if that is a parameter."""
    if not is_product(operator):
        return None
    _, right = sides(operator)
    source = numbers.get(root(right.variable))
    if source is None or len(right.variable.tensor_type.shape) != 2:
        return None
    sizes = [right.shape[1], right.shape[0], right.row, right.column]
    known = [size for size in sizes if isinstance(size, int)]
    if len(known) < len(sizes) or known[0] == 1 or known[0] * known[1] < _LEAST:
        return None
    return Recipe(source, right.variable.dtype, (known[0], known[1], known[2], known[3]))


def _all_steps(planned: Planned) -> Iterator[Step]:
    for step in planned.steps:
        yield step
        for inner in step.inner:
            yield from _all_steps(inner)


# -- when a Program runs ---------------------------------------------------------------------------


class Keeper:
    """Keeps what is made for a Program, for all threads that call it.

    cell   of one tuple, never changed: how often memory had been lent, then of each recipe the
           array and what was made of it; where there is nothing yet, of an array that is no one's.
    """

    def __init__(self, recipes: Iterable[Recipe]) -> None:
        """Nothing is kept at first."""
        self._slots = [_Slot(recipe) for recipe in recipes]
        self.cell: list[tuple[Array, ...]] = []
        self.cell.append(self._all(-1))

    def __call__(self, *arrays: Array) -> None:
        """Other arrays than those whose results are kept, one a recipe: see what is to be made."""
        count = int(lent.COUNT)
        for slot, array in zip(self._slots, arrays, strict=True):
            slot.see(array)
        self.cell[0] = self._all(count)

    def _all(self, count: int) -> tuple[Array, ...]:
        entries = [entry for slot in self._slots for entry in slot.kept]
        return (np.array(count, np.int64), *entries)


class _Slot:
    """What is kept of a recipe, and the array that came last, held weakly."""

    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe
        nothing = np.empty(0, np.uint8)
        self.kept = self._nothing = (nothing, nothing)
        self._last = self._former = ref(nothing)
        self._times, self._wanted = 0, 2

    def see(self, array: Array) -> None:
        """Note that an array has come; the second time its result is made, and kept."""
        if not lent.is_constant(array):
            self.kept = self._nothing
        elif self.kept[0] is not array:
            self._count(array)
            if self._times >= self._wanted:
                self._keep(array)

    def _count(self, array: Array) -> None:
        """How often it has come in turn. After a third one, what is kept will hardly come again."""
        if self._last() is not array:
            if self._times:
                self.kept = self._nothing
            self._last, self._times = ref(array), 0
        self._times += 1

    def _keep(self, array: Array) -> None:
        """Keep its result instead of the other one; less readily if they come by turns."""
        if self._former() is array:
            self._wanted *= 2
        if self.kept is not self._nothing:
            self._former = ref(self.kept[0])
        self._times = 0
        self.kept = array, self._recipe.make(array)


__all__ = ["Keeper", "Recipe", "constants", "recipe_of", "recipes"]
