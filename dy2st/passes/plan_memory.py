"""plan_memory: says where each value of a Program lies in one block of memory, before it runs.

    %0 = conv(%x, %w)   bytes 0 to 4095
    %1 = relu(%0)       written over %0
    %2 = conv(%1, %v)   bytes 4096 to 8191
    %3 = relu(%2)       written over %2
    %4 = conv(%3, %u)   bytes 0 to 4095 again: nobody reads %1 any more

Values that look into the memory of others have none of their own, and an elementwise operator
whose operand dies writes its result there. What is reshaped after a transpose is a copy.

The inner Blocks of a `cond` or `while` have a work space that is taken while the operator runs, and
so has a function that is called; of one that calls itself nobody knows how deep the calls go.
Loop variables lie where the results of the `while` do; what an iteration moves from one to another
goes through the work space. Inputs, parameters and constants are not part of the plan: they lie
where the caller has them, row by row.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

from dy2st_runtime.dims import Dim, Size, evaluate, symbols
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import ArrayType, Block, Operator, Program, TensorType, Variable
from dy2st_runtime.ir.aliasing import overwritten, owner, views_in_order
from dy2st_runtime.ir.functions import bound_sizes, recursive

ALIGNMENT = 64
"""Every value begins at a multiple of so many bytes: a cache line, and the widest vectors."""


@dataclass(eq=False)
class Buffer:
    """Memory that one value has after the other; from operator `begin` to `end`, both included."""

    name: str
    size: int
    begin: int
    end: int
    values: list[Variable] = field(default_factory=list, repr=False)
    offset: int = 0


@dataclass(eq=False)
class MemoryPlan:
    """The buffers of a Program's outermost Block, and how many bytes are needed.

    Attributes
    ----------
    arena
        with all buffers at their offsets.
    peak
        what is alive at one time: no plan needs less with these buffers.
    unplanned
        if every value had memory of its own.
    lists
        how many TensorArrays there are: they grow as the Program runs, beside the arena.

    Examples
    --------
    >>> f = dy2st.to_static(lambda x: dy2st.exp(dy2st.exp(x)), [dy2st.static.InputSpec([256])])
    >>> plan = dy2st.passes.plan_memory(f.main_program)
    >>> plan.arena, plan.peak, plan.unplanned
    (1024, 1024, 2048)
    >>> plan.svg().startswith("<svg")
    True
    """

    program: Program
    buffers: list[Buffer]
    arena: int
    peak: int
    unplanned: int
    lists: int

    def __str__(self) -> str:
        """What is needed, and the largest buffers."""
        values = sum(len(buffer.values) for buffer in self.buffers)
        lines = [
            f"{self.program.name}: {amount(self.arena)} for {_count(values, 'value')} in "
            f"{_count(len(self.buffers), 'buffer')}; {amount(self.peak)} are alive at one time, "
            f"{amount(self.unplanned)} with memory for each",
        ]
        for buffer in sorted(self.buffers, key=lambda b: (-b.size, b.begin))[:10]:
            lines.append(
                f"{amount(buffer.size):>12} at {buffer.offset:>10}  operators {buffer.begin:>4} to "
                f"{buffer.end:>4}  {buffer.name}"
            )
        return "\n".join(lines)

    def svg(self, width: int = 960, height: int = 480, title: str | None = None) -> str:
        """A picture: operators from left to right, memory from bottom to top."""
        count = max(1, len(self.program.block.operators))
        left, top, right, bottom = 90, 40, 20, 40
        across, up = width - left - right, height - top - bottom
        per_byte = up / max(1, self.arena)
        boxes = []
        for number, buffer in enumerate(self.buffers):
            begin, end = min(buffer.begin, count - 1), min(buffer.end, count - 1)
            x, w = left + across * begin / count, across * (end - begin + 1) / count
            h = buffer.size * per_byte
            y = top + up - buffer.offset * per_byte - h
            note = escape(f"{buffer.name}: {amount(buffer.size)}, operators {begin} to {end}")
            boxes.append(
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" stroke="#fff" '
                f'stroke-width="0.5" fill="{_COLOURS[number % len(_COLOURS)]}">'
                f"<title>{note}</title>"
                "</rect>"
            )
        heading = (
            f"{title or self.program.name}: {amount(self.arena)} for what takes "
            f"{amount(self.unplanned)} with memory for each value"
        )
        foot = top + up
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
                'font-family="sans-serif" font-size="13">',
                f'<rect width="{width}" height="{height}" fill="#fff"/>',
                f'<text x="{left}" y="24" font-size="15">{escape(heading)}</text>',
                *boxes,
                f'<path d="M{left} {top}V{foot}H{left + across}" fill="none" stroke="#333"/>',
                f'<text x="{left - 8}" y="{top + 6}" text-anchor="end">{amount(self.arena)}</text>',
                f'<text x="{left - 8}" y="{foot}" text-anchor="end">0</text>',
                f'<text x="{left}" y="{foot + 22}">operator 0</text>',
                f'<text x="{left + across}" y="{foot + 22}" text-anchor="end">{count - 1}</text>',
                "</svg>\n",
            ]
        )


def plan_memory(program: Program, sizes: Mapping[str, int] | None = None) -> MemoryPlan:
    """Offsets for all values; `sizes` gives numbers for unknown sizes by their names.

    Raises ArgumentError if the bytes of a value depend on a size that has no number, or one that
    is no size.

    >>> f = dy2st.to_static(lambda x: dy2st.exp(x), [dy2st.static.InputSpec(["n"])])
    >>> dy2st.passes.plan_memory(f.main_program, {"n": 256}).arena
    1024
    """
    for name, size in (sizes or {}).items():
        if not isinstance(size, (int, np.integer)) or size < 0:
            raise ArgumentError(f"the size {name!r} is a whole number from 0 on, not {size!r}")
    planner = _Planner(program, dict(sizes or {}))
    buffers, unplanned = planner.block(program.block, program.block.parameters)
    arena = _place(buffers)
    # the most bytes that live at the same time
    change: dict[int, int] = {}
    for buffer in buffers:
        change[buffer.begin] = change.get(buffer.begin, 0) + buffer.size
        change[buffer.end + 1] = change.get(buffer.end + 1, 0) - buffer.size
    alive = peak = 0
    for place in sorted(change):
        alive += change[place]
        peak = max(peak, alive)
    return MemoryPlan(program, buffers, arena, peak, unplanned, planner.lists)


class _Planner:
    """The numbers of symbols, found by their names, and what has been counted."""

    def __init__(self, program: Program, sizes: dict[str, int]):
        self.sizes = sizes
        self.known: dict[Dim, int] = {}
        self.lists = 0
        alone = program.functions.keys() - recursive(program) if program.functions else ()
        self.functions = {name: program.functions[name] for name in alone}
        # Their work space, and the bytes of all values, by name and the sizes of a call.
        self.called: dict[tuple[Any, ...], tuple[int, int]] = {}

    def block(self, block: Block, in_order: Sequence[Variable]) -> tuple[list[Buffer], int]:
        """The buffers of one Block, and the bytes that all values would need without sharing.

        `in_order` are the parameters that lie row by row.
        """
        buffers: list[Buffer] = []
        where: dict[Variable, Buffer] = {}
        over = overwritten(block)
        views = views_in_order(block, over, in_order)
        unplanned = 0
        for place, operator in enumerate(block.operators):
            for operand in operator.operands:
                if operand in where:
                    where[operand].end = place
            if operator.blocks:
                is_loop = operator.name == "while"
                count = len(operator.results) if is_loop else 0
                inner = [self.block(one, one.parameters[:count]) for one in operator.blocks]
                sizes = [_place(own) for own, _ in inner]
                unplanned += sum(together for _, together in inner)
                if is_loop:
                    copies = sum(self.bytes_of(operator, v) for v in moved(operator).values())
                    sizes[1] += copies
                    unplanned += copies
                if max(sizes):
                    name = f"work space of `{operator.name}`"
                    buffers.append(Buffer(name, max(sizes), place, place))
            is_call = operator.attributes.get("function") in self.functions
            if is_call:
                size, together = self.call(operator)
                unplanned += together
                if size:
                    name = f"work space of `{operator.attributes['function']}`"
                    buffers.append(Buffer(name, size, place, place))
            is_view = operator in views
            index = 0 if is_view else over.get(operator)
            shared = None if index is None else where.get(operator.operands[index])
            for result in operator.results:
                buffer = shared
                if not is_view and buffer is None:
                    buffer = self._new(operator, result, place)
                if buffer is None:
                    continue
                where[result] = buffer
                buffer.values.append(result)
                if shared is None:
                    buffers.append(buffer)
                if not is_view and not is_call:
                    unplanned += self.bytes_of(operator, result)
        for variable in block.yields:
            if variable in where:
                where[variable].end = len(block.operators)
        return buffers, unplanned

    def call(self, operator: Operator) -> tuple[int, int]:
        """The work space of a function that is called, and the bytes that all its values need."""
        name = operator.attributes["function"]
        block = self.functions[name]
        bound = bound_sizes(block, [one.type for one in operator.operands])
        given = {own: self.number(size, operator) for own, size in bound.items()}
        key = name, *given.values()
        if key not in self.called:
            around, self.known = self.known, given
            buffers, together = self.block(block, ())
            self.known = around
            # What it yields lies where the results of the call do.
            own = [one for one in buffers if set(block.yields).isdisjoint(one.values)]
            self.called[key] = _place(own), together
        return self.called[key]

    def _new(self, operator: Operator, result: Variable, place: int) -> Buffer | None:
        if operator.name == "constant":
            return None
        if isinstance(result.type, ArrayType):
            self.lists += 1
            return None
        size = self.bytes_of(operator, result)
        name = f"%{result.name}" if result.name else f"`{operator.name}`"
        return Buffer(name, size, place, place) if size else None

    def bytes_of(self, operator: Operator, result: Variable) -> int:
        """The bytes of a tensor, up to a multiple of the alignment."""
        type = result.type
        if not isinstance(type, TensorType):
            return 0
        count = math.prod(self.number(size, operator) for size in type.shape)
        return -(-count * type.dtype.itemsize // ALIGNMENT) * ALIGNMENT

    def number(self, size: Size, operator: Operator) -> int:
        """A size in numbers."""
        for symbol in symbols(size):
            if symbol not in self.known:
                if str(symbol) not in self.sizes:
                    raise ArgumentError(
                        f"the bytes of `{operator.name}` "
                        f"({operator.location or 'no line known'}) depend on the size "
                        f"{symbol}: plan_memory(program, {{'{symbol}': ...}})"
                    )
                self.known[symbol] = self.sizes[str(symbol)]
        return size if isinstance(size, int) else int(evaluate(size, self.known))


def moved(operator: Operator) -> dict[int, Variable]:
    """What an iteration of a `while` takes from loop variable to others, by place in the yields."""
    body = operator.blocks[1]
    carried = body.parameters[: len(operator.results)]
    return {
        place: value
        for place, (own, value) in enumerate(zip(carried, body.yields, strict=True))
        if value is not own and owner(value) in set(carried)
    }


# -- placing ----------------------------------------------------------------------------------


_STRETCH = 64  # operators: buffers that meet are looked for by the stretches that they live in


def _place(buffers: list[Buffer]) -> int:
    """Give every buffer, the largest first, the smallest gap that fits; how far all reach.

    The order is that of Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net
    Inference", 2020: "greedy by size".
    """
    living: dict[int, list[Buffer]] = {}
    for buffer in sorted(buffers, key=lambda b: (-b.size, b.begin)):
        stretches = range(buffer.begin // _STRETCH, buffer.end // _STRETCH + 1)
        near = {other: None for stretch in stretches for other in living.get(stretch, ())}
        # where the smallest gap begins between those that live at the same time; else above them
        taken = sorted(
            (other.offset, other.offset + other.size)
            for other in near
            if other.begin <= buffer.end and buffer.begin <= other.end
        )
        found, smallest, free = None, 0, 0
        for begin, end in taken:
            gap = begin - free
            if gap >= buffer.size and (found is None or gap < smallest):
                found, smallest = free, gap
            free = max(free, end)
        buffer.offset = free if found is None else found
        for stretch in stretches:
            living.setdefault(stretch, []).append(buffer)
    return max((buffer.offset + buffer.size for buffer in buffers), default=0)


# -- showing ----------------------------------------------------------------------------------


def amount(size: int) -> str:
    """Bytes in the unit that suits them.

    >>> amount(1536)
    '1.5 KiB'
    """
    number = float(size)
    for unit in ("B", "KiB", "MiB"):
        if number < 1024:
            return f"{number:.1f} {unit}" if unit != "B" else f"{size} B"
        number /= 1024
    return f"{number:.1f} GiB"


_COLOURS = ("#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2", "#edc948", "#b07aa1", "#9c755f")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


__all__ = ["Buffer", "MemoryPlan", "amount", "plan_memory"]
