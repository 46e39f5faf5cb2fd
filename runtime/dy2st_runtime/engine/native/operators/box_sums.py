"""Weighted sums of the pixels of boxes: the functions that compute `regions` and `regions_back`.

    i32 sums(ptr out, ptr x, ptr rows, ptr columns, ptr images, i64 size...)     1: no such image

A box is one image's rows and columns from the first to the last of which a weight is not 0. Of each
channel, lines of pixels are summed with the weights of rows, and those of columns come after; what
goes back is spread by columns, then by rows.
"""

from __future__ import annotations

from dy2st_runtime.dims import product
from dy2st_runtime.engine.native.machine import abi
from dy2st_runtime.engine.native.machine.llvm import Processor
from dy2st_runtime.engine.native.machine.module import Module
from dy2st_runtime.engine.native.nests.access import stored
from dy2st_runtime.engine.native.program.planner import Step
from dy2st_runtime.engine.native.program.steps import Body, writer
from dy2st_runtime.engine.native.text.code import Code, first_lanes
from dy2st_runtime.engine.native.text.lanes import BOOL, INT64, DType, Lanes, Value
from dy2st_runtime.ir.program import Operator

_SIZES = ("%boxes", "%count", "%channels", "%parts", "%across", "%height", "%width")


@writer(
    lambda operator: (
        operator.name in ("regions", "regions_back")
        and all(abi.is_native(operand.dtype) for operand in operator.operands)
        and operator.operands[-1].dtype != "uint64"
    )
)
def _write(body: Body, step: Step, operator: Operator) -> None:
    body.module.pool("scratch")
    name = _Sums(operator).add(body.module)
    pointers = [body.place(operator.results[0])]
    pointers += [body.places.address(operand) for operand in operator.operands]
    x, rows, columns = (operand.tensor_type.shape for operand in operator.operands[:3])
    result = operator.results[0].tensor_type.shape
    count = (x if operator.name == "regions" else result)[0]
    sizes = [rows[0], count, x[1], rows[1], columns[1], rows[2], columns[2]]
    arguments = [f"ptr {pointer}" for pointer in pointers]
    arguments += [f"i64 {body.sizes.value(size)}" for size in sizes]
    with body.lock.without(body.lock.is_long([(product(x), rows[2]), result])):
        failed = body.function.let(f"call i32 @{name}({', '.join(arguments)})")
    body.unless(body.function.let(f"icmp eq i32 {failed}, 0"), [operator])


class _Sums:
    """The function of an operator."""

    def __init__(self, operator: Operator) -> None:
        self._is_back = operator.name == "regions_back"
        names = ("%x", "%rows", "%columns", "%images")
        self._dtypes = dict(zip(names, (o.dtype for o in operator.operands), strict=True))
        self._dtype = self._dtypes["%x"]
        parameters = [("ptr", "%out"), *(("ptr", name) for name in names)]
        parameters += [("i64", name) for name in _SIZES]
        self._code = Code("NAME", parameters, stored(self._dtype), "i32")
        self._one = Lanes(self._code, 1)

    def add(self, module: Module) -> str:
        """Put it into a module, with what it calls: its name."""
        dtypes = self._dtypes
        kinds = [("%rows", "%x"), ("%x", "%columns")]
        self._mixes = {
            pair: module.shared(_mix(self._dtype, *(dtypes[name] for name in pair)), "mix")
            for pair in kinds
        }
        self._dot = module.shared(_dot(self._dtype, dtypes["%columns"]), "dot")
        code = self._code
        with code.loop("0", "%boxes") as box:
            code.require(code.let(f"icmp ult i64 {self._image(box)}, %count"))
        bytes = code.times(code.times("%parts", "%width"), self._dtype.itemsize)
        memory = code.let(f"call ptr @scratch_take(i64 {bytes})")
        code.require(code.let(f"icmp ne ptr {memory}, null"))  # NumPy has none either, and says so
        if self._is_back:
            pixels = code.times(code.times("%count", "%channels"), code.times("%height", "%width"))
            bytes = code.times(pixels, self._dtype.itemsize)
            # Boxes overlap, so what goes back is added.
            code.line(f"call void @llvm.memset.p0.i64(ptr %out, i8 0, i64 {bytes}, i1 false)")
        with code.loop("0", "%boxes") as box:
            rows = code.times(code.times(box, "%parts"), "%height")
            columns = code.times(code.times(box, "%across"), "%width")
            top, high = self._used("%rows", rows, "%parts", "%height")
            left, wide = self._used("%columns", columns, "%across", "%width")
            corner = code.plus(code.times(top, "%width"), left)
            # The image of a box, looked at once more: another thread may have changed it.
            image = code.least(code.most(self._image(box), 0), code.minus("%count", 1))
            cells = code.times("%parts", "%across")
            pixels = code.times("%height", "%width")
            with code.loop("0", "%channels") as channel:
                plane = code.times(code.plus(code.times(image, "%channels"), channel), pixels)
                pixel = code.plus(plane, corner)
                cell = code.times(code.plus(code.times(box, "%channels"), channel), cells)
                row = self._element("%rows", code.plus(rows, top))
                column = self._element("%columns", code.plus(columns, left))
                write = self._spread if self._is_back else self._sum
                write((pixel, cell), (row, column), (high, wide), memory)
        code.line(f"call void @scratch_give(ptr {memory})")
        code.line("ret i32 0")
        return module.shared(code.text(), "sums")

    def _element(self, name: str, at: str) -> str:
        return self._code.let(f"getelementptr {stored(self._dtypes[name])}, ptr {name}, i64 {at}")

    def _image(self, box: str) -> str:
        dtype = self._dtypes["%images"]
        return self._one.cast(self._one.load(self._element("%images", box), dtype), INT64).text

    def _used(self, name: str, first: str, number: str, length: str) -> tuple[str, str]:
        """The first place at which one of some lines of weights is not 0, and how many follow."""
        code, dtype = self._code, self._dtypes[name]
        ends = [code.alloca("i64") for _ in range(2)]
        for place, start in zip(ends, (length, "0"), strict=True):
            code.line(f"store i64 {start}, ptr {place}")
        with code.loop("0", number) as line, code.loop("0", length) as at:
            place = code.plus(first, code.plus(code.times(line, length), at))
            weight = self._one.load(self._element(name, place), dtype)
            with code.when(self._one.compare("ne", weight, self._one.constant(0, dtype)).text):
                low, high = (code.let(f"load i64, ptr {end}") for end in ends)
                code.line(f"store i64 {code.least(low, at)}, ptr {ends[0]}")
                code.line(f"store i64 {code.most(high, code.plus(at, 1))}, ptr {ends[1]}")
        low, high = (code.let(f"load i64, ptr {end}") for end in ends)
        # Without any weight the first place is the length: the box is empty then, and begins
        # inside.
        low = code.least(low, high)
        return low, code.minus(high, low)

    def _sum(
        self, at: tuple[str, str], weights: tuple[str, str], sizes: tuple[str, str], memory: str
    ) -> None:
        """Lines of a plane into those of the parts, then each with all columns."""
        code, (pixel, cell), (row, column), (high, wide) = self._code, at, weights, sizes
        mix, source = self._mixes["%rows", "%x"], self._element("%x", pixel)
        with code.loop("0", "%parts") as part:
            own = self._weights("%rows", row, code.times(part, "%height"))
            line = [("ptr", source), ("i64", "%width"), ("i64", high), ("i64", wide)]
            code.call(mix, ("ptr", memory), ("ptr", own), ("i64", 1), *line, ("i1", "false"))
            with code.loop("0", "%across") as place:
                other = self._weights("%columns", column, code.times(place, "%width"))
                given = f"ptr {memory}, ptr {other}, i64 {wide}"
                total = code.let(f"call {code.element} @{self._dot}({given})")
                to = code.plus(cell, code.plus(code.times(part, "%across"), place))
                self._one.store(Value(total, self._dtype), code.at("%out", to))

    def _spread(
        self, at: tuple[str, str], weights: tuple[str, str], sizes: tuple[str, str], memory: str
    ) -> None:
        """The parts of a row into a line of columns, then those lines into the plane."""
        code, (pixel, cell), (row, column), (high, wide) = self._code, at, weights, sizes
        with code.loop("0", "%parts") as part:
            line = code.at(memory, code.times(part, wide))
            own = self._element("%x", code.plus(cell, code.times(part, "%across")))
            given = [("i64", "%width"), ("i64", "%across"), ("i64", wide), ("i1", "false")]
            mix = self._mixes["%x", "%columns"]
            code.call(mix, ("ptr", line), ("ptr", own), ("i64", 1), ("ptr", column), *given)
        with code.loop("0", high) as iteration:
            line = code.at("%out", code.plus(pixel, code.times(iteration, "%width")))
            own = self._weights("%rows", row, iteration)
            given = [("i64", wide), ("i64", "%parts"), ("i64", wide), ("i1", "true")]
            mix = self._mixes["%rows", "%x"]
            code.call(mix, ("ptr", line), ("ptr", own), ("i64", "%height"), ("ptr", memory), *given)

    def _weights(self, name: str, first: str, more: str) -> str:
        return self._code.let(
            f"getelementptr {stored(self._dtypes[name])}, ptr {first}, i64 {more}"
        )


def _vectors(dtype: DType) -> int:
    return Processor.host().vector_bytes // dtype.itemsize


def _mix(dtype: DType, factor: DType, line: DType) -> str:
    """`out[i] = sum of factors[k * step] * lines[k * stride + i]`, or more than was there."""
    parameters = [("ptr", "%out"), ("ptr", "%factors"), ("i64", "%step"), ("ptr", "%lines")]
    parameters += [("i64", name) for name in ("%stride", "%count", "%width")]
    code = Code("NAME", [*parameters, ("i1", "%adds")], stored(dtype))
    lanes, one = Lanes(code, _vectors(dtype)), Lanes(code, 1)
    place = code.alloca(lanes.type(dtype), 64)
    with code.loop("0", "%width", str(lanes.lanes)) as at:
        mask = first_lanes(lanes, code.minus("%width", at))
        before = lanes.load(code.at("%out", at), dtype, mask)
        is_kept = lanes.splat(Value("%adds", BOOL))
        start = lanes.select(is_kept, before, lanes.constant(0, dtype))
        lanes.store(start, place)
        with code.loop("0", "%count") as iteration:
            at_factor = code.times(iteration, "%step")
            source = f"getelementptr {stored(factor)}, ptr %factors, i64 {at_factor}"
            share = lanes.splat(one.cast(one.load(code.let(source), factor), dtype))
            first = code.plus(code.times(iteration, "%stride"), at)
            source = f"getelementptr {stored(line)}, ptr %lines, i64 {first}"
            value = lanes.cast(lanes.load(code.let(source), line, mask), dtype)
            lanes.store(lanes.fma(share, value, lanes.load(place, dtype)), place)
        lanes.store(lanes.load(place, dtype), code.at("%out", at), mask)
    return code.end()


def _dot(dtype: DType, weight: DType) -> str:
    """The sum of the products of two lines."""
    parameters = [("ptr", "%x"), ("ptr", "%weights"), ("i64", "%width")]
    code = Code("NAME", parameters, stored(dtype), stored(dtype))
    lanes = Lanes(code, _vectors(dtype))
    place = code.alloca(lanes.type(dtype), 64)
    lanes.store(lanes.constant(0, dtype), place)
    with code.loop("0", "%width", str(lanes.lanes)) as at:
        mask = first_lanes(lanes, code.minus("%width", at))
        source = code.let(f"getelementptr {stored(weight)}, ptr %weights, i64 {at}")
        share = lanes.cast(lanes.load(source, weight, mask), dtype)
        value = lanes.load(code.at("%x", at), dtype, mask)
        lanes.store(lanes.fma(share, value, lanes.load(place, dtype)), place)
    # -0.0 is the neutral element of sums of floats.
    total = f"{code.element} -0.0, {lanes.type(dtype)} {lanes.load(place, dtype).text}"
    reduced = f"@llvm.vector.reduce.fadd.{lanes.suffix(dtype)}"
    code.line(f"ret {code.element} {code.let(f'call reassoc {code.element} {reduced}({total})')}")
    return code.text()


BOX_SUMS = (_write,)

__all__ = ["BOX_SUMS"]
