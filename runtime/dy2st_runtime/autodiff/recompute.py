"""Recomputes the values that `recompute` has marked where gradients read them.

Of marked values (`Operator.recompute_call`) only those that others read, too, are kept, and what is
random or in a branch or loop. The backward half, or what `backward()` records in a step, recomputes
the others, each just before it is read. Eagerly `distributed/fleet/recomputing.py` does that, by a
Node that repeats the call.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from dy2st_runtime.dims import Dim, symbols
from dy2st_runtime.ir.definition import Effect, lookup
from dy2st_runtime.ir.program import Block, Operator, Variable
from dy2st_runtime.ir.types import ArrayType, TensorType


def is_part(operator: Operator) -> bool:
    """Whether it is to be recomputed, however much that costs."""
    if not operator.recompute_call or not is_repeatable(operator):
        return False
    # A symbol that only its result binds would be another one in a copy.
    known = set(symbols(tuple(operator.attributes.values())))
    for operand in operator.operands:
        known.update(sizes_of(operand))
    return all(known.issuperset(sizes_of(result)) for result in operator.results)


def leaving(operators: Iterable[Operator], yields: Iterable[Variable]) -> set[Variable]:
    """The values that are read outside of their `recompute`: what others begin with."""
    found = {v for v in yields if isinstance(v.maker, Operator) and v.maker.recompute_call}
    for operator in operators:
        for operand in operator.operands:
            maker = operand.maker
            if not isinstance(maker, Operator):
                continue
            if maker.recompute_call not in (0, operator.recompute_call):
                found.add(operand)
    return found


def is_repeatable(operator: Operator) -> bool:
    """Whether to recompute it changes nothing."""
    if operator.blocks or lookup(operator.name).effect is not Effect.PURE:
        return False
    values = (*operator.operands, *operator.results)
    return not any(isinstance(value.type, ArrayType) for value in values)


def sizes_of(variable: Variable) -> Iterable[Dim]:
    """The symbols in the shape of a value."""
    return symbols(variable.type.shape) if isinstance(variable.type, TensorType) else ()


def when_read(
    operators: Iterable[Operator], copies: Collection[Operator], yields: Iterable[Variable]
) -> list[Operator]:
    """The operators with each copy just before what reads it first: so it takes room for less."""
    makers = {result: copy for copy in copies for result in copy.results}
    found: list[Operator] = []

    def place(operator: Operator) -> None:
        todo = [operator]
        while todo:
            missing = next((makers[v] for v in todo[-1].operands if v in makers), None)
            if missing is not None:
                todo.append(missing)
                continue
            found.append(todo.pop())
            for result in found[-1].results:
                makers.pop(result, None)

    # What a copy reads may be a copy, too: those are placed first.
    apart = set(copies)
    for operator in operators:
        if operator not in apart:
            place(operator)
    for variable in yields:
        if variable in makers:
            place(makers[variable])
    return found


def recompute_before(block: Block, last: Operator) -> None:
    """Let the operators behind one read copies of what `recompute` has made up to there."""
    mark = block.operators.index(last) + 1
    before, behind = block.operators[:mark], block.operators[mark:]
    stays = leaving(before, [])
    read = {operand for operator in behind for operand in operator.operands}
    # The operators that recompute values, of those that stay and what is in no `recompute`.
    read = read - stays
    todo = [(v, v.maker.recompute_call) for v in read if isinstance(v.maker, Operator)]
    found: set[Operator] = set()
    while todo:
        variable, number = todo.pop()
        maker = variable.maker
        if variable in stays or not isinstance(maker, Operator) or maker in found:
            continue
        if maker.recompute_call == number and is_part(maker):
            found.add(maker)
            todo.extend((operand, number) for operand in maker.operands)
    wanted = found
    if not wanted:
        return
    values: dict[Variable, Variable] = {}
    copies = [_copy(operator, values) for operator in before if operator in wanted]
    for operator in behind:
        operator.operands = [values.get(operand, operand) for operand in operator.operands]
    block.operators[mark:] = when_read(behind, copies, [])


def _copy(operator: Operator, values: dict[Variable, Variable]) -> Operator:
    operands: Sequence[Variable] = [values.get(operand, operand) for operand in operator.operands]
    made = Operator(operator.name, [*operands], dict(operator.attributes), operator.block)
    made.location = operator.location
    for result in operator.results:
        copied = values[result] = Variable(result.type, made, result.name)
        copied.number, copied.held = result.number, result.held
        made.results.append(copied)
    return made


__all__ = ["is_part", "is_repeatable", "leaving", "recompute_before", "sizes_of", "when_read"]
