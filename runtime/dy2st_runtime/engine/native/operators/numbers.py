"""Writes numbers in registers, constants, and conditions on sizes, as steps of their own."""

from __future__ import annotations

import numpy as np

from dy2st_runtime.dims import Condition, Constraint, product
from dy2st_runtime.engine.native.machine import abi
from dy2st_runtime.engine.native.nests.members import is_native
from dy2st_runtime.engine.native.program.lifetimes import Kind
from dy2st_runtime.engine.native.program.places import Place
from dy2st_runtime.engine.native.program.planner import Step
from dy2st_runtime.engine.native.program.steps import Body, writer
from dy2st_runtime.engine.native.rows import emit, has_row
from dy2st_runtime.engine.native.text.lanes import BOOL, INT64, Lanes, Value
from dy2st_runtime.ir.definition import DEFINITIONS, Effect
from dy2st_runtime.ir.program import Operator
from dy2st_runtime.ir.sizes import formulas
from dy2st_runtime.ir.types import TensorType

_MOST_KNOWN = 1 << 14
"""How many numbers are computed when code is made, and copied in each call."""


@writer(lambda operator: operator.name == "constant")
def _constant(body: Body, step: Step, operator: Operator) -> None:
    variable, value = operator.results[0], operator.attributes["value"]
    kind = body.places.found.kinds[variable]
    if kind is Kind.OBJECT:
        slot = body.places.make(variable).name
        object = body.module.object(value, "constant")
        body.function.line(f"call void @Py_IncRef(ptr {object})")
        body.places.replace(slot, object)
    elif kind is Kind.SCALAR:
        place = body.places.make(variable)
        type = f"i{8 * value.itemsize}"
        bits = int(value.view(f"i{value.itemsize}"))
        body.function.line(f"store {type} {bits}, ptr {place.name}")
    else:
        body.places.put(variable, Place(Kind.FOREIGN, body.module.array(value)))


def _is_number(operator: Operator) -> bool:
    """Whether it makes one number that is known, and fits its dtype."""
    if operator.name != "full" or operator.attributes["shape"]:
        return False
    value, dtype = operator.attributes["value"], operator.results[0].dtype
    if not abi.is_native(dtype) or not isinstance(value, (bool, int, float)):
        return False
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return isinstance(value, int) and limits.min <= value <= limits.max
    return True


@writer(_is_number)
def _number(body: Body, step: Step, operator: Operator) -> None:
    lanes, result = Lanes(body.function, 1), operator.results[0]
    number = lanes.constant(operator.attributes["value"], result.dtype)
    lanes.store(number, body.places.make(result).name)


@writer(lambda operator: operator.name == "from_dim" and abi.is_native(operator.results[0].dtype))
def _size(body: Body, step: Step, operator: Operator) -> None:
    value, result = operator.attributes["value"], operator.results[0]
    if isinstance(value, Condition):
        found = Value(body.sizes.condition(value), BOOL)
    else:
        # A condition that is decided is a bool.
        found = Value(
            body.sizes.value(int(value) if value is True or value is False else value), INT64
        )
        # Let NumPy's kernel refuse a size that the dtype does not hold.
        dtype = operator.results[0].dtype
        if dtype.kind in "iu" and dtype != INT64:
            limits = np.iinfo(dtype)
            least, most = int(limits.min), min(int(limits.max), 2**63 - 1)
            is_large = body.function.let(f"icmp sge i64 {found.text}, {least}")
            is_small = body.function.let(f"icmp sle i64 {found.text}, {most}")
            body.unless(body.function.let(f"and i1 {is_large}, {is_small}"), [operator])
    lanes = Lanes(body.function, 1)
    lanes.store(lanes.cast(found, result.dtype), body.places.make(result).name)


def _is_known(operator: Operator) -> bool:
    """Whether it makes the same few numbers in every call."""
    definition = DEFINITIONS[operator.name]
    if operator.operands or operator.blocks or definition.effect is not Effect.PURE:
        return False
    if len(operator.results) != 1 or not is_native(operator.results[0]):
        return False
    size = product(operator.results[0].tensor_type.shape)
    has_no_formula = next(formulas(tuple(operator.attributes.values())), None) is None
    return has_no_formula and isinstance(size, int) and size <= _MOST_KNOWN


@writer(_is_known)
def _known(body: Body, step: Step, operator: Operator) -> None:
    result, kernel = operator.results[0], DEFINITIONS[operator.name].kernel
    assert kernel is not None
    value = np.asarray(kernel(**operator.attributes), result.dtype)
    target, source = body.place(result), body.module.array(value)
    body.places.copy(target, source, result.tensor_type)


@writer(lambda operator: operator.name == "require", holds=True)
def _require(body: Body, step: Step, operator: Operator) -> None:
    condition, message = operator.attributes["condition"], operator.attributes["message"]
    if isinstance(condition, Condition):
        body.constraints.require(Constraint(condition, message), operator)
    elif not condition:
        body.unless("false", [operator])


@writer(
    lambda operator: operator.name == "shape" and isinstance(operator.operands[0].type, TensorType)
)
def _shape(body: Body, step: Step, operator: Operator) -> None:
    target = body.place(operator.results[0])
    for axis, size in enumerate(operator.operands[0].tensor_type.shape):
        place = body.function.let(f"getelementptr i64, ptr {target}, i64 {axis}")
        body.function.line(f"store i64 {body.sizes.value(size)}, ptr {place}")


@writer(
    lambda operator: (
        has_row(operator)
        and all(
            isinstance(variable.type, TensorType) and not variable.type.shape
            for variable in (*operator.operands, *operator.results)
        )
    )
)
def _apply(body: Body, step: Step, operator: Operator) -> None:
    """An elementwise operator on registers."""
    lanes = Lanes(body.function, 1)
    operands = [lanes.load(body.places.address(v), v.dtype) for v in operator.operands]
    lanes.store(emit(lanes, operator, operands), body.places.make(operator.results[0]).name)


NUMBERS = (
    _constant,
    _number,
    _size,
    _known,
    _require,
    _shape,
    _apply,
)

__all__ = ["NUMBERS"]
