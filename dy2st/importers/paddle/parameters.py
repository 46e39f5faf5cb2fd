"""Reads `.pdiparams`: the tensors of a model one after the other, in the order of their names.

Each is a version, a number of levels of a LoD, a version, and a message with dtype and sizes,
before its elements. Names are not in the file: they come from the model.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dy2st.importers.paddle.graph import Parameter
from dy2st.importers.paddle.program_desc import DTYPES, TENSOR
from dy2st.importers.paddle.wire import parse
from dy2st_runtime.errors import FormatError, ParameterMismatch
from dy2st_runtime.files import naming
from dy2st_runtime.ir.types import given_dtype

Array = np.ndarray[Any, Any]
_MOST_LEVELS = 16
_MOST_AXES = 64


def read_parameters(file: Path | None, parameters: Sequence[Parameter]) -> dict[str, Array]:
    """The arrays of a model by name.

    Raises FormatError if the file is damaged, ParameterMismatch if it is of another model.
    """
    arrays: dict[str, Array] = {}
    if file is None or not file.is_file() or not file.stat().st_size:
        if parameters:
            raise ParameterMismatch(f"{file} has not the {len(parameters)} parameters of the model")
        return arrays
    with naming(file):
        data = np.memmap(file, np.uint8, "r")
    place = 0
    for one in sorted(parameters, key=lambda parameter: parameter.name):
        array, place = _tensor(data, place, f"{file}: {one.name}")
        if array.dtype != one.dtype or array.shape != one.shape:
            raise ParameterMismatch(
                f"{file}: {one.name!r} has dtype {array.dtype} and shape {list(array.shape)}; the "
                f"model takes {one.dtype} and {list(one.shape)}"
            )
        arrays[one.name] = array
    if place != len(data):
        raise ParameterMismatch(f"{file} has {len(data) - place} bytes more than the model takes")
    return arrays


def _tensor(data: Array, place: int, what: str) -> tuple[Array, int]:
    """The tensor at a place, and the place behind it."""

    def take(count: int) -> Any:
        nonlocal place
        if count > len(data) - place:
            raise FormatError(f"{what} is cut: {count} bytes are wanted, {len(data) - place} there")
        place += count
        return data[place - count : place]

    version, levels = struct.unpack("<IQ", take(12))
    if version or levels > _MOST_LEVELS:
        raise FormatError(f"{what} has the version {version} and {levels} levels")
    for _ in range(levels):
        take(struct.unpack("<Q", take(8))[0])
    version, size = struct.unpack("<Ii", take(8))
    if version or size < 0:
        raise FormatError(f"{what} has the version {version}, and {size} bytes of description")
    found = parse(memoryview(take(size)), TENSOR)
    number, dims = found.get("data_type"), tuple(found["dims"])
    if number not in DTYPES or len(dims) > _MOST_AXES or any(size < 0 for size in dims):
        raise FormatError(f"{what} has the element type {number} and the sizes {list(dims)[:8]}")
    dtype = given_dtype(DTYPES[number])
    elements = np.array(take(math.prod(dims) * dtype.itemsize))  # a copy is aligned
    return elements.view(dtype).reshape(dims), place


__all__ = ["read_parameters"]
