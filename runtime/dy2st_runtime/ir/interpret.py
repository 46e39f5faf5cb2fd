"""Interprets a Program: its operators, one by one, on eager tensors.

It is slow and plain. Training runs through it, because the tape then sees the branches and
iterations that are really taken; and the compiled engines are tested against it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from dy2st_runtime.dims import Condition, Constraint, Dim, evaluate, is_symbol, symbols
from dy2st_runtime.errors import ShapeError
from dy2st_runtime.ir.checks.broken_sizes import broken, uncomputable
from dy2st_runtime.ir.checks.tracebacks import show_operator
from dy2st_runtime.ir.definition import lookup
from dy2st_runtime.ir.dispatch import F, apply, eagerly
from dy2st_runtime.ir.functions import CALL, root_name
from dy2st_runtime.ir.location import entries_of
from dy2st_runtime.ir.program import Block, LocatedConstraint, Operator, Program, Variable
from dy2st_runtime.ir.sizes import formulas, origins
from dy2st_runtime.ir.tracing.gradient_flow import SETTER
from dy2st_runtime.ir.types import ArrayType, TensorType
from dy2st_runtime.thread_state import put_back_after_errors

Sizes = dict[Dim, int]


@put_back_after_errors
def interpret(
    program: Program, inputs: Sequence[Any], state: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Outputs, and new values of buffers by name.

    Raises ShapeError if the sizes break a constraint of the Program.
    """
    run = Run(program)
    values = [*inputs, *(state[name] for name in program.state)]
    try:
        with eagerly(as_recorded=True):
            results = run.block(program.block, values, run.sizes_of(values))
    except Exception as error:  # goes on, with the place of the operator
        run.add_place(error)
        raise
    count = len(program.outputs)
    return results[:count], dict(zip(program.updates, results[count:], strict=True))


class Run:
    """One run of a Program: the operator that is running, and what sizes must satisfy."""

    def __init__(self, program: Program):
        self.program = program
        self.origins = origins(program.block.parameters)
        self.operator: Operator | None = None
        self.constraints: dict[Dim, list[LocatedConstraint]] = {}
        for entry in program.constraints:
            for symbol in symbols(entry.constraint.condition):
                self.constraints.setdefault(symbol, []).append(entry)

    def sizes_of(self, values: Sequence[Any]) -> Sizes:
        """The symbols that the parameters bind; ShapeError if they break what must hold of them."""
        sizes = self._entry_sizes(self.program.block, values)
        for entry in self.program.constraints:
            if sizes.keys() >= set(symbols(entry.constraint.condition)):
                self.require(entry, sizes)
        return sizes

    def _entry_sizes(self, block: Block, values: Sequence[Any]) -> Sizes:
        place = {variable: i for i, variable in enumerate(block.parameters)}
        return {
            symbol: origin.solved.value(values[place[origin.variable]].shape[origin.axis])
            for symbol, origin in self.origins.items()
        }

    def block(self, block: Block, arguments: Sequence[Any], outer: Sizes) -> list[Any]:
        """What the Block yields. The sizes of its own values end with it."""
        sizes = dict(outer)
        known: dict[Variable, Any] = {}
        for parameter, value in zip(block.parameters, arguments, strict=True):
            known[parameter] = value
            self.bind(parameter, value, sizes)
        self.operators(block.operators, known, sizes)
        return [known[variable] for variable in block.yields]

    def operators(
        self, operators: Iterable[Operator], known: dict[Variable, Any], sizes: Sizes
    ) -> None:
        """Add what operators give to what is known."""
        for operator in operators:
            operands = [known[operand] for operand in operator.operands]
            self.operator = operator
            results = self.operation(operator, operands, sizes)
            for variable, value in zip(operator.results, results, strict=True):
                known[variable] = value
                self.bind(variable, value, sizes)

    def bind(self, variable: Variable, value: Any, sizes: Sizes) -> None:
        """Note the sizes that a value defines, and check what must hold of them."""
        if not isinstance(variable.type, TensorType):
            return
        new = []
        for size, real in zip(variable.type.shape, value.shape, strict=True):
            if isinstance(size, Dim) and is_symbol(size) and size not in sizes:
                sizes[size] = real
                new.append(size)
        for symbol in new:
            for entry in self.constraints.get(symbol, ()):
                if sizes.keys() >= set(symbols(entry.constraint.condition)):
                    self.require(entry, sizes)

    def require(self, entry: LocatedConstraint, sizes: Sizes) -> None:
        """ShapeError, in the user's terms, unless a constraint holds."""
        condition = entry.constraint.condition
        error = uncomputable(condition, entry.location, sizes, self.origins)
        if error is None and not evaluate(condition, sizes):
            error = broken(entry, sizes, self.origins)
        if error is not None:
            raise error

    def operation(self, operator: Operator, operands: list[Any], sizes: Sizes) -> Sequence[Any]:
        """The results of one operator."""
        if operator.name == "cond":
            chosen = operator.blocks[0 if bool(operands[0]) else 1]
            return self.block(chosen, operands[1:], sizes)
        if operator.name == "while":
            return self.loop(operator, operands, sizes)
        if operator.name == CALL:
            return self.call(operator, operands)
        if operator.name == "require" and isinstance(operator.attributes["condition"], Condition):
            constraint = Constraint(
                operator.attributes["condition"], operator.attributes["message"]
            )
            self.require(LocatedConstraint(constraint, operator.location), sizes)
            return []
        if operator.name == SETTER:
            operands[0].stop_gradient = operator.attributes["value"]
            return operands
        attributes = self.attributes(operator, sizes)
        if any(isinstance(v.type, ArrayType) for v in (*operator.operands, *operator.results)):
            result = run_on_lists(operator.name, *operands, **attributes)
        else:
            result = apply(operator.name, *operands, **attributes)
        return [result] if len(operator.results) == 1 else result

    def call(self, operator: Operator, operands: list[Any]) -> list[Any]:
        """What a function gives. Its sizes are its own, though some be called as others are."""
        block = self.program.functions[operator.attributes["function"]]
        outer = self.origins, self.constraints
        self.origins, self.constraints = origins(block.parameters), {}
        sizes = self._entry_sizes(block, operands)
        results = self.block(block, operands, sizes)
        self.origins, self.constraints = outer
        return results

    def attributes(self, operator: Operator, sizes: Sizes) -> dict[str, Any]:
        """The attributes with numbers in place of Dims; ShapeError where a formula has none."""
        try:
            return {name: concrete(value, sizes) for name, value in operator.attributes.items()}
        except (ZeroDivisionError, ShapeError):
            for value in formulas(tuple(operator.attributes.values())):
                error = uncomputable(value, operator.location, sizes, self.origins)
                if error is not None:
                    raise error from None
            raise

    def loop(self, operator: Operator, operands: list[Any], sizes: Sizes) -> Sequence[Any]:
        """The loop variables after the last iteration."""
        condition, body = operator.blocks
        count = len(operator.results)
        values, captured = operands[:count], operands[count:]
        while bool(self.block(condition, [*values, *captured], sizes)[0]):
            values = self.block(body, [*values, *captured], sizes)
        return values

    def add_place(self, error: Exception) -> None:
        """Say which operator failed, and where the user called it."""
        if self.operator is None:
            return
        code = Run.operators.__code__
        for entry in entries_of(error.__traceback__):
            if entry.tb_frame.f_code is code:
                running = entry.tb_frame.f_locals["operator"]
                if running.name == CALL or running is self.operator:
                    show_operator(error, running, entry, root_name(running))


def concrete(value: Any, sizes: Mapping[Dim, int]) -> Any:
    """An attribute with numbers in place of Dims."""
    if isinstance(value, (Dim, Condition)):
        return evaluate(value, sizes)
    if isinstance(value, tuple):
        return tuple(concrete(entry, sizes) for entry in value)
    return value


# Lists of a Program are Python lists of tensors here. Most kernels take those as they are; these
# would take the tensors' arrays, and the tape would lose them.
_ON_LISTS: dict[str, Callable[..., Any]] = {
    "array_length": lambda array: F.assign(len(array)),
    "array_stack": lambda array, axis: F.stack(array, axis),
    "array_concat": lambda array, axis: F.concat(array, axis),
}


def run_on_lists(name: str, *operands: Any, **attributes: Any) -> Any:
    """The result of an operator on lists of a Program, for Python lists of eager tensors."""
    function = _ON_LISTS.get(name) or lookup(name).kernel
    assert function is not None, f"operator {name!r} has no kernel"
    return function(*operands, **attributes)
