"""The values of small integer tensors, as far as they are made of sizes.

`reshape(x, shape(y))` has a known shape because the tensor `shape(y)` is carried as what it holds:
an array of ints and Dims (bools and Conditions for comparisons). A Variable keeps it as `held`;
what an operator makes of its operands' data is said in the operator's record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dy2st_runtime.dims import Condition, Dim, less_equal, require
from dy2st_runtime.errors import UndecidedDim
from dy2st_runtime.ir.definition import OperatorDefinition
from dy2st_runtime.ir.program import Operator, Variable
from dy2st_runtime.ir.types import TensorType, ValueType

Data = np.ndarray[Any, Any]

MOST_ELEMENTS = 64


def may_be_carried(type: ValueType) -> bool:
    """Whether a type is that of a small tensor of integers or bools."""
    if not isinstance(type, TensorType) or type.dtype.kind not in "iub":
        return False
    count = 1
    for size in type.shape:
        if not isinstance(size, int):
            return False
        count *= size
    return count <= MOST_ELEMENTS


def data_of(variable: Variable) -> Data | None:
    """An array of ints and Dims, or of bools and Conditions; None if the values are not known."""
    if variable.overwritten is not None:  # the user's tensor holds something else by now
        return None
    if variable.held is None and may_be_carried(variable.type):
        maker = variable.maker
        if isinstance(maker, Operator) and maker.name in ("constant", "from_dim"):
            variable.held = as_data(maker.attributes["value"])
    data: Data | None = variable.held
    return data


def as_data(value: Any) -> Data:
    """The array of Python objects with the same values."""
    if isinstance(value, np.ndarray):
        return np.array(value.tolist(), object).reshape(value.shape)
    result = np.empty((), object)
    result[()] = value
    return result


def carry(
    definition: OperatorDefinition, operator: Operator, known: Sequence[Data | None] | None = None
) -> None:
    """Give the results of an operator data, if its record says how and the operands have any."""
    if definition.data is None or not may_be_carried(operator.results[0].type):
        return
    if known is None:
        known = [data_of(operand) for operand in operator.operands]
    pairs = zip(known, operator.operands, strict=True)
    inputs = [operand.type if data is None else data for data, operand in pairs]
    found = computed(definition, inputs, operator.attributes)
    for result, data in zip(operator.results, found, strict=False):
        assert isinstance(result.type, TensorType)
        if data is not None and data.shape == result.type.shape:
            result.held = _in_range(data, result.type)


def computed(
    definition: OperatorDefinition, inputs: Sequence[Any], attributes: Mapping[str, Any]
) -> Sequence[Data | None]:
    """What the record makes of data; an input without is given as its type."""
    rule: Any = definition.data
    if rule is True:
        if not all(isinstance(value, np.ndarray) for value in inputs):
            return ()
        # Two comparisons of sizes are equal to Python if they are written alike.
        if (
            definition.is_elementwise
            and definition.view is None
            and any(map(has_conditions, inputs))
        ):
            return ()
        rule = definition.kernel
    try:
        result = rule(*inputs, **attributes)
    except (ZeroDivisionError, UndecidedDim):  # the kernel's affair, when it runs
        return ()
    results = result if isinstance(result, (tuple, list)) else (result,)
    return [None if entry is None else np.asarray(entry, object) for entry in results]


def has_conditions(data: Data) -> bool:
    """Whether there is a comparison of sizes that is not decided."""
    return any(isinstance(entry, Condition) for entry in data.flat)


def _in_range(data: Data, type: TensorType) -> Data | None:
    """The data, if the dtype holds it. That a size fits into 32 bits is required."""
    if type.dtype.kind == "b":
        return data
    limits = np.iinfo(type.dtype)
    for entry in data.flat:
        if isinstance(entry, Dim):
            if type.dtype.name == "int64":
                continue
            if less_equal(limits.min, entry) and less_equal(entry, limits.max):
                continue
            if type.dtype.name != "int32":
                return None
            require(entry <= int(limits.max), f"the size {entry} must fit into an int32")
        elif not isinstance(entry, int) or not limits.min <= entry <= limits.max:
            return None
    return data


def joined(left: Data | None, right: Data | None) -> Data | None:
    """The data that two branches give: known where both give the same."""
    if left is None or right is None or left.shape != right.shape:
        return None
    pairs = zip(left.flat, right.flat, strict=True)
    return left if all(_same(one, other) for one, other in pairs) else None


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, (Dim, Condition)) or isinstance(other, (Dim, Condition)):
        return one is other
    return type(one) is type(other) and bool(one == other)
