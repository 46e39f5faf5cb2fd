"""Defines a plan, a region for certain sizes: primitives, and where what they access lies.

All threads share a plan.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from dy2st_runtime.engine.native.convolution import weights
from dy2st_runtime.engine.native.convolution.channel_copies import Move
from dy2st_runtime.engine.native.convolution.gather import Picks
from dy2st_runtime.engine.native.convolution.images import Sizes
from dy2st_runtime.engine.native.convolution.interpolation import Blend
from dy2st_runtime.engine.native.convolution.library import Layout, Library, Primitive
from dy2st_runtime.engine.native.convolution.recipe import Node
from dy2st_runtime.engine.native.convolution.reorders import LayoutCopy
from dy2st_runtime.ir.program import Variable

Own = Picks | Blend | LayoutCopy | Move
"""What is computed by code of our own."""


@dataclass(eq=False)
class Buffer:
    """A tensor in memory: the n-th array that is given or made, weights, or memory of the plan.

    first, last   the steps between which memory of the plan holds it.
    """

    layout: Layout
    given: int | None = None
    made: int | None = None
    kept: int | None = None
    first: int = 0
    last: int = 0
    offset: int = 0


@dataclass(eq=False)
class Kept:
    """Weights: how they are made, from what, and into which layout."""

    node: Node
    make: Callable[[Node, weights.Values], weights.Array | None]
    plain: Layout
    layout: Layout
    reorder: Primitive | None


@dataclass(eq=False)
class Step:
    """A primitive, or code of our own, and its arguments."""

    primitive: Primitive | Own
    arguments: dict[int, Buffer]


@dataclass(eq=False)
class Plan:
    """What is to be done, in order.

    given     the inputs that are read where they lie, numbered.
    shapes    of the results.
    """

    library: Library
    nodes: Sequence[Node]
    steps: list[Step] = field(default_factory=list)
    buffers: list[Buffer] = field(default_factory=list)
    kept: list[Kept] = field(default_factory=list)
    given: dict[Variable, int] = field(default_factory=dict)
    shapes: list[Sizes] = field(default_factory=list)
    bytes: int = 0


def lay_out(plan: Plan) -> int:
    """Give each tensor its place in memory, the largest first; the bytes of all."""
    own = [b for b in plan.buffers if b.given is None and b.made is None and b.kept is None]
    laid: list[Buffer] = []
    for buffer in sorted(own, key=lambda one: -one.layout.bytes):
        beside = [b for b in laid if b.first <= buffer.last and buffer.first <= b.last]
        buffer.offset = 0
        for other in sorted(beside, key=lambda one: one.offset):
            if other.offset - buffer.offset >= _room(buffer):
                break
            buffer.offset = max(buffer.offset, other.offset + _room(other))
        laid.append(buffer)
    return max((b.offset + _room(b) for b in laid), default=0)


def _room(buffer: Buffer) -> int:
    """Whole lines of the cache."""
    return -(-buffer.layout.bytes // 64) * 64


__all__ = ["Buffer", "Kept", "Own", "Plan", "Step", "lay_out"]
