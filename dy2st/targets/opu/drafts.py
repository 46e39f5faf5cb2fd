"""Joins Nodes to drafts of layers.

    [concat] [padding] (convolution | scale | none) {residual, activation, pooling} [upsample]

A step joins the layer of its input if nobody else reads that, and if the machine has the step at
this place; else it begins a layer of its own. So chains are followed from producers to consumers,
and whatever is in front of a chain's last node is computed before all of the chain.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dy2st.targets.opu import nodes
from dy2st.targets.opu.layer import Order, Pooling
from dy2st.targets.opu.nodes import (
    NO_PADS,
    Act,
    Add,
    Affine,
    Concat,
    Conv,
    Input,
    Node,
    Pad,
    Pads,
    Pool,
    Scale,
    Upsample,
)


@dataclass(eq=False)
class Draft:
    """A layer to be.

    conv      what is multiplied, None for a layer without weights.
    scale     what each channel is multiplied by instead.
    sources   the parts of the input: Nodes that are stored.
    order     what is behind the bias, in order: R, A and P.
    last      the Node that the layer makes.
    """

    conv: Conv | None
    sources: list[Node]
    pads: Pads
    last: Node
    scale: Node | None = None
    order: str = ""
    act: Act | None = None
    pool: Pool | None = None
    residual: Node | None = None
    upsample: int = 0
    steps: list[Node] = field(default_factory=list)

    @property
    def res_position(self) -> Order:
        """The machine's name of the order."""
        if "R" not in self.order:
            return Order.ACTIVATION_POOLING
        if self.order.endswith("PR"):
            return Order.ACTIVATION_POOLING_RESIDUAL
        if "AR" in self.order:
            return Order.ACTIVATION_RESIDUAL_POOLING
        return Order.RESIDUAL_ACTIVATION_POOLING


class Grouping:
    """Drafts for everything that some Nodes need."""

    def __init__(self, wanted: list[Node]):
        """Group what the wanted Nodes are made of; they themselves are stored."""
        self.nodes = reachable(wanted)
        fold_affines(self.nodes, wanted)
        self.nodes = reachable(wanted)
        self.readers = readers_of(self.nodes)
        self.wanted = set(wanted)
        self.drafts: dict[Node, Draft] = {}
        for node in self.nodes:
            if isinstance(node, (Input, Pad, Concat)):
                continue
            if isinstance(node, Conv):
                self._begin(node, node)
            elif isinstance(node, Affine):
                # a scale and shift as a depthwise 1 x 1 convolution
                self._begin(
                    node,
                    Conv(
                        inputs=node.inputs,
                        shape=node.shape,
                        operator=node.operator,
                        weights=node.scale.astype(np.float32).reshape(1, 1, 1, -1),
                        bias=node.shift.astype(np.float32),
                        group=node.channels,
                        number=node.number,
                    ),
                )
            elif isinstance(node, Scale):
                self._begin(node, None)
            elif not any(self._joins(node, source) for source in _candidates(node)):
                # a layer without weights, for a step that joins none; of a Concat a copy
                base = node.inputs[0]
                if isinstance(node, Add):
                    # A new layer reads last what could be a residual only after a copy.
                    kinds = (Concat, Pad, Input)
                    base = min(
                        node.inputs,
                        key=lambda x: next((i for i, k in enumerate(kinds) if isinstance(x, k)), 3),
                    )
                made = self._made(base, _identity(base) if isinstance(base, Concat) else None)
                made.steps.clear()
                joined = self._join(node, made, base)
                assert joined, "a layer without steps takes any step"
                self.drafts[node] = made
        for node in wanted:
            self.stored(node)

    def in_order(self) -> list[Draft]:
        """All layers, producers first."""
        return sorted(self.drafts.values(), key=lambda draft: draft.last.number)

    # -- what is stored --------------------------------------------------------------------

    def stored(self, node: Node) -> Node:
        """The node, after making a layer for what no layer has made yet."""
        if isinstance(node, Pad) and node not in self.drafts:
            self._begin(node, None)
        if isinstance(node, Concat) and node not in self.drafts:
            self._begin(node, _identity(node))
        if isinstance(node, Input) and node in self.wanted and node not in self.drafts:
            draft = Draft(None, [node], NO_PADS, node)
            self.drafts[node] = draft
        return node

    def _begin(self, node: Node, conv: Conv | None) -> None:
        """A new layer that makes `node`, by a convolution or by nothing."""
        self.drafts[node] = self._made(node, conv)

    def _made(self, node: Node, conv: Conv | None) -> Draft:
        source = node if conv is None else conv.inputs[0]
        scale = None
        if isinstance(node, Scale):
            source, scale = node.inputs[0], self._copied(node.inputs[1])
        # The stored parts of an input, and the zeros around all of them.
        takes_pads = conv is None or not conv.is_transposed
        pads = NO_PADS
        if takes_pads and isinstance(source, Pad):
            pads = source.pads
            source = source.inputs[0]
        parts = [part for part, _, _ in nodes.parts_of(source)]
        padded = [part for part in parts if isinstance(part, Pad)]
        if takes_pads and len(padded) == len(parts) and len({part.pads for part in padded}) == 1:
            parts, pads = [part.inputs[0] for part in padded], padded[0].pads
        is_mixed = len(parts) > 1
        sources = [self._copied(part) if is_mixed else self.stored(part) for part in parts]
        return Draft(conv, sources, pads, node, scale, steps=[node])

    def _copied(self, part: Node) -> Node:
        """A part of a concat: the network's input is copied, for it has a border of its own."""
        if not isinstance(part, Input):
            return self.stored(part)
        if part not in self.drafts:
            self.drafts[part] = Draft(None, [part], NO_PADS, part)
        return part

    # -- joining ---------------------------------------------------------------------------

    def _joins(self, node: Node, source: Node) -> bool:
        draft = self.drafts.get(source)
        if draft is None or draft.last is not source or source in self.wanted:
            return False
        if self.readers[source] != [node] or not self._join(node, draft, source):
            return False
        del self.drafts[source]
        self.drafts[node] = draft
        return True

    def _join(self, node: Node, draft: Draft, source: Node) -> bool:
        """Let a layer do one step more, if it can."""
        if draft.upsample:
            return False
        # the order with one step more, None if the machine does not have it
        order: str | None = None
        if isinstance(node, Act):
            order = _FOLLOWS["A"].get(draft.order)
            is_maximum = draft.pool is not None and draft.pool.kind == Pooling.MAX
            if order is None and is_maximum and not node.is_hard_swish:
                order = _BEFORE_MAXIMUM.get(draft.order)
        elif isinstance(node, (Add, Pool)):
            order = _FOLLOWS["R" if isinstance(node, Add) else "P"].get(draft.order)
        if isinstance(node, Upsample):
            draft.upsample = node.factors[0]
        elif order is None:
            return False
        else:
            draft.order = order
        if isinstance(node, Act):
            draft.act = node
        if isinstance(node, Pool):
            draft.pool = node
        if isinstance(node, Add):
            other = node.inputs[1] if node.inputs[0] is source else node.inputs[0]
            # the network's input is copied, as parts of a concat are
            draft.residual = self._copied(other)
        draft.last = node
        draft.steps.append(node)
        return True


def _candidates(node: Node) -> list[Node]:
    """Inputs whose layers a step may join, the best one first."""
    if not isinstance(node, Add):
        return node.inputs[:1]
    weighted = [x for x in node.inputs if not isinstance(x, (Input, Pad, Concat))]
    return sorted(weighted, key=lambda x: -x.number)


_FOLLOWS = {
    "A": {"": "A", "R": "RA"},
    "R": {"": "R", "A": "AR", "P": "PR", "AP": "APR"},
    "P": {"": "P", "R": "RP", "A": "AP", "RA": "RAP", "AR": "ARP"},
}
_BEFORE_MAXIMUM = {"P": "AP", "RP": "RAP"}
"""A growing function of a maximum is the maximum of the function."""


# -- the graph of nodes ---------------------------------------------------------------------------


def reachable(wanted: list[Node]) -> list[Node]:
    """The nodes and what they are made of, producers first."""
    found: set[Node] = set()
    todo = list(wanted)
    while todo:
        node = todo.pop()
        if node not in found:
            found.add(node)
            todo += node.inputs
    return sorted(found, key=lambda node: node.number)


def readers_of(found: list[Node]) -> dict[Node, list[Node]]:
    """Who reads every node."""
    readers: dict[Node, list[Node]] = {node: [] for node in found}
    for node in found:
        for source in node.inputs:
            readers[source].append(node)
    return readers


def fold_affines(found: list[Node], wanted: list[Node]) -> None:
    """Scales and shifts behind a convolution become its weights, also behind what hands them on."""
    readers = readers_of(found)
    for node in found:
        if isinstance(node, Affine):
            conv = _folds_into(node, readers, wanted)
            if conv is not None:
                conv.weights = (conv.weights.astype(np.float64) * node.scale).astype(np.float32)
                bias = conv.bias.astype(np.float64) * node.scale + node.shift
                conv.bias = bias.astype(np.float32)
                source = step = node.inputs[0]
                while step is not conv:
                    if isinstance(step, Act) and step.high is not None:
                        step.high *= float(node.scale[0])
                    step = step.inputs[0]
                for reader in readers[node]:
                    reader.inputs = [source if x is node else x for x in reader.inputs]
                readers[source] = list(readers[node])
                wanted[:] = [source if x is node else x for x in wanted]


def _folds_into(node: Affine, readers: dict[Node, list[Node]], wanted: list[Node]) -> Conv | None:
    """The convolution whose weights may take a scale and shift."""
    source = node.inputs[0]
    while readers[source] and len(readers[source]) == 1 and source not in wanted:
        if isinstance(source, Conv):
            return source
        if not _commutes(node, source):
            return None
        source = source.inputs[0]
    return None


def _commutes(node: Affine, source: Node) -> bool:
    """Whether a scale and shift in front of a step gives what it gives behind it."""
    if isinstance(source, Pool):
        is_kept = source.pads == NO_PADS or not node.shift.any()
        return source.kind == Pooling.AVERAGE and is_kept
    if not isinstance(source, Act) or source.is_hard_swish or node.shift.any():
        return False
    is_one = source.high is None or bool((node.scale == node.scale[0]).all())
    return source.low in (None, 0.0) and bool((node.scale > 0).all()) and is_one


def _identity(node: Node) -> Conv:
    """A copy: parts that are read one behind the other become one map."""
    conv = nodes.mixed(node, np.eye(node.channels), node.operator)
    conv.number = node.number
    return conv


__all__ = ["Draft", "Grouping", "fold_affines", "reachable", "readers_of"]
