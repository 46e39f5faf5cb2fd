"""Groups tensors that must have one fraction length.

A node is ("in", layer) or ("out", producer): 0, -1, ... are the network's inputs.
"""

from __future__ import annotations

from collections.abc import Iterable

from dy2st.targets.opu.layer import LayerType
from dy2st.targets.opu.network import Network

Node = tuple[str, int]


class UnionFind:
    """Sets that are joined; the representative is the node that was there first."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self._parents = {node: node for node in nodes}
        self._ranks = {node: rank for rank, node in enumerate(self._parents)}

    def find(self, node: Node) -> Node:
        """The representative of a node's set."""
        root = node
        while self._parents[root] != root:
            root = self._parents[root]
        while self._parents[node] != root:
            self._parents[node], node = root, self._parents[node]
        return root

    def union(self, a: Node, b: Node) -> None:
        """Join the sets of two nodes."""
        first, second = sorted((self.find(a), self.find(b)), key=self._ranks.__getitem__)
        self._parents[second] = first

    def sets(self) -> list[list[Node]]:
        """All sets in order of their representatives, each in order of its nodes."""
        found: dict[Node, list[Node]] = {}
        for node in self._parents:
            found.setdefault(self.find(node), []).append(node)
        return list(found.values())


class Groups:
    """The sets of a Network, by number."""

    def __init__(self, sets: list[list[Node]]) -> None:
        self.members = sets
        self._numbers = {node: number for number, nodes in enumerate(sets) for node in nodes}

    def __len__(self) -> int:
        return len(self.members)

    def input(self, layer: int) -> int:
        """The group of what a layer reads."""
        return self._numbers["in", layer]

    def output(self, producer: int) -> int:
        """The group of what a layer makes, or of the network's input -producer."""
        return self._numbers["out", producer]


def constraint_groups(network: Network, seed: bool = False) -> Groups:
    """A layer's input with its producers, and its output with its residuals.

    As the seed has it, a layer's residuals are among its inputs. Ours instead ties the output of a
    layer that only moves or pools its input to this input: it then changes no number.
    """
    nodes: list[Node] = [("out", -number) for number in range(len(network.input_sizes))]
    nodes += [(side, layer.index) for layer in network.layers for side in ("in", "out")]
    found = UnionFind(nodes)
    for layer in network.layers:
        out: Node = ("out", layer.index)
        for source in layer.input_layer:
            found.union(("in", layer.index), ("out", source))
        for source in layer.residual_source:
            found.union(out, ("out", source))
            if seed:
                found.union(("in", layer.index), ("out", source))
        if layer.type == LayerType.NONE and not layer.residual_source and not seed:
            found.union(out, ("in", layer.index))
    return Groups(found.sets())


__all__ = ["Groups", "Node", "UnionFind", "constraint_groups"]
