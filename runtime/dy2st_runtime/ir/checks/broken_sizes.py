"""Words, in the user's terms, which inputs and sizes of a call a Program does not take."""

from __future__ import annotations

import linecache
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dy2st_runtime.dims import Dim, evaluate, is_symbol, symbols
from dy2st_runtime.errors import Location, ShapeError, SpecError, counted
from dy2st_runtime.ir.program import LocatedConstraint, Program
from dy2st_runtime.ir.sizes import Origin, computed_sizes, input_sizes, origins
from dy2st_runtime.ir.types import ArrayType, TensorType, ValueType

Sizes = Mapping[Dim, int]
Origins = Mapping[Dim, Origin]

_LONGEST_LINE = 80


def refusal(program: Program, sizes: Sizes) -> ShapeError | None:
    """The first thing that these sizes break, None if they break nothing.

    What needs symbols that have no value yet is left out.
    """
    known = origins(program.block.parameters)
    for entry in program.constraints:
        condition = entry.constraint.condition
        if not _has_all(condition, sizes):
            continue
        failed = uncomputable(condition, entry.location, sizes, known)
        if failed is not None:
            return failed
        if not evaluate(condition, sizes):
            return broken(entry, sizes, known)
    for size, location in computed_sizes(program):
        if _has_all(size, sizes):
            failed = uncomputable(size, location, sizes, known)
            if failed is not None:
                return failed
    return None


def _has_all(value: Any, sizes: Sizes) -> bool:
    return all(symbol in sizes for symbol in symbols(value))


def broken(entry: LocatedConstraint, sizes: Sizes, known: Origins) -> ShapeError:
    """The error for a constraint that does not hold."""
    condition, reason = entry.constraint.condition, entry.constraint.reason
    # Two axes that must be equal, or an axis that must be a number.
    left, right = condition.left, condition.right
    if condition.relation != "==" or not isinstance(left, Dim) or not _is_axis(left, known):
        what = None
    else:
        start = f"argument {_axis_text(known[left])}: {sizes[left]}; must "
        if isinstance(right, int):
            what = f"{start}be {right}"
        elif isinstance(right, Dim) and _is_axis(right, known):
            origin = known[right]
            what = f"{start}equal `{origin.variable.name}` axis {origin.axis}: {sizes[right]}"
        else:
            what = None
    if what is None:
        values = _values(condition, sizes, known)
        what = f"the sizes of this call break `{condition}`: {values}"
    if entry.location is None:
        return ShapeError(f"{what} ({reason})")
    return ShapeError(f"{what} (from {place_text(entry.location)})\n  because: {reason}")


def uncomputable(
    value: Any, location: Location | None, sizes: Sizes, known: Origins
) -> ShapeError | None:
    """The error for a size or condition that has no value for these sizes."""
    try:
        evaluate(value, sizes)
        return None
    except ZeroDivisionError:
        what = "divide by zero"
    except ShapeError:
        what = "do not broadcast"
    place = f" (from {place_text(location)})" if location else ""
    return ShapeError(
        f"the sizes of this call {what} in `{value}`: {_values(value, sizes, known)}{place}"
    )


# -- wording ----------------------------------------------------------------------------------


def _is_axis(size: Dim, known: Origins) -> bool:
    return size in known and known[size].solved[1:] == (1, 0)


def _axis_text(origin: Origin) -> str:
    return f"`{origin.variable.name}`, axis {origin.axis}"


def _values(value: Any, sizes: Sizes, known: Origins) -> str:
    """`h = 30 (argument `x`, axis 2), w = 7`."""
    parts = []
    for symbol in symbols(value):
        place = f" (argument {_axis_text(known[symbol])})" if symbol in known else ""
        parts.append(f"{symbol} = {sizes[symbol]}{place}")
    return ", ".join(parts)


def place_text(location: Location) -> str:
    """`model.py:31 `x + y``; without the text where there is no source."""
    line = source_line(location)
    return f"{location.shown_file}:{location.line} `{line}`" if line else str(location)


def source_line(location: Location) -> str:
    """The text of a line, shortened if it is long; empty where there is no source."""
    if location.is_text:
        return ""
    line = linecache.getline(location.file, location.line).strip()
    return line if len(line) <= _LONGEST_LINE else f"{line[: _LONGEST_LINE - 3]}..."


Array = np.ndarray[Any, Any]


def check_inputs(program: Program, inputs: Sequence[Array]) -> None:
    """Raise SpecError unless number, dtypes and sizes of the inputs fit the Program."""
    if len(inputs) != len(program.inputs):
        names = ", ".join(f"`{v.name}`" for v in program.inputs)
        raise SpecError(
            f"{program.name}() takes {counted(len(program.inputs), 'tensor')} ({names}), "
            f"not {len(inputs)}"
        )
    if any(isinstance(variable.type, ArrayType) for variable in program.inputs):
        for variable, array in zip(program.inputs, inputs, strict=True):
            if isinstance(variable.type, ArrayType):
                _check_list(variable.name, variable.type, array)
    tensors = [
        (variable, array)
        for variable, array in zip(program.inputs, inputs, strict=True)
        if isinstance(variable.type, TensorType)
    ]
    for variable, array in tensors:
        type: TensorType = variable.tensor_type
        if array.ndim != type.rank:
            raise SpecError(
                f"argument `{variable.name}` has the shape {list(array.shape)}; the Program takes "
                f"{list(type.shape)}, another number of axes"
            )
        if array.dtype != type.dtype:
            raise SpecError(
                f"argument `{variable.name}` has dtype {array.dtype}; the Program takes "
                f"{type.dtype}: cast it"
            )
    sizes = input_sizes(program, [getattr(array, "shape", ()) for array in inputs])
    known = origins(program.inputs)
    for variable, array in tensors:
        for axis, wanted in enumerate(variable.tensor_type.shape):
            place = f"argument `{variable.name}`, axis {axis}: {array.shape[axis]}"
            size = array.shape[axis]
            if isinstance(wanted, int):
                if size != wanted:
                    raise SpecError(f"{place}; the Program takes {wanted}")
            else:
                try:
                    value = evaluate(wanted, sizes)
                except (ShapeError, ZeroDivisionError):
                    value = "a size that these inputs do not have"
                if value != size:
                    if is_symbol(wanted):
                        origin = known[wanted]
                        first = f"argument `{origin.variable.name}`, axis {origin.axis}: {value}"
                        raise SpecError(f"{place}; must equal {first} (both are `{wanted}`)")
                    values = ", ".join(f"{symbol} = {one}" for symbol, one in sizes.items())
                    raise SpecError(f"{place}; must be {wanted}, with {values}: {value}")
    for symbol, origin in known.items():
        value = sizes[symbol]
        low, high = symbol.minimum, symbol.maximum
        if value < low or (high is not None and value > high):
            limits = f"at least {low}" if high is None else f"from {low} to {high}"
            place = f"argument `{origin.variable.name}`, axis {origin.axis}"
            raise SpecError(f"{place}: {value}; `{symbol}` is {limits}")


def _check_list(name: str, type: ValueType | None, value: Any) -> None:
    """SpecError unless all of a list has the dtype, rank and known sizes that its type says."""
    if isinstance(type, ArrayType):
        for entry in value:
            _check_list(name, type.element, entry)
    elif type is not None:
        sizes = zip(type.shape, value.shape, strict=False)
        fits = all(want == have for want, have in sizes if isinstance(want, int))
        if value.dtype != type.dtype or value.ndim != type.rank or not fits:
            raise SpecError(
                f"argument `{name}` has a tensor of {value.dtype} of shape {list(value.shape)}; "
                f"the Program takes {type.dtype} and {list(type.shape)}"
            )


__all__ = [
    "broken",
    "check_inputs",
    "place_text",
    "refusal",
    "source_line",
    "uncomputable",
]
