"""Writes the function that finds places in sorted vectors.

    void searches(ptr out, ptr sequence, ptr values, i64 size, i64 count, i64 rows)

Of several vectors each has its own values: `count` of them in each of the rows. Every search takes
as many steps as the size takes, so the lanes of a vector search at once.
"""

from __future__ import annotations

from dy2st_runtime.dims import product
from dy2st_runtime.engine.native.machine import abi
from dy2st_runtime.engine.native.machine.llvm import Processor
from dy2st_runtime.engine.native.nests.access import stored
from dy2st_runtime.engine.native.operators.ordering import at_of, key_of
from dy2st_runtime.engine.native.program.planner import Step
from dy2st_runtime.engine.native.program.steps import Body, writer
from dy2st_runtime.engine.native.text.code import Code
from dy2st_runtime.engine.native.text.lanes import INT64, DType, Lanes, Value
from dy2st_runtime.ir.program import Operator


@writer(
    lambda operator: (
        operator.name == "searchsorted"
        and abi.is_native(operator.operands[1].dtype)
        and operator.operands[0].dtype == operator.operands[1].dtype
    )
)
def _search(body: Body, step: Step, operator: Operator) -> None:
    sequence, values = operator.operands
    code = Code("NAME", _PARAMETERS, stored(values.dtype), attributes="noinline nounwind")
    wide = Lanes(code, Processor.host().vector_bytes // 4)
    end = code.up_to("%count", wide.lanes)
    for first, last, lanes in (("0", end, wide), (end, "%count", Lanes(code, 1))):
        search = _Search(code, lanes, values.dtype, "le" if operator.attributes["right"] else "lt")
        with code.loop(first, last, str(lanes.lanes)) as at:
            found = search.place_of(lanes.load(code.at("%values", at), values.dtype))
            lanes.store(found, at_of(code, "%out", INT64, at))
    shared = body.module.shared(code.end(), "search")
    # A search in each row, one after the other.
    each = Code("NAME", [*_PARAMETERS, ("i64", "%rows")], stored(values.dtype))
    with each.loop("0", "%rows") as row:
        begin = each.times(row, "%count")
        target = at_of(each, "%out", INT64, begin)
        row_of_sequence = each.at("%sequence", each.times(row, "%size"))
        given = [("ptr", one) for one in (target, row_of_sequence, each.at("%values", begin))]
        each.call(shared, *given, ("i64", "%size"), ("i64", "%count"))
    name = body.module.shared(each.end(), "searches")
    pointers = [body.place(operator.results[0])]
    pointers += [body.places.address(operand) for operand in (sequence, values)]
    shape = values.tensor_type.shape
    own = sequence.tensor_type.shape
    rows = product(own[:-1])
    count = product(shape) if len(own) == 1 else shape[-1]
    sizes = [body.sizes.value(size) for size in (own[-1], count, rows)]
    arguments = [f"ptr {pointer}" for pointer in pointers] + [f"i64 {size}" for size in sizes]
    with body.lock.without(body.lock.is_long([shape])):
        body.function.line(f"call void @{name}({', '.join(arguments)})")


_PARAMETERS = [("ptr", name) for name in ("%out", "%sequence", "%values")]
_PARAMETERS += [("i64", "%size"), ("i64", "%count")]


class _Search:
    """Writes a search for as many values as there are lanes."""

    def __init__(self, code: Code, lanes: Lanes, dtype: DType, relation: str) -> None:
        """`relation`: between an element that lies before a value, and that value."""
        self._code, self._lanes, self._dtype, self._relation = code, lanes, dtype, relation
        self._low = code.alloca(lanes.type(INT64), 64)
        self._size = code.alloca("i64")

    def place_of(self, value: Value) -> Value:
        """How many elements lie before each value."""
        code, lanes = self._code, self._lanes
        own = key_of(lanes, value, False)
        lanes.store(lanes.constant(0, INT64), self._low)
        code.line(f"store i64 %size, ptr {self._size}")
        with code.repeat(self._size, lambda size: code.compare("sgt", size, 1)) as size:
            half = code.let(f"lshr i64 {size}, 1")
            self._pass_by(half, own)
            code.line(f"store i64 {code.minus(size, half)}, ptr {self._size}")
        with code.when(code.compare("ne", "%size", 0)):
            self._pass_by("1", own)
        return lanes.load(self._low, INT64)

    def _pass_by(self, count: str, own: Value) -> None:
        """Go on behind so many elements where the last of them lies before the value."""
        code, lanes = self._code, self._lanes
        first = lanes.load(self._low, INT64)
        behind = lanes.add(first, lanes.splat(Value(count, INT64)))
        last = lanes.subtract(behind, lanes.constant(1, INT64))
        places = code.let(
            f"getelementptr {stored(self._dtype)}, ptr %sequence, {lanes.type(INT64)} {last.text}"
        )
        key = key_of(lanes, lanes.gather(places, self._dtype), False)
        lanes.store(lanes.select(lanes.compare(self._relation, key, own), behind, first), self._low)


SEARCHES = (_search,)

__all__ = ["SEARCHES"]
