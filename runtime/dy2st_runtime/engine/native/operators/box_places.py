"""Finds the largest pixels of the parts of boxes: the function of `roi_pool_places`.

i32 places(ptr out, ptr x, ptr boxes, ptr images, i64 size...)      1: no such image
"""

from __future__ import annotations

import math

from dy2st_runtime.engine.native.machine import abi
from dy2st_runtime.engine.native.nests.access import stored
from dy2st_runtime.engine.native.program.planner import Step
from dy2st_runtime.engine.native.program.steps import Body, writer
from dy2st_runtime.engine.native.text.code import Code
from dy2st_runtime.engine.native.text.lanes import FLOAT32, INT64, Lanes, Value
from dy2st_runtime.ir.program import Operator

_POINTERS = ("%x", "%boxes", "%images")
_SIZES = ("%number", "%count", "%channels", "%height", "%width")

Span = tuple[str, str]
"""Where a part begins and ends, along one axis."""


@writer(
    lambda operator: (
        operator.name == "roi_pool_places"
        and all(abi.is_native(operand.dtype) for operand in operator.operands)
        and operator.operands[-1].dtype != "uint64"
    )
)
def _write(body: Body, step: Step, operator: Operator) -> None:
    name = body.module.shared(_Places(operator).text(), "places")
    pointers = [body.place(operator.results[0])]
    pointers += [body.places.address(operand) for operand in operator.operands]
    x, boxes = (operand.tensor_type.shape for operand in operator.operands[:2])
    arguments = [f"ptr {pointer}" for pointer in pointers]
    arguments += [f"i64 {body.sizes.value(size)}" for size in (boxes[0], *x)]
    with body.lock.without(body.lock.is_long([operator.results[0].tensor_type.shape])):
        failed = body.function.let(f"call i32 @{name}({', '.join(arguments)})")
    body.unless(body.function.let(f"icmp eq i32 {failed}, 0"), [operator])


class _Places:
    """The function of an operator."""

    def __init__(self, operator: Operator) -> None:
        attributes = operator.attributes
        self._high, self._wide = attributes["high"], attributes["wide"]
        self._scale = attributes["scale"]
        self._dtypes = dict(zip(_POINTERS, (o.dtype for o in operator.operands), strict=True))
        parameters = [("ptr", name) for name in ("%out", *_POINTERS)]
        parameters += [("i64", name) for name in _SIZES]
        self._code = Code("NAME", parameters, stored(INT64), "i32")
        self._lanes = Lanes(self._code, 1)

    def text(self) -> str:
        """The function, as `@NAME`."""
        code = self._code
        with code.loop("0", "%number") as box:
            code.require(code.let(f"icmp ult i64 {self._image(box)}, %count"))
        with code.loop("0", "%number") as box:
            first = code.times(box, 4)
            left, top, right, bottom = (self._corner(code.plus(first, at)) for at in range(4))
            cell = code.times(code.times(box, "%channels"), self._high * self._wide)
            # The image of a box, looked at once more: another thread may have changed it.
            image = code.times(
                code.least(code.most(self._image(box), 0), code.minus("%count", 1)), "%channels"
            )
            with code.loop("0", str(self._high)) as i:
                rows = self._ends(top, bottom, i, self._high, "%height")
                with code.loop("0", str(self._wide)) as j:
                    columns = self._ends(left, right, j, self._wide, "%width")
                    own = code.plus(cell, code.plus(code.times(i, self._wide), j))
                    with code.loop("0", "%channels") as channel:
                        plane = code.times(
                            code.plus(image, channel), code.times("%height", "%width")
                        )
                        # The first place of the largest number, or of one that is none; -1 in an
                        # empty part.
                        lanes, dtype = self._lanes, self._dtypes["%x"]
                        best, place = code.alloca(stored(dtype)), code.alloca("i64")
                        lanes.store(lanes.constant(-math.inf, dtype), best)
                        start = code.plus(
                            plane, code.plus(code.times(rows[0], "%width"), columns[0])
                        )
                        is_any = code.both(
                            code.compare("slt", *rows), code.compare("slt", *columns)
                        )
                        lanes.store(Value(code.choose(is_any, start, -1), INT64), place)
                        with (
                            code.when(is_any),
                            code.loop(*rows) as row,
                            code.loop(*columns) as column,
                        ):
                            at = code.plus(plane, code.plus(code.times(row, "%width"), column))
                            value, before = self._load("%x", at), lanes.load(best, dtype)
                            is_more = lanes.either(
                                lanes.compare("gt", value, before), lanes.is_nan(value)
                            )
                            is_more = lanes.both(is_more, lanes.invert(lanes.is_nan(before)))
                            lanes.store(lanes.select(is_more, value, before), best)
                            known = lanes.load(place, INT64)
                            lanes.store(lanes.select(is_more, Value(at, INT64), known), place)
                        found = lanes.load(place, INT64).text
                        to = code.plus(own, code.times(channel, self._high * self._wide))
                        self._lanes.store(Value(found, INT64), code.at("%out", to))
        code.line("ret i32 0")
        return code.text()

    def _load(self, name: str, at: str) -> Value:
        dtype = self._dtypes[name]
        place = self._code.let(f"getelementptr {stored(dtype)}, ptr {name}, i64 {at}")
        return self._lanes.load(place, dtype)

    def _image(self, box: str) -> str:
        return self._lanes.cast(self._load("%images", box), INT64).text

    def _corner(self, at: str) -> Value:
        """The nearest whole pixel, halves away from 0."""
        lanes, dtype = self._lanes, self._dtypes["%boxes"]
        scaled = lanes.multiply(self._load("%boxes", at), lanes.constant(self._scale, dtype))
        half = lanes.constant(0.5, dtype)
        size = lanes.intrinsic("floor", lanes.add(lanes.magnitude(scaled), half, exactly=True))
        return lanes.intrinsic("copysign", size, scaled)

    def _ends(self, low: Value, high: Value, part: str, parts: int, length: str) -> Span:
        """Where a part of an interval of whole pixels begins and ends; parts are float32."""
        code, lanes, dtype = self._code, self._lanes, low.dtype
        one, zero = (lanes.constant(number, dtype) for number in (1, 0))
        extent = lanes.add(lanes.subtract(high, low, exactly=True), one, exactly=True)
        extent = lanes.select(lanes.compare("lt", extent, one), one, extent)
        size = lanes.divide(lanes.cast(extent, FLOAT32), lanes.constant(parts, FLOAT32))
        end, found = lanes.cast(Value(length, INT64), dtype), []
        for place, rounding in ((part, "floor"), (code.plus(part, 1), "ceil")):
            iteration = lanes.cast(Value(place, INT64), FLOAT32)
            moved = lanes.intrinsic(rounding, lanes.multiply(iteration, size, exactly=True))
            at = lanes.add(lanes.cast(moved, dtype), low, exactly=True)
            at = lanes.select(lanes.compare("gt", at, zero), at, zero)  # 0 for what is no number
            at = lanes.minimum(at, end)
            found.append(lanes.cast(at, INT64).text)
        return found[0], found[1]


BOX_PLACES = (_write,)

__all__ = ["BOX_PLACES"]
