"""Writes the operators of a Program: by their rows, by what they are made of, branches, loops."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import Any

import numpy as np

from dy2st_runtime.dims import Dim, symbol
from dy2st_runtime.engine.onnx import writers
from dy2st_runtime.engine.onnx.graph import Graph, solved_sizes, value_of
from dy2st_runtime.engine.onnx.library import opset_of
from dy2st_runtime.engine.onnx.nodes import BOOL, INT64, Scope, Value
from dy2st_runtime.engine.onnx.protos import DOMAIN, function_proto, graph_of
from dy2st_runtime.engine.onnx.table import LEFT_OUT, MADE_OF, NEEDED, REFUSED, WRITERS
from dy2st_runtime.engine.onnx.writers.lists import empty, retyped
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir.checks.broken_sizes import place_text
from dy2st_runtime.ir.definition import lookup
from dy2st_runtime.ir.dispatch import interpreting
from dy2st_runtime.ir.functions import CALL, function_of
from dy2st_runtime.ir.program import Block, Operator, Program, Variable
from dy2st_runtime.ir.sizes import origins
from dy2st_runtime.ir.tracing.tracer import Tracer
from dy2st_runtime.ir.types import ArrayType, TensorType, ValueType
from dy2st_runtime.ops.dynamic import TABLE as DYNAMIC

assert writers  # they fill the table


class Writer(Graph):
    """Writes the operators of Blocks into the graph in the making.

    left_out  what is not written since nothing is computed by it, such as `print`, by its place.
    """

    def __init__(self, opset: int, checks: bool = True) -> None:
        """`checks`: whether what Python would raise makes the model fail."""
        super().__init__(opset)
        self.checks = checks
        self.left_out: list[str] = []
        self.about_of: Callable[[Operator], str] = lambda operator: ""
        self.functions: dict[Block, Any] = {}  # of ONNX, in the order in which they are complete

    # -- operators ------------------------------------------------------------------------------

    def block(self, block: Block, arguments: Sequence[Value]) -> list[Value]:
        """What a Block yields, written into the innermost graph."""
        for parameter, value in zip(block.parameters, arguments, strict=True):
            self.bind(parameter, value)
        for operator in block.operators:
            self.write(operator)
        return [self.of(variable) for variable in block.yields]

    def of(self, variable: Variable) -> Value:
        """The value that stands for a Variable."""
        for scope in reversed(self.scopes):
            if variable in scope.values:
                return scope.values[variable]
        raise AssertionError(f"no value is known for {variable!r}")

    def write(self, operator: Operator) -> None:
        """Write one operator, and let values stand for its results."""
        before = self.operator, self.place, self.about
        self.operator, self.place = operator, operator.name
        self.about = self.about_of(operator) if operator.location else before[2]
        operands = [self.of(variable) for variable in operator.operands]
        if not operator.blocks:
            operands = self._with_dtypes(operator, operands)
        results = self._results(operator, operands)
        for variable, value in zip(operator.results, results, strict=True):
            self.bind(variable, self.typed(value, variable))
        self.operator, self.place, self.about = before

    def _with_dtypes(self, operator: Operator, operands: list[Value]) -> list[Value]:
        """Operands, of which an empty list is one of the type of the list that is made of it."""
        type = operator.results[0].type if operator.results else None
        if not isinstance(type, ArrayType) or not any(value.is_empty for value in operands):
            return operands
        names = lookup(operator.name).inputs
        found = []
        for place, value in enumerate(operands):
            is_item = names[min(place, len(names) - 1)].startswith("item")
            wanted = type.element if is_item else type
            if value.is_empty and isinstance(wanted, ArrayType):
                value = retyped(self, value, wanted)
            found.append(value)
        return found

    def typed(self, value: Value, variable: Variable) -> Value:
        """A value as one of the type of a Variable."""
        if isinstance(variable.type, ArrayType):
            return retyped(self, value, variable.type)
        type = variable.tensor_type
        made = self.cast(value, type.dtype)
        return Value(made.name, type.dtype, type.shape, number=made.number)

    def _results(self, operator: Operator, operands: list[Value]) -> Sequence[Value]:
        name = operator.name
        if name == "cond":
            return self._cond(operator, operands)
        if name == "while":
            return self._loop(operator, operands)
        if name == CALL:
            return self._call(operator, operands)
        if name in LEFT_OUT:
            self.left_out.append(f"{name} ({self.about})" if self.about else name)
            return operands[: len(operator.results)]
        if name in WRITERS:
            made = WRITERS[name](self, *operands, **operator.attributes)
            if made is not NotImplemented:
                return [made] if isinstance(made, Value) else made
        if name in DYNAMIC:
            self._bind_numbers(operator, operands)
        parts = parts_of(operator)
        assert parts is not None, f"nothing writes {name}"
        return self.block(parts, operands)

    def _bind_numbers(self, operator: Operator, operands: Sequence[Value]) -> None:
        """Let the symbols that `parts_of` has made for the numbers in tensors be those."""
        for place, symbols in numbers_of(operator).items():
            flat = self.op("Reshape", self.cast(operands[place], INT64), self.int64s([-1]))
            for index, number in enumerate(symbols):
                self.scope.symbols[number] = (flat, 0)
                part = self.slice(flat, [index], [index + 1], [0], None, (1,))
                self.scope.sizes[number] = part

    # -- branches and loops ---------------------------------------------------------------------

    def truth(self, value: Value) -> Value:
        """A condition of one element as a 0-d bool."""
        return self.reshape(self.cast(value, BOOL), ())

    @contextmanager
    def frame(self) -> Iterator[None]:
        """Symbols that are met inside are forgotten behind it."""
        scope = self.scope
        symbols, sizes = dict(scope.symbols), dict(scope.sizes)
        yield
        scope.symbols, scope.sizes = symbols, sizes

    def well(self, scope: Scope) -> Value | None:
        """Whether all is well in a graph, None where nothing is asked."""
        if not (scope.flags and self.checks):
            return None
        return reduce(lambda x, y: self.op("And", x, y, shape=()), scope.flags)

    def _cond(self, operator: Operator, operands: list[Value]) -> list[Value]:
        condition, *captured = operands
        truth = self.truth(condition)
        scopes, yields, flags = [], [], []
        for block in operator.blocks:
            with self.nested() as scope:
                made = self.block(block, captured)
                pairs = zip(made, operator.results, strict=True)
                typed = [self.typed(value, variable) for value, variable in pairs]
                yields.append([leaf for value in typed for leaf in value.leaves])
                flags.append(self.well(scope))
                scopes.append(scope)
        has_flag = any(flag is not None for flag in flags)
        if not (operator.results or has_flag):
            return []
        graphs = []
        for scope, leaves, flag in zip(scopes, yields, flags, strict=True):
            self.scopes.append(scope)
            outputs = [*leaves]
            if has_flag:
                outputs.append(flag if flag is not None else self.const(np.True_))
            outputs = self._own(outputs)
            self.scopes.pop()
            graphs.append(graph_of(f"{self.place}_branch", scope, [], outputs))
        results = self._named(one.type for one in operator.results)
        names = [leaf.name for value in results for leaf in value.leaves]
        if has_flag:
            names.append(self.fresh("well"))
            self.scope.flags.append(Value(names[-1], BOOL, ()))
        self.node("If", [truth], names, then_branch=graphs[0], else_branch=graphs[1])
        return results

    def _named(self, types: Iterable[ValueType]) -> list[Value]:
        """Values of these types, with new names."""
        return [value_of(type, self.fresh(self.place)) for type in types]

    def _call(self, operator: Operator, operands: list[Value]) -> list[Value]:
        function = function_of(operator)
        assert function is not None
        if function not in self.functions:
            self.functions[function] = self._function(operator, function)
        proto, results = self.functions[function], self._named(v.type for v in operator.results)
        names = [leaf.name for value in results for leaf in value.leaves]
        if len(proto.output) > len(names):
            names.append(self.fresh("well"))
            self.scope.flags.append(Value(names[-1], BOOL, ()))
        self.node(proto.name, [leaf for value in operands for leaf in value.leaves], names)
        self.scope.nodes[-1].domain = DOMAIN
        return results

    def _function(self, call: Operator, function: Block) -> Any:
        """A function of ONNX, which sees no value around it, but for constants."""
        before = self.scopes, self.solved, self.operator, self.place, self.about
        self.scopes, self.solved = [Scope()], solved_sizes(function.parameters)
        values = self._named(parameter.type for parameter in function.parameters)
        own = dict(zip(function.parameters, values, strict=True))
        for size, origin in origins(function.parameters).items():
            self.scope.symbols[size] = (own[origin.variable], origin.axis)
        pairs = zip(self.block(function, values), function.yields, strict=True)
        outputs = [leaf for value, one in pairs for leaf in self.typed(value, one).leaves]
        flag = self.well(self.scope)
        outputs = self._own(outputs if flag is None else [*outputs, flag])
        inputs = [leaf for value in values for leaf in value.leaves]
        name = call.attributes["function"]
        made = function_proto(name, self.scope, inputs, outputs, self.initializers, self.opset)
        self.scopes, self.solved, self.operator, self.place, self.about = before
        return made

    def _loop(self, operator: Operator, operands: list[Value]) -> list[Value]:
        count, (condition, body) = len(operator.results), operator.blocks
        first = [
            self.typed(value, variable)
            for value, variable in zip(operands[:count], operator.results, strict=True)
        ]
        captured = operands[count:]
        with self.frame():
            goes_on = self.truth(self.block(condition, [*first, *captured])[0])
        number = Value(self.fresh("iteration"), INT64, ())
        going = Value(self.fresh("going"), BOOL, ())
        states = self._named(parameter.type for parameter in body.parameters[:count])
        begin = [leaf for value in first for leaf in value.leaves]
        inputs = [leaf for value in states for leaf in value.leaves]
        with self.nested() as scope:
            made = self.block(body, [*states, *captured])
            made = [self.typed(v, r) for v, r in zip(made, operator.results, strict=True)]
            with self.frame():
                again = self.truth(self.block(condition, [*made, *captured])[0])
            after = [leaf for value in made for leaf in value.leaves]
            flag = self.well(scope)
            if flag is not None:
                was_well = Value(self.fresh("well"), BOOL, ())
                flag = self.op("And", was_well, flag)
                begin, inputs = [*begin, self.const(np.True_)], [*inputs, was_well]
                after, again = [*after, flag], self.op("And", again, flag)
            outputs = self._own([again, *after])
        results = self._named(one.type for one in operator.results)
        names = [leaf.name for value in results for leaf in value.leaves]
        if flag is not None:
            names.append(self.fresh("well"))
            self.scope.flags.append(Value(names[-1], BOOL, ()))
        if names:
            graph = graph_of(f"{self.place}_body", scope, [number, going, *inputs], outputs)
            self.node("Loop", [None, goes_on, *begin], names, body=graph)
        return results

    def _own(self, values: Sequence[Value]) -> list[Value]:
        """Values as outputs of the innermost graph, which makes each by a node of its own."""
        made = {name for node in self.scope.nodes for name in node.output}
        found: list[Value] = []
        for value in values:
            if value.name not in made:
                value = self.op("Identity", value) if not value.is_list else self.same_list(value)
            made.discard(value.name)
            found.append(value)
        return found

    def same_list(self, value: Value) -> Value:
        """A list as a value of the innermost graph."""
        if self.opset < 14:
            raise ArgumentError("lists in branches and loops need opset_version 14 at least")
        name = self.fresh("list")
        self.node("Identity", [value], [name])
        return Value(name, value.dtype, is_list=True)

    def failing_list(self, value: Value) -> Value:
        """A list of that kind, to make which fails."""
        name = self.fresh("list")
        nothing = empty(self, ArrayType(TensorType(value.dtype, ())))
        self.node("SequenceErase", [nothing, self.const(np.int64(0))], [name])
        return Value(name, value.dtype, is_list=True)


def numbers_of(operator: Operator) -> dict[int, list[Dim]]:
    """For each operand of a dynamic operator that holds sizes a symbol for each of them."""
    found = {}
    for place in DYNAMIC[operator.name].arguments:
        shape = operator.operands[place].tensor_type.shape
        count = shape[0] if shape else 1
        assert isinstance(count, int)
        found[place] = [symbol(f"number{place}_{index}") for index in range(count)]
    return found


def _static_form(operator: Operator) -> Callable[..., Any]:
    """The function of sizes that a dynamic operator is, of its operands."""
    numbers = numbers_of(operator)

    def run(*operands: Any, **attributes: Any) -> Any:
        given = [*operands]
        for place, symbols in numbers.items():
            is_one = not operator.operands[place].tensor_type.shape
            given[place] = symbols[0] if is_one else symbols
        return DYNAMIC[operator.name].static(*given, **attributes)

    return run


def parts_of(operator: Operator) -> Block | None:
    """The operators of ours that an operator is written as, None if there are none."""
    made_of = MADE_OF.get(operator.name) or lookup(operator.name).decompose
    if operator.name in DYNAMIC:
        made_of = _static_form(operator)
    if made_of is None:
        return None
    tracer = Tracer()
    parameters = [tracer.block.add_parameter(operand.type) for operand in operator.operands]
    with tracer.tracing(), interpreting(tracer):
        results = made_of(*parameters, **operator.attributes)
        results = results if isinstance(results, tuple) else (results,)
        tracer.block.yields = [tracer.variable(result) for result in results]
    return tracer.block


# -- what cannot be written ----------------------------------------------------------------------


def refusals(block: Block, opset: int) -> Iterator[tuple[Operator, str]]:
    """The operators in a Block that are not written, each with the reason."""
    for operator in block.walk():
        reason = refusal(operator, opset)
        if reason is not None:
            yield operator, reason


def refusal(operator: Operator, opset: int) -> str | None:
    """Why an operator is not written; None if it is."""
    for variable in (*operator.operands, *operator.results):
        type = variable.type
        inner = type.tensor if isinstance(type, ArrayType) else type
        dtype = None if inner is None else inner.dtype
        if dtype is not None and dtype.kind == "c":
            return "complex numbers: ONNX has hardly any operator on them"
        if dtype is not None and opset_of(dtype) > opset:
            return f"{dtype}, which came with opset_version {opset_of(dtype)}"
    name = operator.name
    if name in REFUSED:
        return REFUSED[name]
    if name in NEEDED and NEEDED[name](operator) > opset:
        return f"ONNX can do that from opset_version {NEEDED[name](operator)} on"
    if name in WRITERS or name in LEFT_OUT or operator.blocks or name == CALL:
        return None
    parts = parts_of(operator)
    if parts is None:
        return "ONNX has no such operator"
    for part in parts.walk():
        found = refusal(part, opset)
        if found is not None:
            return f"{part.name}: {found}"
    return None


def require_writable(program: Program, opset: int) -> None:
    """ArgumentError, with all operators and their lines, unless all of a Program can be written."""
    refused: dict[str, None] = {}
    for variable in program.block.parameters:
        if isinstance(variable.type, ArrayType) and variable.type.tensor is None:
            refused[f"  {variable.name or 'an input'} is a list of no dtype"] = None
    found = (one for block in program.roots for one in refusals(block, opset))
    for operator, reason in found:
        place = f" ({place_text(operator.location)})" if operator.location else ""
        refused[f"  {operator.name}: {reason}{place}"] = None
    if refused:
        raise ArgumentError("\n".join([f"{program.name!r} cannot be exported as ONNX:", *refused]))


__all__ = ["Writer", "parts_of", "refusal", "refusals", "require_writable"]
