"""Writes assertions and failures of a Program: code that calls the kernel, which raises."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dy2st_runtime.dims import equal
from dy2st_runtime.engine.native.machine import abi
from dy2st_runtime.engine.native.nests.access import stored
from dy2st_runtime.engine.native.program.planner import Step
from dy2st_runtime.engine.native.program.steps import Body, Writer, writer
from dy2st_runtime.engine.native.rows import emit
from dy2st_runtime.engine.native.text.lanes import FLOAT64, NATIVE, Lanes
from dy2st_runtime.ir.failures import may_fail
from dy2st_runtime.ir.program import Operator, Variable
from dy2st_runtime.ir.types import TensorType

_OVERFLOWING = {"add": "sadd", "subtract": "ssub", "multiply": "smul"}


def _asserts(name: str) -> Callable[[Operator], bool]:
    """Whether it asserts one element."""

    def takes(operator: Operator) -> bool:
        if operator.name != name or not abi.is_native(operator.operands[0].dtype):
            return False
        shape = operator.operands[0].tensor_type.shape
        return all(equal(size, 1) is True for size in shape)

    return takes


def _assert(body: Body, step: Step, operator: Operator) -> None:
    body.unless(body.places.truth(operator.operands[0]), [operator])


@writer(
    lambda operator: (
        operator.name == "check_int"
        and operator.attributes["operation"] == "int"
        and abi.is_native(operator.operands[0].dtype)
        and operator.operands[0].dtype != "uint64"
    )
)
def _check_whole(body: Body, step: Step, operator: Operator) -> None:
    number = operator.operands[0]
    if number.dtype.kind != "f":
        return
    lanes = Lanes(body.function, 1)
    value = lanes.cast(lanes.load(body.places.address(number), number.dtype), FLOAT64).text
    least, most = (lanes.constant(end, FLOAT64).text for end in (-(2.0**63), 2.0**63))
    low = body.function.let(f"fcmp oge double {value}, {least}")
    high = body.function.let(f"fcmp olt double {value}, {most}")
    body.unless(body.function.let(f"and i1 {low}, {high}"), [operator])


@writer(
    lambda operator: (
        operator.name == "check_int"
        and operator.attributes["operation"] in _OVERFLOWING
        and all(v.dtype.kind in "iub" and v.dtype != "uint64" for v in operator.operands)
    )
)
def _check_int(body: Body, step: Step, operator: Operator) -> None:
    left, right = (_number(body, operand) for operand in operator.operands)
    name = f"llvm.{_OVERFLOWING[operator.attributes['operation']]}.with.overflow.i64"
    both = body.function.let(f"call {{ i64, i1 }} @{name}(i64 {left}, i64 {right})")
    is_larger = body.function.let(f"extractvalue {{ i64, i1 }} {both}, 1")
    body.unless(body.function.let(f"xor i1 {is_larger}, true"), [operator])


def _number(body: Body, variable: Variable) -> str:
    type, value = stored(variable.dtype), body.places.load(variable)
    if type == "i64":
        return value
    extend = "sext" if variable.dtype.kind == "i" else "zext"
    return body.function.let(f"{extend} {type} {value} to i64")


@writer(
    # A divisor may be 0.
    lambda operator: (
        operator.name in ("floor_divide", "remainder")
        and may_fail(operator)
        and all(
            isinstance(v.type, TensorType) and not v.type.shape and v.dtype in NATIVE
            for v in (*operator.operands, *operator.results)
        )
    )
)
def _divide_integers(body: Body, step: Step, operator: Operator) -> None:
    lanes, result = Lanes(body.function, 1), operator.results[0]
    operands = [lanes.load(body.places.address(v), v.dtype) for v in operator.operands]
    body.unless(lanes.truth(operands[1]).text, [operator])
    lanes.store(emit(lanes, operator, operands), body.places.make(result).name)


@writer(lambda operator: operator.name == "raise")
def _raise(body: Body, step: Step, operator: Operator) -> None:
    body.unless("false", [operator])


CHECKS: Sequence[Writer] = (
    Writer(_asserts("assert"), _assert),
    Writer(_asserts("assert_bound"), _assert),
    _check_int,
    _check_whole,
    _divide_integers,
    _raise,
)

__all__ = ["CHECKS"]
