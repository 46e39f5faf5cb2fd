"""Takes normalisations and softmax apart, into members of a nest.

Each is written as its kernel is, so the numbers differ from the kernel's by rounding alone.
"""

from __future__ import annotations

from collections.abc import Callable

from dy2st_runtime.engine.native.nests.members import Member, is_native, reduction
from dy2st_runtime.engine.native.nests.moves import MOVES
from dy2st_runtime.engine.native.nests.pieces import Piece, Pieces
from dy2st_runtime.engine.native.tables import entering
from dy2st_runtime.engine.native.text.lanes import FLOAT32, FLOAT64
from dy2st_runtime.ir.program import Operator


def taken_apart(operator: Operator) -> list[Member] | None:
    """The members that an operator is made of; None if it is not taken apart."""
    rule = _RULES.get(operator.name)
    if rule is None or not all(is_native(v) for v in (*operator.operands, *operator.results)):
        return None
    pieces = Pieces(operator)
    return pieces.members if rule(pieces, operator) else None


def _shifted(pieces: Pieces, operator: Operator) -> tuple[Piece, list[int]] | None:
    """x minus the largest of its row, and the axis of rows; None of integers."""
    axis, x = operator.attributes["axis"], pieces.operand(0)
    axes = [axis] if isinstance(axis, int) else list(axis)
    if not x[0].tensor_type.is_floating:
        return None
    return pieces.apply("subtract", x, _of_rows(pieces, "max", x, axes)), axes


def _of_rows(pieces: Pieces, name: str, x: Piece, axes: list[int]) -> Piece:
    """What a reduction makes of rows: of rows of one element, that."""
    is_single = all(pieces.axes[axis] is None for axis in axes)
    return x if is_single else pieces.reduce(name, x, axes)


_RULES: dict[str, Callable[[Pieces, Operator], bool]] = {**MOVES}
_rule = entering(_RULES)


@_rule("softmax")
def _softmax(pieces: Pieces, operator: Operator) -> bool:
    shifted = _shifted(pieces, operator)
    if shifted is None:
        return False
    powers = pieces.apply("exp", shifted[0])
    # One division a row, and a product for each element.
    total = pieces.apply("reciprocal", _of_rows(pieces, "sum", powers, shifted[1]))
    pieces.apply("multiply", powers, total)
    return pieces.end()


@_rule("log_softmax")
def _log_softmax(pieces: Pieces, operator: Operator) -> bool:
    shifted = _shifted(pieces, operator)
    if shifted is None:
        return False
    total = _of_rows(pieces, "sum", pieces.apply("exp", shifted[0]), shifted[1])
    pieces.apply("subtract", shifted[0], pieces.apply("log", total))
    return pieces.end()


@_rule("layer_norm")
def _layer_norm(pieces: Pieces, operator: Operator) -> bool:
    rank, dtype = len(pieces.axes), operator.results[0].tensor_type.dtype
    axes = list(range(rank - operator.attributes["axes"], rank))
    if all(pieces.axes[axis] is None for axis in axes):
        return False
    # Weights have the sizes of the last axes, though the Program may know them by other names.
    weights = [(v, pieces.axes[rank - v.tensor_type.rank :]) for v in operator.operands[1:]]
    operands: list[Piece] = [pieces.operand(0), *weights]
    # NumPy computes in the widest of the dtypes, too.
    if any(own[0].tensor_type.dtype != dtype for own in operands):
        operands = [pieces.apply("cast", own, dtype=dtype) for own in operands]
    x = operands[0]
    centred = pieces.apply("subtract", x, pieces.reduce("mean", x, axes))
    squares = pieces.apply("square", centred)
    y = pieces.apply("multiply", centred, _inverse(pieces, pieces.reduce("mean", squares, axes)))
    for name, own in zip(("multiply", "add"), operands[1:], strict=False):
        y = pieces.apply(name, y, own)
    return pieces.end()


def _inverse(pieces: Pieces, variance: Piece) -> Piece:
    """1 / sqrt(variance + epsilon)."""
    dtype = variance[0].tensor_type.dtype
    epsilon = pieces.number(pieces.operator.attributes["epsilon"], dtype)
    return pieces.apply("rsqrt", pieces.apply("add", variance, epsilon))


@_rule("batch_norm")
def _batch_norm(pieces: Pieces, operator: Operator) -> bool:
    """x times a factor, plus a shift, which are one for each channel."""
    dtypes = {operand.tensor_type.dtype for operand in operator.operands}
    channel = pieces.axes[operator.attributes["axis"]]
    if len(dtypes) > 1 or dtypes.isdisjoint((FLOAT32, FLOAT64)) or channel is None:
        return False
    by_channel: list[Piece] = [(v, (channel,)) for v in operator.operands[1:]]
    mean, variance, *rest = by_channel
    factor = _inverse(pieces, variance)
    if rest:
        factor = pieces.apply("multiply", factor, rest[0])
    shift = pieces.apply("multiply", mean, factor)
    shift = pieces.apply("subtract", rest[1], shift) if rest[1:] else pieces.apply("neg", shift)
    x = pieces.operand(0)
    pieces.apply("add", pieces.apply("multiply", x, factor), shift)
    return pieces.end()


@_rule("sum", "mean", "prod", "any", "all")
def _of_one(pieces: Pieces, operator: Operator) -> bool:
    """A reduction along axes of one element, or along none: the elements themselves."""
    axes, result = operator.attributes["axis"], operator.results[0].tensor_type
    if any(pieces.axes[axis] is not None for axis in axes):
        return False
    if operator.attributes["keepdim"]:
        left = pieces.axes
    else:
        left = tuple([own for axis, own in enumerate(pieces.axes) if axis not in axes])
    pieces.apply("cast", pieces.operand(0), dtype=result.dtype)
    return pieces.end(left)


@_rule("max", "min", "argmax", "argmin")
def _of_some(pieces: Pieces, operator: Operator) -> bool:
    """A reduction that fails where there is nothing to reduce."""
    member = reduction(operator)
    if member is None:
        return isinstance(operator.attributes["axis"], tuple) and _of_one(pieces, operator)
    # The largest of no elements is an error, which the kernel raises.
    pieces.check(pieces.apply("less_than", pieces.size(0), pieces.size(member.count)))
    pieces.members.append(member)
    return True


__all__ = ["taken_apart"]
