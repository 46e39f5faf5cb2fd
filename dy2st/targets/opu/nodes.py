"""Defines Nodes: what a Program means to the OPU, before steps are joined to layers.

A Node makes one map (c, h, w) of others. Paddings are (top, bottom, left, right).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np

from dy2st.targets.opu.layer import Pooling
from dy2st_runtime.ir import Operator

Array = np.ndarray[Any, Any]
Pads = tuple[int, int, int, int]
Pair = tuple[int, int]
NO_PADS: Pads = (0, 0, 0, 0)
LARGEST_KERNEL = 15
LARGEST_STRIDE = 7
_numbers = itertools.count()


@dataclass(eq=False, kw_only=True)
class Node:
    """One step; `number` grows from producers to consumers."""

    inputs: list[Node]
    shape: tuple[int, int, int]
    operator: Operator | None = None
    number: int = field(default_factory=lambda: next(_numbers))

    @property
    def channels(self) -> int:
        """c."""
        return self.shape[0]


@dataclass(eq=False, kw_only=True)
class Input(Node):
    """An input of the network, by its place."""

    place: int


@dataclass(eq=False, kw_only=True)
class Conv(Node):
    """A convolution with weights (kh, kw, c / group, o), or a transposed one with (kh, kw, c, o).

    is_dense says that the kernel is all of the input.
    """

    weights: Array
    bias: Array
    strides: Pair = (1, 1)
    pads: Pads = NO_PADS
    dilations: Pair = (1, 1)
    group: int = 1
    is_transposed: bool = False
    is_dense: bool = False
    name: str = ""

    @property
    def is_depthwise(self) -> bool:
        """Whether every output channel is made of the input channel of its number."""
        return self.group > 1 and self.group == self.channels == self.inputs[0].channels


@dataclass(eq=False, kw_only=True)
class Affine(Node):
    """x * scale + shift by channel, in float64."""

    scale: Array
    shift: Array


@dataclass(eq=False, kw_only=True)
class Act(Node):
    """x below `low` is `low`, above `high` is `high`; slope * x for negative x; or a hard swish."""

    low: float | None = None
    high: float | None = None
    slope: float | None = None
    is_hard_swish: bool = False

    @property
    def has_limits(self) -> bool:
        """Whether it is the first of the three."""
        return self.slope is None and not self.is_hard_swish


@dataclass(eq=False, kw_only=True)
class Pool(Node):
    """Windows; padding is nothing to a maximum, zeros to an average."""

    kind: Pooling
    kernel: Pair
    strides: Pair
    pads: Pads = NO_PADS


@dataclass(eq=False, kw_only=True)
class Add(Node):
    """The sum of two maps."""


@dataclass(eq=False, kw_only=True)
class Scale(Node):
    """The channels of the first input, each times the pixel of the second."""


@dataclass(eq=False, kw_only=True)
class Upsample(Node):
    """Every pixel so many times, by axis."""

    factors: Pair


@dataclass(eq=False, kw_only=True)
class Pad(Node):
    """Zeros around a map."""

    pads: Pads


@dataclass(eq=False, kw_only=True)
class Concat(Node):
    """Maps one behind the other along channels; never one of Concats."""


def problem(node: Node) -> str:
    """Why no layer computes a step; "" if one does. Its inputs are not looked at."""
    if isinstance(node, Act):
        if not node.has_limits:
            return ""
        if node.low != 0:
            limits = [] if node.low is None else [f"max(x, {node.low})"]
            limits += [] if node.high is None else [f"min(x, {node.high})"]
            shown = " and ".join(limits)
            return f"an activation is max(x, 0) with an upper limit, not {shown}"
        if node.high is not None and node.high <= 0:
            return f"the upper limit of a relu is positive, not {node.high}"
        return ""
    if isinstance(node, Upsample) and node.factors[0] != node.factors[1]:
        return f"an image is enlarged by the same factor along both axes, not by {node.factors}"
    if isinstance(node, Conv):
        kernel: Pair = (node.weights.shape[0], node.weights.shape[1])
        return _problem_of_window("kernel", kernel, node.strides)
    if isinstance(node, Pool):
        return _problem_of_window("pooling window", node.kernel, node.strides)
    return ""


def _problem_of_window(what: str, kernel: Pair, strides: Pair) -> str:
    if max(kernel) > LARGEST_KERNEL:
        edges = f"{kernel[0]} x {kernel[1]}"
        return f"a {what} has edges of at most {LARGEST_KERNEL}, not {edges}"
    if max(strides) > LARGEST_STRIDE:
        return f"strides are at most {LARGEST_STRIDE}, not {strides[0]} and {strides[1]}"
    return ""


# -- making nodes -------------------------------------------------------------------------------


def window_counts(shape: tuple[int, int, int], kernel: Pair, strides: Pair, pads: Pads) -> Pair:
    """How many windows there are along each axis."""
    high = (shape[1] + pads[0] + pads[1] - kernel[0]) // strides[0] + 1
    return high, (shape[2] + pads[2] + pads[3] - kernel[1]) // strides[1] + 1


def parts_of(node: Node) -> list[tuple[Node, int, int]]:
    """The parts of a Concat with their channels, or the node itself."""
    parts: list[tuple[Node, int, int]] = []
    begin = 0
    for part in node.inputs if isinstance(node, Concat) else [node]:
        parts.append((part, begin, begin + part.channels))
        begin += part.channels
    return parts


def joined(nodes: list[Node], operator: Operator | None = None) -> Node:
    """The nodes along channels."""
    flat = [part for node in nodes for part, _, _ in parts_of(node)]
    if len(flat) == 1:
        return flat[0]
    shape = (sum(node.channels for node in flat), *flat[0].shape[1:])
    return Concat(inputs=flat, shape=shape, operator=operator)


def affine(node: Node, scale: Array, shift: Array, operator: Operator | None) -> Node:
    """x * scale + shift by channel; joined with one that is there, and before an enlargement."""
    if isinstance(node, Concat):
        cut = [affine(p, scale[a:b], shift[a:b], operator) for p, a, b in parts_of(node)]
        return joined(cut, operator)
    if isinstance(node, Affine):
        shift = node.shift * scale + shift
        return affine(node.inputs[0], node.scale * scale, shift, operator)
    if isinstance(node, Upsample):
        return upsample(affine(node.inputs[0], scale, shift, operator), node.factors, operator)
    # A sum of n elements by 1 / n is 1 up to the rounding of 1 / n.
    if np.allclose(scale, 1.0, rtol=0.0, atol=3e-7) and not shift.any():
        return node
    return Affine(inputs=[node], shape=node.shape, operator=operator, scale=scale, shift=shift)


def act(
    node: Node,
    operator: Operator | None,
    low: float | None = None,
    high: float | None = None,
    slope: float | None = None,
    is_hard_swish: bool = False,
) -> Node:
    """An activation; joined with limits that are there, and before an enlargement."""
    facts: dict[str, Any] = {"low": low, "high": high, "slope": slope}
    facts["is_hard_swish"] = is_hard_swish
    if isinstance(node, Concat):
        return joined([act(part, operator, **facts) for part, _, _ in parts_of(node)], operator)
    if isinstance(node, Upsample):
        return upsample(act(node.inputs[0], operator, **facts), node.factors, operator)
    made = Act(inputs=[node], shape=node.shape, operator=operator, **facts)
    if isinstance(node, Act) and node.has_limits and made.has_limits:
        # the limits of both, the later ones applied to the earlier ones
        lows = [x for x in (node.low, low) if x is not None]
        highs = [x for x in (node.high, high) if x is not None]
        least, most = max(lows, default=None), min(highs, default=None)
        if least is not None and most is not None and least > most:
            own: dict[str, Any] = {"low": low, "high": high}
            return Act(inputs=[node], shape=node.shape, operator=operator, **own)
        if (least, most) == (node.low, node.high):
            return node
        x = node.inputs[0]
        return Act(inputs=[x], shape=x.shape, operator=operator, low=least, high=most)
    return made


def pool(
    node: Node,
    kind: Pooling,
    kernel: Pair,
    strides: Pair,
    pads: Pads,
    operator: Operator | None,
) -> Node:
    """A pooling; of a Concat, that of its parts."""
    if isinstance(node, Concat):
        cut = [pool(p, kind, kernel, strides, pads, operator) for p, _, _ in parts_of(node)]
        return joined(cut, operator)
    if kernel == (1, 1) and strides == (1, 1) and pads == NO_PADS:
        return node
    counts = window_counts(node.shape, kernel, strides, pads)
    strides = (
        _least_stride(node.shape[1] + pads[0] + pads[1] - kernel[0], strides[0], counts[0]),
        _least_stride(node.shape[2] + pads[2] + pads[3] - kernel[1], strides[1], counts[1]),
    )
    shape = (node.channels, *counts)
    facts: dict[str, Any] = {"kernel": kernel, "strides": strides, "pads": pads}
    return Pool(inputs=[node], shape=shape, operator=operator, kind=kind, **facts)


def _least_stride(rest: int, stride: int, count: int) -> int:
    """One window has no stride: a small one, which the machine knows, finds no second one."""
    return min(stride, rest + 1) if count == 1 else stride


def whole_pool(node: Node, kind: Pooling, axes: Pair, operator: Operator | None) -> Node:
    """The mean or maximum of whole axes (flags for h and w), in windows that the machine has."""
    if isinstance(node, Pool) and node.kind == kind and node.pads == NO_PADS:
        # one of the same kind over one whole axis is done with the other axis at once
        _, tall, broad = node.inputs[0].shape
        high, wide = node.kernel
        if (high, wide) in ((tall, 1), (1, broad)):
            node, axes = node.inputs[0], (axes[0] or high > 1, axes[1] or wide > 1)
    while (smaller := _part_of_axis(node, kind, axes)) is not None:
        node = smaller
    while (sizes := (node.shape[1] if axes[0] else 1, node.shape[2] if axes[1] else 1)) != (1, 1):
        step = (_first_factor(sizes[0]), _first_factor(sizes[1]))
        if step == (1, 1):
            return pool(node, kind, sizes, (1, 1), NO_PADS, operator)
        node = pool(node, kind, step, step, NO_PADS, operator)
    return node


def _part_of_axis(node: Node, kind: Pooling, axes: Pair) -> Node | None:
    """What is behind windows along one axis that is pooled to its end anyway: they begin that."""
    if not isinstance(node, Pool) or node.kind != kind or node.pads != NO_PADS:
        return None
    x, axis = node.inputs[0], int(node.kernel[0] == 1)
    is_part = node.kernel[1 - axis] == 1 and node.strides == node.kernel
    is_whole = x.shape[1 + axis] % node.kernel[axis] == 0
    return x if is_part and is_whole and axes[axis] else None


def _first_factor(size: int) -> int:
    """By how much an axis is made smaller first, if a window cannot be so large."""
    if size <= LARGEST_KERNEL:
        return 1
    return next((f for f in range(LARGEST_STRIDE, 1, -1) if size % f == 0), 1)


def upsample(node: Node, factors: Pair, operator: Operator | None) -> Node:
    """An enlargement; both axes' joined."""
    if factors == (1, 1):
        return node
    if isinstance(node, Concat):
        return joined(
            [upsample(part, factors, operator) for part, _, _ in parts_of(node)], operator
        )
    if isinstance(node, Upsample):
        both = (node.factors[0] * factors[0], node.factors[1] * factors[1])
        return upsample(node.inputs[0], both, operator)
    shape = (node.channels, node.shape[1] * factors[0], node.shape[2] * factors[1])
    return Upsample(inputs=[node], shape=shape, operator=operator, factors=factors)


def padded(node: Node, pads: Pads, operator: Operator | None) -> Node:
    """Zeros around; those of a row of paddings at once."""
    if pads == NO_PADS:
        return node
    if isinstance(node, Concat):
        return joined([padded(part, pads, operator) for part, _, _ in parts_of(node)], operator)
    if isinstance(node, Pad):
        top, bottom, left, right = (a + b for a, b in zip(pads, node.pads, strict=True))
        return padded(node.inputs[0], (top, bottom, left, right), operator)
    shape = (node.channels, node.shape[1] + pads[0] + pads[1], node.shape[2] + pads[2] + pads[3])
    return Pad(inputs=[node], shape=shape, operator=operator, pads=pads)


def mixed(node: Node, matrix: Array, operator: Operator | None) -> Conv:
    """A 1 x 1 convolution by a matrix (c, o): it selects, orders or adds channels."""
    weights = matrix.astype(np.float32)[None, None]
    shape = (matrix.shape[1], *node.shape[1:])
    bias = np.zeros(matrix.shape[1], np.float32)
    return Conv(inputs=[node], shape=shape, operator=operator, weights=weights, bias=bias)


def chosen(node: Node, places: Array, operator: Operator | None, push: bool) -> Node:
    """Some channels of a map: made alone, if `push` says that nobody wants the others."""
    if np.array_equal(places, np.arange(node.channels)):
        return node
    if isinstance(node, Concat) and (np.diff(places) > 0).all():
        inside = [(p, places[(places >= a) & (places < b)] - a) for p, a, b in parts_of(node)]
        return joined([chosen(p, at, operator, push) for p, at in inside if at.size], operator)
    if push:
        made = _made_alone(node, places, operator)
        if made is not None:
            return made
    return mixed(node, np.eye(node.channels)[:, places], operator)


_OF_CONVOLUTIONS = ("strides", "pads", "dilations", "name", "is_transposed", "is_dense")


def _made_alone(node: Node, places: Array, operator: Operator | None) -> Node | None:
    shape = (len(places), *node.shape[1:])
    same: dict[str, Any] = {"shape": shape, "operator": node.operator}
    if isinstance(node, Conv) and node.group == 1:
        facts: dict[str, Any] = {k: getattr(node, k) for k in _OF_CONVOLUTIONS}
        weights, bias = node.weights[..., places], node.bias[places]
        return Conv(inputs=node.inputs, weights=weights, bias=bias, **same, **facts)
    if not isinstance(node, (Act, Affine, Pool, Upsample, Pad)):
        return None
    x = chosen(node.inputs[0], places, operator, True)
    if isinstance(node, Act):
        return replace(node, inputs=[x], **same, number=next(_numbers))
    if isinstance(node, Affine):
        return Affine(inputs=[x], **same, scale=node.scale[places], shift=node.shift[places])
    if isinstance(node, Pool):
        return pool(x, node.kind, node.kernel, node.strides, node.pads, node.operator)
    if isinstance(node, Upsample):
        return upsample(x, node.factors, node.operator)
    return padded(x, node.pads, node.operator)


def elements(shape: tuple[int, ...]) -> int:
    """How many elements there are."""
    return prod(shape)


__all__ = [
    "LARGEST_KERNEL",
    "NO_PADS",
    "Act",
    "Add",
    "Affine",
    "Array",
    "Concat",
    "Conv",
    "Input",
    "Node",
    "Pad",
    "Pads",
    "Pair",
    "Pool",
    "Scale",
    "Upsample",
    "act",
    "affine",
    "chosen",
    "elements",
    "joined",
    "mixed",
    "padded",
    "parts_of",
    "pool",
    "problem",
    "upsample",
    "whole_pool",
    "window_counts",
]
