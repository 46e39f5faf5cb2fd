"""A Block as steps: which operators are computed in one loop nest, and in which order.

Each operator that a nest can hold begins as a group of its own, and is then joined with the groups
that make its operands if their loops are alike. A group stands where its first operator stood, and
may take what is ready there; or it moves down to its reader, if nobody reads it before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from dy2st_runtime.dims import Dim, equal, is_symbol, symbols
from dy2st_runtime.engine.native.convolution.regions import Region
from dy2st_runtime.engine.native.nests.axes import Axis, Places
from dy2st_runtime.engine.native.nests.builder import build
from dy2st_runtime.engine.native.nests.concatenation import joined, uses_of
from dy2st_runtime.engine.native.nests.members import Group, Member, members_of
from dy2st_runtime.engine.native.nests.nests import Nest
from dy2st_runtime.engine.native.nests.norms import taken_apart
from dy2st_runtime.engine.native.nests.sides import read_by
from dy2st_runtime.engine.native.nests.views import (
    is_alias,
    is_transposed,
    is_view,
    is_view_operator,
)
from dy2st_runtime.ir.definition import DEFINITIONS, Effect
from dy2st_runtime.ir.failures import may_fail
from dy2st_runtime.ir.program import Block, Operator, Variable
from dy2st_runtime.ir.types import Shape, TensorType

_LARGEST = 1500
"""How much a group may cost: LLVM's time grows faster than its functions."""

_CHEAP = 12
"""What costs no more may be computed again for each row of another nest."""


@dataclass(frozen=True, eq=False)
class NestStep:
    """Operators that one loop nest computes; if it fails, one of those checked raises why."""

    nest: Nest
    operators: list[Operator]
    checked: Sequence[Operator] = ()


@dataclass(frozen=True, eq=False)
class OperatorStep:
    """An operator that no nest holds."""

    operator: Operator


Step = NestStep | OperatorStep | Region


def plan(block: Block, operators: Sequence[Operator | Region] = ()) -> list[Step]:
    """Every operator of a Block in one step, in an order in which they may run.

    `operators` are those of the Block, some of them in regions.
    """
    return _Planner(block, operators or block.operators).plan()


@dataclass(eq=False)
class _Single:
    """An operator alone; if it is light it stands behind what it needs, else where it stood."""

    at: int
    operator: Operator | Region


class _Planner:
    def __init__(self, block: Block, operators: Sequence[Operator | Region]) -> None:
        self.block, self.operators = block, operators
        self.steps: list[Group | _Single] = []
        self.maker: dict[Variable, Group | _Single] = {}
        self.became: dict[Group, Group] = {}
        self.read_alone: set[Variable] = set()
        # The last step that can be seen from outside, and groups behind it that may fail.
        # What follows a condition on sizes reads where that says: it stays behind it.
        self.last_seen = self.last_required = 0
        self.checked: list[Group] = []
        self.known = set(symbols(tuple(size for v in block.parameters for size in _shape(v))))
        # Which value gives a size that only the data decides.
        self.size_sources: dict[Dim, Variable] = {}

    def plan(self) -> list[Step]:
        # What each operator is in a nest, views only as far as others than nests read them.
        self.read_alone = set(self.block.yields)
        found: list[tuple[Operator | Region, list[Member] | None]] = []
        for operator in reversed(self.operators):
            if isinstance(operator, Region):
                self.read_alone.update(operator.operands)
                found.append((operator, None))
                continue
            # What an operator is in a nest; None if no nest holds it.
            own = members_of(operator)
            members = taken_apart(operator) if own is None else own
            if members is not None and is_view_operator(operator):
                members = [member for member in members if member.variable in self.read_alone]
                if members and is_alias(operator):
                    members = None  # whoever reads it alone finds the same elements
            if members is None:
                # What reads a tensor as a whole needs it in memory, not as a rule to find its
                # elements.
                self.read_alone.update(_read_by(operator))
            elif any(member.is_check for member in members):
                self.read_alone.update(operator.operands)
            uses = [use for member in members or () for use in member.operands]
            self.read_alone.update(use.variable for use in uses if is_view(use.variable))
            found.append((operator, members))
        for operator, members in found[::-1]:
            if isinstance(operator, Region) or members is None:
                self._single(operator, len(self.steps) + 1)
                continue
            # The results of a split have loops of their own.
            is_split = is_view_operator(operator)
            parts = ([[one] for one in members] or [[]]) if is_split else [members]
            for number, part in enumerate(parts):
                self._begin(operator, part, [operator] if number == 0 else [])
        groups = [s for s in self.steps if isinstance(s, _Single) or s not in self.became]
        # What is light stands behind the step that it follows.
        order = sorted(groups, key=lambda step: (step.at, isinstance(step, _Single)))
        # What is read by another step than makes it, or yielded.
        outside = set(self.block.yields)
        for one in self.steps:
            if isinstance(one, _Single):
                outside.update(_read_by(one.operator))
            elif one not in self.became:
                outside.update(one.leaves)
                # When a check fails, its kernel is called, to raise.
                outside.update(operand for one in one.checked for operand in one.operands)
        return [self._finished(step, outside) for step in order]

    def _finished(self, step: Group | _Single, outside: set[Variable]) -> Step:
        if isinstance(step, _Single):
            operator = step.operator
            if isinstance(operator, Region):
                return operator
            nest = joined(operator)
            return OperatorStep(operator) if nest is None else NestStep(nest, [operator])
        return NestStep(build(step, outside), step.origins, step.checked)

    # -- one operator --------------------------------------------------------------------------

    def _begin(self, operator: Operator, members: list[Member], origins: list[Operator]) -> None:
        """A group of its own, which then joins those that it fits."""
        group = Group.alone(len(self.steps) + 1, operator, members)
        group.origins = origins
        group.is_alone = is_view_operator(operator) and any(map(is_transposed, operator.results))
        group.earliest = self.last_required
        if group.checked:
            group.earliest = self.last_seen
            self.checked.append(group)
            # Its kernel, which raises, reads what the loops may read through a view of it.
            read = operator.operands
            group.after.update((one, None) for one in read if one not in group.leaves)
        group.after.update(dict.fromkeys(self._sizes_of(operator, members)))
        self._note_reads(group, (*group.leaves, *group.after))
        self.steps.append(group)
        for member in members:
            self.maker[member.variable] = group
        # Join a new group with those that make its operands, the last made first.
        makers: dict[Group, None] = {}
        for operand in group.leaves:
            maker = self._maker(operand)
            if isinstance(maker, Group):
                makers.setdefault(maker)
        # From the last one on: joined with an early one first, a group could not take a later one
        # any more.
        for maker in sorted(makers, key=lambda one: -one.at):
            own = self._now(group)
            if self._now(maker) is not own:
                self._join(self._now(maker), own)

    def _single(self, operator: Operator | Region, now: int) -> None:
        step = _Single(now, operator)
        needed = (*_read_by(operator), *self._sizes_of(operator))
        if isinstance(operator, Operator) and _is_seen(operator):
            self.last_seen = now
            for group in map(self._now, self.checked):
                group.latest = min(group.latest, now)
            self.checked = []
        if isinstance(operator, Operator) and _is_light(operator):
            makers = [self._maker(one) for one in needed]
            step.at = max([self.last_required, *(one.at for one in makers if one is not None)])
        if isinstance(operator, Operator) and operator.name == "require":
            self.last_required = now
        self._note_reads(step, needed)
        for result in operator.results:
            self.maker[result] = step
            for size in _shape(result):
                if isinstance(size, Dim) and is_symbol(size) and size not in self.known:
                    self.known.add(size)
                    self.size_sources[size] = result
        self.steps.append(step)

    def _sizes_of(
        self, operator: Operator | Region, members: Sequence[Member] = ()
    ) -> list[Variable]:
        """The values that give the sizes in attributes of an operator, or in its results."""
        if not self.size_sources or isinstance(operator, Region):
            return []
        values = operator.attributes.values()
        said = [value for value in values if not isinstance(value, np.ndarray)]
        shapes = [_shape(result) for result in operator.results]
        uses = [*uses_of(operator), *(use for member in members for use in member.operands)]
        found = symbols((*said, *shapes, *((use.starts, use.steps) for use in uses)))
        return [self.size_sources[size] for size in found if size in self.size_sources]

    def _maker(self, variable: Variable) -> Group | _Single | None:
        maker = self.maker.get(variable)
        return self._now(maker) if isinstance(maker, Group) else maker

    def _now(self, group: Group) -> Group:
        """The group that a group has become."""
        while group in self.became:
            group = self.became[group]
        return group

    def _note_reads(self, step: Group | _Single, variables: Iterable[Variable]) -> None:
        for variable in variables:
            maker = self._maker(variable)
            if isinstance(maker, Group) and maker is not step:
                maker.readers.append(step)

    # -- joining -------------------------------------------------------------------------------

    def _join(self, maker: Group, reader: Group) -> None:
        """Make one group of two if their loops are alike and the order allows it."""
        # A transposed copy is written by squares, which no other loop can share.
        if maker.cost + reader.cost > _LARGEST or maker.is_alone or reader.is_alone:
            return
        if any(operand in maker.places for one in reader.checked for operand in one.operands):
            return  # its kernel reads all of them, though the loops end where a check fails
        # Where both may run: at the maker's place, or at the reader's.
        needed, earliest = 0, max(maker.earliest, reader.earliest)
        latest = min(maker.latest, reader.latest)
        for variable in (*reader.leaves, *reader.after):
            step = self._maker(variable)
            if step is not maker and step is not None:
                # At the same place a single stands behind groups, so its readers need a later one.
                needed = max(needed, step.at + (step.at == maker.at))
        if needed <= maker.at and earliest < maker.at < latest:
            at: int | None = maker.at
        else:
            may_go_down = earliest < reader.at < latest and (
                self._first_read(maker, reader) >= reader.at
            )
            at = reader.at if may_go_down else None
        pairs = None if at is None else _alignment(maker, reader)
        if at is None or pairs is None or not _fit(maker, reader, pairs):
            return
        for own, other in pairs.items():
            own.join(other)
        # Put the smaller group into the larger one; what the maker makes comes first.
        small, large = sorted((reader, maker), key=lambda group: len(group.members))
        # The smaller one moves, so that a chain of joins takes linear time.
        place = len(large.members) if small is reader else 0
        large.members[place:place] = small.members
        place = len(large.origins) if small is reader else 0
        large.origins[place:place] = small.origins
        large.places.update(small.places)
        for variable, places in small.leaves.items():
            if variable not in large.places:
                large.leaves.setdefault(variable, []).extend(places)
        for variable in small.places:
            large.leaves.pop(variable, None)
        large.after.update(small.after)
        large.own_axes.extend(small.own_axes)
        large.own_reduced.extend(small.own_reduced)
        large.readers.extend(small.readers)
        large.cost += small.cost
        large.checked.extend(small.checked)
        large.earliest = max(large.earliest, small.earliest)
        large.latest = min(large.latest, small.latest)
        large.at = at
        self.became[small] = large

    def _first_read(self, maker: Group, reader: Group) -> float:
        """The first step, other than the reader, that reads what the maker makes."""
        readers = {self._now(s) if isinstance(s, Group) else s for s in maker.readers}
        # Joined groups are replaced once, so that later searches stay short.
        maker.readers = list(readers)
        others = [step.at for step in readers if step is not reader and step is not maker]
        return min(others, default=float("inf"))


def _shape(variable: Variable) -> Shape:
    return variable.type.shape if isinstance(variable.type, TensorType) else ()


def _read_by(step: Operator | Region) -> Sequence[Variable]:
    if isinstance(step, Region):
        return step.operands
    return [use.variable for use in uses_of(step)] or read_by(step)


def _is_seen(operator: Operator) -> bool:
    """Whether it matters when it runs."""
    if operator.blocks or may_fail(operator):
        return True
    return DEFINITIONS[operator.name].effect is not Effect.PURE and not is_alias(operator)


def _is_light(operator: Operator) -> bool:
    """Whether it may run at any time, and it costs nothing worth speaking of."""
    definition = DEFINITIONS[operator.name]
    if definition.effect is not Effect.PURE or operator.blocks or may_fail(operator):
        return False
    if definition.view is not None or operator.name in ("constant", "from_dim"):
        return True
    return all(isinstance(v.type, TensorType) and not v.type.shape for v in operator.results)


# -- whether two groups fit -------------------------------------------------------------------


def _alignment(maker: Group, reader: Group) -> dict[Axis, Axis] | None:
    """Which axis of the maker each axis of the reader is; None if one would be two."""
    pairs: dict[Axis, Axis] = {}
    for variable, uses in reader.leaves.items():
        made = maker.places.get(variable)
        if made is None:
            continue
        for use in uses:
            if not use.is_plain or not _pair(use.places, made, pairs):
                return None
    own, others = _left(reader, maker, pairs)
    if own and others:
        # Take the axes of what both read as the same, where that contradicts nothing.
        for variable, uses in reader.leaves.items():
            for other in maker.leaves.get(variable, ())[:1]:
                trial, use = dict(pairs), uses[0]
                if use.is_plain and other.is_plain and _pair(use.places, other.places, trial):
                    pairs.update(trial)
        own, others = _left(reader, maker, pairs)
    if len(own) == len(others) == 1 and equal(own[0].size, others[0].size) is True:
        pairs[own[0]] = others[0]
    return pairs


def _left(reader: Group, maker: Group, pairs: dict[Axis, Axis]) -> tuple[list[Axis], list[Axis]]:
    """The axes of both that have no partner."""
    taken = set(pairs.values())
    own = [axis for axis in reader.axes() if axis not in pairs]
    return own, [axis for axis in maker.axes() if axis not in taken]


def _pair(use: Places, made: Places, pairs: dict[Axis, Axis]) -> bool:
    """Enter the axes of one tensor; False if they contradict what is entered."""
    for own, other in zip(use, made, strict=True):
        if own is None and other is None:
            continue
        if own is None or other is None:
            return False
        one, two = own.root, other.root
        if pairs.get(one, two) is not two:
            return False
        # Two axes of one tensor that are one axis of the other are a diagonal, which no loop is.
        if one not in pairs and two in pairs.values():
            return False
        pairs[one] = two
    return True


def _fit(maker: Group, reader: Group, pairs: dict[Axis, Axis]) -> bool:
    """Whether one nest is no more work than two."""
    own, others = _left(reader, maker, pairs)
    reduced = maker.reduced()
    reader_reduced = {pairs.get(axis, axis) for axis in reader.reduced()}
    # A part has one split into rows and columns, so all its reductions are along the same axes.
    if reduced and reader_reduced and reduced != reader_reduced:
        return False
    if own and others:
        return False
    if own:
        # The reader goes along more axes: each of these repeats what the maker computes.
        return not reduced and maker.cost <= _CHEAP
    if others:
        # The maker goes along more axes: its reduction ends before the reader begins.
        return reduced.issuperset(others) and not reader_reduced
    return True


__all__ = ["NestStep", "OperatorStep", "Step", "plan"]
