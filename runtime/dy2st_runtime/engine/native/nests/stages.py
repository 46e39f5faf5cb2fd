"""Chooses the loop along a row that computes each node, and which nodes are kept between loops.

A reduction ends a stage: what needs its result is computed in a later one. A stage that grows long
ends too, so that all it works on fits the registers. What a later stage needs is computed again if
that is cheap, and else kept in a buffer as long as the row.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

from dy2st_runtime.engine.native.nests.nests import Apply, Load, Node, Part, Reduce, Store
from dy2st_runtime.engine.native.rows import ROWS

_LONGEST_STAGE = 40
"""How much is computed in one loop: about what 16 or 32 registers hold."""

_CHEAP = 8
"""What costs no more is computed again in each stage that needs it."""


@dataclass
class Stage:
    """One loop along a row."""

    computed: list[int] = field(default_factory=list)
    read: list[int] = field(default_factory=list)  # kept by an earlier stage
    kept: list[int] = field(default_factory=list)
    reduced: list[int] = field(default_factory=list)
    stores: list[Store] = field(default_factory=list)
    after: list[int] = field(default_factory=list)  # one a row, when the loop has ended
    cost: int = 0


@dataclass
class Schedule:
    """The stages of a part, what is known of a row before them, and the buffers of kept nodes."""

    stages: list[Stage]
    before: list[int]
    stores: list[Store]  # of what is one a row
    buffers: dict[int, int]  # node -> which buffer


def cost_of(node: Node) -> int:
    """About how many instructions a vector takes."""
    if isinstance(node, Apply):
        return ROWS[node.operator.name].cost
    return 1 if isinstance(node, (Load, Reduce)) else 0


def schedule(part: Part) -> Schedule:
    """The stages of a part."""
    return _Scheduler(part).schedule()


class _Scheduler:
    def __init__(self, part: Part) -> None:
        self.part = part
        columns = part.column_axes
        self.is_full = [bool(node.axes & columns) for node in part.nodes]
        # Of a full node the stage as (reductions before, splits); of others the stages before.
        self.place: list[tuple[int, int]] = []
        self.needs: list[set[int]] = [set() for _ in part.nodes]
        self.number: dict[tuple[int, int], int] = {}

    def schedule(self) -> Schedule:
        # When each node can be computed: after what it needs, in stages that stay short.
        spent: dict[int, int] = {}
        splits: dict[int, int] = {}
        for index, node in enumerate(self.part.nodes):
            major = max((self.place[o][0] for o in node.operands), default=0)
            if isinstance(node, Reduce):
                self.place.append((major + 1, 0))
                continue
            if not self.is_full[index]:
                self.place.append((major, 0))
                continue
            cost = cost_of(node)
            total = spent.get(major, 0) + cost
            if total > _LONGEST_STAGE and total > cost and self._may_split:
                splits[major] = splits.get(major, 0) + 1
                total = cost
            spent[major] = total
            self.place.append((major, splits.get(major, 0)))
        found = {self.place[i] for i, full in enumerate(self.is_full) if full}
        found.update(self._stage_of_reduction(i) for i in self._reductions())
        for store in self.part.stores:
            place = self._stage_of_store(store)
            if place is not None:
                found.add(place)
        order = sorted(found)
        self.number = {place: index for index, place in enumerate(order)}
        stages = [Stage() for _ in order]
        self._fill(stages, self._find_needs())
        # Nodes that are one a row: into the stages after which they are computed, or none.
        before = []
        for index, node in enumerate(self.part.nodes):
            if self.is_full[index] or isinstance(node, Reduce):
                continue
            ready = self.place[index][0]
            if ready == 0:
                before.append(index)
            else:
                stages[bisect_left(order, (ready, 0)) - 1].after.append(index)
        single = [store for store in self.part.stores if self._stage_of_store(store) is None]
        # A buffer for each kept node; what is read for the last time makes room for the next.
        last = {index: at for at, stage in enumerate(stages) for index in stage.read}
        buffers: dict[int, int] = {}
        free: list[tuple[int, int]] = []  # of each buffer: from which stage, the size of an element
        for at, stage in enumerate(stages):
            for index in stage.kept:
                width = self.part.nodes[index].dtype.itemsize
                fitting = [n for n, (start, own) in enumerate(free) if start <= at and own == width]
                number = fitting[0] if fitting else len(free)
                free[number : number + 1] = [(last[index], width)]
                buffers[index] = number
        return Schedule(stages, before, single, buffers)

    def _home(self, index: int) -> int:
        """The number of the stage of a full node, or of that which ends with a reduction."""
        if isinstance(self.part.nodes[index], Reduce):
            return self.number[self._stage_of_reduction(index)]
        return self.number[self.place[index]]

    @property
    def _may_split(self) -> bool:
        return self.part.lane is not None and self.part.lane >= self.part.rows

    def _reductions(self) -> list[int]:
        return [i for i, node in enumerate(self.part.nodes) if isinstance(node, Reduce)]

    def _stage_of_reduction(self, index: int) -> tuple[int, int]:
        (operand,) = self.part.nodes[index].operands
        return self.place[operand] if self.is_full[operand] else (self.place[index][0] - 1, 0)

    def _stage_of_store(self, store: Store) -> tuple[int, int] | None:
        """Where something is written; None if that is once a row."""
        if self.is_full[store.node]:
            return self.place[store.node]
        along = [store.strides[axis] for axis in self.part.column_axes]
        is_single = all(isinstance(stride, int) and stride == 0 for stride in along)
        return None if is_single else (self.place[store.node][0], 0)

    def _find_needs(self) -> list[bool]:
        """In which stages each full node is needed; whether it is kept for the later ones."""
        nodes = self.part.nodes
        # Whether a node costs too much to be computed twice, with what it is computed of.
        again: list[int] = []
        for index, node in enumerate(self.part.nodes):
            total = cost_of(node)
            for operand in node.operands:
                if self.is_full[operand]:
                    total += 1 if again[operand] > _CHEAP else again[operand]
            again.append(total if self.is_full[index] else 0)
        heavy = [total > _CHEAP for total in again]
        kept = [False] * len(nodes)
        for store in self.part.stores:
            if self.is_full[store.node]:
                self.needs[store.node].add(self._home(store.node))
        for index in self._reductions():
            self.needs[nodes[index].operands[0]].add(self._home(index))
        for index in range(len(nodes) - 1, -1, -1):
            if not self.is_full[index] or not self.needs[index]:
                continue
            needs = self.needs[index]
            if heavy[index]:
                needs.add(self._home(index))
            kept[index] = heavy[index] and len(needs) > 1
            for operand in nodes[index].operands:
                if self.is_full[operand]:
                    self.needs[operand].update({min(needs)} if kept[index] else needs)
        return kept

    def _fill(self, stages: Sequence[Stage], kept: Sequence[bool]) -> None:
        nodes = self.part.nodes
        for index in self._reductions():
            stages[self._home(index)].reduced.append(index)
        for index in range(len(nodes)):
            if not self.is_full[index]:
                continue
            needs = sorted(self.needs[index])
            for stage in needs[:1] if kept[index] else needs:
                stages[stage].computed.append(index)
                stages[stage].cost += cost_of(nodes[index])
            if kept[index]:
                stages[needs[0]].kept.append(index)
                for stage in needs[1:]:
                    stages[stage].read.append(index)
        for store in self.part.stores:
            place = self._stage_of_store(store)
            if place is not None:
                stages[self.number[place]].stores.append(store)


__all__ = ["Schedule", "Stage", "cost_of", "schedule"]
