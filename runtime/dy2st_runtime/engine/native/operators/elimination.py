"""Matrices as a lower by an upper one, and what is known then: `lu`, `lu_order`, `det`, `slogdet`.

    void lu(ptr packed, ptr pivots, ptr x, i64 batch, i64 rows, i64 columns)
    void det(ptr result..., ptr x, i64 batch)
    i32 order(ptr out, ptr pivots, i64 batch, i64 count, i64 rows)      1: a row is outside

As NumPy's kernel Gauss's elimination subtracts one row after the other. Products are rounded before
they are subtracted, so that the pivots are the same, too. Determinants of matrices that are large,
or of unknown sizes, are LAPACK's.
"""

from __future__ import annotations

import math

from dy2st_runtime.dims import product
from dy2st_runtime.engine.native.machine import abi
from dy2st_runtime.engine.native.machine.llvm import Processor
from dy2st_runtime.engine.native.math.exponential import exp
from dy2st_runtime.engine.native.math.logarithm import log
from dy2st_runtime.engine.native.nests.access import stored
from dy2st_runtime.engine.native.program.planner import Step
from dy2st_runtime.engine.native.program.steps import Body, writer
from dy2st_runtime.engine.native.text.code import Code, first_lanes
from dy2st_runtime.engine.native.text.lanes import BOOL, FLOAT64, INT32, INT64, DType, Lanes, Value
from dy2st_runtime.ir.program import Operator


@writer(lambda operator: operator.name == "lu" and abi.is_native(operator.operands[0].dtype))
def _write_lu(body: Body, step: Step, operator: Operator) -> None:
    x = operator.operands[0]
    name = body.module.shared(_Elimination(x.dtype).text(), "lu")
    pointers = [body.place(result) for result in operator.results]
    pointers.append(body.places.address(x))
    *outer, rows, columns = x.tensor_type.shape
    arguments = [f"ptr {pointer}" for pointer in pointers]
    arguments += [f"i64 {body.sizes.value(size)}" for size in (product(outer), rows, columns)]
    with body.lock.without(body.lock.is_long([x.tensor_type.shape])):
        body.function.line(f"call void @{name}({', '.join(arguments)})")


class _Elimination:
    """The function of a dtype."""

    def __init__(self, dtype: DType) -> None:
        parameters = [("ptr", name) for name in ("%out", "%pivots", "%x")]
        parameters += [("i64", name) for name in ("%batch", "%rows", "%columns")]
        self._dtype, self._code = dtype, Code("NAME", parameters, stored(dtype))
        self._one = Lanes(self._code, 1)
        self._lanes = Lanes(self._code, Processor.host().vector_bytes // dtype.itemsize)

    def text(self) -> str:
        """The function, as `@NAME`."""
        code, size = self._code, self._code.times("%rows", "%columns")
        bytes = code.times(code.times("%batch", size), self._dtype.itemsize)
        code.line(f"call void @llvm.memcpy.p0.p0.i64(ptr %out, ptr %x, i64 {bytes}, i1 false)")
        count = code.least("%rows", "%columns")
        with code.loop("0", "%batch") as iteration, code.loop("0", count) as k:
            matrix = code.at("%out", code.times(iteration, size))
            best = self._largest(matrix, k)
            place = code.plus(code.times(iteration, count), k)
            target = code.let(f"getelementptr i32, ptr %pivots, i64 {place}")
            number = self._one.cast(Value(code.plus(best, 1), INT64), INT32)
            self._one.store(number, target)
            exchanged, lanes = [self._row(matrix, k), self._row(matrix, best)], self._lanes
            with code.loop("0", "%columns", str(lanes.lanes)) as at:
                mask = first_lanes(lanes, code.minus("%columns", at))
                places = [code.at(line, at) for line in exchanged]
                values = [lanes.load(place, self._dtype, mask) for place in places]
                for value, place in zip(values[::-1], places, strict=True):
                    lanes.store(value, place, mask)
            with code.loop(code.plus(k, 1), "%rows") as row:
                # Subtract such a share of the row at the top that column k is 0; it is kept there.
                top = self._row(matrix, k)
                line, one = self._row(matrix, row), self._one
                pivot = self._load(top, k)
                # The largest of a column is 0: so are all below it: nothing is to be subtracted.
                is_zero = one.compare("eq", pivot, one.constant(0, self._dtype))
                safe = one.select(is_zero, one.constant(1, self._dtype), pivot)
                share = one.divide(self._load(line, k), safe)
                one.store(share, code.at(line, k))
                wide = lanes.splat(share)
                with code.loop(code.plus(k, 1), "%columns", str(lanes.lanes)) as at:
                    mask = first_lanes(lanes, code.minus("%columns", at))
                    target = code.at(line, at)
                    value = lanes.load(code.at(top, at), self._dtype, mask)
                    less = lanes.multiply(wide, value, exactly=True)
                    before = lanes.load(target, self._dtype, mask)
                    lanes.store(lanes.subtract(before, less, exactly=True), target, mask)
        return code.end()

    def _row(self, matrix: str, row: str) -> str:
        return self._code.at(matrix, self._code.times(row, "%columns"))

    def _load(self, row: str, column: str) -> Value:
        return self._one.load(self._code.at(row, column), self._dtype)

    def _largest(self, matrix: str, k: str) -> str:
        """The first row from k on whose element in column k is the largest, or is no number."""
        code, one = self._code, self._one
        best, place = code.alloca(stored(self._dtype)), code.alloca("i64")
        one.store(one.magnitude(self._load(self._row(matrix, k), k)), best)
        one.store(Value(k, INT64), place)
        with code.loop(code.plus(k, 1), "%rows") as row:
            size = one.magnitude(self._load(self._row(matrix, row), k))
            before = one.load(best, self._dtype)
            is_more = one.either(one.compare("gt", size, before), one.is_nan(size))
            is_more = one.both(is_more, one.invert(one.is_nan(before)))
            one.store(one.select(is_more, size, before), best)
            one.store(one.select(is_more, Value(row, INT64), one.load(place, INT64)), place)
        return one.load(place, INT64).text


# -- the order of rows -----------------------------------------------------------------------------


@writer(
    lambda operator: operator.name == "lu_order" and operator.operands[0].dtype in (INT32, INT64)
)
def _write_order(body: Body, step: Step, operator: Operator) -> None:
    pivots, result = operator.operands[0], operator.results[0]
    parameters = [("ptr", "%out"), ("ptr", "%pivots")]
    parameters += [("i64", name) for name in ("%batch", "%count", "%rows")]
    code = Code("NAME", parameters, "i64", "i32")
    with code.loop("0", "%batch") as iteration:
        order = code.at("%out", code.times(iteration, "%rows"))
        with code.loop("0", "%rows") as row:
            code.line(f"store i64 {row}, ptr {code.at(order, row)}")
        with code.loop("0", "%count") as k:
            # The row with which one is exchanged; from the end if it is negative.
            at = code.plus(code.times(iteration, "%count"), k)
            one = Lanes(code, 1)
            place = code.let(f"getelementptr {stored(pivots.dtype)}, ptr %pivots, i64 {at}")
            other = code.minus(one.cast(one.load(place, pivots.dtype), INT64).text, 1)
            behind = code.let(f"add i64 {other}, %rows")
            other = code.choose(code.compare("slt", other, 0), behind, other)
            for row in (other, k):
                code.require(code.let(f"icmp ult i64 {row}, %rows"))
            places = [code.at(order, row) for row in (k, other)]
            values = [code.let(f"load i64, ptr {place}") for place in places]
            for value, place in zip(values[::-1], places, strict=True):
                code.line(f"store i64 {value}, ptr {place}")
    code.line("ret i32 0")
    name = body.module.shared(code.text(), "order")
    *outer, count = pivots.tensor_type.shape
    sizes = (product(outer), count, result.tensor_type.shape[-1])
    arguments = [f"ptr {body.place(result)}", f"ptr {body.places.address(pivots)}"]
    arguments += [f"i64 {body.sizes.value(size)}" for size in sizes]
    failed = body.function.let(f"call i32 @{name}({', '.join(arguments)})")
    body.unless(body.function.let(f"icmp eq i32 {failed}, 0"), [operator])


# -- determinants ----------------------------------------------------------------------------------

_LARGEST = 32
"""Up to which size matrices are not worth a call of LAPACK."""


@writer(
    lambda operator: (
        operator.name in ("det", "slogdet")
        and abi.is_native(operator.operands[0].dtype)
        and isinstance(operator.operands[0].tensor_type.shape[-1], int)
        and operator.operands[0].tensor_type.shape[-1] <= _LARGEST
    )
)
def _write_determinant(body: Body, step: Step, operator: Operator) -> None:
    x = operator.operands[0]
    body.module.pool("scratch")
    lu = body.module.shared(_Elimination(x.dtype).text(), "lu")
    # By logarithms, as NumPy has it: a product of many numbers may be too large on the way.
    dtype, size = operator.results[0].dtype, int(operator.operands[0].tensor_type.shape[-1])
    results = [f"%out{index}" for index in range(len(operator.results))]
    parameters = [*(("ptr", name) for name in (*results, "%x")), ("i64", "%batch")]
    code = Code("NAME", parameters, stored(dtype))
    one, code.scales = Lanes(code, 1), Processor.host().scales
    memory = code.let(f"call ptr @scratch_take(i64 {size * size * dtype.itemsize + size * 4 + 64})")
    pivots = code.at(memory, size * size)
    with code.loop("0", "%batch") as iteration:
        source = code.at("%x", code.times(iteration, size * size))
        pointers = f"ptr {memory}, ptr {pivots}, ptr {source}"
        code.line(f"call void @{lu}({pointers}, i64 1, i64 {size}, i64 {size})")
        sign, logarithm = _signed(code, one, dtype, (memory, pivots), size)
        values = [sign, logarithm]
        if len(results) == 1:
            values = [one.multiply(sign, exp(one, logarithm))]
        for name, value in zip(results, values, strict=True):
            one.store(one.cast(value, dtype), code.at(name, iteration))
    code.line(f"call void @scratch_give(ptr {memory})")
    det = body.module.shared(code.end(), "det")
    places = [*(body.place(result) for result in operator.results), body.places.address(x)]
    listed = ", ".join(f"ptr {place}" for place in places)
    batch = body.sizes.value(product(x.tensor_type.shape[:-2]))
    with body.lock.without(body.lock.is_long([x.tensor_type.shape])):
        body.function.line(f"call void @{det}({listed}, i64 {batch})")


def _signed(
    code: Code, one: Lanes, dtype: DType, packed: tuple[str, str], size: int
) -> tuple[Value, Value]:
    """The sign of the product of a diagonal after exchanges, and the logarithm of its size."""
    places = [code.alloca("double") for _ in range(2)]
    zero = one.constant(0, FLOAT64)
    for place, start in zip(places, (one.constant(1, FLOAT64), zero), strict=True):
        one.store(start, place)
    with code.loop("0", str(size)) as k:
        sign, total = (one.load(place, FLOAT64) for place in places)
        at = code.at(packed[0], code.times(k, size + 1))
        number = one.cast(one.load(at, dtype), FLOAT64)
        pivot = one.load(code.let(f"getelementptr i32, ptr {packed[1]}, i64 {k}"), INT32)
        is_moved = code.compare("ne", one.cast(pivot, INT64).text, code.plus(k, 1))
        iterations = one.differ(Value(is_moved, BOOL), one.compare("lt", number, zero))
        sign = one.select(iterations, one.negate(sign), sign)
        sign = one.select(one.compare("eq", number, zero), zero, sign)
        one.store(sign, places[0])
        one.store(one.add(total, log(one, one.magnitude(number))), places[1])
    sign, total = (one.load(place, FLOAT64) for place in places)
    is_zero = one.compare("eq", sign, zero)
    return sign, one.select(is_zero, one.constant(-math.inf, FLOAT64), total)


ELIMINATIONS = (
    _write_lu,
    _write_order,
    _write_determinant,
)

__all__ = ["ELIMINATIONS"]
