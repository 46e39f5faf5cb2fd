"""Boxes that overlap no better one by more: the function that computes `nms`.

    i64 nms(ptr places, ptr kept, ptr groups_kept, ptr boxes, ptr groups, i64 count)

Boxes come one after the other, the best first. Corners and areas of those that are kept, and their
groups, lie in lines, so that a box is compared with a vector of them.
"""

from __future__ import annotations

from dy2st_runtime.engine.native.machine import abi
from dy2st_runtime.engine.native.machine.llvm import Processor
from dy2st_runtime.engine.native.nests.access import stored
from dy2st_runtime.engine.native.program.planner import Step
from dy2st_runtime.engine.native.program.steps import Body, writer
from dy2st_runtime.engine.native.text.code import Code, first_lanes
from dy2st_runtime.engine.native.text.lanes import BOOL, INT64, Lanes, Value
from dy2st_runtime.ir.program import Operator

_LINES = 5
"""Lines of what is kept: four corners and the area."""


@writer(
    lambda operator: (
        operator.name == "nms"
        and all(abi.is_native(operand.dtype) for operand in operator.operands)
        and operator.operands[1].dtype != "uint64"
    ),
    holds=True,
)
def _write(body: Body, step: Step, operator: Operator) -> None:
    """The places go to memory of the call first, then to an array of as many."""
    body.module.pool("scratch")
    name = body.module.shared(_Overlaps(operator).text(), "nms")
    boxes, groups = (body.places.address(operand) for operand in operator.operands)
    function, result = body.function, operator.results[0]
    count = body.sizes.value(operator.operands[0].tensor_type.shape[0])
    padded = function.let(f"add i64 {count}, 64")
    bytes = function.let(f"mul i64 {padded}, {8 * (_LINES + 2)}")
    places = function.let(f"call ptr @scratch_take(i64 {bytes})")
    parts = [places]
    for number in (1, 2):
        more = function.let(f"mul i64 {padded}, {8 * number}")
        parts.append(function.let(f"getelementptr i8, ptr {places}, i64 {more}"))
    given = [f"ptr {part}" for part in (*parts[:1], parts[2], parts[1], boxes, groups)]
    found = function.let(f"call i64 @{name}({', '.join(given)}, i64 {count})")
    made = body.places.sized(INT64, [found])
    body.calls.check_made(made)
    bytes = function.let(f"mul i64 {found}, 8")
    copied = f"ptr {body.places.data(made)}, ptr {places}, i64 {bytes}, i1 false"
    function.line(f"call void @llvm.memcpy.p0.p0.i64({copied})")
    function.line(f"call void @scratch_give(ptr {places})")
    body.calls.take(made, result)


class _Overlaps:
    """The function of an operator."""

    def __init__(self, operator: Operator) -> None:
        self._dtype, self._group = (operand.dtype for operand in operator.operands)
        self._threshold = operator.attributes["threshold"]
        names = ("%places", "%kept", "%groups_kept", "%boxes", "%groups")
        parameters = [*(("ptr", name) for name in names), ("i64", "%count")]
        code = self._code = Code("NAME", parameters, stored(self._dtype), "i64")
        self._one = Lanes(code, 1)
        self._lanes = Lanes(code, Processor.host().vector_bytes // self._dtype.itemsize)
        stride = code.plus("%count", 64)
        self._lines = [code.at("%kept", code.times(stride, line)) for line in range(_LINES)]

    def text(self) -> str:
        """The function, as `@NAME`."""
        code, number, is_near = self._code, self._code.alloca("i64"), self._code.alloca("i1")
        code.line(f"store i64 0, ptr {number}")
        with code.loop("0", "%count") as place:
            # Its corners and its area.
            first = self._code.times(place, 4)
            corners = [
                self._one.load(code.at("%boxes", code.plus(first, at)), self._dtype)
                for at in range(4)
            ]
            wide, high = (
                self._one.subtract(corners[side + 2], corners[side], exactly=True)
                for side in (0, 1)
            )
            box = [*corners, self._one.multiply(wide, high, exactly=True)]
            address = f"getelementptr {stored(self._group)}, ptr %groups, i64 {place}"
            group = self._one.cast(self._one.load(self._code.let(address), self._group), INT64)
            kept = code.let(f"load i64, ptr {number}")
            code.line(f"store i1 false, ptr {is_near}")
            with code.walk(kept) as (at, following):
                # Whether one of a vector of kept boxes is of the group and overlaps by more.
                lanes = self._lanes
                mask = first_lanes(lanes, code.minus(kept, at))
                own = [lanes.splat(value) for value in box]
                others = [lanes.load(code.at(line, at), self._dtype, mask) for line in self._lines]
                zero = lanes.constant(0, self._dtype)
                shared = self._side(own, others, 0)
                shared = lanes.multiply(self._side(own, others, 1), shared, exactly=True)
                both = lanes.add(others[4], own[4], exactly=True)
                share = lanes.divide(shared, lanes.subtract(both, shared, exactly=True))
                share = lanes.select(lanes.compare("gt", shared, zero), share, zero)
                near = lanes.compare("gt", share, lanes.constant(self._threshold, self._dtype))
                groups = lanes.load(self._group_at(at), INT64, mask)
                near = lanes.both(near, lanes.compare("eq", groups, lanes.splat(group)))
                found = lanes.any(lanes.both(near, Value(mask, BOOL)))
                code.line(f"store i1 {found}, ptr {is_near}")
                following.append(code.choose(found, kept, code.plus(at, self._lanes.lanes)))
            with code.when(code.no(code.let(f"load i1, ptr {is_near}"))):
                for value, line in zip(box, self._lines, strict=True):
                    self._one.store(value, self._code.at(line, kept))
                self._one.store(group, self._group_at(kept))
                target = self._code.let(f"getelementptr i64, ptr %places, i64 {kept}")
                self._one.store(Value(place, INT64), target)
                code.line(f"store i64 {code.plus(kept, 1)}, ptr {number}")
        code.line(f"ret i64 {code.let(f'load i64, ptr {number}')}")
        return code.text()

    def _group_at(self, place: str) -> str:
        return self._code.let(f"getelementptr i64, ptr %groups_kept, i64 {place}")

    def _side(self, own: list[Value], others: list[Value], side: int) -> Value:
        """How long what two boxes share is along one axis."""
        lanes = self._lanes
        low = lanes.maximum(others[side], own[side])
        high = lanes.minimum(others[side + 2], own[side + 2])
        length = lanes.subtract(high, low, exactly=True)
        zero = lanes.constant(0, self._dtype)
        return lanes.select(lanes.compare("ge", high, low), length, zero)


BOX_OVERLAPS = (_write,)

__all__ = ["BOX_OVERLAPS"]
