"""CancelMoves: drops transposes, reshapes and casts that undo or repeat each other.

%0 = transpose(%x) {perm = [0, 2, 3, 1]}        =>      %1 = relu(%x)
%1 = transpose(%0) {perm = [0, 3, 1, 2]}
%2 = relu(%1)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st.passes.patterns.match import Match
from dy2st.passes.patterns.pattern import op, value
from dy2st.passes.patterns.rewrite_pass import rewrite_pass
from dy2st.passes.patterns.rule import rule
from dy2st_runtime.ir import F, apply

_x = value()
_first_transpose = op.transpose(_x).shared()
_second_transpose = op.transpose(_first_transpose)


@rule(_second_transpose, benefit=2)
def two_transposes(m: Match) -> Any:
    """transpose(transpose(x)) -> one transpose, or x."""
    first = m.attributes(_first_transpose)["perm"]
    perm = tuple(first[axis] for axis in m.attributes(_second_transpose)["perm"])
    if perm == tuple(range(len(perm))):
        return m[_x]
    return apply("transpose", m[_x], perm=perm)


_transpose = op.transpose(_x)


@rule(_transpose)
def no_transpose(m: Match) -> Any:
    """A transpose that leaves every axis where it is."""
    perm = m.attributes(_transpose)["perm"]
    m.require(perm == tuple(range(len(perm))), "it moves an axis")
    return m[_x]


@rule(_transpose)
def transpose_of_ones(m: Match) -> Any:
    """A transpose that moves axes of size 1 only is a reshape."""
    perm, shape = m.attributes(_transpose)["perm"], m[_x].tensor_type.shape
    sizes = [(axis, shape[axis]) for axis in perm]
    wide = [axis for axis, size in sizes if not (isinstance(size, int) and size == 1)]
    m.require(wide == sorted(wide), "it moves an axis of more than one element")
    return F.reshape(m[_x], [shape[axis] for axis in perm])


_first_reshape = op.reshape(_x).shared()
_second_reshape = op.reshape(_first_reshape)
_reshape = op.reshape(_x)


@rule(_second_reshape, benefit=2)
def two_reshapes(m: Match) -> Any:
    """reshape(reshape(x)) -> one reshape."""
    return apply("reshape", m[_x], shape=m[_second_reshape].tensor_type.shape)


@rule(_reshape)
def no_reshape(m: Match) -> Any:
    """A reshape to the shape that is there."""
    m.require(m[_x].type == m[_reshape].type, "it changes the shape")
    return m[_x]


_cast = op.cast(_x)


@rule(_cast, benefit=2)
def no_cast(m: Match) -> Any:
    """A cast to the dtype that is there."""
    m.require(m[_x].dtype == m[_cast].dtype, "it changes the dtype")
    return m[_x]


_first_cast = op.cast(_x).shared()
_second_cast = op.cast(_first_cast)


@rule(_second_cast)
def two_casts(m: Match) -> Any:
    """cast(cast(x)) -> one cast, where the first loses nothing."""
    first, second = m[_first_cast].dtype, m[_second_cast].dtype
    # NumPy counts 64-bit integers as safe in float64
    source = m[_x].dtype
    digits_lost = source.kind in "iu" and source.itemsize == 8 and first.kind not in "iu"
    m.require(np.can_cast(source, first, "safe") and not digits_lost, "the first cast loses digits")
    m.require(not (m[_x].dtype.kind == "b" and first.kind != "b"), "bools are counted")
    return F.cast(m[_x], second)


_whole = op.broadcast_to(_x)


@rule(_whole)
def no_broadcast(m: Match) -> Any:
    """broadcast_to the shape that is there."""
    m.require(m[_x].type == m[_whole].type, "it repeats elements")
    return m[_x]


@rule(op.concat(_x))
def concat_of_one(m: Match) -> Any:
    """concat(x) -> x."""
    return m[_x]


@rule(op.assign(_x))
def no_assign(m: Match) -> Any:
    """assign(x) -> x: values are never changed."""
    return m[_x]


_slice = op.slice(_x)


@rule(_slice)
def whole_slice(m: Match) -> Any:
    """A slice of all elements."""
    attributes = m.attributes(_slice)
    m.require(not attributes["drop"], "it drops an axis")
    m.require(m[_x].type == m[_slice].type, "it leaves elements out")
    m.require(all(step is None or step == 1 for step in attributes["steps"]), "it reverses an axis")
    return m[_x]


RULES = (
    two_transposes,
    no_transpose,
    transpose_of_ones,
    two_reshapes,
    no_reshape,
    no_cast,
    two_casts,
    no_broadcast,
    concat_of_one,
    no_assign,
    whole_slice,
)

CancelMoves = rewrite_pass(
    "CancelMoves",
    RULES,
    opt_level=1,
    doc="""Moves of data that undo or repeat each other go.

    >>> f = dy2st.to_static(lambda x: x.t().t(), [dy2st.static.InputSpec([3, 4])])
    >>> dy2st.passes.CancelMoves()(f.main_program).operators
    []
    """,
)

__all__ = ["RULES", "CancelMoves"]
