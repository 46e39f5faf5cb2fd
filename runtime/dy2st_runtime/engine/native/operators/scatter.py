"""Writes the function that puts values where integers say, or adds them there.

    i32 put(ptr target, ptr value, ptr index..., i64 size...)      1: a place is outside

All places are looked at before anything is written, and each once more where it is used, as another
thread may write into the integers meanwhile. What is put at one place twice is put in the order of
the integers, so the last one stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from dy2st_runtime.dims import Dim, Size, product
from dy2st_runtime.engine.native.nests.access import stored
from dy2st_runtime.engine.native.nests.axes import is_same, repeated
from dy2st_runtime.engine.native.nests.builder import contiguous
from dy2st_runtime.engine.native.text.code import Code
from dy2st_runtime.engine.native.text.lanes import INT64, DType, Lanes
from dy2st_runtime.ir.program import Operator, Variable
from dy2st_runtime.ir.types import Shape
from dy2st_runtime.ops.slicing import index_shape, place_of_picked

_VECTOR = 32
"""Bytes that are added at once."""


class Scatter:
    """The function of an `index_put`: its text, and the sizes that it is called with."""

    def __init__(self, operator: Operator) -> None:
        """Loops over the places, inside of them over the axes beside them."""
        x, value, *indices = operator.operands
        self.operator, self.indices, self.axes = operator, indices, operator.attributes["axes"]
        self.shape, self.dtype = x.tensor_type.shape, x.dtype
        self.strides = contiguous(self.shape)
        shapes = [index.tensor_type.shape for index in indices]
        self.whole = tuple(index_shape(self.shape, shapes, self.axes))
        first = place_of_picked(self.axes)
        count = max(index.tensor_type.rank for index in indices)
        self.picked = list(range(first, first + count))
        kept = [axis for axis in range(len(self.shape)) if axis not in self.axes]
        places = [*range(first), *range(first + count, len(self.whole))]
        self.kept = list(zip(kept, places, strict=True))  # axes of x, and of what is put
        self.value = _strides(value.tensor_type.shape, self.whole)
        # How many axes at the end are one row, in x and in the value.
        plain, found = contiguous(self.whole), 0
        for axis, place in reversed(self.kept):
            step = self.value[place]
            # A row lies behind all axes that are picked, and the value must not be repeated along
            # it.
            if axis < max(self.axes) or not is_same(step, plain[place]):
                break
            found += 1
        self.tail = found
        self.sizes: dict[Dim, str] = {}

    def text(self, is_checked: bool) -> str:
        """The function, as `@NAME`."""
        parameters = [("ptr", "%target"), ("ptr", "%value")]
        parameters += [("ptr", f"%index{number}") for number in range(len(self.indices))]
        code = self.code = Code("NAME", parameters, stored(self.dtype), "i32")
        code.element = stored(self.dtype)
        self.safe = SafePlaces(code) if is_checked else None
        if is_checked:
            for axis, (number, index) in zip(self.axes, enumerate(self.indices), strict=True):
                with code.loop("0", self.size(product(index.tensor_type.shape))) as at:
                    place = self._place(number, index, at, self.shape[axis])
                    inside = code.let(f"icmp ult i64 {place}, {self.size(self.shape[axis])}")
                    code.require(inside)
        with ExitStack() as loops:
            iterations = {d: loops.enter_context(self._loop(self.whole[d])) for d in self.picked}
            to = "0"
            for axis, (number, index) in zip(self.axes, enumerate(self.indices), strict=True):
                own = _strides(index.tensor_type.shape, [self.whole[d] for d in self.picked])
                at = self._total(zip(iterations.values(), own, strict=True))
                place = self._place(number, index, at, self.shape[axis])
                if self.safe:
                    place = self.safe.inside(place, self.size(self.shape[axis]))
                to = code.plus(to, code.times(place, self.size(self.strides[axis])))
            source = self._total((iteration, self.value[d]) for d, iteration in iterations.items())
            for axis, place in self.kept[: len(self.kept) - self.tail]:
                iteration = loops.enter_context(self._loop(self.shape[axis]))
                to = code.plus(to, code.times(iteration, self.size(self.strides[axis])))
                source = code.plus(source, code.times(iteration, self.size(self.value[place])))
            # Elements that lie one after the other.
            target = code.at("%target", to)
            source = code.at("%value", source)
            sizes = [self.shape[axis] for axis, _ in self.kept[len(self.kept) - self.tail :]]
            count = self.size(product(sizes))
            if not self.operator.attributes["accumulate"]:
                bytes = code.times(count, self.dtype.itemsize)
                arguments = f"ptr {target}, ptr {source}, i64 {bytes}, i1 false"
                code.line(f"call void @llvm.memcpy.p0.p0.i64({arguments})")
            else:
                # Without a row there is one element at each place; the next one may be the same.
                wide = _VECTOR // self.dtype.itemsize if self.tail else 1
                end = code.times(code.over(count, wide), wide) if wide > 1 else "0"
                if wide > 1:
                    with code.loop("0", end, str(wide)) as at:
                        self._add(code.at(target, at), code.at(source, at), Lanes(code, wide))
                with code.loop(end, count) as at:
                    self._add(code.at(target, at), code.at(source, at), Lanes(code, 1))
        code.line(f"ret i32 {self.safe.failed() if self.safe else 0}")
        text = code.text()
        names = "".join(f", i64 {name}" for name in self.sizes.values())
        last = parameters[-1][1]
        return text.replace(f"ptr {last})", f"ptr {last}{names})", 1)

    def size(self, size: Size) -> str:
        """A size as an operand."""
        if not isinstance(size, Dim):
            return str(size)
        return self.sizes.setdefault(size, f"%size{len(self.sizes)}")

    # -- places --------------------------------------------------------------------------------

    def _place(self, number: int, index: Variable, at: str, size: Size) -> str:
        return place_at(self.code, f"%index{number}", index.dtype, at, self.size(size))

    # -- elements ------------------------------------------------------------------------------

    @contextmanager
    def _loop(self, size: Size) -> Iterator[str]:
        with self.code.loop("0", self.size(size)) as iteration:
            yield iteration

    def _total(self, pairs: Iterator[tuple[str, Size]]) -> str:
        total = "0"
        for iteration, stride in pairs:
            total = self.code.plus(total, self.code.times(iteration, self.size(stride)))
        return total

    def _add(self, target: str, source: str, lanes: Lanes) -> None:
        before, more = (lanes.load(place, self.dtype) for place in (target, source))
        lanes.store(lanes.add(before, more), target)


class SafePlaces:
    """Places that are looked at where they are used: 0 in place of those outside."""

    def __init__(self, code: Code) -> None:
        """All are inside so far."""
        self._code, self._failed = code, code.alloca("i32")
        code.line(f"store i32 0, ptr {self._failed}")

    def inside(self, place: str, size: str) -> str:
        """The place itself, if it is one; there is an element at 0, as all had been inside."""
        code = self._code
        is_inside = code.let(f"icmp ult i64 {place}, {size}")
        before = code.let(f"load i32, ptr {self._failed}")
        code.line(f"store i32 {code.choose(is_inside, before, 1, 'i32')}, ptr {self._failed}")
        return code.choose(is_inside, place, 0)

    def failed(self) -> str:
        """1 if one was outside, else 0."""
        return self._code.let(f"load i32, ptr {self._failed}")


def place_at(code: Code, pointer: str, dtype: DType, at: str, size: str) -> str:
    """The place that an integer of a tensor means, counted from the start."""
    address = code.let(f"getelementptr {stored(dtype)}, ptr {pointer}, i64 {at}")
    lanes = Lanes(code, 1)
    value = lanes.cast(lanes.load(address, dtype), INT64).text
    behind = code.let(f"add i64 {value}, {size}")
    return code.choose(code.compare("slt", value, 0), behind, value)


def _strides(shape: Shape, whole: Sequence[Size]) -> list[Size]:
    """The strides of a tensor along the axes of the shape to which it is repeated."""
    steps: list[Size] = [0] * (len(whole) - len(shape))
    own = whole[len(whole) - len(shape) :]
    for size, stride, wanted in zip(shape, contiguous(shape), own, strict=True):
        steps.append(product([repeated(size, wanted), stride]))
    return steps


__all__ = ["SafePlaces", "Scatter", "place_at"]
