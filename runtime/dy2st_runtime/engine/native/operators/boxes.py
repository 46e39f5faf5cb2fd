"""The shares of pixels in the parts of intervals: the function that computes `bilinear_weights`.

    i32 weights(ptr result, ptr start, ptr extent, i64 count, i64 length)      1: too far away

As in NumPy's kernel, points are float64 until they are rounded to the dtype of the boxes, and all
pixels before points have their shares before those behind points.
"""

from __future__ import annotations

from dy2st_runtime.engine.native.machine import abi
from dy2st_runtime.engine.native.nests.access import stored
from dy2st_runtime.engine.native.program.planner import Step
from dy2st_runtime.engine.native.program.steps import Body, writer
from dy2st_runtime.engine.native.text.code import Code
from dy2st_runtime.engine.native.text.lanes import FLOAT64, INT64, Lanes, Value
from dy2st_runtime.ir.program import Operator

_FARTHEST = 2**24


@writer(
    lambda operator: (
        operator.name == "bilinear_weights"
        and abi.is_native(operator.operands[0].dtype)
        and operator.operands[0].dtype == operator.operands[1].dtype
    )
)
def _write(body: Body, step: Step, operator: Operator) -> None:
    name = body.module.shared(_Weights(operator).text(), "weights")
    pointers = [body.place(operator.results[0])]
    pointers += [body.places.address(operand) for operand in operator.operands]
    count, _, length = operator.results[0].tensor_type.shape
    arguments = [f"ptr {pointer}" for pointer in pointers]
    arguments += [f"i64 {body.sizes.value(size)}" for size in (count, length)]
    with body.lock.without(body.lock.is_long([operator.results[0].tensor_type.shape])):
        failed = body.function.let(f"call i32 @{name}({', '.join(arguments)})")
    body.unless(body.function.let(f"icmp eq i32 {failed}, 0"), [operator])


class _Weights:
    """The function of an operator."""

    def __init__(self, operator: Operator) -> None:
        self._dtype, attributes = operator.results[0].dtype, operator.attributes
        self._parts, self._points = attributes["parts"], attributes["points"]
        parameters = [("ptr", name) for name in ("%out", "%start", "%extent")]
        parameters += [("i64", name) for name in ("%count", "%length")]
        self._code = Code("NAME", parameters, stored(self._dtype), "i32")
        self._lanes = Lanes(self._code, 1)

    def text(self) -> str:
        """The function, as `@NAME`."""
        code = self._code
        with code.loop("0", "%count") as box:
            lanes = self._lanes
            first, size = (lanes.magnitude(self._load(name, box)) for name in ("%start", "%extent"))
            far = lanes.constant(_FARTHEST, self._dtype)
            is_near = lanes.compare("lt", lanes.add(first, size), far)
            code.require(is_near.text)
        row = code.times(self._parts, "%length")
        bytes = code.times(code.times("%count", row), self._dtype.itemsize)
        code.line(f"call void @llvm.memset.p0.i64(ptr %out, i8 0, i64 {bytes}, i1 false)")
        with code.when(code.compare("sgt", "%length", 0)), code.loop("0", "%count") as box:
            target = code.at("%out", code.times(box, row))
            lanes = self._lanes
            first, size = (self._load(name, box) for name in ("%start", "%extent"))
            part = lanes.divide(size, lanes.constant(self._parts, self._dtype))
            count = str(self._points)
            if self._points <= 0:
                count = lanes.cast(lanes.intrinsic("ceil", part), INT64).text
            for is_behind in (False, True):
                with code.loop("0", str(self._parts)) as place, code.loop("0", count) as iteration:
                    point = self._point(first, part, place, iteration, count)
                    line = code.at(target, code.times(place, "%length"))
                    self._share(line, point, count, is_behind)
        code.line("ret i32 0")
        return code.text()

    def _load(self, pointer: str, at: str) -> Value:
        return self._lanes.load(self._code.at(pointer, at), self._dtype)

    def _wide(self, number: str) -> Value:
        return self._lanes.cast(Value(number, INT64), FLOAT64)

    def _point(self, first: Value, part: Value, place: str, iteration: str, count: str) -> Value:
        """Where a point is: its iteration of `count` in a part."""
        lanes = self._lanes
        first, part = (lanes.cast(value, FLOAT64) for value in (first, part))
        middle = lanes.add(self._wide(iteration), lanes.constant(0.5, FLOAT64), exactly=True)
        step = lanes.multiply(middle, part, exactly=True)
        step = lanes.divide(step, self._wide(count))
        before = lanes.multiply(self._wide(place), part, exactly=True)
        begin = lanes.add(first, before, exactly=True)
        return lanes.cast(lanes.add(begin, step, exactly=True), self._dtype)

    def _share(self, row: str, point: Value, count: str, is_behind: bool) -> None:
        """Add what the pixel before or behind a point has in it; nothing of those outside."""
        code, lanes, dtype = self._code, self._lanes, self._dtype
        last = code.minus("%length", 1)
        length, end = (lanes.cast(Value(size, INT64), dtype) for size in ("%length", last))
        seen = lanes.both(
            lanes.compare("ge", point, lanes.constant(-1, dtype)),
            lanes.compare("le", point, length),
        )
        with code.when(seen.text):
            point = lanes.minimum(lanes.maximum(point, lanes.constant(0, dtype)), end)
            low = code.least(lanes.cast(point, INT64).text, last)
            share = lanes.subtract(lanes.cast(point, FLOAT64), self._wide(low), exactly=True)
            one = lanes.constant(1, FLOAT64)
            share = share if is_behind else lanes.subtract(one, share, exactly=True)
            share = lanes.multiply(share, lanes.divide(one, self._wide(count)), exactly=True)
            at = code.at(row, code.least(code.plus(low, 1), last) if is_behind else low)
            before = lanes.cast(lanes.load(at, dtype), FLOAT64)
            lanes.store(lanes.cast(lanes.add(before, share, exactly=True), dtype), at)


BOXES = (_write,)

__all__ = ["BOXES"]
