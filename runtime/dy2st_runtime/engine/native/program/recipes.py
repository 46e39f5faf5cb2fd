"""Finds what is made of parameters alone: panels of the sides of products, and their recipes.

The right side of a product may be a parameter, or be computed of parameters and constants by
operators that leave no trace of having run: a weight that is kept in small integers, say.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

import numpy as np

from dy2st_runtime.dims import product
from dy2st_runtime.engine.native.machine.kernels import kernel_call
from dy2st_runtime.engine.native.machine.llvm import Processor
from dy2st_runtime.engine.native.matmul.product import linked
from dy2st_runtime.engine.native.matmul.sweeps import is_swept
from dy2st_runtime.engine.native.nests.sides import is_product, is_single, sides
from dy2st_runtime.engine.native.program.planner import Planned, Step
from dy2st_runtime.engine.native.text.lanes import DType
from dy2st_runtime.ir.definition import lookup
from dy2st_runtime.ir.failures import is_dispensable, may_fail
from dy2st_runtime.ir.program import Operator, Program, Variable
from dy2st_runtime.ir.sizes import formulas
from dy2st_runtime.ir.types import TensorType

Array = np.ndarray[Any, Any]
Root = Callable[[Variable], Variable]

_LEAST = 1 << 10
"""Matrices of fewer elements are read as they are."""

_GROWTH = 4
"""How many times the bytes of its parameters a matrix may have: as of int8 and float32."""

_MOST_OPERATORS = 100

_LINE = 64


class _Made(NamedTuple):
    """Values, and what they are computed of."""

    results: Sequence[Variable]
    operands: Sequence[Variable]
    compute: Callable[..., Any]


@dataclass(frozen=True, eq=False)
class Recipe:
    """Panels of a matrix.

    sources   the parameters that it is computed of, and which arguments of a call they are.
    made      all that is computed, in order; the last value is the matrix.
    sizes     its columns and rows, and the strides along a column and along a row.
    """

    sources: dict[Variable, int]
    made: list[_Made]
    dtype: DType
    sizes: tuple[int, int, int, int]

    def make(self, arrays: Iterable[Array]) -> Array:
        """The panels for arrays of the parameters, from the start of a cache line on."""
        known: dict[Variable, Any] = dict(zip(self.sources, arrays, strict=True))
        # The code of the Program raises no floating-point warnings either.
        with np.errstate(all="ignore"):
            for results, operands, compute in self.made:
                found = compute(*[known[operand] for operand in operands])
                known.update(zip(results, found if len(results) > 1 else [found], strict=True))
        (matrix,) = [known[variable] for variable in self.made[-1].results]
        matrix = np.ascontiguousarray(matrix, self.dtype)
        columns, rows, *_ = self.sizes
        bytes = _function(self.dtype, "packed_bytes", [], 2)(columns, rows)
        room = np.empty(bytes + _LINE, np.uint8)
        start = -room.ctypes.data % _LINE
        panels = room[start : start + bytes]
        pack = _function(self.dtype, "pack", [ctypes.c_void_p] * 2, 4)
        pack(panels.ctypes.data, matrix.ctypes.data, *self.sizes)
        return panels


def _function(dtype: DType, stem: str, pointers: list[Any], sizes: int) -> Callable[..., Any]:
    """A function of the products of a dtype."""
    suffix = f"f{8 * dtype.itemsize}"
    address = linked(Processor.host(), suffix).addresses[f"{stem}_{suffix}"]
    result = None if pointers else ctypes.c_int64
    return ctypes.CFUNCTYPE(result, *pointers, *[ctypes.c_int64] * sizes)(address)


class Recipes:
    """The recipes of a Program, and whom they serve."""

    def __init__(self, program: Program, root: Root) -> None:
        """`root` says whose memory a value is."""
        numbers = {variable: n for n, variable in enumerate(program.block.parameters)}
        # A buffer that each call updates would have to be packed anew each time.
        own = [variable for name, variable in program.state.items() if name not in program.updates]
        self._numbers, self._root = {variable: numbers[variable] for variable in own}, root
        self._known: dict[tuple[Any, ...], Recipe | None] = {}

    def all(self, planned: Planned) -> list[Recipe]:
        """All that is to be kept, each once."""
        operators = [step.operator for step in planned.all() if step.operator is not None]
        found = [self.of(operator) for operator in operators]
        return list(dict.fromkeys(recipe for recipe in found if recipe is not None))

    def of(self, operator: Operator) -> Recipe | None:
        """What a product would have kept: its right side, if it depends on parameters alone."""
        if not is_product(operator):
            return None
        left, right = sides(operator)
        if len(right.variable.tensor_type.shape) != 2:
            return None
        sizes = [right.shape[1], right.shape[0], right.row, right.column]
        known = [size for size in sizes if isinstance(size, int)]
        # A product with one column packs nothing, and small matrices are packed in no time.
        if len(known) < len(sizes) or known[0] == 1 or known[0] * known[1] < _LEAST:
            return None
        # Whether a product reads a parameter as it is, since its rows are so few.
        rows = product(left.shape[:-1]) if is_single(operator) else left.shape[-2]
        is_read = right.column == 1 and self._root(right.variable) in self._numbers
        if is_read and is_swept(rows, right.shape[-1], right.variable.dtype):
            return None
        # Of one parameter under several names there are one panels.
        root = self._root(right.variable)
        key = (root if root in self._numbers else right.variable, *known)
        if key not in self._known:
            four = (known[0], known[1], known[2], known[3])
            matrix, expression = right.variable, _Expression(self._numbers, self._root)
            # A small parameter repeated to a large matrix would fill memory for little work.
            if not expression.add(matrix) or _bytes(matrix) > _GROWTH * expression.bytes:
                self._known[key] = None
            else:
                if not expression.made:
                    expression.made.append(_Made([matrix], [matrix], lambda array: array))
                self._known[key] = Recipe(expression.sources, expression.made, matrix.dtype, four)
        return self._known[key]

    def spared(self, planned: Planned) -> set[Step]:
        """The steps that compute nothing but what is kept: all of it there, they need not run."""
        steps = list(planned.all())
        inner = [one for step in steps for one in step.inner]
        needed = {variable for one in (planned, *inner) for variable in one.block.yields}
        made = [one for recipe in self.all(planned) for one in recipe.made]
        served = {variable for one in made for variable in one.results}
        found = set()
        # From the last one on: what only a spared step reads is spared, too.
        for step in reversed(steps):
            is_served = served.issuperset(step.results) and needed.isdisjoint(step.results)
            if is_served and _is_silent(step):
                found.add(step)
            else:
                operator = step.operator
                if operator is None or self.of(operator) is None:
                    read_by = step.reads
                else:
                    left, right = sides(operator)
                    others = [variable for variable in step.reads if variable is not right.variable]
                    read_by = [left.variable, *others]
                needed.update(read_by)
        return found


def _is_silent(step: Step) -> bool:
    """Whether a step may be left out whose results nobody reads."""
    if step.nest is not None:
        return not step.nest.has_checks
    operator = step.operator
    return operator is not None and not step.inner and is_dispensable(operator)


class _Expression:
    """What a value is computed of, as far back as the parameters."""

    def __init__(self, numbers: dict[Variable, int], root: Root) -> None:
        self._numbers, self._root = numbers, root
        self.sources: dict[Variable, int] = {}
        self.made: list[_Made] = []
        self.bytes = 0
        self._known: set[Variable] = set()

    def add(self, variable: Variable) -> bool:
        """Enter all that a value needs; False if it is more than parameters and constants."""
        if variable in self._known:
            return True
        if variable in self._numbers:
            self.sources[variable] = self._numbers[variable]
            self._known.add(variable)
            self.bytes += _bytes(variable)
            return True
        maker, type = variable.maker, variable.type
        if not isinstance(type, TensorType) or not all(isinstance(n, int) for n in type.shape):
            return False
        if len(self.made) > _MOST_OPERATORS:
            return False
        made = self._computed(maker) if isinstance(maker, Operator) else self._given(variable)
        if made is None or not all(self.add(operand) for operand in made.operands):
            return False
        self.made.append(made)
        self._known.update(made.results)
        if isinstance(maker, Operator) and maker.name == "constant":
            self.bytes += _bytes(variable)
        return True

    def _given(self, variable: Variable) -> _Made | None:
        """A parameter of a Block inside: what it was given, which may have another shape."""
        root, shape = self._root(variable), variable.tensor_type.shape
        if root is variable or not isinstance(root.type, TensorType):
            return None
        return _Made([variable], [root], lambda array: array.reshape(shape))

    def _computed(self, operator: Operator) -> _Made | None:
        """What an operator computes, unless it may fail, or be seen to have run."""
        values = operator.attributes.values()
        if operator.blocks or lookup(operator.name).kernel is None or next(formulas(values), None):
            return None
        if not is_dispensable(operator) or may_fail(operator):
            return None
        return _Made(operator.results, operator.operands, kernel_call(operator, "", False))


def _bytes(variable: Variable) -> int:
    type = variable.tensor_type
    return prod(map(int, type.shape)) * type.dtype.itemsize


__all__ = ["Recipe", "Recipes"]
