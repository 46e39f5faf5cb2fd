"""Writes a loop nest as the text of one LLVM function.

    define internal void @name(ptr leaf..., float scalar leaf..., ptr output..., i64 size...)

Loops over rows stand around the stages of a row (`stages.py`), which run over vectors along the
axis of lanes. Where not the columns are neighbours in memory but the rows, as in a sum over the
first axis, the lanes lie along the last axis of the rows, and each lane is a row of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

from dy2st_runtime.dims import Dim, Size
from dy2st_runtime.engine.native.machine.llvm import Processor
from dy2st_runtime.engine.native.nests import shares
from dy2st_runtime.engine.native.nests.access import Access, Held, stored
from dy2st_runtime.engine.native.nests.nests import (
    Apply,
    Literal,
    Load,
    Nest,
    Node,
    Part,
    Position,
    Reduce,
)
from dy2st_runtime.engine.native.nests.stages import Stage, cost_of, schedule
from dy2st_runtime.engine.native.rows import COSTLY
from dy2st_runtime.engine.native.rows import emit as emit_row
from dy2st_runtime.engine.native.rows.reductions import State, halves, reduction_of
from dy2st_runtime.engine.native.text.function import Function
from dy2st_runtime.engine.native.text.lanes import BOOL, INT64, DType, Lanes, Value, element
from dy2st_runtime.engine.native.text.spans import Place, Spans, counted
from dy2st_runtime.engine.native.text.squares import LINE, Ends, transpose_square, write_square

TILE = 512
"""How many elements a long chain works on from stage to stage."""

_STACK = 1 << 15
"""The largest buffer on the stack, in bytes."""

_VECTOR = 64
"""The bytes of the longest vector: a buffer has room for one behind its last element."""

_MOST_COSTLY = 24
"""How many costly operators are written where they stand, each of which takes LLVM some 8 ms.

Functions for them make a long chain slower by a third, and to compile five times as fast."""

_SHORT = 20
"""Of so few instructions in a loop it is worth while to have several vectors at once."""

_WIDE_ROWS = 64
"""How many rows lie side by side: memory is read by the line, and lines of rows lie far apart."""

_TINY = 200
"""How many instructions a function has that is written where it is called."""


def function(
    nest: Nest, name: str, processor: Processor, is_share: bool = False, polls: bool = True
) -> str:
    """The text of the function that computes a nest; or of one from `%begin` to `%end` only.

    These two are its last parameters then, and say where along the outermost axis. `polls`: its
    loops may ask whether to leave.
    """
    return _NestWriter(nest, name, processor, is_share, polls).text()


def parameters(nest: Nest) -> list[tuple[str, str]]:
    """The types and names of the parameters of a nest's function."""
    found = []
    for index, leaf in enumerate(nest.leaves):
        dtype = leaf.variable.tensor_type.dtype
        found.append((element(dtype) if leaf.is_scalar else "ptr", f"%leaf{index}"))
    found += [("ptr", f"%out{index}") for index in range(len(nest.outputs))]
    return found + [("i64", f"%size{index}") for index in range(len(nest.sizes))]


Values = dict[int, Held]
States = dict[int, list[str]]


class _NestWriter:
    def __init__(
        self, nest: Nest, name: str, processor: Processor, is_share: bool, polls: bool
    ) -> None:
        self.nest, self.processor = nest, processor
        self.window = ("%begin", "%end") if is_share else None
        self.leaves = [f"%leaf{index}" for index in range(len(nest.leaves))]
        self.outputs = [f"%out{index}" for index in range(len(nest.outputs))]
        self.sizes = {size: f"%size{index}" for index, size in enumerate(nest.sizes)}
        own = [*parameters(nest), *(("i64", end) for end in self.window or ())]
        # About how many instructions run.
        work = 0.0
        for part in nest.parts:
            vectors = 1.0
            for size in part.axes:
                vectors *= float("inf") if isinstance(size, Dim) else size
            work += max(1.0, vectors / 8) * max(1, sum(map(cost_of, part.nodes)))
        # A call costs more than tiny work, and values that are inlined stay in registers.
        inline = "alwaysinline" if work <= _TINY else "noinline"
        result = "i32" if nest.has_checks else "void"
        self.function = Function(name, own, result, attributes=f"{inline} nounwind")
        self.function.scales = processor.scales
        self.function.polls = polls and (not is_share or shares.is_long_row(nest))
        # What no loop changes is written where the function starts.
        self.start = self.function.section()
        self.stretches: dict[tuple[str, int], tuple[Value, Value]] = {}
        nodes = [node for part in nest.parts for node in part.nodes if isinstance(node, Apply)]
        if sum(cost_of(node) >= COSTLY for node in nodes) > _MOST_COSTLY:
            self.function.helpers = {}

    def text(self) -> str:
        """The whole function."""
        for part in self.nest.parts:
            _PartWriter(self, part).write()
        self.function.line("ret i32 0" if self.nest.has_checks else "ret void")
        return self.function.text()

    def size(self, size: Size) -> str:
        """A size as an operand."""
        return self.sizes[size] if isinstance(size, Dim) else str(size)


class _PartWriter:
    """The loops of one part."""

    def __init__(self, writer: _NestWriter, part: Part) -> None:
        self.writer, self.part, self.nest = writer, part, writer.nest
        self.function, self.size = writer.function, writer.size
        self.schedule = schedule(part)
        self.single = Place(Lanes(self.function, 1), "0", None)
        # Whether each lane is a row.
        self.has_rows = part.lane is not None and part.lane < part.rows
        # Long rows are worked on in tiles, if what is computed is long too. A few tiles would not
        # pay for the loop around them.
        is_chain = len(self.schedule.stages) > 1 and part.columns == 1 and not self.has_rows
        last = part.axes[-1] if is_chain else 0
        is_long = isinstance(last, Dim) or last > 2 * TILE
        self.is_tiled = is_long and not any(isinstance(node, Reduce) for node in part.nodes)
        self.indices: dict[int, str] = {}
        self.access = Access(writer, part.lane, self.indices)
        self.rows: Values = {}
        self.start = "0"
        self.checks = {store.node for store in part.stores if store.output < 0}
        self.flag = self.failed = ""
        # The lanes of one vector register, and of as many as are worked on at once.
        nodes = [node for node in self.part.nodes if node.axes and not isinstance(node, Position)]
        largest = max((node.dtype.itemsize for node in nodes), default=4)
        narrow = self.writer.processor.vector_bytes // max(largest, 4)
        cost = max((stage.cost for stage in self.schedule.stages), default=0)
        if self.has_rows and cost <= 30:
            widths = narrow, max(narrow, _WIDE_ROWS)
        elif self.function.helpers is None and not self.writer.processor.stores_parts:
            # On Zen 3 exp, tanh, gelu take 0.74 to 0.92 of the time so: more instructions can
            # begin, which do not wait for each other.
            widths = narrow, narrow * 4
        else:
            widths = narrow, narrow * (4 if cost <= 8 else 2 if cost <= _SHORT else 1)
        self.spans = Spans(self.function, *widths)

    # -- rows ----------------------------------------------------------------------------------

    def write(self) -> None:
        """All loops of the part."""
        copy = transposed_copy_of(self.nest, self.part)
        if copy is None:
            self._loops()
            return
        function, ends = self.function, (self._limits(copy.read), self._limits(copy.written))
        squares, single, after = map(function.label, ("squares", "single", "after"))
        function.branch(are_long(function, copy, ends), squares, single)
        function.begin(squares)
        # A transposition, square by square, inside of loops over all other axes.
        part, access = self.part, self.access
        (load,), (store,) = part.nodes, part.stores
        assert isinstance(load, Load)
        leaf = self.nest.leaves[load.leaf]
        steps = self.size(leaf.strides[copy.written]), self.size(store.strides[copy.read])

        def square(read: str, written: str) -> None:
            self.indices |= {copy.read: read, copy.written: written}
            write_square(function, copy.side, access.ends_of(load, store), steps)

        with ExitStack() as loops:
            for axis in range(len(part.axes)):
                if axis not in (copy.read, copy.written):
                    self.indices[axis] = loops.enter_context(function.loop(*self._limits(axis)))
            transpose_square(function, copy.side, ends, square)
        self.indices.clear()
        function.jump(after)
        function.begin(single)
        self._loops()
        function.jump(after)
        function.begin(after)

    def _limits(self, axis: int) -> Ends:
        begin, end, _ = self._ends(axis)
        return begin, end

    def _loops(self) -> None:
        # Buffers for what is kept. Small ones stand on the stack; those of the heap are `owned`.
        widths: dict[int, int] = {}
        for node, number in self.schedule.buffers.items():
            widths[number] = self.part.nodes[node].dtype.itemsize
        length, made, owned = self._buffer_length(), dict[int, str](), list[str]()
        for number, width in widths.items():
            if length is not None and length * width <= _STACK:
                # A whole vector may be written at the last element.
                bytes = length * width + _VECTOR
                made[number] = self.function.alloca(f"[{bytes} x i8]", 64, "buffer")
                continue
            total = str(width * (self.spans.wide if self.has_rows else 1))
            for size in self.part.axes[self.part.rows :]:
                total = self.function.let(f"mul i64 {total}, {self.size(size)}")
            total = self.function.let(f"add i64 {total}, {_VECTOR}")
            made[number] = self.function.let(f"call ptr @malloc(i64 {total})")
            owned.append(made[number])
        self.buffers = {node: made[number] for node, number in self.schedule.buffers.items()}
        # A place for what has failed in any lane, and where to go from a failure.
        if self.checks:
            self.flag, self.failed = self.function.alloca("i1"), self.function.label("failed")
            self.function.line(f"store i1 false, ptr {self.flag}")
        # Buffers of the heap must be freed where a signal ends the loops early.
        self.function.leaving = self.function.label("leaving") if owned else ""
        with ExitStack() as loops:
            self._nodes_of_rows(0)
            for axis in range(self.part.rows - self.has_rows):
                begin, end, _ = self._ends(axis)
                self.indices[axis] = loops.enter_context(self.function.loop(begin, end))
                self._nodes_of_rows(axis + 1)
            if self.has_rows:
                self._rows_in_lanes()
            else:
                self._row(self.single)
        self._free(owned)
        if owned:
            # Where loops go that are left: what was made for them is freed.
            function, after = self.function, self.function.label("done")
            function.jump(after)
            function.begin(function.leaving)
            self._free(owned)
            function.line("ret i32 0" if self.nest.has_checks else "ret void")
            function.begin(after)
            function.leaving = ""
        if not self.checks:
            return
        function, leave, after = (
            self.function,
            self.function.label("leave"),
            self.function.label("ok"),
        )
        function.branch(function.let(f"load i1, ptr {self.flag}"), leave, after)
        function.begin(self.failed)
        self._free(owned)
        function.jump(leave)
        function.begin(leave)
        function.line("ret i32 1")
        function.begin(after)

    def _free(self, owned: Sequence[str]) -> None:
        for buffer in owned:
            self.function.line(f"call void @free(ptr {buffer})")

    def _rows_in_lanes(self) -> None:
        """The last axis of the rows, each lane a row of its own."""
        axis = self.part.rows - 1
        known = dict(self.rows)
        for span in self.spans.split(*self._ends(axis)):
            with self.spans.along(span) as place:
                # What one span has computed holds its own lanes, which the next one must not read.
                self.rows = dict(known)
                self.indices[axis] = place.index
                for index in self.schedule.before:
                    if index not in self.rows:
                        self.rows[index] = self._value(index, place, self.rows)
                self._row(place)

    def _nodes_of_rows(self, depth: int) -> None:
        """What is known as soon as the first axes are."""
        for index in self.schedule.before:
            node = self.part.nodes[index]
            if index not in self.rows and all(axis < depth for axis in node.axes):
                self.rows[index] = self._value(index, self.single, self.rows)

    def _row(self, row: Place) -> None:
        """The stages of a row, and what is stored once a row."""
        if self.is_tiled:
            begin, end, _ = self._ends(len(self.part.axes) - 1)
            with self.function.loop(begin, end, str(TILE), "tile") as at:
                self.start = at
                self._stages(row)
                self.start = "0"
        else:
            self._stages(row)
        for store in self.schedule.stores:
            self.access.store(store, self.rows[store.node], row)

    # -- stages --------------------------------------------------------------------------------

    def _stages(self, row: Place) -> None:
        for stage in self.schedule.stages:
            # Without any of these nobody reads what the loop would compute.
            if stage.reduced or stage.stores or stage.kept:
                # One loop along the row, then what it reduces.
                if self.has_rows:
                    states = {row.lanes.lanes: self._begin(stage, row.lanes)}
                    with self._columns():
                        self._body(stage, row, states, row.lanes.lanes)
                else:
                    is_short = stage.cost <= _SHORT
                    has_middle = is_short and not self.writer.processor.stores_parts
                    spans = self.spans.split(*self._range(), has_middle)
                    # To fold wide states is much for a few vectors of a short row: they are folded
                    # before.
                    most = self.spans.wide if is_short else self.spans.narrow
                    widths = sorted({min(span.lanes, most) for span in spans}, reverse=True)
                    states = {n: self._begin(stage, Lanes(self.function, n)) for n in widths}
                    with self._columns():
                        for span in spans:
                            with self.spans.along(span) as place:
                                self._body(stage, place, states, min(span.lanes, most))
                for index in stage.reduced:
                    # The result, of the states of all lanes, widest first.
                    places = {n: own[index] for n, own in states.items()}
                    node = self.part.nodes[index]
                    assert isinstance(node, Reduce)
                    kind = reduction_of(node.kind, node.count)
                    if self.has_rows:
                        ((width, own),) = places.items()
                        lanes = Lanes(self.function, width)
                        state = self._state(index, own, lanes)
                    else:
                        lanes, state = self._folded(index, places)
                    count = Value(self.size(node.count), INT64)
                    self.rows[index] = Held(kind.end(lanes, state, node.dtype, count), lanes.lanes)
            for index in stage.after:
                self.rows[index] = self._value(index, row, self.rows)

    def _ends(self, axis: int) -> tuple[str, str, int | None]:
        """From where to where a loop along an axis goes, and how far if that is known."""
        if axis == 0 and self.writer.window is not None:
            return *self.writer.window, None
        size = self.part.axes[axis]
        return "0", self.size(size), size if isinstance(size, int) else None

    def _range(self) -> tuple[str, str, int | None]:
        """From where to where a stage goes along the lanes, and how far if that is known."""
        if not self.is_tiled:
            return self._ends(len(self.part.axes) - 1)
        size = self.part.axes[-1]
        limit = self.function.let(f"add i64 {self.start}, {TILE}")
        # No tile is cut short, so the length is known, and no mask is needed.
        if isinstance(size, int) and size % TILE == 0:
            return self.start, limit, TILE
        end = self.function.let(f"call i64 @llvm.smin.i64(i64 {limit}, i64 {self.size(size)})")
        return self.start, end, None

    @contextmanager
    def _columns(self) -> Iterator[None]:
        """The loops over columns that are not those of lanes."""
        with ExitStack() as loops:
            for axis in range(self.part.rows, len(self.part.axes)):
                if axis != self.part.lane:
                    loop = self.function.loop("0", self.size(self.part.axes[axis]))
                    self.indices[axis] = loops.enter_context(loop)
            yield

    def _body(self, stage: Stage, place: Place, states: Mapping[int, States], width: int) -> None:
        values, lanes = dict(self.rows), place.lanes
        for index in stage.read:
            dtype = self.part.nodes[index].dtype
            kept = lanes.load(self._in_buffer(index, place), dtype, self._mask_of_buffer(place))
            values[index] = Held(kept, lanes.lanes)
        for index in stage.computed:
            values[index] = self._value(index, place, values)
        for index in stage.kept:
            kept = values[index].spread(lanes)
            lanes.store(kept, self._in_buffer(index, place), self._mask_of_buffer(place))
        for store in stage.stores:
            self.access.store(store, values[store.node], place)
        for index in stage.reduced:
            self._reduce(index, place, values, (width, states[width][index]))

    # -- nodes ---------------------------------------------------------------------------------

    def _value(self, index: int, place: Place, values: Mapping[int, Held]) -> Held:
        """The code of a node, for as many lanes as it differs in."""
        held = self._of_node(self.part.nodes[index], place, values)
        if index in self.checks:
            # One number is checked at once: what is read behind it may lie nowhere.
            function, lanes = self.function, place.lanes
            if held.lanes == 1:
                label = function.label("ok")
                function.branch(held.value.text, label, self.failed)
                function.begin(label)
            else:
                wrong = lanes.invert(held.value)
                if place.mask is not None:
                    # Lanes behind the end hold anything, and must not fail.
                    wrong = lanes.both(wrong, Value(place.mask, BOOL))
                wide = lanes.type(BOOL)
                called = f"@llvm.vector.reduce.or.v{lanes.lanes}i1({wide} {wrong.text})"
                found = function.let(f"call i1 {called}")
                before = function.let(f"load i1, ptr {self.flag}")
                function.line(
                    f"store i1 {function.let(f'or i1 {before}, {found}')}, ptr {self.flag}"
                )
        return held

    def _of_node(self, node: Node, place: Place, values: Mapping[int, Held]) -> Held:
        if isinstance(node, Literal) and isinstance(node.value, Dim):
            return Held(Value(self.size(node.value), INT64), 1)
        if isinstance(node, Literal):
            return Held(self.single.lanes.constant(node.value, node.dtype), 1)
        if isinstance(node, Load):
            return self.access.load(node, place, values)
        if isinstance(node, Position):
            if node.axis == self.part.lane:
                return Held(counted(place), place.lanes.lanes)
            return Held(Value(self.indices[node.axis], INT64), 1)
        assert isinstance(node, Apply)
        operands = [values[operand] for operand in node.operands]
        count = max((operand.lanes for operand in operands), default=1)
        # What is the same in all lanes is computed once, and spread by who needs it wide.
        lanes = place.lanes if count == place.lanes.lanes else self.single.lanes
        spread = [operand.spread(lanes) for operand in operands]
        return Held(emit_row(lanes, node.operator, spread), lanes.lanes)

    # -- reductions ----------------------------------------------------------------------------

    def _begin(self, stage: Stage, lanes: Lanes) -> States:
        """Where the state of each lane stands, with what it starts with."""
        found: States = {}
        for index in stage.reduced:
            found[index] = []
            for start, dtype in self._starts(index):
                place = self.function.alloca(lanes.type(dtype))
                first = lanes.constant(start, dtype).text
                self.function.line(f"store {lanes.type(dtype)} {first}, ptr {place}")
                found[index].append(place)
        return found

    def _starts(self, index: int) -> list[tuple[object, DType]]:
        node = self.part.nodes[index]
        assert isinstance(node, Reduce)
        return reduction_of(node.kind, node.count).begin(self.part.nodes[node.operands[0]].dtype)

    def _state(self, index: int, places: Sequence[str], lanes: Lanes) -> State:
        pairs = zip(places, self._starts(index), strict=True)
        return [
            lanes.let(f"load {lanes.type(dtype)}, ptr {place}", dtype)
            for place, (_, dtype) in pairs
        ]

    def _reduce(
        self, index: int, place: Place, values: Mapping[int, Held], state: tuple[int, Sequence[str]]
    ) -> None:
        """Take the element of each lane into the state, of so many lanes, at these places."""
        node, lanes, (width, places) = self.part.nodes[index], place.lanes, state
        assert isinstance(node, Reduce)
        row = reduction_of(node.kind, node.count)
        number = self._number_of_column(place) if row.places else Value("0", INT64)
        new = row.element(lanes, values[node.operands[0]].spread(lanes), number)
        if place.mask is not None and not self.has_rows:
            mask = Value(place.mask, BOOL)
            starts = [lanes.constant(start, dtype) for start, dtype in self._starts(index)]
            # Lanes behind the end take the neutral element.
            new = [lanes.select(mask, x, start) for x, start in zip(new, starts, strict=True)]
        while lanes.lanes > width:
            lanes, low, high = halves(lanes, new)
            new = row.join(lanes, low, high)
        joined = row.join(lanes, self._state(index, places, lanes), new)
        for value, at in zip(joined, places, strict=True):
            self.function.line(f"store {lanes.type(value.dtype)} {value.text}, ptr {at}")

    def _number_of_column(self, place: Place) -> Value:
        """How many elements of the row come before, for each lane."""
        first, last = self.part.rows, len(self.part.axes) - 1
        total = "0"
        for axis in range(first, last + (1 if self.has_rows else 0)):
            scaled = self.access.product(total, self.part.axes[axis]) if total != "0" else "0"
            total = self.access.sum(scaled, self.indices[axis])
        if self.has_rows:
            return place.lanes.splat(Value(total, INT64))
        scaled = self.access.product(total, self.part.axes[last]) if total != "0" else "0"
        return counted(Place(place.lanes, self.access.sum(scaled, place.index), place.mask))

    def _folded(self, index: int, places: Mapping[int, Sequence[str]]) -> tuple[Lanes, State]:
        """The states of all lanes as one."""
        node = self.part.nodes[index]
        assert isinstance(node, Reduce)
        join = reduction_of(node.kind, node.count).join
        lanes, state = self.single.lanes, None
        for width in dict.fromkeys([*sorted(places, reverse=True), 1]):
            while state is not None and lanes.lanes > width:
                lanes, low, high = halves(lanes, state)
                state = join(lanes, low, high)
            if width in places:
                lanes = Lanes(self.function, width)
                own = self._state(index, places[width], lanes)
                state = own if state is None else join(lanes, state, own)
        if state is None:  # no element at all
            state = [lanes.constant(start, dtype) for start, dtype in self._starts(index)]
        return lanes, state

    # -- buffers -------------------------------------------------------------------------------

    def _buffer_length(self) -> int | None:
        """How many elements a buffer has, None if only the run knows."""
        if self.is_tiled:
            return TILE
        length = self.spans.wide if self.has_rows else 1
        for size in self.part.axes[self.part.rows :]:
            if isinstance(size, Dim):
                return None
            length *= size
        return length

    def _mask_of_buffer(self, place: Place) -> str | None:
        """None where nothing stands behind a row: a buffer has room for whole vectors.

        What was stored with a mask is read late, from the cache.
        """
        return None if self.has_rows or self.part.columns == 1 else place.mask

    def _in_buffer(self, node: int, place: Place) -> str:
        """The address of what is kept of a node for these lanes."""
        part, offset = self.part, "0"
        for axis in range(part.rows, len(part.axes)):
            index = place.index if axis == part.lane else self.indices[axis]
            scaled = self.access.product(offset, part.axes[axis]) if offset != "0" else "0"
            offset = self.access.sum(scaled, index)
        if self.start != "0":
            # A buffer holds one tile, the index counts along the whole row.
            offset = self.function.let(f"sub i64 {offset}, {self.start}")
        if self.has_rows:
            offset = self.function.let(f"mul i64 {offset}, {self.spans.wide}")
        type = stored(part.nodes[node].dtype)
        return self.function.let(f"getelementptr {type}, ptr {self.buffers[node]}, i64 {offset}")


class TransposedCopy(NamedTuple):
    """Along one axis what is read lies side by side, along the other one what is written.

    side    of a square: as many elements as a line of the cache has.
    """

    read: int
    written: int
    side: int


def transposed_copy_of(nest: Nest, part: Part) -> TransposedCopy | None:
    """What a part transposes; None if it does something else, or is small."""
    if len(part.nodes) != 1 or len(part.stores) != 1:
        return None
    (node,), (store,) = part.nodes, part.stores
    if not isinstance(node, Load) or node.operands or node.dtype.itemsize not in (4, 8):
        return None
    leaf, side = nest.leaves[node.leaf], LINE // node.dtype.itemsize
    axes = range(len(part.axes))
    long = [
        axis for axis in axes if not isinstance(part.axes[axis], int) or part.axes[axis] >= side
    ]
    read = [axis for axis in long if _is(leaf.strides[axis], 1)]
    written = [axis for axis in long if _is(store.strides[axis], 1)]
    if len(read) != 1 or len(written) != 1 or read == written:
        return None
    is_repeated = _is(leaf.strides[written[0]], 0)
    return None if is_repeated else TransposedCopy(read[0], written[0], side)


def _is(stride: Size, number: int) -> bool:
    return isinstance(stride, int) and stride == number


def are_long(function: Function, copy: TransposedCopy, ends: tuple[Ends, Ends]) -> str:
    """Whether there is a whole square."""
    lengths = [function.let(f"sub i64 {end}, {start}") for start, end in ends]
    both = [function.let(f"icmp sge i64 {length}, {copy.side}") for length in lengths]
    return function.let(f"and i1 {both[0]}, {both[1]}")


__all__ = ["TransposedCopy", "are_long", "function", "parameters", "transposed_copy_of"]
