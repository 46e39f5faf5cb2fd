"""A model as it is read: graphs of nodes whose attributes are Python's values."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dy2st.importers.onnx.package import onnx
from dy2st.importers.onnx.tensors import Array, TensorReader
from dy2st_runtime.errors import FormatError

Opsets = Mapping[str, int]
MAIN_DOMAINS = ("", "ai.onnx")
_MOST_NESTED = 64


@dataclass(frozen=True, slots=True)
class Reference:
    """An attribute that has the value of an attribute of the function around it."""

    name: str


@dataclass(eq=False, slots=True)
class Node:
    """One call of an operator; `number` counts all nodes of the model from 1."""

    operator: str
    domain: str
    version: int
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: dict[str, Any]
    number: int
    overload: str = ""
    read: Any = None  # what reads it, found when the model is checked
    proto: Any = None  # of a node that no row of the tables reads

    @property
    def key(self) -> tuple[str, str, str]:
        """What names its operator, or its function."""
        return self.domain, self.operator, self.overload

    def graphs(self) -> Iterator[Graph]:
        """The graphs among its attributes: branches, and bodies of loops."""
        for value in self.attributes.values():
            if isinstance(value, Graph):
                yield value
            elif isinstance(value, list):
                yield from (entry for entry in value if isinstance(entry, Graph))

    def __str__(self) -> str:
        """`Conv 'layer1' (node 3)`, for messages."""
        domain = f"{self.domain}." if self.domain else ""
        named = f" {self.name!r}" if self.name else ""
        return f"{domain}{self.operator}{named} (node {self.number})"


@dataclass(eq=False, slots=True)
class Graph:
    """Nodes in order; inputs and outputs are ValueInfoProtos."""

    name: str
    inputs: list[Any]
    outputs: list[Any]
    arrays: dict[str, Array]
    nodes: list[Node]

    @property
    def input_names(self) -> list[str]:
        """The names of its inputs; an initialiser of that name is its value where none is given."""
        return [one.name for one in self.inputs]

    @property
    def output_names(self) -> list[str]:
        """The names of its outputs."""
        return [one.name for one in self.outputs]

    def walk(self) -> Iterator[Node]:
        """All nodes, those of graphs in nodes too."""
        waiting = [iter(self.nodes)]
        while waiting:
            node = next(waiting[-1], None)
            if node is None:
                waiting.pop()
                continue
            yield node
            waiting.extend(iter(graph.nodes) for graph in node.graphs())


@dataclass(eq=False, slots=True)
class Function:
    """An operator that is defined by nodes."""

    key: tuple[str, str, str]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: dict[str, Any]  # their values where a node gives none; Reference where it must
    nodes: list[Node]


@dataclass(eq=False, slots=True)
class Model:
    """A graph, the functions that it calls, and the versions of the domains."""

    graph: Graph
    functions: dict[tuple[str, str, str], Function]
    opsets: Opsets


class GraphReader:
    """Reads graphs and functions out of the protos of one model."""

    def __init__(self, tensors: TensorReader, known: Container[tuple[str, str]]):
        """`tensors` makes the arrays; `known` are operators by domain and name that have rows."""
        self.tensors, self._known = tensors, known
        self._count = 0

    def model(self, proto: Any) -> Model:
        """The whole model; FormatError says what is wrong with it."""
        opsets = opsets_of(proto, "the model")
        functions = {}
        for one in proto.functions:
            function = self.function(one, opsets)
            if function.key in functions:
                raise FormatError(f"the function {one.domain}.{one.name} is there twice")
            functions[function.key] = function
        return Model(self.graph(proto.graph, opsets), functions, opsets)

    def graph(self, proto: Any, opsets: Opsets, depth: int = 0) -> Graph:
        """One graph, with the graphs in its nodes."""
        if depth > _MOST_NESTED:  # or a file could use up Python's stack
            raise FormatError(f"graphs are nested deeper than {_MOST_NESTED}")
        arrays = {}
        for tensor in proto.initializer:
            what = f"the initialiser {tensor.name!r}"
            if tensor.name in arrays or not tensor.name:
                raise FormatError(f"{what} is there twice, or has no name")
            arrays[tensor.name] = self.tensors.array(tensor, what)
        for sparse in proto.sparse_initializer:
            name = sparse.values.name
            arrays[name] = self.tensors.dense(sparse, f"the initialiser {name!r}")
        ends = [*proto.input, *proto.output]
        check_texts([proto.name, *arrays, *(one.name for one in ends)], "a name in the graph")
        nodes = [self.node(one, opsets, depth) for one in proto.node]
        return Graph(proto.name, [*proto.input], [*proto.output], arrays, nodes)

    def function(self, proto: Any, around: Opsets) -> Function:
        """One function; it may name versions of its own."""
        check_texts(
            [proto.name, *proto.input, *proto.output, *proto.attribute], "a name of a function"
        )
        opsets = {**around, **_versions(proto)}
        defaults: dict[str, Any] = {name: Reference(name) for name in proto.attribute}
        what = f"the function {proto.name!r}"
        for attribute in proto.attribute_proto:
            defaults[attribute.name] = self.value(attribute, opsets, 0, what)
        nodes = [self.node(one, opsets, 0) for one in proto.node]
        key = (domain_of(proto.domain), proto.name, getattr(proto, "overload", ""))
        return Function(key, tuple(proto.input), tuple(proto.output), defaults, nodes)

    def node(self, proto: Any, opsets: Opsets, depth: int) -> Node:
        """One node."""
        self._count += 1
        named = (proto.op_type, proto.domain, proto.name, *proto.input, *proto.output)
        check_texts(named, f"a name at the node {self._count}")
        domain = domain_of(proto.domain)
        node = Node(
            proto.op_type,
            domain,
            opsets.get(domain, 0),
            proto.name,
            tuple(proto.input),
            tuple(proto.output),
            {},
            self._count,
            getattr(proto, "overload", ""),
        )
        for attribute in proto.attribute:
            check_texts(
                [attribute.name, attribute.ref_attr_name], f"the name of an attribute of {node}"
            )
            if attribute.name in node.attributes:
                raise FormatError(f"{node} has the attribute {attribute.name!r} twice")
            node.attributes[attribute.name] = self.value(attribute, opsets, depth, str(node))
        if (domain, node.operator) not in self._known:
            node.proto = proto  # the schema may define it by nodes that depend on its attributes
        return node

    def value(self, proto: Any, opsets: Opsets, depth: int, what: str) -> Any:
        """The Python value of an attribute: a number, a text, an array, a Graph, or a list."""
        if proto.ref_attr_name:
            return Reference(proto.ref_attr_name)
        kinds, kind = onnx().AttributeProto, proto.type
        what = f"the attribute {proto.name!r} of {what}"
        if kind == kinds.FLOAT:
            return float(proto.f)
        if kind == kinds.INT:
            return int(proto.i)
        if kind == kinds.STRING:
            return _text(proto.s, what)
        if kind == kinds.FLOATS:
            return [*proto.floats]
        if kind == kinds.INTS:
            return [*proto.ints]
        if kind == kinds.STRINGS:
            return [_text(one, what) for one in proto.strings]
        if kind == kinds.TENSOR:
            return self.tensors.array(proto.t, what)
        if kind == kinds.TENSORS:
            return [self.tensors.array(one, what) for one in proto.tensors]
        if kind == kinds.SPARSE_TENSOR:
            return self.tensors.dense(proto.sparse_tensor, what)
        if kind == kinds.GRAPH:
            return self.graph(proto.g, opsets, depth + 1)
        if kind == kinds.GRAPHS:
            return [self.graph(one, opsets, depth + 1) for one in proto.graphs]
        if kind == kinds.TYPE_PROTO:
            return proto.tp
        raise FormatError(f"{what} is of the kind {kind}, which nobody reads")


def domain_of(name: str) -> str:
    """The name of a domain; ONNX's own has two."""
    return "" if name in MAIN_DOMAINS else name


def check_texts(values: Iterable[Any], what: str) -> None:
    """FormatError for what protobuf could not decode, and gives as bytes."""
    for value in values:
        if not isinstance(value, str):
            raise FormatError(f"{what} is no text: {value!r:.80}")


def _versions(proto: Any) -> dict[str, int]:
    check_texts([one.domain for one in proto.opset_import], "the name of a domain")
    return {domain_of(one.domain): one.version for one in proto.opset_import}


def opsets_of(proto: Any, what: str) -> dict[str, int]:
    """The version of every domain that a model names."""
    if not proto.opset_import:
        raise FormatError(f"{what} names no version of its operators: it is damaged, or no ONNX")
    return _versions(proto)


def _text(data: bytes, what: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise FormatError(f"{what} is no text") from None


def given(node: Node, names: Sequence[str]) -> dict[str, Any]:
    """Those of a node's attributes that have one of some names."""
    return {name: node.attributes[name] for name in names if name in node.attributes}


__all__ = [
    "Function",
    "Graph",
    "GraphReader",
    "Model",
    "Node",
    "Opsets",
    "Reference",
    "domain_of",
    "given",
]
