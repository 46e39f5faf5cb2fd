"""Running sums and products: the function that computes them.

    void scan(ptr result, ptr x, i64 outer, i64 count, i64 inner)

Elements that follow each other lie `inner` apart. As many rows as a vector has lanes are computed
at once; where rows lie one after the other, they are computed one by one.
"""

from __future__ import annotations

from dy2st_runtime.dims import product
from dy2st_runtime.engine.native import abi
from dy2st_runtime.engine.native.access import stored
from dy2st_runtime.engine.native.code import Code
from dy2st_runtime.engine.native.lanes import DType, Lanes, Value
from dy2st_runtime.engine.native.planned import Step
from dy2st_runtime.engine.native.steps import Body, Writer
from dy2st_runtime.ir.program import Operator

_VECTOR = 32
"""The bytes of a vector."""

_JOINS = {"cumsum": Lanes.add, "cumprod": Lanes.multiply}


def _is_scan(operator: Operator) -> bool:
    return operator.name in _JOINS and abi.is_native(operator.operands[0].dtype)


def _scan(body: Body, step: Step, operator: Operator) -> None:
    shape, axis = operator.results[0].tensor_type.shape, operator.attributes["axis"]
    inner = product(shape[axis + 1 :])
    is_single = isinstance(inner, int) and inner == 1
    name = body.module.shared(_text(operator, is_single), "scan")
    target, source = body.place(operator.results[0]), body.places.address(operator.operands[0])
    sizes = [body.sizes.value(size) for size in (product(shape[:axis]), shape[axis], inner)]
    arguments = [f"ptr {target}", f"ptr {source}", *(f"i64 {size}" for size in sizes)]
    with body.lock.without(body.lock.is_long([shape])):
        body.function.line(f"call void @{name}({', '.join(arguments)})")


def _text(operator: Operator, is_single: bool) -> str:
    dtype = operator.results[0].dtype
    parameters = [("ptr", "%out"), ("ptr", "%x"), *((("i64", f"%{n}")) for n in _SIZES)]
    code = Code("NAME", parameters, stored(dtype))
    with code.loop("0", "%outer") as row:
        first = code.times(code.times(row, "%count"), "%inner")
        if is_single:
            _rows(code, operator, first, Lanes(code, 1))
        else:
            wide = _VECTOR // dtype.itemsize
            end = code.up_to("%inner", wide)
            with code.loop("0", end, str(wide)) as at:
                _rows(code, operator, code.plus(first, at), Lanes(code, wide))
            with code.loop(end, "%inner") as at:
                _rows(code, operator, code.plus(first, at), Lanes(code, 1))
    return code.end()


_SIZES = ("outer", "count", "inner")


def _rows(code: Code, operator: Operator, first: str, lanes: Lanes) -> None:
    """As many rows as there are lanes, of which these are the first elements."""
    dtype, given = operator.results[0].dtype, operator.operands[0].dtype
    kept, wide = code.alloca(lanes.type(dtype), 64), lanes.type(dtype)
    start = lanes.constant(_start(operator.name, dtype), dtype)
    code.line(f"store {wide} {start.text}, ptr {kept}")
    with code.loop("0", "%count") as turn:
        place = code.minus(code.minus("%count", 1), turn) if _is_back(operator) else turn
        at = code.plus(first, code.times(place, "%inner"))
        source = code.let(f"getelementptr {stored(given)}, ptr %x, i64 {at}")
        new = lanes.cast(lanes.load(source, given), dtype)
        before = Value(code.let(f"load {wide}, ptr {kept}"), dtype)
        value = _JOINS[operator.name](lanes, before, new)
        code.line(f"store {wide} {value.text}, ptr {kept}")
        lanes.store(value, code.at("%out", at))


def _is_back(operator: Operator) -> bool:
    return bool(operator.attributes["reverse"])


def _start(name: str, dtype: DType) -> float:
    """What changes no element: 0 + -0.0 is 0."""
    if name == "cumprod":
        return 1
    return -0.0 if dtype.kind == "f" else 0


SCANS = (Writer(_is_scan, _scan),)

__all__ = ["SCANS"]
