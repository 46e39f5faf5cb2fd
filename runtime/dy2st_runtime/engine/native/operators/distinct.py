"""Finds distinct elements: one of all that are equal, or of each run of them.

    i64 runs(ptr inverse, ptr x, i64 count, i64 row)
    void picked(ptr values[, ptr places], ptr counts, ptr x, ptr inverse, i64... count, row, found)

The first says which distinct one each row is, and gives how many there are; the other writes those
down. Rows are of one element for `unique`, which sorts them first.
"""

from __future__ import annotations

from dy2st_runtime.dims import product
from dy2st_runtime.engine.native.machine import abi
from dy2st_runtime.engine.native.nests.access import stored
from dy2st_runtime.engine.native.operators.ordering import at_of, key_of, key_type
from dy2st_runtime.engine.native.operators.sorts import Rows
from dy2st_runtime.engine.native.program.planner import Step
from dy2st_runtime.engine.native.program.steps import Body, writer
from dy2st_runtime.engine.native.text.code import Code
from dy2st_runtime.engine.native.text.lanes import BOOL, INT64, DType, Lanes
from dy2st_runtime.ir.program import Operator


@writer(
    lambda operator: (
        operator.name in ("unique", "unique_consecutive")
        and abi.is_native(operator.operands[0].dtype)
        # Slices of more axes are compared elsewhere.
        and (operator.attributes.get("axis") is None or operator.operands[0].tensor_type.rank == 1)
    ),
    holds=True,
)
def _unique(body: Body, step: Step, operator: Operator) -> None:
    x = operator.operands[0]
    values, *places, inverse, counts = operator.results
    runs = body.module.shared(_RUNS[operator.name](body, x.dtype), "runs")
    # How many elements each value has.
    count = body.sizes.value(inverse.tensor_type.shape[0])
    row = body.sizes.value(product(operator.results[0].tensor_type.shape[1:]))
    arguments = f"ptr {body.places.address(x)}, i64 {count}, i64 {row}"
    made = body.places.sized(INT64, [count])
    body.calls.check_made(made)
    with body.lock.without(body.lock.is_long([x.tensor_type.shape])):
        found = body.function.let(f"call i64 @{runs}(ptr {body.places.data(made)}, {arguments})")
    body.calls.take(made, inverse)
    for result in (values, *places, counts):
        behind = [body.sizes.value(size) for size in result.tensor_type.shape[1:]]
        made = body.places.sized(result.dtype, [found, *behind])
        body.calls.check_made(made)
        body.calls.take(made, result)
    picked = body.module.shared(_picked(x.dtype, bool(places)), "picked")
    pointers = [body.places.address(v) for v in (values, *places, counts, x, inverse)]
    arguments = ", ".join(f"ptr {pointer}" for pointer in pointers)
    body.function.line(f"call void @{picked}({arguments}, i64 {count}, i64 {row}, i64 {found})")


_PARAMETERS = [("ptr", "%inverse"), ("ptr", "%x"), ("i64", "%count"), ("i64", "%row")]


class _Runs:
    """Writes how rows that follow each other are counted where they differ."""

    def __init__(self, dtype: DType) -> None:
        self.code = Code("NAME", _PARAMETERS, stored(dtype), "i64", "noinline nounwind")
        self.one, self.dtype = Lanes(self.code, 1), dtype
        self._last = self.code.alloca("i64")
        self.code.line(f"store i64 -1, ptr {self._last}")

    def put(self, at: str, differs: str) -> None:
        """Say which one a row is: the next one, if it differs from the one before."""
        code = self.code
        number = code.let(f"add i64 {self._read()}, {code.let(f'zext i1 {differs} to i64')}")
        code.line(f"store i64 {number}, ptr {self._last}")
        code.line(f"store i64 {number}, ptr {at_of(code, '%inverse', INT64, at)}")

    def text(self) -> str:
        """The function."""
        self.code.line(f"ret i64 {self.code.plus(self._read(), 1)}")
        return self.code.text()

    def _read(self) -> str:
        return self.code.let(f"load i64, ptr {self._last}")


def _sorted_runs(body: Body, dtype: DType) -> str:
    """`runs` of elements in order: a key says which are equal, and so NaN is one of them."""
    body.module.pool("places")
    rows = Rows(dtype, False, False).add(body.module)
    runs = _Runs(dtype)
    code, one = runs.code, runs.one
    places = code.let(f"call ptr @places_take(i64 {code.times('%count', 8)})")
    sizes = [("i64", size) for size in ("%count", 1, "%count", 0, 1)]
    code.call(rows, ("ptr", places), ("ptr", "%x"), *sizes)
    before = code.alloca(f"i{8 * key_type(dtype).itemsize}")
    with code.loop("0", "%count") as iteration:
        at = code.let(f"load i64, ptr {at_of(code, places, INT64, iteration)}")
        key = key_of(one, one.load(code.at("%x", at), dtype), False)
        differs = one.compare("ne", key, one.load(before, key.dtype)).text
        runs.put(at, code.either(code.compare("eq", iteration, 0), differs))
        one.store(key, before)
    code.line(f"call void @places_give(ptr {places})")
    return runs.text()


def _runs_as_they_are(body: Body, dtype: DType) -> str:
    """`runs` of rows in the order in which they are; NaN differs from itself."""
    runs = _Runs(dtype)
    code, one, differs = runs.code, runs.one, runs.code.alloca("i8")
    with code.loop("0", "%count") as at:
        is_first = code.compare("eq", at, 0)
        code.line(f"store i8 {code.let(f'zext i1 {is_first} to i8')}, ptr {differs}")
        start = code.times(at, "%row")
        before = code.choose(is_first, start, code.minus(start, "%row"))
        with code.loop("0", "%row") as place:
            own, other = (
                one.load(code.at("%x", code.plus(first, place)), dtype) for first in (start, before)
            )
            found = one.either(one.load(differs, BOOL), one.compare("ne", own, other))
            one.store(found, differs)
        runs.put(at, one.load(differs, BOOL).text)
    return runs.text()


_RUNS = {"unique": _sorted_runs, "unique_consecutive": _runs_as_they_are}


def _picked(dtype: DType, has_places: bool) -> str:
    """The function `picked`: of each value the first row, where that is, and how many there are."""
    places = ["%places"] if has_places else []
    pointers = ["%values", *places, "%counts", "%x", "%inverse"]
    numbers = ("%count", "%row", "%found")
    parameters = [("ptr", name) for name in pointers] + [("i64", name) for name in numbers]
    code = Code("NAME", parameters, stored(dtype), attributes="noinline nounwind")
    bytes = code.times("%found", 8)
    code.line(f"call void @llvm.memset.p0.i64(ptr %counts, i8 0, i64 {bytes}, i1 false)")
    with code.loop("0", "%count") as at:
        number = code.let(f"load i64, ptr {at_of(code, '%inverse', INT64, at)}")
        place = at_of(code, "%counts", INT64, number)
        count = code.let(f"load i64, ptr {place}")
        code.line(f"store i64 {code.plus(count, 1)}, ptr {place}")
        with code.when(code.compare("eq", count, 0)):
            if has_places:
                code.line(f"store i64 {at}, ptr {at_of(code, '%places', INT64, number)}")
            with code.loop("0", "%row") as column:
                source = code.at("%x", code.plus(code.times(at, "%row"), column))
                target = code.at("%values", code.plus(code.times(number, "%row"), column))
                value = code.let(f"load {code.element}, ptr {source}")
                code.line(f"store {code.element} {value}, ptr {target}")
    return code.end()


DISTINCT = (_unique,)

__all__ = ["DISTINCT"]
