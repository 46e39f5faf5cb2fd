"""Graphs and types as ONNX's messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dy2st_runtime.engine.onnx.library import element_number, onnx
from dy2st_runtime.engine.onnx.nodes import Scope, Value

DOMAIN = "dy2st.functions"
"""Of what name space the functions of a model are."""


def graph_of(
    name: str,
    scope: Scope,
    inputs: Sequence[Value],
    outputs: Sequence[Value],
    initializers: Any = (),
) -> Any:
    """A graph, without the nodes that nobody needs."""
    graph = onnx.GraphProto(name=name)
    needed = {value.name for value in outputs}
    kept = []
    for node in reversed(scope.nodes):
        if needed.intersection(node.output):
            needed.update(_read_by(node))
            kept.append(node)
    graph.node.extend(reversed(kept))
    # A 0-d value stays one; the sizes of others may change from step to step.
    graph.input.extend(info_of(value, value.shape == ()) for value in inputs)
    graph.output.extend(info_of(value) for value in outputs)
    graph.initializer.extend(initializers)
    return graph


def function_proto(
    name: str,
    scope: Scope,
    inputs: Sequence[Value],
    outputs: Sequence[Value],
    initializers: Mapping[str, Any],
    opset: int,
) -> Any:
    """A function of a model; the arrays that it reads are constants of its own."""
    graph = graph_of(name, scope, [], outputs)
    made = onnx.FunctionProto(name=name, domain=DOMAIN)
    made.input.extend([value.name for value in inputs])
    made.output.extend([value.name for value in outputs])
    read = {one for node in graph.node for one in _read_by(node)}
    made.node.extend(constant_of(one) for key, one in initializers.items() if key in read)
    made.node.extend(graph.node)
    import_opsets(made, opset)
    return made


def import_opsets(proto: Any, opset: int) -> None:
    """Let a model, or a function, use operators of ONNX, and functions of the model."""
    proto.opset_import.add(domain="", version=opset)
    if isinstance(proto, onnx.FunctionProto) or proto.functions:
        proto.opset_import.add(domain=DOMAIN, version=1)


def constant_of(tensor: Any) -> Any:
    """The node that gives an array, by the name of the array."""
    node = onnx.NodeProto(op_type="Constant", output=[tensor.name])
    attribute = node.attribute.add(name="value", type=onnx.AttributeProto.TENSOR)
    attribute.t.CopyFrom(tensor)
    attribute.t.ClearField("name")
    return node


def _read_by(node: Any) -> set[str]:
    """The names that a node reads, and what is in it."""
    read = set(node.input)
    for attribute in node.attribute:
        if attribute.type == onnx.AttributeProto.GRAPH:
            read.update(value.name for value in attribute.g.output)
            for inner in attribute.g.node:
                read |= _read_by(inner)
    return read


def info_of(value: Value, with_shape: bool = False) -> Any:
    """Name and type of a value."""
    info = onnx.ValueInfoProto(name=value.name)
    if value.is_list:
        info.type.sequence_type.elem_type.tensor_type.elem_type = element_number(value.dtype)
        return info
    type = info.type.tensor_type
    type.elem_type = element_number(value.dtype)
    if with_shape and value.shape is not None:
        type.shape.SetInParent()
        for size in value.shape:
            if isinstance(size, int):
                type.shape.dim.add(dim_value=size)
            else:
                type.shape.dim.add(dim_param=str(size))
    return info


__all__ = ["DOMAIN", "constant_of", "function_proto", "graph_of", "import_opsets", "info_of"]
