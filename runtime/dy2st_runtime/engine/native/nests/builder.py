"""Builds a loop nest of a group of operators: axes in order, strides, nodes, stores."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from dy2st_runtime.dims import Size, equal, product
from dy2st_runtime.engine.native.nests.axes import Axis, Places, Use
from dy2st_runtime.engine.native.nests.members import Group, Member
from dy2st_runtime.engine.native.nests.nests import (
    Apply,
    Leaf,
    Literal,
    Load,
    Nest,
    Node,
    Part,
    Position,
    Reduce,
    Store,
)
from dy2st_runtime.ir.program import Operator, Variable
from dy2st_runtime.ir.types import DType, Shape

Strides = list[Size]


def build(
    group: Group,
    outside: Container[Variable],
    written: Mapping[Variable, tuple[Strides, Size]] = MappingProxyType({}),
) -> Nest:
    """The nest of a group; `outside` holds what others need of it.

    `written` has strides and first element of what is not written one element after the other.
    """
    return _Builder(group, outside, written).nest()


def contiguous(shape: Shape) -> Strides:
    """How far the elements along each axis lie apart, in elements."""
    strides: Strides = []
    step: Size = 1
    for size in reversed(shape):
        strides.append(step)
        step = product([step, size])
    return strides[::-1]


def literal_of(variable: Variable) -> Any:
    """The number that a constant is everywhere; None for all others."""
    maker = variable.maker
    if not isinstance(maker, Operator):
        return None
    if maker.name == "full" and isinstance(maker.attributes["value"], (bool, int, float)):
        return maker.attributes["dtype"].type(maker.attributes["value"]).item()
    if maker.name != "constant" or np.size(maker.attributes["value"]) != 1:
        return None
    return np.asarray(maker.attributes["value"]).item()


class _Read(NamedTuple):
    """A tensor that is read: its strides for the axes of the nest, and the first element."""

    variable: Variable
    strides: Strides
    offset: Size
    picks: tuple[Size, ...]
    by: tuple[Variable, ...]


class _Builder:
    def __init__(
        self,
        group: Group,
        outside: Container[Variable],
        written: Mapping[Variable, tuple[Strides, Size]],
    ) -> None:
        self.group, self.written = group, written
        self.outputs = [member.variable for member in group.members if member.variable in outside]
        self.checks = [member.variable for member in group.members if member.is_check]
        # The axes in the order of the tensor that has most.
        best: dict[Axis, None] = {}
        for member in group.members:
            operands = [use.places for use in member.operands] if member.reduced else []
            for places in (member.result, *operands):
                roots = dict.fromkeys([axis.root for axis in places if axis is not None])
                best = roots if len(roots) > len(best) else best
        natural = [axis for axis in group.axes() if axis not in best] + list(best)
        reduced = group.reduced()
        rows = [axis for axis in natural if axis not in reduced]
        # Rows come first: what a row is reduced to is complete when its columns are over.
        self.order = rows + [axis for axis in natural if axis in reduced]
        self.rows = len(rows)
        # Where the rows are neighbours in memory and the columns are not, lanes are rows.
        self.has_rows_in_lanes = bool(rows and reduced) and natural[-1] not in reduced
        self.number = {axis: index for index, axis in enumerate(self.order)}
        self.axis_after = list(range(len(self.order)))
        # The axes whose places are asked for: they stay as they are.
        self.counted: set[int] = set()
        for member in self.group.members:
            if member.operator is None and member.number is None and not member.operands:
                self.counted.update(
                    self.number[axis.root] for axis in member.result if axis is not None
                )
        self.reads: list[_Read] = []
        self.known: dict[Any, int] = {}  # a tensor and its strides -> its place in `reads`
        self.nodes: list[Node] = []
        self.made: dict[Any, int] = {}  # a Variable, a read or a number -> its node

    def nest(self) -> Nest:
        """Strides first, then axes that can be one, then nodes."""
        if not self.outputs and not self.checks:
            return Nest([], [], [])
        used = [self._read_of(member) for member in self.group.members]
        stores = [
            self._strides(
                self.written[v][0] if v in self.written else contiguous(v.tensor_type.shape),
                self.group.places[v],
            )
            for v in self.outputs
        ]
        # The part without nodes; neighbours that are one axis for all tensors become one.
        alike = [read.strides for read in self.reads] + stores
        reduced = bool(self.group.own_reduced)
        # An axis of rows and one of columns never become one: the loops around a row end there.
        ends = [0, self.rows, len(self.order)] if reduced else [0, len(self.order)]
        sizes: list[list[Size]] = []
        for start, end in reversed(list(pairwise(ends))):
            sizes.append(self._collapsed(start, end, alike))
        whole = [size for part in reversed(sizes) for size in part]
        columns = len(sizes[0]) if reduced else min(1, len(whole))
        rows = len(whole) - columns
        lane = (rows if self.has_rows_in_lanes else len(whole)) - 1
        part = Part(whole, columns, lane if whole else None)
        leaves = [Leaf(read.variable, tuple(read.strides), read.offset) for read in self.reads]
        for member, places in zip(self.group.members, used, strict=True):
            # The node of a member, after those of what it reads.
            operands = []
            for use, read in zip(member.operands, places, strict=True):
                operands.append(self._operand(use.variable, read, leaves))
            axes = frozenset[int]().union(*(self.nodes[operand].axes for operand in operands))
            dtype = member.variable.tensor_type.dtype
            if member.operator is None:
                self.made[member.variable] = operands[0] if operands else self._said(member, dtype)
            else:
                if member.reduced:
                    # A reduction is one number for all columns.
                    own = axes - part.column_axes
                    name, count = member.operator.name, member.count
                    new: Node = Reduce(dtype, own, tuple(operands), kind=name, count=count)
                else:
                    new = Apply(dtype, axes, tuple(operands), operator=member.operator)
                self.made[member.variable] = self._new(new)
        part.nodes = self.nodes
        for index, (variable, strides) in enumerate(zip(self.outputs, stores, strict=True)):
            offset = self.written[variable][1] if variable in self.written else 0
            part.stores.append(Store(self.made[variable], index, tuple(strides), offset))
        for variable in self.checks:
            node = self.made[variable]
            axes = self.nodes[node].axes
            part.stores.append(
                Store(node, -1, tuple(int(a in axes) for a in range(len(part.axes))))
            )
        return Nest(leaves, self.outputs, [part])

    # -- what is read --------------------------------------------------------------------------

    def _read_of(self, member: Member) -> list[int | None]:
        """For each operand its place in `reads`, None if it is made here or a number."""
        found: list[int | None] = []
        for use in member.operands:
            is_made = use.is_plain and use.variable in self.group.places
            is_read = not is_made and literal_of(use.variable) is None
            found.append(self._read(use) if is_read else None)
        return found

    def _read(self, use: Use) -> int:
        offset: Size = 0
        strides = contiguous(use.variable.tensor_type.shape)
        if use.starts:
            for stride, start in zip(strides, use.starts, strict=True):
                offset = offset + product([stride, start])
            strides = [product(pair) for pair in zip(strides, use.steps, strict=True)]
        picks = tuple([strides[axis] for axis, _ in use.picks])
        strides = self._strides(strides, use.places)
        # Formulas are compared by identity: those that are equal and not the same are read twice.
        parts = (s if isinstance(s, int) else str(id(s)) for s in (offset, *strides))
        by = tuple([value for _, value in use.picks])
        by = by if use.guard is None else (*by, use.guard)
        key = (id(use.variable), *parts, *map(id, by))
        if key not in self.known:
            self.known[key] = len(self.reads)
            self.reads.append(_Read(use.variable, strides, offset, picks, by))
        return self.known[key]

    def _strides(self, steps: Strides, places: Places) -> Strides:
        """The strides of a tensor's axes as those of the nest's."""
        strides: Strides = [0] * len(self.order)
        for axis, step in zip(places, steps, strict=True):
            if axis is not None:
                place = self.number[axis.root]
                # Two axes of a tensor may be one of the nest, as of a diagonal: the steps add up.
                strides[place] = strides[place] + step
        return strides

    # -- axes ----------------------------------------------------------------------------------

    def _collapsed(self, start: int, end: int, strides: Sequence[Strides]) -> list[Size]:
        """The sizes of axes start to end, where what can be one axis is one."""
        sizes = [axis.size for axis in self.order[start:end]]
        # From the last one on, so that those in front keep their numbers.
        for axis in range(end - 2, start - 1, -1):
            inner = sizes[axis - start + 1]
            counted = {axis, axis + 1} & self.counted
            if not counted and all(_joins(own[axis], own[axis + 1], inner) for own in strides):
                self.axis_after = [a - (a > axis) for a in self.axis_after]
                sizes[axis - start : axis - start + 2] = [product([sizes[axis - start], inner])]
                for own in strides:
                    del own[axis]
        return sizes

    # -- nodes ---------------------------------------------------------------------------------

    def _said(self, member: Member, dtype: DType) -> int:
        """The node of a number, or of the place along an axis."""
        if member.number is not None:
            return self._new(Literal(dtype, frozenset(), value=member.number))
        (axis,) = member.result
        assert axis is not None, "a place along no axis"
        number = self.axis_after[self.number[axis.root]]
        return self._new(Position(dtype, frozenset({number}), axis=number))

    def _operand(self, variable: Variable, read: int | None, leaves: Sequence[Leaf]) -> int:
        if variable in self.made:
            return self.made[variable]
        dtype = variable.tensor_type.dtype
        if read is None:
            number = literal_of(variable)
            # A number in the code takes no load.
            self.made[variable] = self._new(Literal(dtype, frozenset(), value=number))
            return self.made[variable]
        if read not in self.made:
            strides = leaves[read].strides
            own = frozenset([i for i, stride in enumerate(strides) if not _is_zero(stride)])
            by, picks = [self.made[value] for value in self.reads[read].by], self.reads[read].picks
            axes = own.union(*(self.nodes[node].axes for node in by))
            self.made[read] = self._new(Load(dtype, axes, tuple(by), leaf=read, picks=picks))
        return self.made[read]

    def _new(self, node: Node) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1


def _is_zero(size: Size) -> bool:
    return isinstance(size, int) and size == 0


def _joins(outer: Size, inner: Size, size: Size) -> bool:
    """Whether a step along the outer axis is as many along the inner one as that has."""
    if _is_zero(outer) or _is_zero(inner):
        return _is_zero(outer) and _is_zero(inner)
    whole = product([inner, size])
    return whole is outer or equal(whole, outer) is True


__all__ = ["build", "contiguous", "literal_of"]
