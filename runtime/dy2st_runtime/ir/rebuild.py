"""Rebuilds a Program with sizes in place of symbols, and operators in place of operators.

All types are inferred anew, so whatever is put in at the beginning reaches the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dy2st_runtime.dims import (
    Condition,
    Constraint,
    Contradiction,
    Dim,
    Size,
    collect,
    current,
    decided,
    is_symbol,
    substitute,
    symbols,
)
from dy2st_runtime.dims.conditions import MEANING
from dy2st_runtime.errors import ConversionError, Location, ShapeError
from dy2st_runtime.ir.clone import copy_functions
from dy2st_runtime.ir.data import carry, data_of
from dy2st_runtime.ir.dead_code import drop_dead
from dy2st_runtime.ir.definition import lookup
from dy2st_runtime.ir.dispatch import interpreting
from dy2st_runtime.ir.functions import CALL, fitting_sizes, inlined
from dy2st_runtime.ir.program import Block, LocatedConstraint, Operator, Program, Variable
from dy2st_runtime.ir.sizes import (
    assume,
    branch_condition,
    fresh_symbols_from,
    holding,
    take_limits,
)
from dy2st_runtime.ir.substitution import typed_with
from dy2st_runtime.ir.tracing.tracer import Tracer, infer
from dy2st_runtime.ir.types import ArrayType, TensorType, ValueType
from dy2st_runtime.thread_state import put_back_after_errors

# Symbols that a rule makes are only needed to see where it makes them.
_FRESH = 2 * 10**9


class Call(NamedTuple):
    """An operator to append: a rewrite may put another one in its place."""

    name: str
    operands: list[Variable]
    attributes: dict[str, Any]


Rewrite = Callable[[Call], "Callable[[], Any] | None"]
"""A function that records what stands for an operator and returns its results; None to keep it."""


@put_back_after_errors
def rebuild(
    program: Program,
    sizes: Mapping[Dim, Size] | None = None,
    rewrite: Rewrite | None = None,
    inputs: Mapping[Variable, TensorType] | None = None,
) -> Program:
    """The Program with sizes put in for symbols; decided branches and dead operators are gone.

    `inputs` has other types for some of the inputs. Functions are inlined, but for recursive ones.
    The given one stays as it is; data of parameters and constants are shared. Raises ShapeError if
    the sizes break a constraint, and ConversionError where a recursive function takes them not.
    """
    return _Rebuild(inlined(program), dict(sizes or {}), rewrite, inputs or {}).run()


class _Rebuild:
    def __init__(
        self,
        old: Program,
        sizes: dict[Dim, Size],
        rewrite: Rewrite | None,
        inputs: Mapping[Variable, TensorType],
    ) -> None:
        self.old, self.sizes, self.rewrite, self.inputs = old, sizes, rewrite, inputs
        self.new = Program(old.name, structure=old.structure, updates=list(old.updates))
        self.new.trainable = dict(old.trainable)
        self.new.changes = dict(old.changes)
        self.new.placements = dict(old.placements)
        copy_functions(old, self.new)
        self.values: dict[Variable, Variable] = {}
        self.waiting: list[LocatedConstraint] = list(old.constraints)
        self.known: set[Dim] = set()
        self.found: list[Constraint] = []

    def run(self) -> Program:
        """The new Program."""
        old = self.old
        with collect() as self.found, fresh_symbols_from(_FRESH):
            for parameter in old.block.parameters:
                self._parameter(parameter, self.new.block)
            self.new.inputs = [self.values[v] for v in old.inputs]
            self.new.parameters = {k: self.values[v] for k, v in old.parameters.items()}
            self.new.buffers = {k: self.values[v] for k, v in old.buffers.items()}
            self._take_constraints()
            self._operators(old.block, self.new.block)
        self.new.block.yields = [self.values[v] for v in old.block.yields]
        drop_dead(self.new)
        return self.new

    # -- values ------------------------------------------------------------------------------

    def _parameter(self, parameter: Variable, block: Block) -> Variable:
        type = self.inputs.get(parameter) or self._type(parameter.type)
        made = block.add_parameter(type, parameter.name)
        made.number = parameter.number
        self.values[parameter] = made
        self._bind(made.type)
        return made

    def _bind(self, type: ValueType) -> None:
        if isinstance(type, TensorType):
            self.known.update(symbols(type.shape))

    def _type(self, type: ValueType) -> ValueType:
        return typed_with(type, self.sizes)

    def _attribute(self, value: Any) -> Any:
        if isinstance(value, Dim):
            return substitute(value, self.sizes)
        if isinstance(value, Condition):
            return self._condition(value)
        return tuple(map(self._attribute, value)) if type(value) is tuple else value

    def _condition(self, condition: Condition) -> Condition:
        """The condition with sizes put in, also where they decide it."""
        right = condition.right
        right = (
            self._attribute(right) if isinstance(right, tuple) else substitute(right, self.sizes)
        )
        return Condition(condition.relation, substitute(condition.left, self.sizes), right)

    # -- constraints -------------------------------------------------------------------------

    def _take_constraints(self) -> None:
        """Require what is about symbols that are bound by now."""
        later = []
        for entry in self.waiting:
            condition = self._condition(entry.constraint.condition)
            if self.known.issuperset(symbols(condition)):
                self._require(entry, condition)
            else:
                later.append(entry)
        self.waiting = later

    def _require(self, entry: LocatedConstraint, condition: Condition) -> None:
        answer = truth_of(condition)
        if answer is True:
            return
        if answer is False or not _can_hold(condition, entry.constraint.reason):
            place = f" (from {entry.location})" if entry.location else ""
            raise ShapeError(
                f"these sizes break {entry.constraint.condition}{place}: {entry.constraint.reason}"
            )
        constraint = entry.constraint._replace(condition=condition)
        self.new.constraints.append(entry._replace(constraint=constraint))

    def _take_found(self, block: Block, location: Location | None) -> None:
        """Enter what rules have required: of the whole Program, or as an operator of a Block."""
        found, self.found[:] = list(self.found), []
        for constraint in found:
            if block.parent is None:
                self.new.constraints.append(LocatedConstraint(constraint, location))
            else:
                attributes = {"condition": constraint.condition, "message": constraint.reason}
                block.operators.append(Operator("require", [], attributes, block, [], [], location))

    # -- operators ---------------------------------------------------------------------------

    def _operators(self, old: Block, block: Block) -> None:
        for operator in old.operators:
            self._operator(operator, block)
            if block.parent is None and self.waiting:
                self._take_constraints()

    def _operator(self, operator: Operator, block: Block) -> None:
        operands = [self.values[v] for v in operator.operands]
        attributes = {k: self._attribute(v) for k, v in operator.attributes.items()}
        call = Call(operator.name, operands, attributes)
        if call.name == "require" and truth_of(attributes["condition"]):
            return
        if call.name == "cond":
            taken = data_of(operands[0])
            if taken is not None and isinstance(taken.item(), bool):
                # The operators of the one branch that is taken, in place of the `cond`.
                branch = operator.blocks[not taken.item()]
                self.values.update(zip(branch.parameters, operands[1:], strict=True))
                for inner in branch.operators:
                    self._operator(inner, block)
                self._map(operator, [self.values[v] for v in branch.yields])
                return
        replaced = None if self.rewrite is None else self.rewrite(call)
        if replaced is not None:
            # Append what a function records; it stands at the place of the old operator.
            mark = len(block.operators)
            with interpreting(Tracer.of_block(self.new, block)):
                found = replaced()
            added, block.operators[mark:] = block.operators[mark:], []
            for recorded in added:
                recorded.location = operator.location
            self._take_found(block, operator.location)
            block.operators += added
            self._map(operator, list(found) if isinstance(found, tuple) else [found])
        elif operator.name == CALL:
            # Recursive functions stay as they are; the sizes of a call are those of its operands.
            function = self.new.functions[attributes["function"]]
            if fitting_sizes(function, [v.type for v in operands]) is None:
                name = attributes["function"]
                raise ConversionError(
                    f"the function {name!r}, which calls itself, takes no other types than those "
                    "that it was made for",
                    at=None,
                )
            types = [self._type(result.type) for result in operator.results]
            self._map(operator, self._made(operator, call, types, block).results)
        elif operator.blocks:
            blocks = []
            for index, part in enumerate(operator.blocks):
                holds = None
                if operator.name == "cond":
                    holds = branch_condition(call.operands[0], index == 0)
                with holding(holds):
                    blocks.append(self._nested(operator, part, call.operands, block))
            ends = [block.yields for block in blocks]
            if operator.name == "while":
                ends[0] = call.operands
            types = [
                self._end_type(result.type, [values[place].type for values in ends])
                for place, result in enumerate(operator.results)
            ]
            made = self._made(operator, call, types, block, blocks)
            self._map(operator, made.results)
        else:
            # A size or condition that is known now is a constant.
            if call.name != "from_dim":
                folded = call
            else:
                value, dtype = call.attributes["value"], call.attributes["dtype"]
                if isinstance(value, Condition):
                    value = truth_of(value)
                if value is None or isinstance(value, Dim):
                    folded = call
                else:
                    folded = Call("constant", [], {"value": np.array(value, dtype)})
            self._append(operator, folded, block)
            if call.name == "require":
                assume(attributes["condition"])

    def _append(self, old: Operator, call: Call, block: Block) -> None:
        definition = lookup(call.name)
        types = infer(definition, [v.type for v in call.operands], call.attributes)
        take_limits()  # they stand among the constraints
        self._take_found(block, old.location)
        pairs = zip(types, old.results, strict=True)
        types = [self._with_old_symbols(type, result.type) for type, result in pairs]
        operator = self._made(old, call, types, block)
        self._map(old, operator.results)
        carry(definition, operator)
        self._take_found(block, old.location)

    def _made(
        self,
        old: Operator,
        call: Call,
        types: Iterable[ValueType],
        block: Block,
        blocks: Sequence[Block] = (),
    ) -> Operator:
        operator = Operator(
            call.name, call.operands, call.attributes, block, list(blocks), [], old.location
        )
        operator.recompute_call = old.recompute_call
        for type, result in zip(types, old.results, strict=True):
            made = Variable(type, operator, result.name)
            made.number = result.number
            operator.results.append(made)
        block.operators.append(operator)
        return operator

    def _with_old_symbols(self, type: ValueType, old: ValueType) -> ValueType:
        """The inferred type; where it binds a symbol, the one that was bound there before."""
        if isinstance(type, ArrayType) or isinstance(old, ArrayType):
            return self._type(old)
        pairs = zip(type.shape, old.shape, strict=True)
        return type.with_shape(
            before if self._binds(before) and self._binds(now) else now for now, before in pairs
        )

    def _binds(self, size: Size) -> bool:
        return is_symbol(size) and size not in self.known and size not in self.sizes

    def _map(self, operator: Operator, results: Sequence[Variable]) -> None:
        """Let results stand for those of an old operator; symbols that they had are put in."""
        for old, new in zip(operator.results, results, strict=True):
            self.values[old] = new
            if isinstance(old.type, TensorType) and isinstance(new.type, TensorType):
                for before, now in zip(old.type.shape, new.type.shape, strict=True):
                    if self._binds(before) and before is not now:
                        assert isinstance(before, Dim)
                        self.sizes[before] = now
            self._bind(new.type)

    def _end_type(self, old: ValueType, ends: Sequence[ValueType]) -> ValueType:
        """The type of a result: sizes that all ends write alike, else those that it had.

        The ends were inferred anew; that what they had was the same may be hard to see.
        """
        type = self._type(old)
        shapes = [end.shape for end in ends if isinstance(end, TensorType)]
        if isinstance(type, ArrayType) or len(shapes) < len(ends):
            return type
        pairs = zip(type.shape, *shapes, strict=True)
        return type.with_shape(
            first if all(size is first for size in rest) and not self._binds(had) else had
            for had, first, *rest in pairs
        )

    def _nested(
        self, operator: Operator, old: Block, operands: Sequence[Variable], block: Block
    ) -> Block:
        inner = Block(parent=block)
        captured = operands[1:] if operator.name == "cond" else operands
        carried = 0 if operator.name == "cond" else len(operator.results)
        for index, (parameter, operand) in enumerate(zip(old.parameters, captured, strict=True)):
            made = self._parameter(parameter, inner)
            if index >= carried:
                made.type, made.held = operand.type, data_of(operand)
        self._operators(old, inner)
        inner.yields = [self.values[v] for v in old.yields]
        return inner


def _can_hold(condition: Condition, reason: str) -> bool:
    """Know that a condition holds; False if it cannot."""
    try:
        current().assume(condition, reason)
    except Contradiction:
        return False
    return True


def truth_of(condition: Condition) -> bool | None:
    """Whether a condition holds, also one of numbers alone; None if it is not decided."""
    if all(isinstance(size, int) for size in condition.sizes):
        return MEANING[condition.relation](condition.left, condition.right)
    return decided(condition)


__all__ = ["Call", "Rewrite", "rebuild", "truth_of"]
