"""Writes Programs as graphs for Model Explorer, which opens the file as it is."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from dy2st.viewer.graph import Node, attributes_text, graph_of
from dy2st_runtime.ir import Program


def as_model_explorer(programs: Sequence[Program], label: str) -> str:
    """JSON of a collection of graphs, one for each Program; Layers and Blocks are name spaces."""
    graphs = [{"id": one.name, "nodes": _nodes(graph_of(one))} for one in programs]
    return json.dumps({"label": label, "graphs": graphs}, indent=1) + "\n"


def _nodes(root: Node) -> list[dict[str, Any]]:
    nodes = list(root.walk())
    ids = {node: str(number) for number, node in enumerate(nodes)}
    spaces = {root: ""}
    made = []
    for node in nodes:
        around = spaces[node.parent or root]
        holds = node.kind in ("layer", "block") or bool(node.children)
        # a control operator beside others of its name, with its Blocks inside
        own = f"{node.label} {ids[node]}" if node.operator is not None else node.label
        inner = f"{around}/{own}".strip("/").replace(";", " ")
        spaces[node] = inner if holds else around
        if node.kind == "layer":
            continue
        edges, attributes = [], []
        for place, one in enumerate(node.operands):
            if isinstance(one, str):
                attributes.append((f"operand {place}", one))
            else:
                source = {"sourceNodeId": ids[one[0]], "sourceNodeOutputId": str(one[1])}
                edges.append({**source, "targetNodeInputId": str(place)})
        operator = node.operator
        if operator is not None:
            attributes += attributes_text(operator.attributes)
            if operator.location is not None:
                place_of = operator.location
                attributes.append(("line", f"{place_of.file_name}:{place_of.line}"))
            attributes += [("layer", operator.layer)] * bool(operator.layer)
        made.append(
            {
                "id": ids[node],
                "label": node.label,
                "namespace": spaces[node],
                "attrs": [{"key": key, "value": value} for key, value in attributes],
                "incomingEdges": edges,
                "outputsMetadata": [
                    {
                        "id": str(number),
                        "attrs": [
                            {"key": "__tensor_tag", "value": name},
                            {"key": "tensor_shape", "value": type},
                        ],
                    }
                    for number, (name, type) in enumerate(node.results)
                ],
            }
        )
    return made


__all__ = ["as_model_explorer"]
