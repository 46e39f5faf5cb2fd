"""Computes how a view lies in the memory of its base: can it be reshaped without a copy?

A tensor whose elements do not lie one after the other, as a transposed one, is reshaped into a
copy. What is no view lies row by row, and so do whole rows of it, in any shape. Behind these, sizes
that are not known are tried: where two answers differ, it is known only at run time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from dy2st_runtime.dims import Dim, evaluate, symbols
from dy2st_runtime.ir.aliasing import view_of
from dy2st_runtime.ir.definition import View, lookup
from dy2st_runtime.ir.program import Operator
from dy2st_runtime.ir.types import TensorType

Array = np.ndarray[Any, Any]
Step = tuple[Operator, int]
_TRIED = (48, 96)  # many sizes divide them


class Copied(Exception):
    """A step copies the elements."""


def is_copy(base: TensorType, steps: Sequence[Step]) -> bool | None:
    """Whether the last of the operators between a base and its view copies; None if unknown."""
    return _asked(base, steps, lambda array: False)


def lies_in_rows(base: TensorType, steps: Sequence[Step]) -> bool | None:
    """Whether the elements of a view lie one after the other; None if only a run knows."""
    return _asked(base, steps, lambda array: bool(array.flags.c_contiguous))


def _asked(
    base: TensorType, steps: Sequence[Step], question: Callable[[Array], bool]
) -> bool | None:
    # From the last tensor on of which it is plain that it lies row by row.
    in_rows = 0
    for operator, place in steps:
        if view_of(operator) not in (View.SAME, View.ROWS):
            break
        base, in_rows = operator.results[place].tensor_type, in_rows + 1
    steps = steps[in_rows:]
    unknown = {one for size in base.shape for one in symbols(size)}
    for operator, _ in steps:
        unknown.update(*(symbols(_flat(value)) for value in operator.attributes.values()))
    answers = set()
    for first in _TRIED if unknown else _TRIED[:1]:
        names = sorted(unknown, key=str)
        values = {one: first * (place + 1) for place, one in enumerate(names)}
        try:
            # An array that lies as the view does; there is nothing in it, and nobody may look.
            shape = _known(tuple(base.shape), values)
            array = as_strided(np.empty(1, np.int8), shape, _rows(shape), writeable=False)
            for operator, place in steps:
                array = _moved(array, operator, place, values)
            answers.add(question(array))
        except Copied:
            answers.add(True)
        except (ValueError, IndexError, ArithmeticError):  # the sizes do not fit together
            return None
    return answers.pop() if len(answers) == 1 else None


def _flat(value: Any) -> tuple[Any, ...]:
    """The sizes in an attribute."""
    if isinstance(value, (tuple, list)):
        return tuple(part for entry in value for part in _flat(entry))
    return (value,) if isinstance(value, Dim) else ()


def _known(value: Any, values: Mapping[Dim, int]) -> Any:
    if isinstance(value, (tuple, list)):
        return type(value)(_known(entry, values) for entry in value)
    return evaluate(value, values) if isinstance(value, Dim) else value


def _moved(array: Array, operator: Operator, place: int, values: Mapping[Dim, int]) -> Array:
    definition = lookup(operator.name)
    attributes = {name: _known(value, values) for name, value in operator.attributes.items()}
    if definition.view is None:  # places that tensors name: of one element any will do
        if any(operand.tensor_type.rank for operand in operator.operands[1:]):
            raise ValueError(f"{operator.name} copies")
        axes = attributes.get("axes", ())
        places = [0 if axis in axes else slice(None) for axis in range(array.ndim)]
        return array[(*places, ...)]  # without the dots NumPy reads one element
    if definition.view is View.UNSURE:
        raise ValueError(f"{operator.name} may copy")
    if definition.view is not View.SAME:
        assert definition.kernel is not None
        found = definition.kernel(array, **attributes)
        made: Array = found[place] if isinstance(found, tuple) else found
        return made
    shape: Any = attributes.get("shape", array.shape)
    if math.prod(shape) != array.size:
        raise ValueError(f"{operator.name}: the sizes that are tried do not fit")
    strides = _reshaped(array.shape, array.strides, shape)
    if strides is None:
        raise Copied
    return as_strided(array, shape, strides, writeable=False)


def _rows(shape: Iterable[int]) -> tuple[int, ...]:
    """The strides of elements of one byte, row by row."""
    strides: list[int] = []
    step = 1
    for size in reversed([*shape]):
        strides.insert(0, step)
        step *= max(size, 1)
    return tuple(strides)


def _reshaped(
    shape: Sequence[int], strides: Sequence[int], wanted: Sequence[int]
) -> Sequence[int] | None:
    """The strides of the same memory in another shape; None if it has to be copied."""
    if 0 in shape:
        return _rows(wanted)
    runs: list[tuple[int, int]] = []  # elements that are one step apart
    for size, step in zip(shape, strides, strict=True):
        if runs and runs[-1][1] == size * step:
            runs[-1] = runs[-1][0] * size, step
        elif size != 1:
            runs.append((size, step))
    made: list[int] = []
    for size in reversed(wanted):
        count, step = runs.pop() if runs and size != 1 else (size, 1)
        if count % size:
            return None
        made.insert(0, step)
        if count > size:
            runs.append((count // size, step * size))
    return made
