"""Has one row for each elementwise operator: its machine code, whose meaning is the kernel's.

row = ROWS["add"]; row.emit(lanes, operands, attributes, dtype); row.cost
has_row(operator), emit(lanes, operator, operands)
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from dy2st_runtime.engine.native.rows.arithmetic import ARITHMETIC
from dy2st_runtime.engine.native.rows.functions import FUNCTIONS
from dy2st_runtime.engine.native.rows.logic import LOGIC
from dy2st_runtime.engine.native.rows.row import Row
from dy2st_runtime.engine.native.text.function import Function
from dy2st_runtime.engine.native.text.lanes import NATIVE, Lanes, Value
from dy2st_runtime.ir.failures import may_fail
from dy2st_runtime.ir.program import Operator
from dy2st_runtime.ir.types import TensorType

ROWS: dict[str, Row] = {**ARITHMETIC, **LOGIC, **FUNCTIONS}
"""The rows by the names of their operators."""

COSTLY = 20
"""From which cost on a row is a function of its own, in a function that has many of them."""


def has_row(operator: Operator) -> bool:
    """Whether machine code has this operator for its dtypes and attributes."""
    row = ROWS.get(operator.name)
    if row is None or may_fail(operator):
        return False
    types = [variable.type for variable in (*operator.operands, *operator.results)]
    if not all(isinstance(type, TensorType) and type.dtype in NATIVE for type in types):
        return False
    dtypes = [variable.tensor_type.dtype for variable in operator.operands]
    return row.takes(dtypes, operator.attributes)


def emit(lanes: Lanes, operator: Operator, operands: Sequence[Value]) -> Value:
    """The result of an operator that `has_row`, of its operands in the same lanes."""
    row, dtype = ROWS[operator.name], operator.results[0].tensor_type.dtype
    if lanes.function.helpers is None or row.cost < COSTLY:
        return row.emit(lanes, operands, operator.attributes, dtype)
    # The result by a function of its own, which is written once for a function that needs it.
    caller, dtype = lanes.function, operator.results[0].tensor_type.dtype
    assert caller.helpers is not None
    inside = [Value(f"%x{index}", operand.dtype) for index, operand in enumerate(operands)]
    parameters = [(lanes.type(value.dtype), value.text) for value in inside]
    key = (operator.attributes, [type for type, _ in parameters], lanes.type(dtype))
    digest = sha256(repr(key).encode()).hexdigest()[:8]
    helper = Function(
        f"{caller.name}.{operator.name}.{digest}",
        parameters,
        lanes.type(dtype),
        attributes="noinline nounwind",
    )
    if helper.name not in caller.helpers:
        helper.scales, own = caller.scales, Lanes(helper, lanes.lanes)
        result = ROWS[operator.name].emit(own, inside, operator.attributes, dtype)
        helper.line(f"ret {lanes.type(dtype)} {result.text}")
        caller.helpers[helper.name] = helper.text()
    listed = [f"{type} {x.text}" for (type, _), x in zip(parameters, operands, strict=True)]
    call = f"call {lanes.type(dtype)} @{helper.name}({', '.join(listed)})"
    return Value(caller.let(call), dtype)


__all__ = ["COSTLY", "ROWS", "Row", "emit", "has_row"]
