"""Reads and writes tensors where the loops of a nest are: addresses, vectors, lanes apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from dy2st_runtime.dims import Dim, Size, bounds
from dy2st_runtime.engine.native.nests.nests import Load, Nest, Store
from dy2st_runtime.engine.native.text.function import Function, Lines
from dy2st_runtime.engine.native.text.lanes import BOOL, INT64, DType, Lanes, Value, element
from dy2st_runtime.engine.native.text.spans import Place

UINT8 = np.dtype("uint8")


def stored(dtype: DType) -> str:
    """LLVM's type of an element in memory."""
    return "i8" if dtype.kind == "b" else element(dtype)


class Held(NamedTuple):
    """The value of a node, for all lanes or one for them all."""

    value: Value
    lanes: int

    def spread(self, lanes: Lanes) -> Value:
        """The value in as many lanes."""
        return self.value if self.lanes == lanes.lanes else lanes.splat(self.value)


class Parameters(Protocol):
    """What a function of a nest knows: its parameters, and what is written where it starts."""

    nest: Nest
    function: Function
    leaves: list[str]
    outputs: list[str]
    start: Lines
    stretches: dict[tuple[str, int], tuple[Value, Value]]

    def size(self, size: Size) -> str:
        """A size as an operand."""


class Access:
    """Reads and writes elements for a part: along `lane` the lanes of a vector lie."""

    def __init__(self, writer: Parameters, lane: int | None, indices: Mapping[int, str]) -> None:
        """`indices` are those of the loops, by their axes, as they are begun."""
        self.function, self.size = writer.function, writer.size
        self.leaves, self.pointers, self.outputs = writer.nest.leaves, writer.leaves, writer.outputs
        self.start, self.stretches = writer.start, writer.stretches
        self.lane, self.indices = lane, indices
        self.single = Lanes(self.function, 1)

    def load(self, node: Load, place: Place, values: Mapping[int, Held]) -> Held:
        """An element of a leaf for each lane, or one for all of them."""
        leaf, lanes, dtype = self.leaves[node.leaf], place.lanes, node.dtype
        pointer = self.pointers[node.leaf]
        if leaf.is_scalar:
            return Held(Value(pointer, dtype), 1)
        picked = [values[operand] for operand in node.operands]
        if any(held.lanes > 1 for held in picked):
            return Held(self._gather_picked(node, picked, place), lanes.lanes)
        for held, stride in zip(picked, node.picks, strict=False):
            offset = self.product(held.value.text, stride)
            pointer = self.function.let(
                f"getelementptr {stored(dtype)}, ptr {pointer}, i64 {offset}"
            )
        along = self._along(leaf.strides)
        if isinstance(along, int) and along == 0:
            address = self._address(pointer, dtype, leaf.strides, leaf.offset)
            return Held(self.single.load(address, dtype), 1)
        address = self._address(pointer, dtype, leaf.strides, leaf.offset, place)
        if lanes.lanes == 1 or (isinstance(along, int) and along == 1):
            return Held(lanes.load(address, dtype, place.mask), lanes.lanes)
        # Whether lanes are so near that all between them are read with them.
        if (isinstance(along, int) and along in (-4, -3, -2, -1, 2, 3, 4)) and place.mask is None:
            return Held(self._apart(address, dtype, int(along), lanes), lanes.lanes)
        # Whether a step is 0 or 1, as along an axis that may be repeated.
        if isinstance(along, Dim) and bounds(along)[1] == 1:
            # Lanes one after the other where the step is 1, else the first one for them all.
            is_one, mask = self._stretch(self.size(along), lanes)
            if place.mask is not None:
                mask = lanes.both(mask, Value(place.mask, BOOL))
            read = lanes.load(address, dtype, mask.text)
            zeros = f"<{lanes.lanes} x i32> zeroinitializer"
            wide = lanes.type(dtype)
            same = lanes.let(f"shufflevector {wide} {read.text}, {wide} poison, {zeros}", dtype)
            return Held(lanes.select(is_one, read, same), lanes.lanes)
        places = self._places(address, dtype, self._steps(along, lanes), lanes)
        return Held(lanes.gather(places, dtype, _mask(place)), lanes.lanes)

    def _apart(self, address: str, dtype: DType, step: int, lanes: Lanes) -> Value:
        """Elements that are a few steps apart: whole vectors are read, from the lowest one on."""
        if step < 0:
            back = step * (lanes.lanes - 1)
            address = self.function.let(f"getelementptr {stored(dtype)}, ptr {address}, i64 {back}")
        # A load and a shuffle take a fraction of the time of a gather.
        wide = Lanes(self.function, abs(step) * lanes.lanes)
        last = abs(step) * (lanes.lanes - 1)  # what is behind may be nobody's
        inside = ", ".join(f"i1 {'true' if n <= last else 'false'}" for n in range(wide.lanes))
        read = wide.load(address, dtype, None if step == -1 else f"<{inside}>")
        first = last if step < 0 else 0
        return lanes.shuffled(read, read, wide, first, step)

    def _stretch(self, step: str, lanes: Lanes) -> tuple[Value, Value]:
        """Whether a step is 1, in all lanes, and which lanes it reads: no loop changes that."""
        found = self.stretches.get((step, lanes.lanes))
        if found is None:
            # Strides do not change in loops: this is computed once, where the function starts.
            with self.function.writing(self.start):
                is_one = self.function.let(f"icmp ne i64 {step}, 0")
                wide = lanes.splat(Value(is_one, BOOL))
                first = ", ".join(f"i1 {str(lane == 0).lower()}" for lane in range(lanes.lanes))
                found = wide, lanes.either(wide, Value(f"<{first}>", BOOL))
            self.stretches[step, lanes.lanes] = found
        return found

    def _gather_picked(self, node: Load, picked: Sequence[Held], place: Place) -> Value:
        """Elements at places that each lane has its own of; none where a check has failed."""
        leaf, lanes, dtype = self.leaves[node.leaf], place.lanes, node.dtype
        pointer, along = self.pointers[node.leaf], self._along(leaf.strides)
        has_lanes = not (isinstance(along, int) and along == 0)
        where = place if has_lanes else None
        address = self._address(pointer, dtype, leaf.strides, leaf.offset, where)
        offsets = self._steps(along, lanes)
        for held, stride in zip(picked, node.picks, strict=False):
            step = lanes.splat(Value(self.size(stride), INT64))
            offsets = lanes.add(offsets, lanes.multiply(held.spread(lanes), step))
        mask = Value(_mask(place), BOOL)
        # A place that was found outside is not read: the check behind fails for it.
        for guard in picked[len(node.picks) :]:
            mask = lanes.both(mask, guard.spread(lanes))
        places = self._places(address, dtype, offsets, lanes)
        return lanes.gather(places, dtype, mask.text)

    def ends_of(self, load: Load, store: Store) -> tuple[str, str]:
        """The addresses of what is read, and of where it is written, where the loops are."""
        leaf, dtype = self.leaves[load.leaf], load.dtype
        source = self._address(self.pointers[load.leaf], dtype, leaf.strides, leaf.offset)
        target = self._address(self.outputs[store.output], dtype, store.strides, store.offset)
        return source, target

    def _along(self, strides: Sequence[Size]) -> Size:
        return 0 if self.lane is None else strides[self.lane]

    def _address(
        self,
        pointer: str,
        dtype: DType,
        strides: Sequence[Size],
        offset: Size,
        place: Place | None = None,
    ) -> str:
        """The address of the element, or of the first lane's, where the loops are."""
        total = "0" if isinstance(offset, int) and offset == 0 else self.size(offset)
        for axis, stride in enumerate(strides):
            if isinstance(stride, int) and stride == 0:
                continue
            is_lane = axis == self.lane and place is not None
            index = place.index if is_lane and place is not None else self.indices[axis]
            total = self.sum(total, self.product(index, stride))
        if total == "0":
            return pointer
        return self.function.let(f"getelementptr {stored(dtype)}, ptr {pointer}, i64 {total}")

    def product(self, index: str, stride: Size) -> str:
        """index * stride."""
        if index == "0" or (isinstance(stride, int) and stride == 1):
            return index
        return self.function.let(f"mul i64 {index}, {self.size(stride)}")

    def sum(self, one: str, other: str) -> str:
        """one + other."""
        if "0" in (one, other):
            return other if one == "0" else one
        return self.function.let(f"add i64 {one}, {other}")

    def _steps(self, stride: Size, lanes: Lanes) -> Value:
        """How far the element of each lane lies behind that of the first."""
        numbers = ", ".join(f"i64 {lane}" for lane in range(lanes.lanes))
        step = lanes.splat(Value(self.size(stride), INT64))
        return lanes.multiply(Value(f"<{numbers}>", INT64), step)

    def _places(self, address: str, dtype: DType, offsets: Value, lanes: Lanes) -> str:
        """The addresses of all lanes."""
        wide = lanes.type(INT64)
        return self.function.let(
            f"getelementptr {stored(dtype)}, ptr {address}, {wide} {offsets.text}"
        )

    def store(self, store: Store, held: Held, place: Place) -> None:
        """Write an element for each lane, or one."""
        dtype, lanes = held.value.dtype, place.lanes
        # A check is a store without an output.
        if store.output < 0:
            return
        pointer, along = self.outputs[store.output], self._along(store.strides)
        if isinstance(along, int) and along == 0:
            address = self._address(pointer, dtype, store.strides, store.offset)
            # The value, of the first lane.
            if held.lanes == 1:
                first = held.value
            else:
                wide = Lanes(self.function, held.lanes).type(held.value.dtype)
                text = f"extractelement {wide} {held.value.text}, i64 0"
                first = self.single.let(text, held.value.dtype)
            self.single.store(first, address)
            return
        address = self._address(pointer, dtype, store.strides, store.offset, place)
        value = held.spread(lanes)
        if lanes.lanes == 1 or (isinstance(along, int) and along == 1):
            lanes.store(value, address, place.mask)
            return
        memory = UINT8 if dtype.kind == "b" else dtype
        places = self._places(address, dtype, self._steps(along, lanes), lanes)
        wide, suffix = lanes.type(memory), lanes.suffix(memory)
        self.function.line(
            f"call void @llvm.masked.scatter.{suffix}.v{lanes.lanes}p0({wide} "
            f"{lanes.cast(value, memory).text}, <{lanes.lanes} x ptr> align {memory.itemsize} "
            f"{places}, <{lanes.lanes} x i1> {_mask(place)})"
        )


def _mask(place: Place) -> str:
    return place.mask or "splat (i1 true)"


__all__ = ["Access", "Held", "stored"]
