"""What elementwise operators are in machine code: one row each, whose meaning is the kernel's.

row = ROWS["add"]; row.emit(lanes, operands, attributes, dtype); row.cost
has_row(operator), emit(lanes, operator, operands)
"""

from __future__ import annotations

from collections.abc import Sequence

from dy2st_runtime.engine.native.lanes import NATIVE, Lanes, Value
from dy2st_runtime.engine.native.rows.arithmetic import ARITHMETIC
from dy2st_runtime.engine.native.rows.functions import FUNCTIONS
from dy2st_runtime.engine.native.rows.logic import LOGIC
from dy2st_runtime.engine.native.rows.row import Row
from dy2st_runtime.ir.program import Operator
from dy2st_runtime.ir.types import TensorType

ROWS: dict[str, Row] = {**ARITHMETIC, **LOGIC, **FUNCTIONS}
"""The rows by the names of their operators."""


def has_row(operator: Operator) -> bool:
    """Whether machine code has this operator for its dtypes and attributes."""
    row = ROWS.get(operator.name)
    if row is None:
        return False
    types = [variable.type for variable in (*operator.operands, *operator.results)]
    if not all(isinstance(type, TensorType) and type.dtype in NATIVE for type in types):
        return False
    dtypes = [variable.tensor_type.dtype for variable in operator.operands]
    return row.takes(dtypes, operator.attributes)


def emit(lanes: Lanes, operator: Operator, operands: Sequence[Value]) -> Value:
    """The result of an operator that `has_row`, of its operands in the same lanes."""
    dtype = operator.results[0].tensor_type.dtype
    return ROWS[operator.name].emit(lanes, operands, operator.attributes, dtype)


__all__ = ["ROWS", "Row", "emit", "has_row"]
