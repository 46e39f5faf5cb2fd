"""Follows through a Program how its values are cut on a mesh, and what devices send each other.

One rule an operator says how its result lies by how its operands lie, as the partitioner of XLA
does: what is added up along a cut axis sends an all-reduce, and an operand that is cut where it
cannot be is gathered. An operator without a rule gathers all its operands; it is named.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dy2st_runtime.engine.xla.lowerings.indexing import along_axis
from dy2st_runtime.ir.definition import lookup
from dy2st_runtime.ir.placement import sharded_axis
from dy2st_runtime.ir.program import Operator, Variable

Cuts = tuple[tuple[str, ...], ...]
"""For each axis of a tensor the axes of the mesh that cut it."""

_REDUCTIONS = {"sum", "mean", "max", "min", "prod", "amax", "amin", "all", "any"}
_ALONG = {
    "softmax",
    "log_softmax",
    "cumsum",
    "cumprod",
    "sort",
    "argsort",
    "flip",
    "split",
    "concat",
}
_CORNERS = {"triu", "tril"}


def sizes_of(variable: Variable) -> tuple[int, ...]:
    """The shape, of numbers alone: what changes from call to call counts as one."""
    return tuple(size if isinstance(size, int) else 1 for size in variable.tensor_type.shape)


def cuts_of(mesh: Mapping[str, int], placements: Mapping[str, str], shape: Sequence[int]) -> Cuts:
    """How a tensor is cut by placements; an axis that its devices do not divide stays whole."""
    cuts: list[tuple[str, ...]] = [()] * len(shape)
    left = [*shape]
    for name, text in placements.items():
        axis = sharded_axis(text)
        if axis is not None and left[axis] % mesh[name] == 0 and mesh[name] > 1:
            left[axis] //= mesh[name]
            cuts[axis] += (name,)
    return tuple(cuts)


class Partition:
    """How the values of a Program lie, found operator by operator in their order.

    cuts       of each value.
    sent       for each collective so far its name, the axes of the mesh, and the bytes of its
               result on one device.
    unknown    operators without a rule, whose operands were gathered.
    """

    def __init__(self, mesh: Mapping[str, int]) -> None:
        """On a mesh, of numbers of devices by the names of its axes."""
        self.mesh = dict(mesh)
        self.cuts: dict[Variable, Cuts] = {}
        self.sent: list[tuple[str, tuple[str, ...], int]] = []
        self.unknown: dict[str, None] = {}
        self._gathered: set[tuple[Variable, Cuts]] = set()

    def local_bytes(self, variable: Variable, cuts: Cuts | None = None) -> int:
        """What one device has of a value."""
        parts = self.parts([name for axis in cuts or self.cuts[variable] for name in axis])
        whole = math.prod(sizes_of(variable)) * variable.tensor_type.dtype.itemsize
        return -(-whole // parts)

    def parts(self, names: Sequence[str]) -> int:
        """How many devices there are along axes of the mesh."""
        return math.prod(self.mesh[name] for name in names)

    def become(self, variable: Variable, wanted: Cuts) -> None:
        """Let a value lie so: what is cut otherwise is gathered, once."""
        lost = _names(self.cuts[variable]) - _names(wanted)
        moved = any(
            set(old) - set(new) for old, new in zip(self.cuts[variable], wanted, strict=True)
        )
        if moved and (variable, wanted) not in self._gathered:
            self._gathered.add((variable, wanted))
            kind = "all-gather" if lost else "all-to-all"
            names = sorted(lost or _names(self.cuts[variable]))
            self.sent.append((kind, tuple(names), self.local_bytes(variable, wanted)))

    def run(self, operator: Operator) -> None:
        """Find how the results of an operator lie."""
        rule = _RULES.get(operator.name)
        if operator.name in _REDUCTIONS:
            rule = Partition._reduced
        elif operator.name in _ALONG or operator.name in _CORNERS:
            rule = Partition._along
        elif rule is None and lookup(operator.name).is_elementwise:
            rule = Partition._elementwise
        if rule is not None:
            rule(self, operator)
            return
        if any(_names(self.cuts[operand]) for operand in operator.operands):
            self.unknown[operator.name] = None
        for operand in operator.operands:
            self.become(operand, ((),) * len(self.cuts[operand]))
        for result in operator.results:
            self.cuts[result] = ((),) * len(sizes_of(result))

    def _give(self, operator: Operator, cuts: Sequence[tuple[str, ...]]) -> None:
        """All results lie so, where their sizes divide."""
        for result in operator.results:
            found = []
            for size, names in zip(sizes_of(result), cuts, strict=True):
                found.append(names if names and size % self.parts(names) == 0 else ())
            self.cuts[result] = tuple(found)

    def _add_up(self, operator: Operator, names: set[str]) -> None:
        """The results are sums of parts that devices along these axes have."""
        for result in operator.results if names else ():
            self.sent.append(("all-reduce", tuple(sorted(names)), self.local_bytes(result)))

    # -- rules -------------------------------------------------------------------------------

    def _elementwise(self, operator: Operator) -> None:
        """Aligned at the last axes; the largest operand chooses first."""
        rank = len(sizes_of(operator.results[0]))
        found: list[tuple[str, ...]] = [()] * rank
        taken: set[str] = set()
        by_size = sorted(operator.operands, key=lambda one: -math.prod(sizes_of(one)))
        for operand in by_size:
            first = rank - len(self.cuts[operand])
            for axis, names in enumerate(self.cuts[operand], first):
                if names and not found[axis] and not taken & set(names):
                    found[axis] = names
                    taken |= set(names)
        self._give(operator, found)
        given = self.cuts[operator.results[0]]
        for operand in operator.operands:
            first = rank - len(self.cuts[operand])
            sizes = sizes_of(operand)
            wanted = [given[first + axis] if size > 1 else () for axis, size in enumerate(sizes)]
            self.become(operand, tuple(wanted))

    def _matmul(self, operator: Operator) -> None:
        a, b = operator.operands
        if min(len(self.cuts[a]), len(self.cuts[b])) < 2:
            self._gather_all(operator)
            return
        of_a, of_b = self.cuts[a], self.cuts[b]
        if math.prod(sizes_of(b)) > math.prod(sizes_of(a)):
            of_a = _without(of_a, _names((*of_b[:-2], of_b[-1])), but=len(of_a) - 1)
        of_b = _without(of_b, _names((*of_a[:-2], of_a[-2])), but=None, batches=of_a)
        summed = set(of_a[-1]) & set(of_b[-2]) or set(of_a[-1]) | set(of_b[-2])
        summed -= _names((*of_a[:-1], *of_b[:-2], of_b[-1]))
        names = tuple(sorted(summed))
        self.become(a, (*of_a[:-1], names))
        self.become(b, (*of_b[:-2], names, of_b[-1]))
        rank = len(sizes_of(operator.results[0]))
        batches: list[tuple[str, ...]] = [()] * (rank - 2)
        for cuts in (of_b, of_a):
            for axis, one in enumerate(cuts[:-2], rank - len(cuts)):
                batches[axis] = one or batches[axis]
        self._give(operator, [*batches, of_a[-2], of_b[-1]])
        self._add_up(operator, summed)

    def _reduced(self, operator: Operator) -> None:
        operand = operator.operands[0]
        cuts, axes = self.cuts[operand], operator.attributes.get("axis")
        rank = len(cuts)
        gone = {axis % rank for axis in _tuple(axes)} if axes is not None else set(range(rank))
        keeps = bool(operator.attributes.get("keepdim"))
        left = [
            () if axis in gone else cuts[axis] for axis in range(rank) if keeps or axis not in gone
        ]
        self._give(operator, left)
        self._add_up(operator, _names([cuts[axis] for axis in gone]))

    def _sum_to(self, operator: Operator) -> None:
        operand, result = operator.operands[0], operator.results[0]
        sizes, wanted = sizes_of(operand), sizes_of(result)
        first = len(sizes) - len(wanted)
        cuts = self.cuts[operand]
        kept = [
            cuts[first + axis] if sizes[first + axis] == size else ()
            for axis, size in enumerate(wanted)
        ]
        self._give(operator, kept)
        self._add_up(operator, _names(cuts) - _names(kept))

    def _broadcast(self, operator: Operator) -> None:
        cuts, rank = self.cuts[operator.operands[0]], len(sizes_of(operator.results[0]))
        self._give(operator, [*[()] * (rank - len(cuts)), *cuts])

    def _transpose(self, operator: Operator) -> None:
        cuts = self.cuts[operator.operands[0]]
        self._give(operator, [cuts[axis] for axis in operator.attributes["perm"]])

    def _reshape(self, operator: Operator) -> None:
        """The first of axes that are joined, or that one is made into, stays cut."""
        operand, result = operator.operands[0], operator.results[0]
        old, new, cuts = sizes_of(operand), sizes_of(result), self.cuts[operand]
        found: list[tuple[str, ...]] = [()] * len(new)
        kept: list[tuple[str, ...]] = [()] * len(old)
        for i, j in _beginnings(old, new):
            if cuts[i] and old[i] % self.parts(cuts[i]) == 0 and new[j] % self.parts(cuts[i]) == 0:
                found[j] = kept[i] = cuts[i]
        self.become(operand, tuple(kept))
        self._give(operator, found)

    def _along(self, operator: Operator) -> None:
        """All of one axis is needed; the others stay cut."""
        rank = len(sizes_of(operator.results[0]))
        axis = operator.attributes.get("axis", -1)
        whole = {rank - 1, rank - 2} if operator.name in _CORNERS else {int(axis) % rank}
        found: list[tuple[str, ...]] = [()] * rank
        for operand in operator.operands:
            for place, names in enumerate(self.cuts[operand]):
                if place not in whole and not found[place] and not set(names) & _names(found):
                    found[place] = names
        for operand in operator.operands:
            self.become(operand, tuple(found))
        self._give(operator, found)

    def _index(self, operator: Operator) -> None:
        """Rows that are taken lie as the indices do, where all is of the table."""
        table, *indices = operator.operands
        cuts, axes = self.cuts[table], operator.attributes["axes"]
        axis = along_axis(operator)
        if axis is not None:
            left = _without(cuts, set(cuts[axis]))
            self.become(table, left)
            self._give(operator, left)
            return
        if axes != (axes[0],):
            self._gather_all(operator)
            return
        rows = self.cuts[indices[0]]
        left = _without(cuts, set(cuts[axes[0]]) | _names(rows))
        self.become(table, left)
        self._give(operator, [*left[: axes[0]], *rows, *left[axes[0] + 1 :]])

    def _index_put(self, operator: Operator) -> None:
        """Of rows that are added, which lie on several devices, each adds up its own."""
        table, values, *indices = operator.operands
        axis = along_axis(operator)
        if axis is not None:
            rows = _without(self.cuts[indices[0]], set(self.cuts[values][axis]))
            joined = [a or b or c for a, b, c in zip(self.cuts[table], rows, self.cuts[values])]
            self._give(operator, joined)
            return
        if not operator.attributes.get("accumulate"):
            self._gather_all(operator)
            return
        places = {name for one in indices for name in _names(self.cuts[one])}
        places |= _names(self.cuts[values])
        self._give(operator, _without(self.cuts[table], places))
        self._add_up(operator, places)

    def _reshard(self, operator: Operator) -> None:
        mesh, texts = operator.attributes["mesh"], operator.attributes["placements"]
        by_axis = {name: text for (name, _), text in zip(mesh, texts, strict=True)}
        operand = operator.operands[0]
        wanted = cuts_of(self.mesh, by_axis, sizes_of(operand))
        self.become(operand, wanted)
        self._give(operator, wanted)

    def _gather_all(self, operator: Operator) -> None:
        for operand in operator.operands:
            self.become(operand, ((),) * len(self.cuts[operand]))
        self._give(operator, [()] * len(sizes_of(operator.results[0])))


def _names(cuts: Sequence[tuple[str, ...]]) -> set[str]:
    return {name for axis in cuts for name in axis}


def _tuple(axes: Any) -> tuple[int, ...]:
    return (axes,) if isinstance(axes, int) else tuple(axes)


def _without(cuts: Cuts, names: set[str], but: int | None = None, batches: Cuts = ()) -> Cuts:
    """The cuts without axes of the mesh: but for one axis, and where batches are cut alike."""
    first = len(batches) - len(cuts)
    return tuple(
        one
        if axis == but
        or (first + axis >= 0 and one and one == batches[first + axis] and axis < len(cuts) - 2)
        else tuple(name for name in one if name not in names)
        for axis, one in enumerate(cuts)
    )


def _beginnings(old: Sequence[int], new: Sequence[int]) -> list[tuple[int, int]]:
    """The pairs of axes of two shapes before which there are as many elements."""

    def before(shape: Sequence[int]) -> dict[int, int]:
        return {math.prod(shape[:axis]): axis for axis in range(len(shape)) if shape[axis] != 1}

    left, right = before(old), before(new)
    return [(axis, right[count]) for count, axis in left.items() if count in right]


_RULES: dict[str, Callable[[Partition, Operator], None]] = {
    "matmul": Partition._matmul,
    "sum_to": Partition._sum_to,
    "broadcast_to": Partition._broadcast,
    "transpose": Partition._transpose,
    "reshape": Partition._reshape,
    "index": Partition._index,
    "index_put": Partition._index_put,
    "reshard": Partition._reshard,
    **dict.fromkeys(
        ("detach", "assign", "cast", "where", "set_stop_gradient"), Partition._elementwise
    ),
}

__all__ = ["Cuts", "Partition", "cuts_of", "sizes_of"]
