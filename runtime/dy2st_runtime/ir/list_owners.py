"""Finds operators that may change a list where it is, since nobody else can see it.

A list is owned where it is the only name of what it holds: an operator has just made it, it is in
no other list, and was passed on by branches and iterations that do not keep it. All lists that
something makes are taken to be owned at first; rounds over the Program take back what does not
hold, until nothing changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from dy2st_runtime.ir.definition import lookup
from dy2st_runtime.ir.program import Block, Operator, Variable
from dy2st_runtime.ir.types import ArrayType


class InPlace(NamedTuple):
    """What is done to lists where they are.

    changed     the operators that change their first operand instead of a copy.
    copied      loops and places of loop variables: the loop begins with a copy of that list, so
                that its iterations need not make one each.
    """

    changed: set[Operator]
    copied: set[tuple[Operator, int]]


def lists_in_place(block: Block) -> InPlace:
    """What may be done in place in a Block and the Blocks inside of it."""
    if not any(_is_list(result) for operator in block.walk() for result in operator.results):
        return InPlace(set(), set())
    owners = _Owners(block)
    while owners.round():
        pass
    return InPlace(owners.changing, owners.copied)


def _is_list(variable: Variable) -> bool:
    return isinstance(variable.type, ArrayType)


class _Owners:
    """What is known of lists so far; the three sets only grow.

    kept        lists that another list holds, or that have two names which both are read later.
    borrowed    lists that somebody else has: parameters of Blocks, and what is read from a list.
    passed_on   parameters that a Block may yield.
    """

    def __init__(self, block: Block):
        self.blocks = [block, *(b for o in block.walk() for b in o.blocks)]
        self.operators = [operator for b in self.blocks for operator in b.operators]
        self.uses = {o: Counter(filter(_is_list, o.operands)) for o in self.operators}
        self.yields = {b: Counter(filter(_is_list, b.yields)) for b in self.blocks}
        self.last = {variable: o for o in self.operators for variable in self.uses[o]}
        self.kept: set[Variable] = set()
        self.borrowed = set(filter(_is_list, block.parameters))
        self.passed_on = {v for b in self.blocks for v in b.parameters if v in self.yields[b]}
        self.changing: set[Operator] = set()
        self.copied: set[tuple[Operator, int]] = set()

    def round(self) -> bool:
        """Look at every operator once; whether anything became known."""
        before = self._known()
        self.changing = {o for o in self.operators if self._may_change(o)}
        self.copied = set()
        for operator in self.operators:
            if not operator.blocks:
                self._plain(operator)
            elif operator.name == "cond":
                self._branches(operator)
            else:
                self._loop(operator)
        return before != self._known()

    def _known(self) -> int:
        return len(self.kept) + len(self.borrowed) + len(self.passed_on)

    # -- what holds of one list --------------------------------------------------------------

    def _is_owned(self, variable: Variable) -> bool:
        return variable not in self.kept and variable not in self.borrowed

    def _dies(self, variable: Variable, operator: Operator) -> bool:
        """Whether an operator is the last that reads a list, and reads it once."""
        is_last = self.last[variable] is operator and self.uses[operator][variable] == 1
        return is_last and variable not in self.yields[operator.block]

    def _is_given(self, variable: Variable, operator: Operator) -> bool:
        """Whether an operator gets an owned list that nobody else needs."""
        return self._is_owned(variable) and self._dies(variable, operator)

    def _is_given_out(self, block: Block, place: int) -> bool:
        """Whether a Block yields an owned list, in this place only."""
        variable = block.yields[place]
        return self._is_owned(variable) and self.yields[block][variable] == 1

    def _may_change(self, operator: Operator) -> bool:
        if operator.blocks or lookup(operator.name).in_place is None:
            return False
        return self._is_given(operator.operands[0], operator)

    def _is_changed(self, variable: Variable) -> bool:
        """Whether an operator changes a list, or hands it to a Block that does."""
        operator = self.last.get(variable)
        if operator is None or not operator.blocks:
            return operator in self.changing
        inner = [p for v, p in _given(operator) if v is variable]
        return any(self._is_owned(p) and self._is_changed(p) for p in inner)

    # -- operators ---------------------------------------------------------------------------

    def _plain(self, operator: Operator) -> None:
        """An operator without Blocks keeps what it puts into lists, and borrows what it reads."""
        definition = lookup(operator.name)
        names = definition.inputs
        for place, operand in enumerate(operator.operands):
            if _is_list(operand) and not names[min(place, len(names) - 1)].startswith("array"):
                self.kept.add(operand)
        self.borrowed.update(filter(_is_list, operator.results[definition.makes_list :]))

    def _branches(self, operator: Operator) -> None:
        """A branch owns what it is given, and who takes it, if both branches give it out."""
        for outer, inner in _given(operator):
            if not self._is_given(outer, operator):
                self.borrowed.add(inner)
            self._passed(operator, outer, inner)
        for place, result in enumerate(operator.results):
            if _is_list(result) and not all(
                self._is_given_out(block, place) for block in operator.blocks
            ):
                self.borrowed.add(result)

    def _passed(self, operator: Operator, outer: Variable, inner: Variable) -> None:
        """What becomes of a parameter becomes of the list that it stands for."""
        if inner in self.kept:
            self.kept.add(outer)
        if inner in self.passed_on:
            self.passed_on.add(outer)
            if not self._dies(outer, operator):
                self.kept.add(outer)  # and the result may be it too

    def _loop(self, operator: Operator) -> None:
        """An iteration owns a loop variable if it is given one, or a copy, and gives one out."""
        condition, body = operator.blocks
        self.borrowed.update(filter(_is_list, condition.parameters))
        self.borrowed.update(filter(_is_list, body.parameters[len(operator.results) :]))
        for place, result in enumerate(operator.results):
            if _is_list(result):
                self._loop_variable(operator, place)
        carried = set(body.parameters[: len(operator.results)])
        for outer, inner in _given(operator):
            if inner not in carried:
                self._passed(operator, outer, inner)

    def _loop_variable(self, operator: Operator, place: int) -> None:
        first, own = operator.operands[place], operator.blocks[1].parameters[place]
        is_given = self._is_given(first, operator)
        is_worth_a_copy = is_given or self._is_changed(own)
        if not (is_worth_a_copy and self._is_given_out(operator.blocks[1], place)):
            self.borrowed.add(own)
        if self._is_owned(own):
            if not is_given:
                self.copied.add((operator, place))
            return
        self.borrowed.add(operator.results[place])
        self.passed_on.add(own)  # after no iteration the result is what was given
        self._passed(operator, first, own)


def _given(operator: Operator) -> Iterator[tuple[Variable, Variable]]:
    """The lists that Blocks are given, and the parameters that stand for them inside."""
    outer = operator.operands[operator.name == "cond" :]
    for block in operator.blocks:
        yield from ((v, p) for v, p in zip(outer, block.parameters, strict=True) if _is_list(v))


__all__ = ["InPlace", "lists_in_place"]
