"""The JSON that Model Explorer opens."""

import json

from dy2st.viewer.model_explorer import as_model_explorer
from tests.dy2st.viewer.programs import converted

_, PROGRAM = converted()
FOUND = json.loads(as_model_explorer([PROGRAM], "net"))
(GRAPH,) = FOUND["graphs"]
NODES = {node["id"]: node for node in GRAPH["nodes"]}


def test_it_is_a_collection_of_graphs():
    assert (FOUND["label"], GRAPH["id"]) == ("net", "forward")
    assert len(NODES) == len(GRAPH["nodes"])


def test_edges_lead_from_results_that_there_are():
    for node in NODES.values():
        for edge in node["incomingEdges"]:
            outputs = NODES[edge["sourceNodeId"]]["outputsMetadata"]
            assert edge["sourceNodeOutputId"] in [one["id"] for one in outputs]


def test_layers_and_blocks_are_name_spaces():
    spaces = {node["label"]: node["namespace"] for node in NODES.values()}
    assert spaces["batch_norm"] == "blocks/1"
    assert spaces["multiply"].startswith("while ") and spaces["multiply"].endswith("/body")
    (norm, *_) = [node for node in NODES.values() if node["label"] == "batch_norm"]
    said = {one["key"]: one["value"] for one in norm["attrs"]}
    assert said["layer"] == "blocks.0.norm" and said["line"].startswith("programs.py:")


def test_the_same_program_gives_the_same_text():
    assert as_model_explorer([PROGRAM], "net") == as_model_explorer([PROGRAM], "net")
