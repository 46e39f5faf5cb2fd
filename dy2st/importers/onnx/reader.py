"""Records a model: its nodes in order, each by the row of the tables that reads its operator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dy2st.importers.onnx.calls import Array, Call, Maybe, Value
from dy2st.importers.onnx.checks import Checker
from dy2st.importers.onnx.graphs import Function, Graph, GraphReader, Model, Node, Reference
from dy2st.importers.onnx.package import onnx, schema
from dy2st.importers.onnx.tables import REFUSED, ROWS
from dy2st.importers.onnx.tensors import number_of
from dy2st_runtime.dims import Dim
from dy2st_runtime.errors import Dy2stError, FormatError, Location, UnknownOperators, counted
from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.ir.program import Block, Variable
from dy2st_runtime.ir.tracing.tracer import Tracer, current_tracer
from dy2st_runtime.ir.types import TensorType

SMALL = 64
"""Integers up to so many are constants of the Program, whose values shapes may be made of."""


class Scope:
    """The values of a graph that is recorded, by name."""

    __slots__ = ("arrays", "attributes", "block", "outer", "values")

    def __init__(
        self,
        arrays: Mapping[str, Array],
        block: Block,
        outer: Scope | None = None,
        attributes: Mapping[str, Any] | None = None,
    ):
        """`attributes` are those of the call of the function that is recorded."""
        self.arrays, self.block, self.outer = arrays, block, outer
        self.values: dict[str, Value] = {}
        self.attributes: Mapping[str, Any] = attributes or {}
        if attributes is None and outer is not None:
            self.attributes = outer.attributes


class Reader:
    """Records one model into the Program of the tracer that is active."""

    def __init__(self, model: Model, file: str, graph_reader: GraphReader):
        """`file` names the model in messages."""
        self.model, self.file = model, file
        self.arrays: dict[Variable, Array] = {}  # of state, and what `known` has computed
        self.state: dict[int, Variable] = {}  # by the array
        self._graph_reader = graph_reader
        self.checker = Checker(model, graph_reader, ROWS, REFUSED, self._function, self._body)
        self._location: Location | None = None

    @property
    def tracer(self) -> Tracer:
        """What records."""
        tracer = current_tracer()
        assert isinstance(tracer, Tracer)
        return tracer

    def record(self, inputs: Mapping[str, Value], state: Mapping[int, Variable]) -> list[Value]:
        """The outputs of the model; `state` has the Variables of arrays, by their ids."""
        self.state = dict(state)
        maybe = {one.name for one in self.model.graph.inputs if one.type.HasField("optional_type")}
        inputs = {name: Maybe(value) if name in maybe else value for name, value in inputs.items()}
        with self.tracer.located(lambda: self._location):
            return self.run(self.model.graph, inputs, None)

    def run(self, graph: Graph, inputs: Mapping[str, Value], outer: Scope | None) -> list[Value]:
        """The outputs of a graph."""
        scope = Scope(graph.arrays, self.tracer.block, outer)
        scope.values.update(inputs)
        self._nodes(graph.nodes, scope)
        return [self.look_up(name, scope) for name in graph.output_names]

    def call(self, graph: Graph, values: Sequence[Value], outer: Scope | None) -> list[Value]:
        """The outputs of a graph among the attributes of a node, for inputs in order."""
        names = graph.input_names
        if len(names) < len(values):
            raise FormatError(
                f"the graph {graph.name!r} takes {counted(len(names), 'input')}, not {len(values)}"
            )
        return self.run(graph, dict(zip(names, values, strict=False)), outer)

    def output(self, value: Value) -> Value:
        """A value as an output of the Program: a tensor or a list."""
        if isinstance(value, list):
            return F.array_of([self.output(entry) for entry in value])
        if isinstance(value, Maybe):
            return value.array
        return F.array_of([]) if value is None else value

    def look_up(self, name: str, scope: Scope) -> Value:
        """The value of a name; initialisers become Variables where they are read first."""
        where: Scope | None = scope
        while where is not None:
            if name in where.values:
                return where.values[name]
            if name in where.arrays:
                value = self.tensor(where.arrays[name])
                if self.tracer.block is where.block:
                    where.values[name] = value
                return value
            where = where.outer
        raise FormatError(f"nothing gives {name!r}")

    def tensor(self, array: Array) -> Variable:
        """The Variable of an array of the model."""
        found = self.state.get(id(array))
        return self.tracer.constant(array) if found is None else found

    def _nodes(self, nodes: Sequence[Node], scope: Scope) -> None:
        for node in nodes:
            outer = self._location
            self._location = Location(self.file, node.number, 0, True)
            try:
                results = self._results(node, scope)
            except UnknownOperators as error:
                raise UnknownOperators(self._worded(node, error)) from error
            except RecursionError:
                raise FormatError(self._worded(node, "it is nested too deep")) from None
            except (Dy2stError, TypeError, ValueError, LookupError, ArithmeticError,
                    AttributeError, AssertionError) as error:  # fmt: skip
                raise FormatError(self._worded(node, error)) from error
            for name, value in zip(node.outputs, results, strict=False):
                if name:
                    scope.values[name] = value
            self._location = outer

    def _worded(self, node: Node, error: object) -> str:
        """What is wrong with a node; one inside of another one has said so already."""
        text = str(error) or type(error).__name__
        if isinstance(error, KeyError):
            text = f"it lacks {error}"
        return text if text.startswith(f"{self.file}: ") else f"{self.file}: {node}: {text}"

    def _results(self, node: Node, scope: Scope) -> Sequence[Value]:
        inputs = [self.look_up(name, scope) if name else None for name in node.inputs]
        attributes = node.attributes
        if any(isinstance(value, Reference) for value in attributes.values()):
            bound = {
                name: scope.attributes.get(value.name) if isinstance(value, Reference) else value
                for name, value in attributes.items()
            }
            attributes = {name: value for name, value in bound.items() if value is not None}
        results = node.read(Call(node, inputs, attributes, self, scope))
        results = results if isinstance(results, tuple) else (results,)
        wanted = [i for i, name in enumerate(node.outputs) if name]
        if wanted and wanted[-1] >= len(results):
            raise UnknownOperators(f"its output {wanted[-1]} is not read")
        return [self.plain(value) for value in results]

    def plain(self, value: Value) -> Value:
        """A value as it stands in a scope: no number of Python, no Dim."""
        if value is None or isinstance(value, Maybe):
            return value
        if isinstance(value, list):
            return [self.plain(entry) for entry in value]
        if not isinstance(value, Variable):
            value = self.tracer.variable(value)
        value.number = None
        return value

    # -- functions ---------------------------------------------------------------------------

    def _function(self, function: Function) -> Callable[[Call], Any]:
        """What reads a call of a function: its nodes are recorded in place of the call."""

        def read(n: Call) -> tuple[Value, ...]:
            attributes = {
                k: v for k, v in function.attributes.items() if not isinstance(v, Reference)
            }
            scope = Scope({}, self.tracer.block, None, {**attributes, **n.attributes})
            for place, name in enumerate(function.inputs):
                scope.values[name] = n[place]
            self._nodes(function.nodes, scope)
            return tuple(scope.values.get(name) for name in function.outputs)

        return read

    def _body(self, node: Node) -> Callable[[Call], Any]:
        """What reads a call of an operator whose body depends on the types of its inputs."""

        def read(n: Call) -> tuple[Value, ...]:
            record = schema(node.operator, node.version, node.domain)
            proto = onnx().NodeProto()
            proto.CopyFrom(node.proto)
            types = [_type_proto(value).SerializeToString() for value in n.inputs]
            versions = [v for v in record.context_dependent_function_opset_versions]
            version = max(
                (v for v in versions if v <= self._main_version(node)), default=versions[-1]
            )
            data = record.get_context_dependent_function_with_opset_version(
                version, proto.SerializeToString(), types
            )
            function = onnx().FunctionProto()
            function.ParseFromString(data)
            body = self._graph_reader.function(function, self.model.opsets)
            inner = Model(Graph("", [], [], {}, []), {body.key: body}, self.model.opsets)
            rows = (ROWS, REFUSED, self._function, self._body)
            Checker(inner, self._graph_reader, *rows, is_strict=False).check()
            results: tuple[Value, ...] = self._function(body)(n)
            return results

        return read

    def _main_version(self, node: Node) -> int:
        return node.version if not node.domain else self.model.opsets.get("", 1)


def _type_proto(value: Value) -> Any:
    """ONNX's type of a value."""
    proto = onnx().TypeProto()
    if not isinstance(value, Variable) or not isinstance(value.type, TensorType):
        return proto
    proto.tensor_type.elem_type = number_of(value.type.dtype)
    for size in value.type.shape:
        dim = proto.tensor_type.shape.dim.add()
        if isinstance(size, Dim):
            dim.dim_param = str(size)
        else:
            dim.dim_value = size
    return proto


def is_small(array: Array) -> bool:
    """Whether an array is a constant of the Program, and no parameter or buffer.

    >>> import numpy as np
    >>> is_small(np.zeros(3, np.int64)), is_small(np.zeros(3, np.float32))
    (True, False)
    """
    return array.size <= SMALL and array.dtype.kind in "iub"
