"""Converts inputs and attributes of an operator before it is recorded or run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dy2st_runtime.dims import Condition, Dim
from dy2st_runtime.errors import ArgumentError, DTypeError, NoTensor
from dy2st_runtime.ir.definition import REQUIRED, OperatorDefinition
from dy2st_runtime.ir.dispatch import active
from dy2st_runtime.ir.program import Variable
from dy2st_runtime.ir.tensor import Tensor
from dy2st_runtime.ir.types import DType

# A Python number that becomes a tensor, and one that goes on behaving as a Python number.
SCALAR_DTYPES: dict[type, str] = {bool: "bool", int: "int64", float: "float32"}
COMPLEX = np.dtype("complex64")
"""What a Python complex number beside numbers becomes."""
NUMBER_DTYPES: dict[type, str] = {bool: "bool", int: "int64", float: "float64"}


def complete(definition: OperatorDefinition, attributes: Mapping[str, Any]) -> dict[str, Any]:
    """All attributes of an operator in the order of its record; ArgumentError if they are wrong."""
    known = definition.attributes
    if attributes.keys() == known.keys():
        return {name: attributes[name] for name in known} if known else {}
    for name in attributes:
        if name not in known:
            raise ArgumentError(f"{definition.name} has no attribute {name!r}")
    full = {name: attributes.get(name, default) for name, default in known.items()}
    for name, value in full.items():
        if value is REQUIRED:
            raise ArgumentError(f"{definition.name} needs the attribute {name!r}")
    return full


def drop_missing(definition: OperatorDefinition, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The inputs without optional ones that are not given (None at the end)."""
    names = definition.inputs
    while inputs and inputs[-1] is None and names[min(len(inputs), len(names)) - 1][-1] == "?":
        inputs = inputs[:-1]
    if len(inputs) == len(names):
        return inputs
    needed = sum(1 for name in names if name[-1] not in "?*")
    if len(inputs) < needed or (len(inputs) > len(names) and not definition.is_variadic):
        raise ArgumentError(f"{definition.name} takes ({', '.join(names)}), not {len(inputs)}")
    return inputs


def is_promoted(definition: OperatorDefinition, index: int) -> bool:
    """Whether an input is brought to the common dtype."""
    promote = definition.promote
    return promote if isinstance(promote, bool) else index in promote


def common_dtype(definition: OperatorDefinition, inputs: Sequence[Any]) -> DType | None:
    """The dtype that promoted inputs share: NumPy's rule, Python numbers and Dims being weak."""
    promote = definition.promote
    if not promote:
        return None
    promoted = inputs
    if isinstance(promote, tuple):
        promoted = [inputs[place] for place in promote if place < len(inputs)]
    dtypes = [_weak(value) for value in promoted]
    tensors = [one for one in dtypes if isinstance(one, np.dtype)]
    if not tensors:
        # No tensor stands beside these numbers of Python: they alone decide the dtype.
        kinds = [type(number) for number in dtypes]
        if complex in kinds:
            return COMPLEX
        table = NUMBER_DTYPES if all_numbers(inputs) else SCALAR_DTYPES
        return np.result_type(*[np.dtype(table[kind]) for kind in kinds])
    common: DType = tensors[0]
    if not common.isnative or tensors.count(common) != len(tensors):
        common = np.result_type(*tensors)
    # All real numbers yield to floats: NumPy is slow to say so, and knows nothing of bfloat16.
    yields = common.kind in "fV" and complex not in map(type, dtypes)
    if yields or len(tensors) == len(dtypes):
        return common
    return np.result_type(*dtypes)


def all_numbers(inputs: Sequence[Any]) -> bool:
    """Whether Python would compute with numbers here: one or more is traced, none a tensor."""
    traced = False
    for value in inputs:
        if isinstance(value, Variable):
            if value.number is None:
                return False
            traced = True
        elif isinstance(value, (Dim, Condition)):
            traced = True
        elif type(value) not in SCALAR_DTYPES:
            return False
    return traced


def _weak(value: Any) -> Any:
    """What np.result_type wants to see: a dtype, or a Python number that yields to dtypes."""
    if isinstance(value, Variable):
        return value.tensor_type.dtype if value.number is None else value.number(0)
    if isinstance(value, Tensor):
        return value.dtype
    if isinstance(value, Dim):
        return 0
    if isinstance(value, Condition):
        return False
    if type(value) in SCALAR_DTYPES or type(value) is complex:
        return value
    if isinstance(value, int):  # a member of an IntEnum
        return int(value)
    return as_array(value, None).dtype


def as_array(value: Any, dtype: DType | None) -> np.ndarray[Any, Any]:
    """A NumPy array of a Python number, nested list or array; Python floats become float32."""
    if dtype is None and type(value) in SCALAR_DTYPES:
        dtype = np.dtype(SCALAR_DTYPES[type(value)])
    elif dtype is None and type(value) is complex:
        dtype = COMPLEX
    array = exact_array(value, dtype)
    if dtype is None and array.dtype.char in "dD" and _is_python(value):
        return array.astype("float32" if array.dtype.char == "d" else COMPLEX)
    return array


def exact_array(value: Any, dtype: DType | None = None) -> np.ndarray[Any, Any]:
    """A NumPy array of a Python number, nested list or array, with all digits of Python's."""
    try:
        array = np.asarray(value, dtype)
    except OverflowError as error:
        if active() is None:
            raise
        raise ArgumentError(f"{value!r:.80} has more bits than an int of a Program") from error
    except ValueError as error:
        why = ": its lists differ in length" if "inhomogeneous" in str(error) else ""
        raise NoTensor(f"{value!r:.80} is not a tensor and cannot be made one{why}") from None
    if array.dtype.kind not in "fiubVc" or array.dtype.names:
        raise NoTensor(f"{value!r:.80} is not a tensor and cannot be made one")
    if array.dtype.char in "gG" and array.dtype.itemsize > np.dtype("d").itemsize:
        shorter = "float64" if array.dtype.char == "g" else "complex128"
        raise DTypeError(f"a tensor has no dtype {array.dtype}: give astype({shorter!r}) of it")
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _is_python(data: Any) -> bool:
    """Whether nested lists end in Python numbers only."""
    if isinstance(data, (list, tuple)):
        return all(_is_python(entry) for entry in data)
    return not hasattr(data, "dtype")
