"""Finds the operators of a Block that oneDNN computes together: regions.

A region begins with a convolution or with pooling, and takes what the library can do to values
that are inside of it. Its values lie as the library wants them; only those that others read are
made as all tensors are. What stands between its operators and reads of it runs after it, and what
runs after it is read by none of its operators: so it is one step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from dy2st_runtime.dims import symbols
from dy2st_runtime.engine.native.convolution.channels import is_move, shuffles
from dy2st_runtime.engine.native.convolution.library import find
from dy2st_runtime.engine.native.convolution.post_ops import (
    can_start_region,
    hard_swishes,
    is_by_channel,
    is_light,
    is_part,
    is_readable,
    takes,
    vector_of,
)
from dy2st_runtime.ir.definition import DEFINITIONS, Effect
from dy2st_runtime.ir.failures import may_fail
from dy2st_runtime.ir.program import Block, Operator, Variable
from dy2st_runtime.ir.types import Shape, TensorType


@dataclass(eq=False)
class Region:
    """Operators that are computed as one step.

    operands   what they read that others make, each once; constants are known.
    results    what of theirs others read.
    views      vectors along the channels, and the operands that they are other shapes of.
    """

    operators: list[Operator]
    operands: list[Variable] = field(default_factory=list)
    results: list[Variable] = field(default_factory=list)
    views: dict[Variable, Variable] = field(default_factory=dict)


def with_regions(block: Block) -> list[Operator | Region]:
    """The operators of a Block, those of regions together, in an order in which they may run."""
    if not any(map(can_start_region, block.operators)) or find() is None:
        return list(block.operators)
    finder = _Finder(block)
    for operator in block.operators:
        finder.enter(operator)
    finder.close()
    return finder.found


class _Finder:
    """At most one region is open: `later` runs after it; what is `late` it does not read."""

    def __init__(self, block: Block) -> None:
        self.found: list[Operator | Region] = []
        self._yields = set(block.yields)
        self._readers: dict[Variable, list[Operator]] = {}
        for operator in block.operators:
            for operand in operator.operands:
                self._readers.setdefault(operand, []).append(operator)
        self._shuffles = shuffles(block.operators, self._readers, self._yields)
        self._open: list[Operator] = []
        self._inside: set[Variable] = set()
        self._later: list[Operator] = []
        self._late: set[Variable] = set()

    def enter(self, operator: Operator) -> None:
        is_free = not any(operand in self._late for operand in operator.operands)
        if is_free and self._open and self._takes(operator):
            joins = True
        elif not can_start_region(operator) or not takes(operator, (), self._is_read):
            joins = False
        else:
            self.close()
            joins = True
        if joins:
            self._open.append(operator)
            (self._inside if is_readable(operator) else self._late).update(operator.results)
        elif not any(v in self._inside or v in self._late for v in operator.operands):
            self.found.append(operator)
        # It goes behind the region, so that one operator in between does not end it.
        elif _may_move(operator):
            self._later.append(operator)
            self._late.update(operator.results)
        else:
            self.close()
            self.enter(operator)

    def _takes(self, operator: Operator) -> bool:
        if operator in self._shuffles:
            return operator.operands[0] in self._inside
        return takes(operator, self._inside, self._is_read)

    def _is_read(self, variable: Variable) -> bool:
        return variable in self._yields or variable in self._readers

    def close(self) -> None:
        """End the region that is open."""
        if self._open:
            # Nests compute other operators than heavy ones as fast, and together with what follows.
            # Those go that are light, are no part of the primitive in front of them, and that none
            # of those reads that stay.
            made = (result for operator in self._open for result in operator.results)
            reads = {v: len(self._readers.get(v, ())) + (v in self._yields) for v in made}
            swishes = hard_swishes(self._open, Counter(reads))
            within = {one for inner in swishes.values() for one in inner}
            done: set[Operator] = set()  # by a primitive that is worth it
            for operator in self._open:
                operands = operator.operands if is_part(operator) else ()
                makers = [self._maker(operand, within) for operand in operands]
                if not is_light(operator) or any(maker in done for maker in makers):
                    done.add(operator)
            kept: set[Operator] = set()
            for operator in reversed(self._open):
                readers = (
                    one for result in operator.results for one in self._readers.get(result, ())
                )
                if operator in done or any(one in kept for one in readers):
                    kept.add(operator)
            if kept:
                operators = [one for one in self._open if one in kept]
                # The views of a region that others read: they see, beside it, what these are views
                # of.
                members, found = set(operators), list[Operator]()
                for operator in reversed(operators):
                    is_view = is_move(operator) and is_light(operator)
                    beside = (self._is_read_beside(one, members) for one in operator.results)
                    if is_view and any(beside):
                        members.remove(operator)
                        found.append(operator)
                shown = found[::-1]
                self.found += [self._region(operators, set(shown)), *shown]
            self.found += [one for one in self._open if one not in kept]
        self.found += self._later
        self._open, self._later = [], []
        self._inside, self._late = set(), set()

    def _maker(self, variable: Variable, within: Collection[Operator]) -> Operator | None:
        """The operator of the region that makes a value for one reader, and parts of it, alone."""
        # Parts of a hard swish are one post-op together, so what they read is read once.
        readers = [one for one in self._readers[variable] if one not in within]
        is_single = len(readers) <= 1 and variable not in self._yields
        maker = variable.maker
        is_own = variable in self._inside and isinstance(maker, Operator)
        return maker if is_single and is_own and isinstance(maker, Operator) else None

    def _is_read_beside(self, variable: Variable, members: Collection[Operator]) -> bool:
        """Whether others than these operators read a value."""
        readers = self._readers.get(variable, ())
        return variable in self._yields or any(one not in members for one in readers)

    def _region(self, operators: Sequence[Operator], shown: Collection[Operator]) -> Region:
        members, region = set(operators).difference(shown), Region(list(operators))
        read = dict.fromkeys(v for operator in operators for v in operator.operands)
        made = {result for operator in operators for result in operator.results}
        outside = [v for v in read if v not in made and not is_constant(v)]
        # An array is known again, a view of it is made anew for each call.
        region.views = {v: vector_of(v) for v in outside if _is_view(v)}
        # An array that is read several ways is passed once.
        region.operands = list(dict.fromkeys(region.views.get(v, v) for v in outside))
        for result in (result for one in operators if one not in shown for result in one.results):
            if self._is_read_beside(result, members):
                region.results.append(result)
        return region


def _is_view(variable: Variable) -> bool:
    """Whether it is a vector of the Program's own, laid along the channels of an image."""
    rank, vector = variable.tensor_type.rank, vector_of(variable)
    is_vector = vector is not variable and isinstance(vector.maker, Block)
    return is_vector and (is_by_channel(variable, rank) or is_by_channel(variable, rank + 1))


def _may_move(operator: Operator) -> bool:
    """Whether it may run at any time: nothing can be seen of it."""
    values = (*operator.operands, *operator.results)
    if operator.blocks or not all(isinstance(value.type, TensorType) for value in values):
        return False
    if DEFINITIONS[operator.name].effect is not Effect.PURE or may_fail(operator):
        return False
    known = symbols((*map(_shape, operator.operands), *operator.attributes.values()))
    return set(symbols(tuple(map(_shape, operator.results)))) <= set(known)


def _shape(variable: Variable) -> Shape:
    return variable.tensor_type.shape


def is_constant(variable: Variable) -> bool:
    """Whether it is known before anything runs."""
    maker = variable.maker
    return isinstance(maker, Operator) and maker.name == "constant"


__all__ = ["Region", "is_constant", "with_regions"]
