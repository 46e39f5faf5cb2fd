"""Words the errors for inputs that a Program does not take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dy2st_runtime.dims import Dim, Size, evaluate, is_symbol
from dy2st_runtime.errors import ShapeError, SpecError
from dy2st_runtime.ir.program import Program
from dy2st_runtime.ir.sizes import Origin, input_sizes, origins
from dy2st_runtime.ir.types import TensorType

Array = np.ndarray[Any, Any]


def check_inputs(program: Program, inputs: Sequence[Array]) -> None:
    """Raise SpecError unless number, dtypes and sizes of the inputs fit the Program."""
    if len(inputs) != len(program.inputs):
        names = ", ".join(f"`{v.name}`" for v in program.inputs)
        raise SpecError(
            f"{program.name}() takes {len(program.inputs)} tensors ({names}), not {len(inputs)}"
        )
    for variable, array in zip(program.inputs, inputs, strict=True):
        type: TensorType = variable.tensor_type
        if array.ndim != type.rank:
            raise SpecError(
                f"argument `{variable.name}` has {array.ndim} axes, shape {list(array.shape)}; the "
                f"Program takes {type.rank}: {list(type.shape)}"
            )
        if array.dtype != type.dtype:
            raise SpecError(
                f"argument `{variable.name}` has dtype {array.dtype}; the Program takes "
                f"{type.dtype}: cast it"
            )
    sizes = input_sizes(program, [array.shape for array in inputs])
    known = origins(program.inputs)
    for variable, array in zip(program.inputs, inputs, strict=True):
        for axis, wanted in enumerate(variable.tensor_type.shape):
            place = f"argument `{variable.name}`, axis {axis}: {array.shape[axis]}"
            _check_size(place, array.shape[axis], wanted, sizes, known)
    for symbol, origin in known.items():
        _check_range(symbol, sizes[symbol], origin)


def _check_size(
    place: str, size: int, wanted: Size, sizes: dict[Dim, int], known: dict[Dim, Origin]
) -> None:
    if isinstance(wanted, int):
        if size != wanted:
            raise SpecError(f"{place}; the Program takes {wanted}")
        return
    try:
        value = evaluate(wanted, sizes)
    except (ShapeError, ZeroDivisionError):
        value = "a size that these inputs do not have"
    if value == size:
        return
    if is_symbol(wanted):
        origin = known[wanted]
        first = f"argument `{origin.variable.name}`, axis {origin.axis}: {value}"
        raise SpecError(f"{place}; must equal {first} (both are `{wanted}`)")
    values = ", ".join(f"{symbol} = {one}" for symbol, one in sizes.items())
    raise SpecError(f"{place}; must be {wanted}, with {values}: {value}")


def _check_range(symbol: Dim, value: int, origin: Origin) -> None:
    low, high = symbol.minimum, symbol.maximum
    if value < low or (high is not None and value > high):
        limits = f"at least {low}" if high is None else f"from {low} to {high}"
        place = f"argument `{origin.variable.name}`, axis {origin.axis}"
        raise SpecError(f"{place}: {value}; `{symbol}` is {limits}")


__all__ = ["check_inputs"]
