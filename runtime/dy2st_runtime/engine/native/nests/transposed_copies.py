"""Parts that do nothing but transpose: they are written square by square."""

from __future__ import annotations

from typing import NamedTuple

from dy2st_runtime.dims import Size
from dy2st_runtime.engine.native.nests.nests import Load, Nest, Part
from dy2st_runtime.engine.native.text.function import Function
from dy2st_runtime.engine.native.text.squares import LINE, Ends


class TransposedCopy(NamedTuple):
    """Along one axis what is read lies side by side, along the other one what is written.

    side    of a square: as many elements as a line of the cache has.
    """

    read: int
    written: int
    side: int


def transposed_copy_of(nest: Nest, part: Part) -> TransposedCopy | None:
    """What a part transposes; None if it does something else, or is small."""
    if len(part.nodes) != 1 or len(part.stores) != 1:
        return None
    (node,), (store,) = part.nodes, part.stores
    if not isinstance(node, Load) or node.operands or node.dtype.itemsize not in (4, 8):
        return None
    leaf, side = nest.leaves[node.leaf], LINE // node.dtype.itemsize
    axes = range(len(part.axes))
    long = [axis for axis in axes if _is_long(part.axes[axis], side)]
    read = [axis for axis in long if _is(leaf.strides[axis], 1)]
    written = [axis for axis in long if _is(store.strides[axis], 1)]
    if len(read) != 1 or len(written) != 1 or read == written:
        return None
    is_repeated = _is(leaf.strides[written[0]], 0)
    return None if is_repeated else TransposedCopy(read[0], written[0], side)


def _is_long(size: Size, side: int) -> bool:
    return not isinstance(size, int) or size >= side


def _is(stride: Size, number: int) -> bool:
    return isinstance(stride, int) and stride == number


def are_long(function: Function, copy: TransposedCopy, ends: tuple[Ends, Ends]) -> str:
    """Whether there is a whole square."""
    lengths = [function.let(f"sub i64 {end}, {start}") for start, end in ends]
    both = [function.let(f"icmp sge i64 {length}, {copy.side}") for length in lengths]
    return function.let(f"and i1 {both[0]}, {both[1]}")


__all__ = ["TransposedCopy", "are_long", "transposed_copy_of"]
