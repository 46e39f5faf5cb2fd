"""Finds values that share memory or are one tensor, and operators that may write over an operand.

A list is owned where it is the only name of what it holds: an operator has just made it, it is in
no other list, and was passed on by branches and iterations that do not keep it. All lists that
something makes are taken to be owned at first; rounds over the Program take back what does not
hold, until nothing changes.

`Origins` follows a value back, through branches, loops, functions and lists.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from dy2st_runtime.dims import Size
from dy2st_runtime.ir.definition import DEFINITIONS, View, lookup
from dy2st_runtime.ir.functions import CALL, function_of
from dy2st_runtime.ir.program import Block, Operator, Program, Variable
from dy2st_runtime.ir.tracing.gradient_flow import SETTER
from dy2st_runtime.ir.types import ArrayType, TensorType, ValueType
from dy2st_runtime.lazy import cached_property


@cache
def is_elementwise(name: str) -> bool:
    """Whether an operator reads every element once, before it writes that of the result."""
    definition = DEFINITIONS[name]
    kernel = definition.kernel
    return definition.takes_out or (
        isinstance(kernel, np.ufunc) and kernel.signature is None and kernel.nout == 1
    )


def is_fresh(operator: Operator) -> bool:
    """Whether the results of an operator have memory of their own."""
    definition = DEFINITIONS[operator.name]
    return bool(definition.inputs) and definition.view is None and not may_give_back(operator)


def may_give_back(operator: Operator) -> bool:
    """Whether results may be operands themselves, or hold them: of Blocks, lists and composites."""
    definition = DEFINITIONS[operator.name]
    return definition.borrows or definition.kernel is None


def view_of(operator: Operator) -> View | None:
    """How the results look into the memory of the first operand, None if they do not."""
    view = DEFINITIONS[operator.name].view
    if view is None or isinstance(view, View):
        return view
    return view(operator.operands[0].type, **operator.attributes)


def owner(variable: Variable) -> Variable:
    """The value whose memory a value may look into; itself, if it is no view."""
    while isinstance(variable.maker, Operator) and view_of(variable.maker) is not None:
        variable = variable.maker.operands[0]
    return variable


def views_in_order(
    block: Block, over: Mapping[Operator, int], in_order: Iterable[Variable]
) -> set[Operator]:
    """The operators of a Block whose results surely lie in the memory of their first operand.

    `in_order` are the parameters that lie row by row, without gaps; only such values are reshaped
    where they are. `over` is what `overwritten` says: the result lies as the operand did.
    """
    found: set[Operator] = set()
    ordered = set(in_order)
    for operator in block.operators:
        view = view_of(operator)
        if view is not None:
            is_ordered = operator.operands[0] in ordered
            # Whether the result is no copy; the operand may lie in order.
            if view is View.SAME:
                is_sure = is_ordered or _only_splits(
                    operator.operands[0].type, operator.results[0].type
                )
            else:
                is_sure = view is not View.UNSURE
            if is_sure:
                found.add(operator)
                is_ordered = is_ordered and view in _IN_ORDER
            else:
                is_ordered = view is View.SAME  # a copy then
        else:
            is_ordered = operator not in over or operator.operands[over[operator]] in ordered
        if is_ordered:
            ordered.update(operator.results)
    return found


_IN_ORDER = (View.SAME, View.ROWS)


def _only_splits(given: ValueType, made: ValueType) -> bool:
    """Whether every axis stays, or falls into several: so in any memory a view will do."""
    if not isinstance(given, TensorType) or not isinstance(made, TensorType):
        return False
    rest = list(made.shape)
    for size in given.shape:
        found: Size = 1
        while not _is_same(found, size):
            if not rest:
                return False
            found = found * rest.pop(0)
    return all(_is_same(size, 1) for size in rest)


def _is_same(left: Size, right: Size) -> bool:
    """Whether two sizes are written as the same number or formula."""
    return left is right or (isinstance(left, int) and isinstance(right, int) and left == right)


def overwritten(block: Block) -> dict[Operator, int]:
    """For operators that may write their result over an operand, its position.

    The operand is of the result's type, made in this Block in memory of its own, and neither it nor
    a view of it is read later, yielded, or kept by a nested Block, a list or a composite.
    """
    # Where the memory of a value is read for the last time; never, if it is kept.
    last: dict[Variable, int] = {}
    kept = {owner(variable) for variable in block.yields}
    for place, operator in enumerate(block.operators):
        for operand in operator.operands:
            known = owner(operand)
            last[known] = place
            if may_give_back(operator):
                kept.add(known)
    last = {variable: place for variable, place in last.items() if variable not in kept}
    found: dict[Operator, int] = {}
    for place, operator in enumerate(block.operators):
        if operator.blocks or not is_elementwise(operator.name):
            continue
        owners = [owner(operand) for operand in operator.operands]
        for index, (operand, own) in enumerate(zip(operator.operands, owners, strict=True)):
            pairs = zip(operator.operands, owners, strict=True)
            is_alone = all(other is operand for other, o in pairs if o is own)
            dies = last.get(own) == place
            if dies and is_alone and _may_hold(operand, own, operator.results[0], block):
                found[operator] = index
                break
    return found


def _may_hold(operand: Variable, own: Variable, result: Variable, block: Block) -> bool:
    """Whether the result fits exactly where the operand is."""
    type = result.type
    if not isinstance(type, TensorType) or type.rank == 0 or operand.type != type:
        return False
    while operand is not own:
        maker = operand.maker
        assert isinstance(maker, Operator)
        if view_of(maker) not in (View.SAME, View.PERMUTED) or maker.block is not block:
            return False
        operand = maker.operands[0]
    maker = own.maker
    return isinstance(maker, Operator) and maker.block is block and is_fresh(maker)


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
        self.changing = {
            o
            for o in self.operators
            if not o.blocks
            and lookup(o.name).in_place is not None
            and self._is_given(o.operands[0], o)
        }
        self.copied = set()
        for operator in self.operators:
            if not operator.blocks:
                # An operator without Blocks keeps what it puts into lists, and borrows what it
                # reads.
                definition = lookup(operator.name)
                names = definition.inputs
                for place, operand in enumerate(operator.operands):
                    if _is_list(operand) and not names[min(place, len(names) - 1)].startswith(
                        "array"
                    ):
                        self.kept.add(operand)
                self.borrowed.update(filter(_is_list, operator.results[definition.makes_list :]))
            elif operator.name == "cond":
                # A branch owns what it is given, and who takes it, if both branches give it
                # out.
                for outer, inner in _given(operator):
                    if not self._is_given(outer, operator):
                        self.borrowed.add(inner)
                    self._passed(operator, outer, inner)
                for place, result in enumerate(operator.results):
                    if _is_list(result) and not all(
                        self._is_given_out(block, place) for block in operator.blocks
                    ):
                        self.borrowed.add(result)
            else:
                # An iteration owns a loop variable if it is given one, or a copy, and gives one
                # out.
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

    def _is_changed(self, variable: Variable) -> bool:
        """Whether an operator changes a list, or hands it to a Block that does."""
        operator = self.last.get(variable)
        if operator is None or not operator.blocks:
            return operator in self.changing
        inner = [p for v, p in _given(operator) if v is variable]
        return any(self._is_owned(p) and self._is_changed(p) for p in inner)

    # -- operators ---------------------------------------------------------------------------

    def _passed(self, operator: Operator, outer: Variable, inner: Variable) -> None:
        """What becomes of a parameter becomes of the list that it stands for."""
        if inner in self.kept:
            self.kept.add(outer)
        if inner in self.passed_on:
            self.passed_on.add(outer)
            if not self._dies(outer, operator):
                self.kept.add(outer)  # and the result may be it too

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


# Operands that an operator puts into the list that it gives, and by which it repeats elements.
_ELEMENTS, _REPEATS = ("items", "item", "array_behind"), ("indices", "times")


class Origins:
    """Back from the values of a Program to those that they may be.

    places  the numbers of the tensors of a call, by what stands for them.

    >>> f = dy2st.to_static(lambda x: x * 2)
    >>> y = f(dy2st.ones([2]))
    >>> origins = Origins(f.main_program, {f.main_program.inputs[0]: {0}})
    >>> made, _ = origins.origins(f.main_program.outputs[0])
    >>> len(made), origins.places_of(made)
    (1, set())
    """

    def __init__(self, program: Program, places: Mapping[Variable, set[int]]) -> None:
        """Note where the Blocks of a Program belong, and what calls its functions."""
        self.program, self.places = program, places
        self.steps: dict[tuple[Variable, bool], list[tuple[Variable, bool]]] = {}  # back by one
        self.owners = {b: o for o in program.walk() for b in o.blocks}
        self.calls: dict[Block | None, list[Operator]] = {}  # of each function
        for operator in program.walk():
            if operator.name == CALL:
                self.calls.setdefault(function_of(operator), []).append(operator)

    @cached_property
    def blocks(self) -> dict[Operator, Block]:
        """Where each operator stands."""
        return {o: block for block in (*self.program.roots, *self.owners) for o in block.operators}

    @cached_property
    def list_uses(self) -> Counter[Variable]:
        """How often a list goes into another one, into a branch, or into a loop."""
        return Counter(
            operand
            for operator in self.program.walk()
            if any(isinstance(result.type, ArrayType) for result in operator.results)
            for operand in operator.operands
        )

    def origins(self, variable: Variable) -> tuple[set[Variable], set[Variable]]:
        """What it may be, and what may have its array and be another tensor."""
        found: tuple[set[Variable], set[Variable]] = (set(), set())
        todo = [(object_of(variable), False)]
        while todo:
            # Loops lead back to what was met: each Variable is taken once as itself, once as an
            # array.
            one, is_other = todo.pop()
            if one not in found[is_other]:
                found[is_other].add(one)
                steps = self.steps.get((one, is_other))
                if steps is None:
                    before = self.before(one, is_other)
                    steps = [(object_of(v), other) for v, other in before]
                    self.steps[one, is_other] = steps
                todo += steps
        return found

    def places_of(self, variables: set[Variable]) -> set[int]:
        """Those of them that are tensors of the call."""
        return {place for one in variables for place in self.places.get(one, ())}

    def may_hold_twice(self, variable: Variable) -> bool:
        """Whether a new tensor may stand in a list twice."""
        known: set[Variable] = set()
        for one in self.put_into(variable):
            if one in known:
                return True
            known.add(one)
        return False

    def put_into(self, variable: Variable) -> Iterator[Variable]:
        """The new tensors that may be put into a list, each as often as it may be."""
        if not isinstance(variable.type, ArrayType):
            return
        makers = {one.maker for one in self.origins(variable)[0] if isinstance(one.type, ArrayType)}
        for maker in makers:
            if isinstance(maker, Block) or not lookup(maker.name).makes_list:
                continue
            last = lookup(maker.name).inputs[-1].rstrip("*")
            loops, may_repeat = self.loops_around(maker), last in _REPEATS
            put = maker.operands if last == "items" else maker.operands[-1:]
            for one in put if last in _ELEMENTS else ():
                is_list = isinstance(one.type, ArrayType)
                for origin, around in self.new(one):
                    # Once more in each iteration of a loop that does not make it anew.
                    yield from [origin] * (len(loops - around) + (not is_list))
            for one in maker.operands:
                if isinstance(one.type, ArrayType) and (may_repeat or self.list_uses[one] > 1):
                    yield from (origin for origin, _ in self.new(one))

    def new(self, variable: Variable) -> list[tuple[Variable, set[Operator]]]:
        """The new tensors that it may be or hold, with the loops that make each anew."""
        return [
            (one, self.loops_around(one.maker))
            for one in self.origins(variable)[0]
            if isinstance(one.maker, Operator)
            and not isinstance(one.type, ArrayType)
            and is_fresh(one.maker)
            and one not in self.places
        ]

    def loops_around(self, operator: Operator) -> set[Operator]:
        """The loops in whose iterations an operator runs."""
        found: set[Operator] = set()
        block: Block | None = self.blocks[operator]
        while block is not None:
            owner = self.owners.get(block)
            block = None if owner is None else self.blocks[owner]
            found |= {owner} if owner is not None and owner.name == "while" else set()
        return found

    def before(self, variable: Variable, is_other: bool) -> list[tuple[Variable, bool]]:
        """What a value may be, or whose array it may have."""
        maker = variable.maker
        if isinstance(maker, Block):
            owner = self.owners.get(maker)
            if owner is not None:
                return self.outside(owner, maker, variable, is_other)
            place = _place(variable, maker.parameters)
            return [(call.operands[place], is_other) for call in self.calls.get(maker, ())]
        if maker.blocks:
            place = _place(variable, maker.results)
            # No iteration gives the operand, any other what the body yields.
            if maker.name == "while":
                values = [maker.operands[place], maker.blocks[1].yields[place]]
            else:
                values = [block.yields[place] for block in maker.blocks]
            return [(value, is_other) for value in values]
        if maker.name == CALL:
            function = function_of(maker)
            assert function is not None
            return [(function.yields[_place(variable, maker.results)], is_other)]
        if is_fresh(maker):
            return []
        is_other = is_other or not maker.name.startswith("array_")  # lists hold what is put in
        return [(operand, is_other) for operand in maker.operands]

    def outside(
        self, owner: Operator, block: Block, parameter: Variable, is_other: bool
    ) -> list[tuple[Variable, bool]]:
        """What the parameter of a nested Block may be."""
        place = _place(parameter, block.parameters)
        # The first operand is the condition.
        if owner.name == "cond":
            return [(owner.operands[place + 1], is_other)]
        values = [owner.operands[place]]
        # Operands behind the loop variables are captured: they are the same in every iteration.
        if place < len(owner.results):
            values.append(owner.blocks[1].yields[place])
        return [(value, is_other) for value in values]


def _place(variable: Variable, variables: Sequence[Variable]) -> int:
    """Where a Variable stands; `==` of Variables is an operator."""
    return next(index for index, other in enumerate(variables) if other is variable)


def object_of(variable: Variable) -> Variable:
    """The Variable that stands for the same tensor before its `stop_gradient` was set."""
    maker = variable.maker
    while isinstance(maker, Operator) and maker.name == SETTER:
        variable = maker.operands[0]
        maker = variable.maker
    return variable


__all__ = [
    "InPlace",
    "Origins",
    "is_elementwise",
    "is_fresh",
    "lists_in_place",
    "may_give_back",
    "object_of",
    "overwritten",
    "owner",
    "view_of",
    "views_in_order",
]
