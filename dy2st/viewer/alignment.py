"""Pairs the operators of two Programs, Block by Block: removed, added, changed, or the same."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from itertools import chain, groupby, pairwise
from typing import Any, NamedTuple

import numpy as np

from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import Block, Operator, Program
from dy2st_runtime.ir.text.alignment import aligned


class Mark(Enum):
    """What became of an operator, from the Program before to the one after."""

    SAME = ""
    REMOVED = "-"
    ADDED = "+"
    CHANGED = "~"


_BOTH = (Mark.REMOVED, Mark.ADDED, Mark.REMOVED, Mark.ADDED)


class Step(NamedTuple):
    """An operator of either Program, or one of each in the other's place."""

    before: Operator | None
    after: Operator | None
    mark: Mark = Mark.SAME

    @property
    def now(self) -> Operator:
        """The one that is shown: that of the Program after, if there is one."""
        shown = self.after or self.before
        assert shown is not None
        return shown


def same_program(block: Block | None) -> Iterator[Step]:
    """The operators of one Program alone."""
    for operator in block.operators if block is not None else ():
        yield Step(operator, None)


def paired(before: Block | None, after: Block | None) -> Iterator[Step]:
    """The operators of two Blocks in one order.

    Those that say the same are paired first; then, between these, those of a name and Layer.
    """
    left, right = (list(block.operators) if block is not None else [] for block in (before, after))
    same = aligned([_content(one) for one in left], [_content(one) for one in right])
    edges = [(-1, -1), *same, (len(left), len(right))]
    for (i, j), (next_i, next_j) in pairwise(edges):
        yield from _changed(left[i + 1 : next_i], right[j + 1 : next_j])
        if next_i < len(left):
            yield Step(left[next_i], right[next_j])


def partners(before: Block, after: Block) -> Iterator[tuple[Operator, Operator]]:
    """Operators of two Programs in each other's place, with those inside of them."""
    todo = [(before, after)]
    while todo:
        for step in paired(*todo.pop()):
            if step.before is not None and step.after is not None:
                yield step.before, step.after
                todo += zip(step.before.blocks, step.after.blocks)


def times_in_place(times: Mapping[Operator, float], program: Program) -> Mapping[Operator, float]:
    """The times of the operators of a Program; those of another one by what is in their place.

    A call that is measured runs the Program of its own sizes, and what passes have made of that.
    """
    own = dict(times)
    if not own or any(one in own for one in program.block.walk()):
        return own
    blocks: dict[Block, None] = {}
    for one in own:
        *_, block = one.block.outwards()
        blocks[block] = None
    place_of = dict(pair for block in blocks for pair in partners(block, program.block))
    by_line: dict[Any, Operator] = {}
    for one in program.block.walk():
        by_line.setdefault((one.location, one.layer), one)
    found: dict[Operator, float] = {}
    for other, seconds in own.items():
        # what became several operators is of the line and Layer of the one before
        mine = place_of.get(other) or by_line.get((other.location, other.layer))
        if mine is not None:
            found[mine] = found.get(mine, 0.0) + seconds
    return found


def pairs_by_name(
    programs: Sequence[Program], others: Sequence[Program]
) -> list[tuple[Program, Program | None]]:
    """Programs of two models that have one name; a single one and another, whatever theirs.

    Raises ArgumentError where there are none.
    """
    if len(programs) == len(others) == 1:
        return [(programs[0], others[0])]
    known = {one.name: one for one in others}
    found = [(one, known[one.name]) for one in programs if one.name in known]
    if not found:
        names = " and ".join(", ".join(one.name for one in side) for side in (programs, others))
        raise ArgumentError(f"no two Programs have one name: {names}")
    return [*found]


def _changed(left: Sequence[Operator], right: Sequence[Operator]) -> Iterator[Step]:
    found = aligned([(o.name, o.layer) for o in left], [(o.name, o.layer) for o in right])
    for (i, j), (next_i, next_j) in pairwise([(-1, -1), *found, (len(left), len(right))]):
        yield from _alone(left[i + 1 : next_i], right[j + 1 : next_j])
        if next_i < len(left):
            yield Step(left[next_i], right[next_j], Mark.CHANGED)


def _alone(left: Sequence[Operator], right: Sequence[Operator]) -> Iterator[Step]:
    """Operators without partners: Layer by Layer, so that each Layer is shown in one piece."""
    runs = [
        [(layer, [*ones]) for layer, ones in groupby(side, lambda one: one.layer)]
        for side in (left, right)
    ]
    names = [[layer for layer, _ in side] for side in runs]
    found = aligned(names[0], names[1])
    last = len(runs[0]), len(runs[1])
    for (i, j), (next_i, next_j) in pairwise([(-1, -1), *found, last]):
        removed, added = runs[0][i + 1 : next_i + 1], runs[1][j + 1 : next_j]
        kept = removed[: next_i - i - 1], removed[next_i - i - 1 :]
        own = runs[1][next_j : next_j + 1]
        for mark, part in zip(_BOTH, (kept[0], added, kept[1], own)):
            for one in chain.from_iterable(ones for _, ones in part):
                yield Step(one, None, mark) if mark is Mark.REMOVED else Step(None, one, mark)


def _content(operator: Operator) -> Any:
    """What two operators have in common that say the same, whatever their values are called."""
    attributes = operator.attributes
    return (
        operator.name,
        operator.layer,
        len(operator.operands),
        tuple(str(one.type) for one in operator.results),
        tuple((name, _digest(attributes[name])) for name in sorted(attributes)),
    )


def _digest(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, zlib.crc32(np.ascontiguousarray(value).tobytes())
    if isinstance(value, (tuple, list)):
        return tuple(map(_digest, value))
    return repr(value)


__all__ = ["Mark", "Step", "paired", "pairs_by_name", "partners", "same_program", "times_in_place"]
