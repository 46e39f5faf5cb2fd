"""Every invariant of a Program, checked; all findings at once, shown in the Program's text.

- a Variable is made once, and read only inside the Block that it belongs to, after it is made
- operators exist, have as many operands as their record says, and all attributes, of allowed kinds
- the results' types are those that the shape rule gives
- `cond` and `while` have closed Blocks whose parameters and yields fit operands and results
- a symbol is bound by an axis of a Variable before it is used
- inputs, parameters and buffers are the parameters of the outermost Block
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dy2st_runtime.dims import Condition, Dim, collect, equal, is_symbol, symbols
from dy2st_runtime.errors import Dy2stError, VerifyError
from dy2st_runtime.ir.definition import DEFINITIONS
from dy2st_runtime.ir.program import Block, Operator, Program, Variable
from dy2st_runtime.ir.tracer import complete, infer
from dy2st_runtime.ir.types import ArrayType, TensorType, ValueType

_KINDS = (type(None), bool, int, float, str, np.dtype, Dim, Condition, np.ndarray)


@dataclass(frozen=True)
class Finding:
    """One broken invariant: what it is, and at which operator (None: of the Program)."""

    text: str
    operator: Operator | None = None

    def __str__(self) -> str:
        """`cast (model.py:9:8): ...`."""
        if self.operator is None:
            return self.text
        place = f" ({self.operator.location})" if self.operator.location else ""
        return f"{self.operator.name}{place}: {self.text}"


def verify(program: Program) -> Program:
    """The Program itself; VerifyError with every finding if an invariant is broken."""
    found = findings(program)
    if found:
        raise VerifyError([str(finding) for finding in found])
    return program


def findings(program: Program) -> list[Finding]:
    """Every broken invariant."""
    verifier = _Verifier(program)
    verifier.check_program()
    verifier.check_block(program.block, set())
    return verifier.found


class _Verifier:
    def __init__(self, program: Program):
        self.program = program
        self.found: list[Finding] = []
        self.made: set[Variable] = set()

    def add(self, text: str, operator: Operator | None = None) -> None:
        self.found.append(Finding(text, operator))

    def check_program(self) -> None:
        program = self.program
        expected = [*program.inputs, *program.parameters.values(), *program.buffers.values()]
        if [id(v) for v in program.block.parameters] != [id(v) for v in expected]:
            self.add("the block's parameters are not inputs, parameters, buffers in this order")
        for name in program.updates:
            if name not in program.buffers and name not in program.parameters:
                self.add(f"an update of {name!r}, which is no buffer")
        if len(program.updates) > len(program.block.yields):
            self.add("more updates than the block yields")
        updated = program.block.yields[len(program.outputs) :]
        for name, value in zip(program.updates, updated, strict=False):
            known = program.state.get(name)
            if known is not None and not _fits(value.type, known.type):
                self.add(f"the update of {name!r} has type {value.type}, not {known.type}")

    # -- blocks --------------------------------------------------------------------------------

    def check_block(self, block: Block, bound: set[Dim]) -> None:
        known: set[Variable] = set()
        bound = set(bound)
        for parameter in block.parameters:
            self.define(parameter, known, bound, None)
            if parameter.maker is not block:
                self.add(f"{parameter!r} is a parameter of a block that did not make it")
        for parameter in block.parameters:
            self.check_symbols(parameter.type, bound, None)
        for operator in block.operators:
            self.check_operator(operator, block, known, bound)
        for value in block.yields:
            if value not in known:
                self.add(f"the block yields {value!r}, which it does not make")

    def define(
        self, variable: Variable, known: set[Variable], bound: set[Dim], at: Operator | None
    ) -> None:
        if variable in self.made:
            self.add(f"{variable!r} is made twice", at)
        self.made.add(variable)
        known.add(variable)
        if isinstance(variable.type, TensorType):
            for size in variable.type.shape:
                if is_symbol(size):
                    bound.add(size)  # type: ignore[arg-type]
                if isinstance(size, int) and size < 0:
                    self.add(f"{variable!r} has the size {size}", at)

    def check_symbols(self, value: Any, bound: set[Dim], at: Operator | None) -> None:
        if isinstance(value, ArrayType):
            return
        used = symbols(value.shape if isinstance(value, TensorType) else value)
        for symbol in used:
            if symbol not in bound:
                self.add(f"the size {symbol} is not known here", at)

    # -- operators -----------------------------------------------------------------------------

    def check_operator(
        self, operator: Operator, block: Block, known: set[Variable], bound: set[Dim]
    ) -> None:
        if operator.block is not block:
            self.add("it belongs to another block", operator)
        for operand in operator.operands:
            if operand not in known:
                self.add(f"it reads {operand!r}, which is not made before it here", operator)
        for value in operator.attributes.values():
            self.check_symbols(value, bound, operator)
        if operator.name == "cond":
            self.check_cond(operator, bound)
        elif operator.name == "while":
            self.check_while(operator, bound)
        else:
            self.check_record(operator)
        for result in operator.results:
            if result.maker is not operator:
                self.add(f"{result!r} says that another operator made it", operator)
            self.define(result, known, bound, operator)
        for result in operator.results:
            self.check_symbols(result.type, bound, operator)

    def check_record(self, operator: Operator) -> None:
        definition = DEFINITIONS.get(operator.name)
        if definition is None:
            self.add("there is no such operator", operator)
            return
        if not all(_is_attribute(value) for value in operator.attributes.values()):
            self.add("an attribute has a value of a kind that Programs do not hold", operator)
            return
        needed = sum(1 for name in definition.inputs if name[-1] not in "?*")
        count = len(operator.operands)
        if count < needed or (count > len(definition.inputs) and not definition.is_variadic):
            self.add(f"it has {count} operands, its record says {definition.inputs}", operator)
            return
        try:
            attributes = complete(definition, operator.attributes)
            with collect():
                types = infer(definition, [v.type for v in operator.operands], attributes)
        except (Dy2stError, IndexError, ZeroDivisionError) as error:
            self.add(f"its shape rule refuses: {error}", operator)
            return
        have = [result.type for result in operator.results]
        if len(types) != len(have) or not all(map(_fits, have, types)):
            self.add(f"its results have types {have}, its rule gives {types}", operator)

    def check_cond(self, operator: Operator, bound: set[Dim]) -> None:
        if len(operator.blocks) != 2 or not operator.operands:
            self.add("it needs a condition and two blocks", operator)
            return
        self.check_bool(operator.operands[0], operator)
        for block in operator.blocks:
            self.check_types(block.parameters, operator.operands[1:], "parameters", operator)
            self.check_yields(block.yields, operator.results, operator)
            self.check_block(block, bound)

    def check_while(self, operator: Operator, bound: set[Dim]) -> None:
        if len(operator.blocks) != 2:
            self.add("it needs a block for the condition and one for the body", operator)
            return
        condition, body = operator.blocks
        count = len(operator.results)
        for block in operator.blocks:
            if len(block.parameters) != len(operator.operands):
                self.add("its blocks do not take its operands", operator)
                return
            self.check_types(
                block.parameters[count:], operator.operands[count:], "captured values", operator
            )
            self.check_yields(operator.operands[:count], block.parameters[:count], operator)
            self.check_block(block, bound)
        if len(condition.yields) != 1:
            self.add("its condition yields one bool", operator)
        else:
            self.check_bool(condition.yields[0], operator)
        self.check_yields(body.yields, operator.results, operator)

    def check_bool(self, variable: Variable, operator: Operator) -> None:
        type = variable.type
        if not isinstance(type, TensorType) or type.dtype.kind != "b" or type.rank:
            self.add(f"its condition has type {type}, not a 0-d bool", operator)

    def check_types(
        self, left: list[Variable], right: list[Variable], what: str, operator: Operator
    ) -> None:
        if [v.type for v in left] != [v.type for v in right]:
            self.add(f"its {what} do not have the types of its operands", operator)

    def check_yields(
        self, given: list[Variable], taken: list[Variable], operator: Operator
    ) -> None:
        """What is given may be more exact than what takes it."""
        if len(given) != len(taken):
            self.add(f"{len(given)} values are given for {len(taken)}", operator)
            return
        for value, place in zip(given, taken, strict=True):
            if not _is_within(value.type, place.type):
                self.add(f"a value of type {value.type} is given for {place.type}", operator)


def _is_attribute(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(_is_attribute(entry) for entry in value)
    return isinstance(value, _KINDS)


def _fits(have: ValueType, want: ValueType) -> bool:
    """Whether two types agree; sizes that only the data decides are compared by their place."""
    if isinstance(have, ArrayType) or isinstance(want, ArrayType):
        return isinstance(have, ArrayType) and isinstance(want, ArrayType)
    if have.dtype != want.dtype or have.rank != want.rank:
        return False
    return all(
        equal(a, b) is True or (is_symbol(a) and is_symbol(b))
        for a, b in zip(have.shape, want.shape, strict=True)
    )


def _is_within(have: ValueType, want: ValueType) -> bool:
    """Whether every value of one type is of the other: a symbol that it binds takes any size."""
    if isinstance(have, ArrayType) or isinstance(want, ArrayType):
        return isinstance(have, ArrayType) and isinstance(want, ArrayType)
    if have.dtype != want.dtype or have.rank != want.rank:
        return False
    return all(
        equal(a, b) is True or is_symbol(b) for a, b in zip(have.shape, want.shape, strict=True)
    )
