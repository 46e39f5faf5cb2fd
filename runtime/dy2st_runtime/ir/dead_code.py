"""Removes dead code: pure operators that nobody reads, and values carried for nothing.

What may raise stays, unless its record proves that it does not for its operands: Python raises
there, whether or not the result is read.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dy2st_runtime.dims import Dim, is_symbol, symbols
from dy2st_runtime.ir.definition import DEFINITIONS, Effect
from dy2st_runtime.ir.failures import is_dispensable
from dy2st_runtime.ir.functions import CALL, drop_unused
from dy2st_runtime.ir.program import Block, Operator, Program, Variable
from dy2st_runtime.ir.sizes import origins
from dy2st_runtime.ir.types import TensorType


def drop_dead(program: Program) -> None:
    """Leave out operators without readers that do nothing else, and results and operands that
    control flow has for nobody. One stays if a size that is still read is found in its result.
    So in functions, of which those go that nothing calls, and what no call of them reads."""
    _sweep(program)
    while program.functions and _trim_functions(program):
        _sweep(program)


def _sweep(program: Program) -> None:
    for block in program.roots:
        sweep = _Sweep(block)
        if block is program.block:
            sweep.want(tuple(located.constraint.condition for located in program.constraints))
        sweep.block(block)
    drop_unused(program)


def _trim_functions(program: Program) -> bool:
    """Take out results that no call of a function reads, and what it does not read itself.

    Whether there were any. What binds a size stays.
    """
    calls: dict[str, list[Operator]] = {name: [] for name in program.functions}
    read: set[Variable] = set()
    for root in program.roots:
        read.update(root.yields)
        for operator in root.walk():
            read.update(operator.operands)
            for block in operator.blocks:
                read.update(block.yields)
            if operator.name == CALL:
                calls[operator.attributes["function"]].append(operator)
    found = False
    for name, block in program.functions.items():
        given = [
            any(_is_given(call, i, read) for call in calls[name]) for i in range(len(block.yields))
        ]
        bound = set(origins(block.parameters))
        taken = [
            v in read or set(origins(p for p in block.parameters if p is not v)) != bound
            for v in block.parameters
        ]
        if False in taken:  # one after the other: two may bind one size
            first = taken.index(False)
            taken = [place != first for place in range(len(taken))]
        if all(given) and all(taken):
            continue
        found = True
        block.parameters, block.yields = (
            _chosen(block.parameters, taken),
            _chosen(block.yields, given),
        )
        for call in calls[name]:
            call.operands = _chosen(call.operands, taken)
            call.results = _chosen(call.results, given)
    return found


def _is_given(call: Operator, place: int, read: set[Variable]) -> bool:
    """Whether somebody reads a result of a call, or a size that is found in it alone."""
    result = call.results[place]
    if result in read or not isinstance(result.type, TensorType):
        return result in read
    known = {
        s for v in call.operands if isinstance(v.type, TensorType) for s in symbols(v.type.shape)
    }
    return not known.issuperset(symbols(result.type.shape))


class _Sweep:
    """One walk from the end to the beginning."""

    def __init__(self, root: Block) -> None:
        # The operators in whose results symbols are found that no input has.
        known: set[Any] = set()
        for parameter in root.parameters:
            if isinstance(parameter.type, TensorType):
                known.update(symbols(parameter.type.shape))
        found: dict[Operator, set[Dim]] = {}
        for operator in root.walk():
            made = operator.results
            if operator.blocks:
                made = [*made, *(p for block in operator.blocks for p in block.parameters)]
            for variable in made:
                type = variable.type
                if type.__class__ is not TensorType:
                    continue
                for size in type.shape:
                    if size.__class__ is int or size in known or not is_symbol(size):
                        continue
                    known.add(size)
                    found.setdefault(operator, set()).add(size)  # type: ignore[arg-type]
        self.binders = found
        self.symbols: set[Dim] = set()

    def want(self, value: Any) -> None:
        """Note the symbols that something reads."""
        if self.binders:
            self.symbols.update(symbols(value))

    def block(self, block: Block) -> None:
        """Clean a Block, then what is nested in operators that stay."""
        needed = set(block.yields)
        kept = []
        for operator in reversed(block.operators):
            if not self.is_needed(operator, needed):
                continue
            if operator.blocks:
                self.trim(operator, needed)
            needed.update(operator.operands)
            if self.binders:
                self.want(tuple(operator.attributes.values()))
                types = [v.type for v in operator.results]
                self.want(tuple(t.shape for t in types if isinstance(t, TensorType)))
            kept.append(operator)
        block.operators[:] = kept[::-1]

    def is_needed(self, operator: Operator, needed: set[Variable]) -> bool:
        """Whether anybody reads a result, or a size of one, or it does something else."""
        for result in operator.results:
            if result in needed:
                return True
        if not is_dispensable(operator):
            return True
        return not self.symbols.isdisjoint(self.binders.get(operator, ()))

    def trim(self, operator: Operator, needed: set[Variable]) -> None:
        """Take out results and operands of control flow that nobody reads."""
        if self.symbols.isdisjoint(self.binders.get(operator, ())):
            live = [result in needed for result in operator.results]
            if operator.name == "while":
                live = _live_in_iterations(operator, live)
            if not all(live):
                operator.results = _chosen(operator.results, live)
                if operator.name == "while":
                    operator.operands = _chosen(operator.operands, live)
                    for block in operator.blocks:
                        block.parameters = _chosen(block.parameters, live)
                    operator.blocks[1].yields = _chosen(operator.blocks[1].yields, live)
                else:
                    for block in operator.blocks:
                        block.yields = _chosen(block.yields, live)
        for block in operator.blocks:
            self.block(block)
        # Take out captured operands that no Block reads any more.
        before = 1 if operator.name == "cond" else 0
        own = 0 if operator.name == "cond" else len(operator.results)
        read = [
            {*block.yields, *(operand for one in block.operators for operand in one.operands)}
            for block in operator.blocks
        ]
        count = len(operator.blocks[0].parameters)
        live = [
            index < own
            or any(block.parameters[index] in seen for block, seen in zip(operator.blocks, read))
            for index in range(count)
        ]
        if all(live):
            return
        operator.operands = operator.operands[:before] + _chosen(operator.operands[before:], live)
        for block in operator.blocks:
            block.parameters = _chosen(block.parameters, live)


def is_pure(operator: Operator) -> bool:
    """Whether an operator does nothing but compute its results, whatever is inside of it."""
    if not operator.blocks:
        return DEFINITIONS[operator.name].effect is Effect.PURE
    return all(is_pure(inner) for block in operator.blocks for inner in block.operators)


def _live_in_iterations(operator: Operator, live: list[bool]) -> list[bool]:
    """Which loop variables are read: after the loop, by its condition, or by those that are."""
    condition, body = operator.blocks
    read = _reached(condition, condition.yields)
    live = [old or v in read for old, v in zip(live, condition.parameters, strict=False)]
    while True:
        roots = [v for v, wanted in zip(body.yields, live, strict=True) if wanted]
        read = _reached(body, roots)
        new = [old or v in read for old, v in zip(live, body.parameters, strict=False)]
        if new == live:
            return live
        live = new


def _reached(block: Block, roots: Iterable[Variable]) -> set[Variable]:
    """What values are made of, and what operators with effects read."""
    read = set(roots)
    for operator in reversed(block.operators):
        if not read.isdisjoint(operator.results) or not is_dispensable(operator):
            read.update(operator.operands)
    return read


def _chosen(values: list[Variable], live: list[bool]) -> list[Variable]:
    """The values without those that are not live; captured ones follow and all stay."""
    return [v for v, wanted in zip(values, live, strict=False) if wanted] + values[len(live) :]


__all__ = ["drop_dead", "is_pure"]
