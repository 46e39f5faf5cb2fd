"""Where a value comes from: back through branches, loops, functions and lists.

What hands a tensor on is followed, so that two values are known that may be one tensor.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from dy2st_runtime.ir.aliasing import is_fresh
from dy2st_runtime.ir.definition import lookup
from dy2st_runtime.ir.functions import CALL, function_of
from dy2st_runtime.ir.program import Block, Operator, Program, Variable
from dy2st_runtime.ir.tracing.gradient_flow import SETTER
from dy2st_runtime.ir.types import ArrayType
from dy2st_runtime.lazy import cached_property

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
                todo += [(object_of(v), other) for v, other in self.before(one, is_other)]
        return found

    def places_of(self, variables: set[Variable]) -> set[int]:
        """Those of them that are tensors of the call."""
        return {place for one in variables for place in self.places.get(one, ())}

    def may_hold_twice(self, variable: Variable) -> bool:
        """Whether a new tensor may stand in a list twice."""
        if not isinstance(variable.type, ArrayType):
            return False
        makers = {one.maker for one in self.origins(variable)[0] if isinstance(one.type, ArrayType)}
        puts: Counter[Variable] = Counter()
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
                    puts[origin] += len(loops - around) + (not is_list)
            for one in maker.operands:
                if isinstance(one.type, ArrayType) and (may_repeat or self.list_uses[one] > 1):
                    puts.update(origin for origin, _ in self.new(one))
        return any(count > 1 for count in puts.values())

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
