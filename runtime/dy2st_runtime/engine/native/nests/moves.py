"""Puts operators that move elements, or give places, into nests: index, one_hot, ranges."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from dy2st_runtime.dims import Dim, Size, maximum, same_shape
from dy2st_runtime.engine.native.nests.axes import Places, Use, aligned, new_axes
from dy2st_runtime.engine.native.nests.members import Member
from dy2st_runtime.engine.native.nests.pieces import Piece, Pieces
from dy2st_runtime.engine.native.tables import entering
from dy2st_runtime.engine.native.text.lanes import INT64
from dy2st_runtime.ir.failures import may_fail
from dy2st_runtime.ir.program import Operator, Variable
from dy2st_runtime.ops.slicing import place_of_picked

Rule = Callable[[Pieces, Operator], bool]
"""Writes the members of an operator; False if they cannot be written."""

_UINT64 = np.dtype("uint64")


MOVES: dict[str, Rule] = {}
"""The rules by the names of their operators."""
_rule = entering(MOVES)


@_rule("index")
def _index(pieces: Pieces, operator: Operator) -> bool:
    """Elements at the places that integers name; each place is looked at before it is read."""
    x, *indices = operator.operands
    axes, result = operator.attributes["axes"], operator.results[0].tensor_type.shape
    if any(index.tensor_type.dtype == _UINT64 for index in indices):
        return False
    whole = new_axes(result)
    first = place_of_picked(axes)
    count = max(index.tensor_type.rank for index in indices)
    shape, places = result[first : first + count], whole[first : first + count]
    rest = iter((*whole[:first], *whole[first + count :]))
    picks = []
    for axis, index in zip(axes, indices, strict=True):
        own = aligned(index.tensor_type.shape, shape, places)
        if own is None:
            return False
        # The place counted from the start, and whether it is one.
        place = pieces.apply("cast", (index, own), dtype=INT64)
        zero, end = pieces.size(0), pieces.size(x.tensor_type.shape[axis])
        is_negative = pieces.apply("less_than", place, zero)
        place = pieces.apply("where", is_negative, pieces.apply("add", place, end), place)
        picks.append((axis, (place, _between(pieces, place, zero, end))))
    guard = _guard(pieces, [ok for _, (_, ok) in picks]) if may_fail(operator) else None
    own = tuple([None if axis in axes else next(rest) for axis in range(x.tensor_type.rank)])
    found = tuple([(axis, value[0]) for axis, (value, _) in picks])
    pieces.read(Use(x, own, picks=found, guard=guard), whole)
    return pieces.end(whole)


def _between(pieces: Pieces, place: Piece, zero: Piece, end: Piece) -> Piece:
    is_below = pieces.apply("less_than", place, end)
    return pieces.apply("logical_and", pieces.apply("less_equal", zero, place), is_below)


def _guard(pieces: Pieces, truths: Sequence[Piece]) -> Variable:
    """What must be true everywhere."""
    whole = truths[0]
    for other in truths[1:] or truths:
        whole = pieces.apply("logical_and", whole, other)
    pieces.check(whole)
    return whole[0]


@_rule("one_hot")
def _one_hot(pieces: Pieces, operator: Operator) -> bool:
    """Whether the place along the last axis is the class."""
    x, result = operator.operands[0], new_axes(operator.results[0].tensor_type.shape)
    if x.tensor_type.dtype == _UINT64:
        return False
    label = pieces.apply("cast", (x, result[:-1]), dtype=INT64)
    if may_fail(operator):
        end = pieces.size(operator.attributes["num_classes"])
        _guard(pieces, [_between(pieces, label, pieces.size(0), end)])
    hit = pieces.apply("equal", label, pieces.position(result[-1]))
    pieces.apply("cast", hit, dtype=operator.results[0].tensor_type.dtype)
    return pieces.end(result)


def _triangle(first: str, second: str) -> Rule:
    """Elements stay where (first, second) of row + diagonal and column are in order."""

    def rule(pieces: Pieces, operator: Operator) -> bool:
        x = pieces.operand(0)
        row, column = (pieces.position(axis) for axis in pieces.axes[-2:])
        limit = pieces.apply("add", row, pieces.size(operator.attributes["diagonal"]))
        places = {"limit": limit, "column": column}
        stays = pieces.apply("less_equal", places[first], places[second])
        zero = pieces.number(0, x[0].tensor_type.dtype)
        pieces.apply("where", stays, x, zero)
        return pieces.end(x[1])

    return rule


@_rule("eye")
def _eye(pieces: Pieces, operator: Operator) -> bool:
    row, column = (pieces.position(axis) for axis in pieces.axes)
    pieces.apply("cast", pieces.apply("equal", row, column), dtype=operator.attributes["dtype"])
    return pieces.end(pieces.axes)


@_rule("arange")
def _arange(pieces: Pieces, operator: Operator) -> bool:
    """Of whole numbers; NumPy counts others in its own way."""
    start, step = operator.attributes["start"], operator.attributes["step"]
    if not all(isinstance(one, (int, Dim)) for one in (start, operator.attributes["stop"], step)):
        return False
    offset = pieces.apply("multiply", pieces.position(pieces.axes[0]), pieces.size(step))
    number = pieces.apply("add", offset, pieces.size(start))
    pieces.apply("cast", number, dtype=operator.attributes["dtype"])
    return pieces.end(pieces.axes)


@_rule("full")
def _full(pieces: Pieces, operator: Operator) -> bool:
    value, dtype = operator.attributes["value"], operator.attributes["dtype"]
    if not pieces.axes or not isinstance(value, (bool, int, float)):
        return False
    made = operator.results[0]
    pieces.members.append(Member(made, [], pieces.axes, number=np.full((), value, dtype).item()))
    return True


@_rule("pad")
def _padded(pieces: Pieces, operator: Operator) -> bool:
    """Elements of x again; `concatenation.py` pads with a number."""
    x, pads = operator.operands[0], operator.attributes["pads"]
    rule = _MODES.get(operator.attributes["mode"])
    if rule is None:
        return False
    result = new_axes(operator.results[0].tensor_type.shape)
    picks: dict[int, Variable] = {}
    for axis, (size, (before, after)) in enumerate(zip(x.tensor_type.shape, pads, strict=True)):
        if same_shape((before, after), (0, 0)):
            continue
        place = pieces.apply("subtract", pieces.position(result[axis]), pieces.size(before))
        picks[axis] = rule(pieces, place, size)[0]
    return _picked(pieces, x, picks, result)


def _picked(pieces: Pieces, x: Variable, picks: Mapping[int, Variable], result: Places) -> bool:
    """The elements of x at places that are surely inside of it, along some axes."""
    own = tuple([None if axis in picks else place for axis, place in enumerate(result)])
    pieces.read(Use(x, own, picks=tuple(picks.items())), result)
    return pieces.end(result)


def _reflected(pieces: Pieces, place: Piece, size: Size) -> Piece:
    """Back from both edges, which are there once."""
    last = pieces.size(size - 1)
    behind = pieces.apply("subtract", last, pieces.apply("abs", place))
    return pieces.apply("subtract", last, pieces.apply("abs", behind))


_MODES: dict[str, Callable[[Pieces, Piece, Size], Piece]] = {
    "reflect": _reflected,
    # The elements at the edges.
    "replicate": lambda pieces, place, size: pieces.apply(
        "maximum", pieces.apply("minimum", place, pieces.size(size - 1)), pieces.size(0)
    ),
    # From the other edge on.
    "circular": lambda pieces, place, size: pieces.apply("remainder", place, pieces.size(size)),
}


@_rule("roll")
def _rolled(pieces: Pieces, operator: Operator) -> bool:
    """Rows that trade places; rows that are rolled themselves are two pieces: see `composites`."""
    if operator.operands[0].tensor_type.rank - 1 in operator.attributes["axis"]:
        return False
    x, shifts = operator.operands[0], dict[int, Size]()
    for axis, shift in zip(operator.attributes["axis"], operator.attributes["shifts"], strict=True):
        shifts[axis] = shifts.get(axis, 0) + shift
    picks: dict[int, Variable] = {}
    for axis, shift in shifts.items():
        # Some steps further on a circle: at most once round, so that nothing is divided.
        start = pieces.size((-shift) % maximum(x.tensor_type.shape[axis], 1))
        place = pieces.apply("add", pieces.position(pieces.axes[axis]), start)
        end = pieces.size(x.tensor_type.shape[axis])
        again = pieces.apply("subtract", place, end)
        picks[axis] = pieces.apply("where", pieces.apply("less_than", place, end), place, again)[0]
    return _picked(pieces, x, picks, pieces.axes)


MOVES |= {"tril": _triangle("column", "limit"), "triu": _triangle("limit", "column")}

__all__ = ["MOVES"]
