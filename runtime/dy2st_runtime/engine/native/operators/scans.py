"""Scans an axis: sums, products, maxima, logarithms of sums of powers up to each place.

    void scan(ptr result, ptr x, i64 outer, i64 count, i64 inner)
    void scan(ptr result, ptr places, ptr x, i64 outer, i64 count, i64 inner)

Elements that follow each other lie `inner` apart. As many rows as a vector has lanes are computed
at once; where rows lie one after the other, they are computed one by one.
"""

from __future__ import annotations

from collections.abc import Callable

from dy2st_runtime.dims import product
from dy2st_runtime.engine.native.machine import abi
from dy2st_runtime.engine.native.machine.llvm import Processor
from dy2st_runtime.engine.native.math.logarithm import logaddexp
from dy2st_runtime.engine.native.nests.access import stored
from dy2st_runtime.engine.native.program.planner import Step
from dy2st_runtime.engine.native.program.steps import Body, writer
from dy2st_runtime.engine.native.text.code import Code
from dy2st_runtime.engine.native.text.lanes import INT64, Lanes, Value
from dy2st_runtime.ir.program import Operator

_VECTOR = 32
"""The bytes of a vector."""

_JOINS: dict[str, Callable[[Lanes, Value, Value], Value]] = {
    "cumsum": Lanes.add,
    "cumprod": Lanes.multiply,
    "cummax": Lanes.maximum,
    "cummin": Lanes.minimum,
    "logcumsumexp": logaddexp,
}


@writer(lambda operator: operator.name in _JOINS and abi.is_native(operator.operands[0].dtype))
def _scan(body: Body, step: Step, operator: Operator) -> None:
    shape, axis = operator.results[0].tensor_type.shape, operator.attributes["axis"]
    inner = product(shape[axis + 1 :])
    is_single = isinstance(inner, int) and inner == 1
    name = body.module.shared(_Scan(operator).text(is_single), "scan")
    pointers = [body.place(result) for result in operator.results]
    pointers.append(body.places.address(operator.operands[0]))
    sizes = [body.sizes.value(size) for size in (product(shape[:axis]), shape[axis], inner)]
    arguments = [f"ptr {pointer}" for pointer in pointers] + [f"i64 {size}" for size in sizes]
    with body.lock.without(body.lock.is_long([shape]), polls=True):
        body.function.line(f"call void @{name}({', '.join(arguments)})")


class _Scan:
    """The function of an operator. The first element of a row is what it is."""

    def __init__(self, operator: Operator) -> None:
        self._join, self._is_back = _JOINS[operator.name], operator.attributes.get("reverse")
        self._dtype, self._given = operator.results[0].dtype, operator.operands[0].dtype
        self._has_places = len(operator.results) > 1
        pointers = ["%out", "%places", "%x"] if self._has_places else ["%out", "%x"]
        parameters = [("ptr", name) for name in pointers]
        parameters += [("i64", f"%{name}") for name in ("outer", "count", "inner")]
        self._code = Code("NAME", parameters, stored(self._dtype))
        self._code.scales, self._code.polls = Processor.host().scales, True

    def text(self, is_single: bool) -> str:
        """Its text, for rows of which each lies alone if they are single."""
        code = self._code
        with code.when(code.compare("sgt", "%count", 0)), code.loop("0", "%outer") as row:
            first = code.times(code.times(row, "%count"), "%inner")
            if is_single:
                self._rows(first, Lanes(code, 1))
            else:
                wide = _VECTOR // self._dtype.itemsize
                end = code.up_to("%inner", wide)
                with code.loop("0", end, str(wide)) as at:
                    self._rows(code.plus(first, at), Lanes(code, wide))
                with code.loop(end, "%inner") as at:
                    self._rows(code.plus(first, at), Lanes(code, 1))
        return code.end()

    def _rows(self, first: str, lanes: Lanes) -> None:
        """As many rows as there are lanes, of which these are the first elements."""
        code, wide = self._code, lanes.type(self._dtype)
        kept = [code.alloca(wide, 64)]
        if self._has_places:
            kept.append(code.alloca(lanes.type(INT64), 64))
        at, new = self._next(first, "0", lanes)
        self._keep(lanes, at, kept, [new, lanes.constant(0, INT64)])
        with code.loop("1", "%count") as iteration:
            at, new = self._next(first, iteration, lanes)
            before = Value(code.let(f"load {wide}, ptr {kept[0]}"), self._dtype)
            values = [self._join(lanes, before, new)]
            if self._has_places:
                # The place of the last one that is the best so far, or no number.
                before = lanes.let(f"load {lanes.type(INT64)}, ptr {kept[1]}", INT64)
                is_new = lanes.compare("eq", new, values[0])
                if new.dtype.kind == "f":
                    is_new = lanes.either(is_new, lanes.is_nan(new))
                values.append(lanes.select(is_new, lanes.splat(Value(iteration, INT64)), before))
            self._keep(lanes, at, kept, values)

    def _next(self, first: str, iteration: str, lanes: Lanes) -> tuple[str, Value]:
        """Where the elements of an iteration are, and they."""
        code = self._code
        place = code.minus(code.minus("%count", 1), iteration) if self._is_back else iteration
        at = code.plus(first, code.times(place, "%inner"))
        source = code.let(f"getelementptr {stored(self._given)}, ptr %x, i64 {at}")
        return at, lanes.cast(lanes.load(source, self._given), self._dtype)

    def _keep(self, lanes: Lanes, at: str, kept: list[str], values: list[Value]) -> None:
        """Hold what the next iteration needs, and write it."""
        code = self._code
        for place, pointer, value in zip(kept, ("%out", "%places"), values, strict=False):
            code.line(f"store {lanes.type(value.dtype)} {value.text}, ptr {place}")
            target = code.let(f"getelementptr {stored(value.dtype)}, ptr {pointer}, i64 {at}")
            lanes.store(value, target)


SCANS = (_scan,)

__all__ = ["SCANS"]
