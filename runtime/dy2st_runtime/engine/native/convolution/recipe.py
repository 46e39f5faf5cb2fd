"""Lists what oneDNN is to compute for a region: its operators as nodes, before any size is known.

A node is one primitive. What is done to its result element by element is done by the same
primitive, before it writes, where nobody else reads the result; a normalisation becomes part of
the weights in front of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from dy2st_runtime.dims import same_shape
from dy2st_runtime.engine.native.convolution.channels import Channels, is_join, is_move, moved
from dy2st_runtime.engine.native.convolution.post_ops import (
    CONVOLUTIONS,
    FUNCTIONS,
    PAIRS,
    SYMMETRIC,
    WINDOWS,
    PostOp,
    function_of,
    hard_swishes,
    is_by_channel,
    is_of,
    number_of,
    second_of,
)
from dy2st_runtime.engine.native.tables import entering
from dy2st_runtime.ir.program import Operator, Variable

_MOST_POST_OPS = 24
"""The library does not do more than 32 things to a result."""


class Scaling(NamedTuple):
    """A factor and a shift for each channel, made of these values: a normalisation, or a bias."""

    operator: Operator
    values: Sequence[Variable]


@dataclass(eq=False)
class Node:
    """A primitive.

    sources    the tensors that it reads, beside weights.
    result     what it makes, after all post-ops.
    weights    filters and bias, of a convolution; nothing for others.
    scalings   those that its weights take in.
    picks      axes of an image along which places are picked, and these places.
    shares     how much there is of what is picked, where that is added up.
    channels   which channels of its sources an image has, where they move.
    """

    kind: str
    operator: Operator
    sources: Sequence[Variable]
    result: Variable
    weights: Sequence[Variable] = ()
    scalings: list[Scaling] = field(default_factory=list)
    post_ops: list[PostOp] = field(default_factory=list)
    picks: list[tuple[int, Variable]] = field(default_factory=list)
    shares: list[Variable] = field(default_factory=list)
    channels: Channels | None = None

    @property
    def takes_more(self) -> bool:
        """Whether it can have one more post-op; after a transposed convolution it would be slow."""
        is_able = self.kind not in ("concat", "channels", "filters", "pick", "blend", "transposed")
        return is_able and len(self.post_ops) < _MOST_POST_OPS

    @property
    def after(self) -> list[PostOp]:
        """The post-ops behind what the node itself computes."""
        return self.post_ops[self.kind in ("each", "pair") :]


class WeightedGather(NamedTuple):
    """What is picked of an image, times numbers along the axis."""

    picking: Operator
    product: Operator
    share: Variable

    @property
    def image(self) -> Variable:
        """Of which is picked."""
        return self.picking.operands[0]

    @property
    def axis(self) -> int:
        """Along which is picked."""
        axis: int = self.picking.attributes["axes"][0]
        return axis


def nodes_of(operators: Sequence[Operator], results: Collection[Variable]) -> list[Node]:
    """The nodes of a region, in an order in which they can run."""
    return _Recipe(operators, results).nodes


_ENTER: dict[str, Callable[[_Recipe, Operator], None]] = {}
_enters = entering(_ENTER)


class _Recipe:
    def __init__(self, operators: Sequence[Operator], results: Collection[Variable]) -> None:
        self.nodes: list[Node] = []
        self._makers: dict[Variable, Node] = {}
        self._reads = Counter(operand for one in operators for operand in one.operands)
        self._reads.update(results)
        movers = set(filter(is_move, operators))
        read = {v for one in operators if one not in movers for v in one.operands}
        self._settled = read.union(results)  # what is not just moved on
        self._moved: dict[Variable, Channels] = {}
        self._bent = hard_swishes(operators, self._reads)
        # A hard swish reads its x twice, and is one reader to the library.
        self._reads.subtract(operator.operands[0] for operator in self._bent)
        # The sums x[low] * share + x[high] * share, with what is added up.
        found = {}
        makers = {operator.results[0]: operator for operator in operators}
        for operator in operators:
            taps = [self._tap(makers, one) for one in operator.operands]
            left, right = taps if len(taps) == 2 else (None, None)
            if operator.name != "add" or left is None or right is None:
                continue
            if left.image is right.image and left.axis == right.axis:
                found[operator] = [left, right]
                # Both taps are one node, which reads the image once.
                self._reads[left.image] -= 1
        self._blends = found
        inner = {part for parts in self._bent.values() for part in parts}
        inner |= {part for taps in self._blends.values() for tap in taps for part in tap[:2]}
        for operator in operators:
            if operator not in inner:
                _ENTER[operator.name](self, operator)

    def _tap(self, makers: dict[Variable, Operator], variable: Variable) -> WeightedGather | None:
        """A product of what is picked along an axis and of numbers along it, each read once."""
        product = makers.get(variable)
        if product is None or product.name != "multiply":
            return None
        for picked, share in (product.operands, product.operands[::-1]):
            index = makers.get(picked)
            if index is None or index.name != "index" or share in makers:
                continue
            tap = WeightedGather(index, product, share)
            is_single = self._reads[picked] == self._reads[variable] == 1
            return tap if is_single and _is_along(share, tap.axis, picked) else None
        return None

    def _add(self, kind: str, operator: Operator, **more: Any) -> Node:
        sources = more.pop("sources", operator.operands)
        result = more.pop("result", operator.results[0])
        node = Node(kind, operator, sources, result, **more)
        self.nodes.append(node)
        self._makers[node.result] = node
        return node

    def _alone(self, variable: Variable) -> Node | None:
        """The node whose result this is, if one reader alone reads it."""
        node = self._makers.get(variable)
        return node if node and self._reads[variable] == 1 else None

    def _open(self, variable: Variable) -> Node | None:
        """The same, if it can have one more post-op."""
        node = self._alone(variable)
        return node if node is not None and node.takes_more else None

    def _rename(self, node: Node, operator: Operator) -> None:
        del self._makers[node.result]
        node.result = operator.results[0]
        self._makers[node.result] = node
        self.nodes.remove(node)
        # A second operand of the post-op may be made between the node and the operator.
        self.nodes.append(node)

    @_enters(*CONVOLUTIONS)
    def _conv(self, operator: Operator) -> None:
        x, *weights = operator.operands
        self._add(CONVOLUTIONS[operator.name], operator, sources=[x], weights=weights)

    @_enters("conv_weight")
    def _filters_gradient(self, operator: Operator) -> None:
        self._add("filters", operator)

    @_enters(*WINDOWS)
    def _window(self, operator: Operator) -> None:
        node = self._add("window", operator)
        if operator.name == "window_sum":
            node.post_ops.append(PostOp("linear", float(np.prod(operator.attributes["kernel"]))))

    @_enters("mean")
    def _mean(self, operator: Operator) -> None:
        self._add("mean", operator)

    @_enters("concat")
    def _concat(self, operator: Operator) -> None:
        if is_move(operator):
            self._move(operator)
        else:
            self._add("concat", operator)

    @_enters("split", "slice", "reshape", "transpose")
    def _move(self, operator: Operator) -> None:
        """Channels are moved where something else reads them: before, only which ones is noted."""
        channels_of = [self._moved.get(one) or Channels.of(one) for one in operator.operands]
        for result, channels in zip(operator.results, moved(operator, channels_of), strict=True):
            # What has several sources is read whole where it is made: it is one piece there.
            if result not in self._settled or len(channels.sources) == 1:
                self._moved[result] = channels
            if result in self._settled:
                kind = "concat" if is_join(channels) else "channels"
                more = {"sources": channels.sources, "result": result, "channels": channels}
                self._add(kind, operator, **more)

    @_enters("index")
    def _index(self, operator: Operator) -> None:
        """Rows and then columns are picked at once."""
        (x, places), (axis,) = operator.operands, operator.attributes["axes"]
        node = self._alone(x)
        if node is not None and [before + 1 for before, _ in node.picks] == [axis]:
            node.picks.append((axis, places))
            self._rename(node, operator)
        else:
            self._add("pick", operator, sources=[x], picks=[(axis, places)])

    @_enters("batch_norm")
    def _norm(self, operator: Operator) -> None:
        scaling = Scaling(operator, operator.operands[1:])
        if not self._is_taken_in(operator.operands[0], scaling):
            self._add("scale", operator, sources=operator.operands[:1], scalings=[scaling])

    def _is_taken_in(self, variable: Variable, scaling: Scaling) -> bool:
        """Whether the weights of the node that makes a value have taken a scaling in."""
        node, kinds = self._alone(variable), (*CONVOLUTIONS.values(), "scale")
        # Weights take in what is done to the sums alone: not what comes behind an activation.
        if node is None or node.kind not in kinds or node.post_ops:
            return False
        node.scalings.append(scaling)
        self._rename(node, scaling.operator)
        return True

    @_enters(*FUNCTIONS)
    def _function(self, operator: Operator) -> None:
        what = function_of(operator)
        assert what is not None
        self._apply(operator, operator.operands[0], what)

    def _apply(self, operator: Operator, variable: Variable, what: PostOp) -> None:
        node = self._open(variable)
        if node is None:
            sources = [variable] if what.other is None else [variable, what.other]
            kind = "each" if what.other is None else "pair"
            self._add(kind, operator, sources=sources, post_ops=[what])
        else:
            # Add a post-op to a node, which then runs where the operator stands.
            node.post_ops.append(what)
            self._rename(node, operator)

    @_enters(*PAIRS)
    def _pair(self, operator: Operator) -> None:
        left, right = operator.operands
        if operator in self._blends:
            taps = self._blends[operator]
            picks = [(tap.axis, tap.picking.operands[1]) for tap in taps]
            shares = [tap.share for tap in taps]
            self._add("blend", operator, sources=[taps[0].image], picks=picks, shares=shares)
            return
        if operator in self._bent:
            self._apply(operator, left, PostOp("hardswish", 1 / 6, 0.5))
            if self._bent[operator][0].name == "relu6":  # what is known divides by 6
                self._makers[operator.results[0]].post_ops.append(PostOp("linear", 6.0))
            return
        if operator.name in SYMMETRIC and self._is_better(right, left, operator):
            left, right = right, left
        first = left if left in self._makers else right
        other = second_of(operator, first)
        is_scaling = operator.name in _LINEAR and is_by_channel(other, first.tensor_type.rank)
        if is_scaling and self._is_taken_in(first, Scaling(operator, [other])):
            return
        number = number_of(other)
        if number is None or operator.name not in _LINEAR:
            self._apply(operator, first, PostOp(operator.name, other=other))
        else:
            self._apply(operator, first, PostOp("linear", *_LINEAR[operator.name](number)))

    def _is_better(self, right: Variable, left: Variable, operator: Operator) -> bool:
        """Whether the right operand is rather the one that is changed: the last made."""
        shape = operator.results[0].tensor_type.shape
        if not is_of(right, shape) or right not in self._makers:
            return False
        if not is_of(left, shape) or left not in self._makers:
            return True
        one, other = self._open(right), self._open(left)
        if one is None or other is None:
            return one is not None
        return self.nodes.index(one) > self.nodes.index(other)


def _is_along(variable: Variable, axis: int, picked: Variable) -> bool:
    """Whether it has a number for each place along an axis, and no other axis."""
    own, shape = variable.tensor_type.shape, picked.tensor_type.shape
    sizes = [1] * (len(shape) - len(own)) + [*own]
    wanted = [size if place == axis else 1 for place, size in enumerate(shape)]
    return len(sizes) == len(shape) and same_shape(tuple(sizes), tuple(wanted)) is True


_LINEAR: dict[str, Callable[[float], tuple[float, float]]] = {
    "add": lambda number: (1.0, number),
    "subtract": lambda number: (1.0, -number),
    "multiply": lambda number: (number, 0.0),
    "divide": lambda number: (1.0 / number, 0.0),
}


__all__ = ["Node", "Scaling", "nodes_of"]
