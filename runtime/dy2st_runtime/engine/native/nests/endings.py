"""Endings: what is made of a product of matrices, part by part, while a part is in the cache.

A nest that goes once over the result of a product, which nobody else reads, becomes the product's
ending: a nest over the rows and columns of a part. It writes its first output where the product
lies, so that needs no memory of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dy2st_runtime.dims import Size, equal, product, symbol
from dy2st_runtime.engine.native.nests.nests import (
    Leaf,
    Load,
    Nest,
    Part,
    Position,
    Reduce,
    Store,
)
from dy2st_runtime.engine.native.nests.stages import schedule
from dy2st_runtime.ir.program import Operator, Variable

ROWS, COLUMNS = symbol("part_rows", 1), symbol("part_columns", 1)
"""The sizes of a part: they are not those of any tensor."""


def ending(nest: Nest, result: Variable) -> Nest | None:
    """The nest over a part of a product's result; None if it cannot work in parts."""
    if len(nest.parts) != 1 or nest.has_checks or not nest.outputs:
        return None
    if nest.outputs[0].tensor_type.dtype != result.tensor_type.dtype:
        return None
    part, shape = nest.parts[0], result.tensor_type.shape
    assert isinstance(result.maker, Operator)
    if result.maker.operands[-1].tensor_type.rank == 1:
        return None  # of a matrix and a vector each row is one number, not the last axis
    columns = shape[-1]
    # Every node must be computed of what lies at its own place.
    if not all(
        not isinstance(node, (Reduce, Position))
        and not (isinstance(node, Load) and (node.picks or node.operands))
        for node in part.nodes
    ):
        return None
    if len(part.axes) == 2 and _is_same(part.axes[1], columns):
        found = nest
    elif len(part.axes) == 1 and _is_same(part.axes[0], product(shape)):
        # A nest over all elements in a row, as one over rows and columns.
        def strides(own: tuple[Size, ...]) -> tuple[Size, ...]:
            return (product([own[0], columns]), own[0])

        both = frozenset({0, 1})
        nodes = [replace(node, axes=both) if node.axes else node for node in part.nodes]
        stores = [replace(store, strides=strides(store.strides)) for store in part.stores]
        leaves = [replace(leaf, strides=strides(leaf.strides)) for leaf in nest.leaves]
        found = Nest(leaves, nest.outputs, [Part([], 1, 1, nodes, stores)])
    else:
        return None
    found = Nest(found.leaves, found.outputs, [replace(found.parts[0], axes=[ROWS, COLUMNS])])
    # Whether the product and all outputs lie alike, and the first may take its place.
    own = [leaf for leaf in found.leaves if leaf.variable is result]
    (part,) = found.parts
    alike: list[Leaf | Store] = [*own, *part.stores]
    for one in alike:
        row, column = one.strides
        if not (_is_same(row, columns) and _is_same(column, 1) and _is_same(one.offset, 0)):
            return None
    return found if len(own) == 1 and _in_place(found, own) else None


def _in_place(nest: Nest, own: Sequence[Leaf]) -> bool:
    """Whether the product is not read again once the first output is written."""
    (part,) = nest.parts
    number = nest.leaves.index(own[0])
    stages = schedule(part).stages
    loads = {
        i for i, node in enumerate(part.nodes) if isinstance(node, Load) and node.leaf == number
    }
    reading = [at for at, stage in enumerate(stages) if loads.intersection(stage.computed)]
    writing = [at for at, stage in enumerate(stages) if any(s.output == 0 for s in stage.stores)]
    return bool(reading and writing) and max(reading) <= min(writing)


def _is_same(one: Size, other: Size) -> bool:
    return one is other or equal(one, other) is True


__all__ = ["COLUMNS", "ROWS", "ending"]
