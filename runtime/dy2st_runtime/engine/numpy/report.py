"""Describes for readers what NumPy's engine does with each operator, and what memory it takes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dy2st_runtime.dims import Size, product
from dy2st_runtime.engine.numpy.codegen import NAMES, is_small, last_uses
from dy2st_runtime.engine.runner import listed
from dy2st_runtime.errors import LimitExceeded, counted
from dy2st_runtime.ir.aliasing import lists_in_place, overwritten, owner, view_of, views_in_order
from dy2st_runtime.ir.definition import View
from dy2st_runtime.ir.functions import CALL, inlined
from dy2st_runtime.ir.program import Block, Operator, Program, Variable
from dy2st_runtime.ir.types import TensorType


def explain(program: Program) -> str:
    """A line an operator: what NumPy makes of it; then the memory of a call."""
    words = _words(program)
    lines = [*listed(program.block, lambda operator: f"{words[operator]:<6}")]
    for name, block in program.functions.items():
        inner = listed(block, lambda operator: f"{words[operator]:<6}", 1)
        lines += [f"function {name}", *inner]
    return "\n".join([*lines, f"memory of a call: {_memory(program)}"])


def _words(program: Program) -> dict[Operator, str]:
    words: dict[Operator, str] = {}
    changed = {one for root in program.roots for one in lists_in_place(root).changed}
    for block in _blocks(program):
        over = overwritten(block)
        sure = views_in_order(block, over, ())
        for operator in block.operators:
            words[operator] = _word(operator, operator in over, operator in sure)
            if operator in changed:
                words[operator] = "over"
    return words


def _blocks(program: Program) -> list[Block]:
    return [*program.roots, *(b for one in program.walk() for b in one.blocks)]


def _word(operator: Operator, is_over: bool, is_sure: bool) -> str:
    if operator.blocks or operator.name == CALL:
        return "code"
    if operator.name in NAMES:
        return "name"
    if is_over and not is_small(operator.results[0]):
        return "over"
    view = view_of(operator)
    if view is None:
        return "NumPy"
    return "view" if is_sure or view is not View.UNSURE else "view?"


def _memory(program: Program) -> str:
    """The bytes of all new arrays, and of those that are there at once, where they are known."""
    try:
        program = inlined(program)
    except LimitExceeded as error:
        return f"not counted, since {error}"
    if program.functions:
        names = " and ".join(f"`{name}`" for name in program.functions)
        return f"grows with the depth of the calls of {names}"
    words = _words(program)
    new = [result for block in _blocks(program) for result in _made(block, words)]
    total: Size = 0
    for variable in new:
        total = total + _bytes(variable)
    most = _most(program.block, words)
    at_once = f", at most {counted(most, 'byte')} at once" if isinstance(most, int) else ""
    return f"{counted(total, 'byte')} in {len(new)} new arrays{at_once}"


def _made(block: Block, words: dict[Operator, str]) -> Iterable[Variable]:
    for operator in block.operators:
        if operator.name != "constant" and words[operator] == "NumPy":
            yield from (one for one in operator.results if isinstance(one.type, TensorType))


def _most(block: Block, words: dict[Operator, str]) -> Any:
    """The most bytes of new arrays at once; None if sizes are not known."""
    new = set(_made(block, words))
    if not all(isinstance(_bytes(variable), int) for variable in new):
        return None
    # Memory is freed with the last value that looks into it.
    memory: dict[Variable, Variable] = {}
    for operator in block.operators:
        for result in operator.results:
            first = operator.operands[0] if operator.operands else result
            memory[result] = result if result in new else memory.get(first, owner(result))
    names: dict[Variable, int] = {}
    for variable in memory.values():
        names[variable] = names.get(variable, 0) + 1
    kept = {memory.get(variable, variable) for variable in block.yields}
    freed = last_uses(block)
    now = most = 0
    for operator in block.operators:
        now += sum(_bytes(one) for one in operator.results if one in new)
        inner = [_most(one, words) for one in operator.blocks]
        if None in inner:
            return None
        most = max(most, now + max(inner, default=0))
        for variable in freed.get(operator, ()):
            held = memory.get(variable, variable)
            names[held] = names.get(held, 1) - 1
            if names[held] == 0 and held in new and held not in kept:
                now -= _bytes(held)
    return most


def _bytes(variable: Variable) -> Any:
    type = variable.type
    assert isinstance(type, TensorType)
    return product(type.shape) * type.dtype.itemsize


__all__ = ["explain"]
