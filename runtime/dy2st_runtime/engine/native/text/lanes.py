"""Writes elementwise code: instructions on values of one lane, or of a vector of them.

What is written by a `Lanes` means the same for one lane as for sixteen: the types alone differ.
Arithmetic of floats may be contracted: a product and the sum that takes it become one instruction
where the processor has it. What must be rounded twice is written with `exactly=True`.

>>> function = Function("f", [("<8 x float>", "%x")], "<8 x float>")
>>> lanes = Lanes(function, 8)
>>> x = Value("%x", np.dtype("float32"))
>>> function.line(f"ret <8 x float> {lanes.add(x, lanes.constant(1.5, x.dtype)).text}")
>>> print(function.text())
define internal <8 x float> @f(<8 x float> %x) {
entry:
  %v1 = fadd contract <8 x float> %x, splat (float 0x3FF8000000000000)
  ret <8 x float> %v1
}
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from struct import pack
from typing import Any, NamedTuple

import numpy as np

from dy2st_runtime.engine.native.text.function import Function

DType = np.dtype[Any]

BOOL, INT32, INT64 = np.dtype("bool"), np.dtype("int32"), np.dtype("int64")
UINT32, UINT64 = np.dtype("uint32"), np.dtype("uint64")
FLOAT32, FLOAT64 = np.dtype("float32"), np.dtype("float64")

_NAMES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
NATIVE = frozenset(np.dtype(name) for name in (*_NAMES, "float32", "float64"))
"""The dtypes that machine code computes with."""

_LOOK_UP = "llvm.x86.avx512.vpermi2var.ps.512"

_NO_FLOAT32 = 2.0**128 - 2.0**103
"""From here on numbers are infinite in float32."""


class Value(NamedTuple):
    """A name or literal of LLVM, and the dtype of each lane; bools are i1."""

    text: str
    dtype: DType


def element(dtype: DType) -> str:
    """LLVM's type of one lane in a register."""
    if dtype.kind == "f":
        return "float" if dtype.itemsize == 4 else "double"
    return "i1" if dtype.kind == "b" else f"i{8 * dtype.itemsize}"


def literal(value: Any, dtype: DType) -> str:
    """A number of a dtype as LLVM writes it; it must be one of that dtype, or a float near it."""
    if dtype.kind != "f":
        return ("true" if value else "false") if dtype.kind == "b" else str(int(value))
    number = float(value)
    if dtype.itemsize == 4:
        number = float(np.float32(number)) if abs(number) < _NO_FLOAT32 else number * math.inf
    return f"0x{pack('>d', number).hex().upper()}"


def integers_of(dtype: DType) -> DType:
    """The signed integers that are as wide as a float."""
    return INT32 if dtype.itemsize == 4 else INT64


class Lanes:
    """Writes elementwise instructions into a Function, for a number of lanes."""

    def __init__(self, function: Function, lanes: int) -> None:
        """One lane is plain scalars, no vectors."""
        self.function = function
        self.lanes = lanes
        self._types: dict[DType, str] = {}

    # -- types, constants, memory --------------------------------------------------------------

    def type(self, dtype: DType) -> str:
        """LLVM's type of a Value."""
        known = self._types.get(dtype)
        if known is None:
            one = element(dtype)
            known = one if self.lanes == 1 else f"<{self.lanes} x {one}>"
            self._types[dtype] = known
        return known

    def suffix(self, dtype: DType) -> str:
        """How the names of intrinsics spell the type of a Value: v16f32."""
        one = element(dtype)
        short = {"float": "f32", "double": "f64"}.get(one, one)
        return short if self.lanes == 1 else f"v{self.lanes}{short}"

    def let(self, instruction: str, dtype: DType) -> Value:
        """The result of an instruction."""
        return Value(self.function.let(instruction), dtype)

    def constant(self, value: Any, dtype: DType) -> Value:
        """A number in all lanes."""
        text = literal(value, dtype)
        return Value(text if self.lanes == 1 else f"splat ({element(dtype)} {text})", dtype)

    def splat(self, value: Value) -> Value:
        """A Value of one lane in all lanes."""
        if self.lanes == 1:
            return value
        one = element(value.dtype)
        if not value.text.startswith("%"):
            return Value(f"splat ({one} {value.text})", value.dtype)
        wide = self.type(value.dtype)
        first = self.function.let(f"insertelement {wide} poison, {one} {value.text}, i64 0")
        zeros = f"<{self.lanes} x i32> zeroinitializer"
        return self.let(f"shufflevector {wide} {first}, {wide} poison, {zeros}", value.dtype)

    def load(self, pointer: str, dtype: DType, mask: str | None = None) -> Value:
        """Lanes that lie one after the other; 0 where the mask has none. Bools are bytes there."""
        stored = np.dtype("uint8") if dtype.kind == "b" else dtype
        wide, align = self.type(stored), stored.itemsize
        if mask is None:
            value = self.let(f"load {wide}, ptr {pointer}, align {align}", stored)
        else:
            value = self.let(
                f"call {wide} @llvm.masked.load.{self.suffix(stored)}.p0(ptr align {align} "
                f"{pointer}, {self.type(BOOL)} {mask}, {wide} zeroinitializer)",
                stored,
            )
        return self.cast(value, dtype)

    def store(self, value: Value, pointer: str, mask: str | None = None) -> None:
        """Write lanes one after the other."""
        stored = self.cast(value, np.dtype("uint8")) if value.dtype.kind == "b" else value
        wide, align = self.type(stored.dtype), stored.dtype.itemsize
        if mask is None:
            self.function.line(f"store {wide} {stored.text}, ptr {pointer}, align {align}")
            return
        self.function.line(
            f"call void @llvm.masked.store.{self.suffix(stored.dtype)}.p0({wide} {stored.text}, "
            f"ptr align {align} {pointer}, {self.type(BOOL)} {mask})"
        )

    def gather(self, places: str, dtype: DType, mask: str = "splat (i1 true)") -> Value:
        """An element for each lane, at addresses of their own; 0 where the mask has none."""
        if self.lanes == 1:
            return self.load(places, dtype)
        stored = np.dtype("uint8") if dtype.kind == "b" else dtype
        wide = self.type(stored)
        value = self.let(
            f"call {wide} @llvm.masked.gather.{self.suffix(stored)}.v{self.lanes}p0("
            f"<{self.lanes} x ptr> align {stored.itemsize} {places}, "
            f"{self.type(BOOL)} {mask}, {wide} zeroinitializer)",
            stored,
        )
        return self.cast(value, dtype)

    def looked_up(self, table: str, index: Value) -> Value:
        """The float32 in a table of 32 that the lowest five bits of each index name."""
        if self.lanes == 1:
            place = self.binary("and", index, self.constant(31, index.dtype))
            at = self.function.let(f"getelementptr float, ptr {table}, i32 {place.text}")
            return self.let(f"load float, ptr {at}", FLOAT32)
        if self.lanes > 16:
            half = Lanes(self.function, self.lanes // 2)
            low, high = (
                half.looked_up(table, half.shuffled(index, index, self, start))
                for start in (0, half.lanes)
            )
            return self.shuffled(low, high, half, 0)
        wide = Lanes(self.function, 16)
        if self.lanes < 16:
            found = wide.looked_up(table, wide.shuffled(index, index, self, 0))
            return self.shuffled(found, found, wide, 0)
        behind = self.function.let(f"getelementptr float, ptr {table}, i64 16")
        own = self.type(FLOAT32)
        first, last = (self.function.let(f"load {own}, ptr {at}") for at in (table, behind))
        called = f"{own} {first}, {self.type(INT32)} {index.text}, {own} {last}"
        return self.let(f"call {own} @{_LOOK_UP}({called})", FLOAT32)

    def shuffled(self, x: Value, y: Value, source: Lanes, start: int, step: int = 1) -> Value:
        """Lanes from `start` on, of two vectors of `source`, one behind the other; then any."""
        type, most = source.type(x.dtype), 2 * source.lanes
        chosen = ", ".join(f"i32 {(start + step * lane) % most}" for lane in range(self.lanes))
        mask = f"<{self.lanes} x i32> <{chosen}>"
        return self.let(f"shufflevector {type} {x.text}, {type} {y.text}, {mask}", x.dtype)

    # -- arithmetic ----------------------------------------------------------------------------

    def binary(self, instruction: str, x: Value, y: Value) -> Value:
        """An instruction of two Values of one dtype that gives that dtype."""
        return self.let(f"{instruction} {self.type(x.dtype)} {x.text}, {y.text}", x.dtype)

    def _arithmetic(self, word: str, x: Value, y: Value, exactly: bool) -> Value:
        if x.dtype.kind == "f":
            word = f"f{word}" if exactly else f"f{word} contract"
        return self.binary(word, x, y)

    def add(self, x: Value, y: Value, exactly: bool = False) -> Value:
        """x + y; integers wrap."""
        return self._arithmetic("add", x, y, exactly)

    def subtract(self, x: Value, y: Value, exactly: bool = False) -> Value:
        """x - y; integers wrap."""
        return self._arithmetic("sub", x, y, exactly)

    def multiply(self, x: Value, y: Value, exactly: bool = False) -> Value:
        """x * y; integers wrap."""
        return self._arithmetic("mul", x, y, exactly)

    def divide(self, x: Value, y: Value) -> Value:
        """x / y of floats."""
        return self.binary("fdiv", x, y)

    def negate(self, x: Value) -> Value:
        """-x; integers wrap."""
        if x.dtype.kind != "f":
            return self.subtract(self.constant(0, x.dtype), x)
        return self.let(f"fneg {self.type(x.dtype)} {x.text}", x.dtype)

    def fma(self, x: Value, y: Value, z: Value) -> Value:
        """x * y + z, rounded once where the processor can."""
        return self.add(self.multiply(x, y), z)

    def polynomial(self, x: Value, coefficients: Sequence[float]) -> Value:
        """c0 + c1 * x + c2 * x**2 + ..., by Horner's rule."""
        total = self.constant(coefficients[-1], x.dtype)
        for coefficient in coefficients[-2::-1]:
            total = self.fma(total, x, self.constant(coefficient, x.dtype))
        return total

    def intrinsic(self, name: str, *values: Value) -> Value:
        """A function of LLVM whose operands and result have one dtype: "sqrt"."""
        dtype = values[0].dtype
        wide = self.type(dtype)
        listed = ", ".join(f"{wide} {value.text}" for value in values)
        return self.let(f"call {wide} @llvm.{name}.{self.suffix(dtype)}({listed})", dtype)

    def scaled(self, x: Value, n: Value) -> Value:
        """x * 2**n for integers n of its width, rounded once."""
        wide, whole = self.type(x.dtype), self.type(n.dtype)
        name = f"@llvm.ldexp.{self.suffix(x.dtype)}.{self.suffix(n.dtype)}"
        return self.let(f"call {wide} {name}({wide} {x.text}, {whole} {n.text})", x.dtype)

    def magnitude(self, x: Value) -> Value:
        """|x|; the least integer stays what it is."""
        if x.dtype.kind == "f":
            return self.intrinsic("fabs", x)
        if x.dtype.kind != "i":
            return x
        wide = self.type(x.dtype)
        called = f"@llvm.abs.{self.suffix(x.dtype)}({wide} {x.text}, i1 false)"
        return self.let(f"call {wide} {called}", x.dtype)

    def maximum(self, x: Value, y: Value) -> Value:
        """The larger one, y of equal ones; NaN wins."""
        return self._extreme(x, y, "gt", "max")

    def minimum(self, x: Value, y: Value) -> Value:
        """The smaller one, y of equal ones; NaN wins."""
        return self._extreme(x, y, "lt", "min")

    def _extreme(self, x: Value, y: Value, relation: str, word: str) -> Value:
        if x.dtype.kind == "b":
            return self.binary("or" if word == "max" else "and", x, y)
        if x.dtype.kind != "f":
            return self.intrinsic(("s" if x.dtype.kind == "i" else "u") + word, x, y)
        if y.text.startswith(("0x", "splat (")) and "FF8" not in y.text:
            # A constant that is a number: NaN is x then, and equal ones are y again.
            return self.select(self.compare("le" if word == "max" else "ge", x, y), y, x)
        best = self.select(self.compare(relation, x, y), x, y)
        return self.select(self.is_nan(x), x, best)

    # -- truth ---------------------------------------------------------------------------------

    def compare(self, relation: str, x: Value, y: Value) -> Value:
        """Whether "eq", "ne", "lt", "le", "gt" or "ge" holds; of NaN "ne" alone does."""
        if x.dtype.kind == "f":
            word = f"fcmp {'u' if relation == 'ne' else 'o'}{relation}"
        elif relation in ("eq", "ne"):
            word = f"icmp {relation}"
        else:
            word = f"icmp {'s' if x.dtype.kind == 'i' else 'u'}{relation}"
        return self.let(f"{word} {self.type(x.dtype)} {x.text}, {y.text}", BOOL)

    def is_nan(self, x: Value) -> Value:
        """Whether a float is not a number."""
        return self.let(f"fcmp uno {self.type(x.dtype)} {x.text}, {x.text}", BOOL)

    def has_minus(self, x: Value) -> Value:
        """Whether a float has the sign -, as -0.0 has."""
        whole = integers_of(x.dtype)
        return self.compare("lt", self.bits(x, whole), self.constant(0, whole))

    def truth(self, x: Value) -> Value:
        """Whether x is not 0."""
        return self.cast(x, BOOL)

    def both(self, x: Value, y: Value) -> Value:
        """`and` of bools, or bit by bit."""
        return self.binary("and", x, y)

    def either(self, x: Value, y: Value) -> Value:
        """`or` of bools, or bit by bit."""
        return self.binary("or", x, y)

    def differ(self, x: Value, y: Value) -> Value:
        """`xor` of bools, or bit by bit."""
        return self.binary("xor", x, y)

    def invert(self, x: Value) -> Value:
        """`not` of bools, or all bits changed."""
        return self.differ(x, self.constant(True if x.dtype.kind == "b" else -1, x.dtype))

    def select(self, condition: Value, x: Value, y: Value) -> Value:
        """x where the condition holds, else y."""
        wide = self.type(x.dtype)
        parts = f"{self.type(BOOL)} {condition.text}, {wide} {x.text}, {wide} {y.text}"
        return self.let(f"select {parts}", x.dtype)

    def any(self, condition: Value) -> str:
        """Whether the condition holds in some lane: the name of one i1."""
        if self.lanes == 1:
            return condition.text
        wide = self.type(BOOL)
        called = f"@llvm.vector.reduce.or.{self.suffix(BOOL)}({wide} {condition.text})"
        return self.function.let(f"call i1 {called}")

    def where_any(
        self, condition: Value, rare: Callable[[], Value], usual: Callable[[], Value]
    ) -> Value:
        """What `rare` writes where the condition holds in some lane, else what `usual` does."""
        function = self.function
        far, near, end = (function.label(stem) for stem in ("rare", "usual", "joined"))
        function.branch(self.any(condition), far, near)
        ways = []
        for label, write in ((far, rare), (near, usual)):
            function.begin(label)
            value = write()
            ways.append(f"[{value.text}, %{function.current}]")
            function.jump(end)
        function.begin(end)
        return self.let(f"phi {self.type(value.dtype)} {', '.join(ways)}", value.dtype)

    def each(self, write: Callable[..., Value], *values: Value) -> Value:
        """`write(one lane, *values)` in a loop over the lanes: for what is rare."""
        dtype, function = values[0].dtype, self.function
        one = Lanes(function, 1)
        if self.lanes == 1:
            return write(one, *values)
        size = self.lanes * dtype.itemsize
        places = [function.alloca(f"[{self.lanes} x {element(dtype)}]", size) for _ in values]
        for value, place in zip(values, places):
            self.store(value, place)
        with function.loop("0", str(self.lanes)) as lane:
            found = [
                function.let(f"getelementptr {element(dtype)}, ptr {place}, i64 {lane}")
                for place in places
            ]
            one.store(write(one, *(one.load(place, dtype) for place in found)), found[0])
        return self.load(places[0], dtype)

    def iterate(
        self,
        values: Sequence[Value],
        more: Callable[..., Value],
        step: Callable[..., Sequence[Value]],
    ) -> list[Value]:
        """`values = step(*values)` as long as `more(*values)` holds in some lane: the last ones."""
        function, dtypes = self.function, [value.dtype for value in values]
        places = [function.alloca(self.type(dtype)) for dtype in dtypes]
        head, body, after = (function.label(stem) for stem in ("head", "iteration", "done"))

        def keep(found: Sequence[Value]) -> None:
            for value, place in zip(found, places, strict=True):
                function.line(f"store {self.type(value.dtype)} {value.text}, ptr {place}")
            function.jump(head)

        keep(values)
        function.begin(head)
        kept = [
            self.let(f"load {self.type(dtype)}, ptr {place}", dtype)
            for dtype, place in zip(dtypes, places, strict=True)
        ]
        function.branch(self.any(more(*kept)), body, after)
        function.begin(body)
        keep(step(*kept))
        function.begin(after)
        return kept

    # -- dtypes --------------------------------------------------------------------------------

    def bits(self, x: Value, dtype: DType) -> Value:
        """The same bits as another dtype of that width."""
        if self.type(x.dtype) == self.type(dtype):
            return Value(x.text, dtype)
        return self._converted("bitcast", x, dtype)

    def cast(self, x: Value, dtype: DType) -> Value:
        """The number in another dtype, as NumPy on x86 has it: also of NaN and out of range."""
        source = x.dtype
        if source == dtype:
            return x
        if dtype.kind == "b":
            return self.compare("ne", x, self.constant(0, source))
        if source.kind == "f":
            # Of floats: short integers keep the low bits of what the instruction gives.
            if dtype.kind == "f":
                return self._converted("fpext" if dtype.itemsize == 8 else "fptrunc", x, dtype)
            if dtype in (UINT32, UINT64):
                # From 2**31 or 2**63 on what is left of it, with the highest bit flipped.
                half = 8 * dtype.itemsize - 1
                limit, signed = self.constant(2.0**half, x.dtype), np.dtype(f"int{half + 1}")
                low = self._truncated(x, signed)
                high = self._truncated(self.subtract(x, limit, exactly=True), signed)
                high = self.differ(high, self.constant(-(2**half), signed))
                return self.bits(self.select(self.compare("ge", x, limit), high, low), dtype)
            wide = INT64 if dtype == INT64 else INT32
            whole = self._truncated(x, wide)
            return whole if wide == dtype else self._short(whole, dtype)
        if dtype.kind == "f":
            return self._converted("sitofp" if source.kind == "i" else "uitofp", x, dtype)
        if source.kind == "b" or source.itemsize < dtype.itemsize:
            return self._converted("sext" if source.kind == "i" else "zext", x, dtype)
        return self.bits(x, dtype) if source.itemsize == dtype.itemsize else self._short(x, dtype)

    def small_integer(self, x: Value, dtype: DType) -> Value:
        """An integer as the float of its width, which it is small for: AVX2 converts no int64."""
        if dtype.itemsize == 4:
            return self.cast(x, dtype)
        magic = 1.5 * 2**52
        moved = self.add(x, self.constant(int(np.array(magic).view(np.int64)), INT64))
        return self.subtract(self.bits(moved, dtype), self.constant(magic, dtype), exactly=True)

    def _converted(self, word: str, x: Value, dtype: DType) -> Value:
        return self.let(f"{word} {self.type(x.dtype)} {x.text} to {self.type(dtype)}", dtype)

    def _short(self, x: Value, dtype: DType) -> Value:
        return self._converted("trunc", x, dtype)

    def _truncated(self, x: Value, dtype: DType) -> Value:
        """The integer towards 0; the least one of NaN and of what no integer is near."""
        limit = self.constant(2.0 ** (8 * dtype.itemsize - 1), x.dtype)
        least = self.constant(-(2 ** (8 * dtype.itemsize - 1)), dtype)
        is_inside = self.compare("lt", self.magnitude(x), limit)
        return self.select(is_inside, self._converted("fptosi", x, dtype), least)


__all__ = ["NATIVE", "Lanes", "Value", "element", "integers_of", "literal"]
