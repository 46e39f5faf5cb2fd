"""frexp, which gives two numbers for each: the function that computes it.

void frexp(ptr mantissas, ptr exponents, ptr x, i64 count)
"""

from __future__ import annotations

import math

import numpy as np

from dy2st_runtime.dims import product
from dy2st_runtime.engine.native.machine import abi
from dy2st_runtime.engine.native.math.exponential import format_of
from dy2st_runtime.engine.native.nests.access import stored
from dy2st_runtime.engine.native.program.planner import Step
from dy2st_runtime.engine.native.program.steps import Body, writer
from dy2st_runtime.engine.native.text.code import Code
from dy2st_runtime.engine.native.text.lanes import Lanes, integers_of
from dy2st_runtime.ir.program import Operator

_VECTOR = 32
"""The bytes of a vector."""


@writer(lambda operator: operator.name == "frexp" and abi.is_native(operator.operands[0].dtype))
def _write(body: Body, step: Step, operator: Operator) -> None:
    x = operator.operands[0]
    names = ("%mantissas", "%exponents", "%x")
    parameters = [*(("ptr", name) for name in names), ("i64", "%count")]
    code, wide = Code("NAME", parameters, stored(x.dtype)), _VECTOR // x.dtype.itemsize
    end = code.up_to("%count", wide)
    for first, last, count in (("0", end, wide), (end, "%count", 1)):
        lanes = Lanes(code, count)
        with code.loop(first, last, str(count)) as at:
            # m and e with x = m * 2**e and m from 1/2 to 1; x and 0 of 0 and what is not finite.
            element = lanes.load(code.at("%x", at), x.dtype)
            dtype, whole, form = element.dtype, integers_of(element.dtype), format_of(element.dtype)
            steps, zero = form.mantissa + 1, lanes.constant(0, dtype)
            places, half = (lanes.constant(n, whole) for n in (form.mantissa, form.bias - 1))
            size, mask = lanes.magnitude(element), lanes.constant(2 * form.bias + 1, whole)
            is_small = lanes.compare("lt", size, lanes.constant(np.finfo(dtype).tiny, dtype))
            larger = lanes.multiply(element, lanes.constant(2.0**steps, dtype))
            bits = lanes.bits(lanes.select(is_small, larger, element), whole)
            e = lanes.subtract(lanes.both(lanes.binary("ashr", bits, places), mask), half)
            less = lanes.select(is_small, lanes.constant(steps, whole), lanes.constant(0, whole))
            e = lanes.small_integer(lanes.subtract(e, less), dtype)
            own = lanes.both(bits, lanes.invert(lanes.binary("shl", mask, places)))
            m = lanes.bits(lanes.either(own, lanes.binary("shl", half, places)), dtype)
            is_finite = lanes.compare("lt", size, lanes.constant(math.inf, dtype))
            is_usual = lanes.both(is_finite, lanes.compare("ne", element, zero))
            found = lanes.select(is_usual, m, element), lanes.select(is_usual, e, zero)
            for value, pointer in zip(found, names[:2], strict=True):
                lanes.store(value, code.at(pointer, at))
    name = body.module.shared(code.end(), "frexp")
    pointers = [body.place(result) for result in operator.results]
    pointers.append(body.places.address(x))
    listed = ", ".join(f"ptr {pointer}" for pointer in pointers)
    elements = body.sizes.value(product(x.tensor_type.shape))
    with body.lock.without(body.lock.is_long([x.tensor_type.shape])):
        body.function.line(f"call void @{name}({listed}, i64 {elements})")


MANTISSAS = (_write,)

__all__ = ["MANTISSAS"]
