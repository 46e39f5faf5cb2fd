"""Has what BackwardFoldScaleAxis and ForwardFoldScaleAxis share: scales by channel, and their ways.

A scale is a constant by which a value is multiplied, one number for all or one a channel. It may
pass an operator f if f(x * s) = f(x) * s: always through sums, means, padding with zeros; through
relu, leaky relu and max_pool if every number is positive.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from dy2st.passes.core.graph import constant_of, constant_operator
from dy2st.passes.core.module import Array
from dy2st_runtime.dims import equal
from dy2st_runtime.ir import (
    DEFINITIONS,
    Kind,
    Operator,
    Scales,
    TensorType,
    Variable,
    is_floating,
)

MOST_STEPS = 64
"""How far a scale is carried, in operators."""


class Stuck(Exception):
    """A scale cannot pass; it says why."""


@dataclass(frozen=True)
class Scale:
    """Numbers along an axis of a value, or one number (axis None), in float64."""

    values: Array
    axis: int | None

    @property
    def is_positive(self) -> bool:
        """Whether every number is above zero."""
        return bool((self.values > 0).all())

    def along(self, rank: int, axis: int) -> Array:
        """The numbers, shaped to go along an axis of an array of some rank."""
        if self.axis is None:
            return self.values
        shape = [1] * rank
        shape[axis] = -1
        return self.values.reshape(shape)

    def by_group(self, shape: tuple[int, ...], groups: int) -> Array:
        """The numbers for axis 1 of weights; they count on from group to group of axis 0."""
        if self.axis is None:
            return self.values
        rows = self.values.reshape(groups, 1, shape[1]).repeat(shape[0] // groups, axis=1)
        return rows.reshape(*shape[:2], *[1] * (len(shape) - 2))

    def at(self, axis: int | None) -> Scale:
        """The same numbers along another axis."""
        return self if self.axis is None else replace(self, axis=axis)


Step = Callable[[Operator, Scale, bool], Scale]
"""Carries a scale through an operator: from its result to its first operand, or the other way."""


def scale_of(operator: Operator) -> tuple[Variable, Scale] | None:
    """The value that a multiply scales, and its scale; None if it is no such multiply."""
    for value, other in (operator.operands, operator.operands[::-1]):
        array = constant_of(other)
        if array is None or constant_of(value) is not None:
            continue
        scale = _as_scale(value, array)
        if scale is not None and value.type == operator.results[0].type:
            return value, scale
    return None


def _as_scale(value: Variable, array: Array) -> Scale | None:
    type = value.tensor_type
    if not is_floating(array.dtype) or type.dtype != array.dtype or array.ndim > type.rank:
        return None
    shape = (1,) * (type.rank - array.ndim) + array.shape
    wide = [axis for axis, size in enumerate(shape) if size != 1]
    numbers = array.astype(np.float64)
    if not wide:
        return Scale(numbers.reshape(()), None) if array.size == 1 else None
    if len(wide) > 1 or not equal(type.shape[wide[0]], shape[wide[0]]):
        return None
    return Scale(numbers.reshape(-1), wide[0])


def scaled(array: Array, factor: Array) -> Array:
    """array * factor, computed in float64 and rounded once; Stuck if that loses digits.

    Numbers near zero have fewer digits. That is no loss if it is small beside the largest number
    that has the same factor.
    """
    with np.errstate(all="ignore"):
        wide = np.asarray(array.astype(np.float64) * factor)  # a product of 0-d arrays is none
        result = wide.astype(array.dtype)
    rounded = result.astype(np.float64)
    if not np.isfinite(rounded).all():
        raise Stuck("a weight would not be finite")
    before = wide.ndim - factor.ndim
    same = [axis for axis in range(wide.ndim) if axis < before or factor.shape[axis - before] == 1]
    largest = np.abs(wide).max(axis=tuple(same), keepdims=True, initial=0.0)
    precision = float(np.spacing(np.ones((), array.dtype)))
    is_there = ((array != 0) & (factor != 0)).any(axis=tuple(same), keepdims=True)
    is_tiny = is_there & (largest < np.finfo(np.float64).tiny)
    if is_tiny.any() or (np.abs(rounded - wide) > precision * largest).any():
        raise Stuck("a weight would lose digits near zero")
    return result


def weights_of(operator: Operator, index: int) -> Array:
    """The constant at one operand; Stuck if it is none, or no float."""
    array = constant_of(operator.operands[index])
    if array is None:
        raise Stuck(f"operand {index} of `{operator.name}` is no constant")
    if not is_floating(array.dtype):
        raise Stuck(f"the weights are {array.dtype}")
    return array


def put_constant(operator: Operator, index: int, array: Array) -> Operator:
    """Let an operator read a new constant; the operator that makes it is to be put before."""
    made = constant_operator(operator.block, array, operator.operands[index])
    operator.operands[index] = made.results[0]
    return made


def to_operand(operator: Operator, scale: Scale) -> Scale:
    """The scale of the first operand that gives the scale of the result; Stuck if none does."""
    return _passing(operator, scale)(operator, scale, True)


def to_result(operator: Operator, scale: Scale) -> Scale:
    """The scale of the result that the scale of the first operand gives; Stuck if none does."""
    return _passing(operator, scale)(operator, scale, False)


def _passing(operator: Operator, scale: Scale) -> Step:
    definition = DEFINITIONS[operator.name]
    # how the axis of a scale goes through an operator
    step: Step | None
    if definition.scales is None:
        step = None
    elif definition.kind is Kind.ELEMENTWISE:
        step = _same
    elif definition.kind is Kind.REDUCTION:
        step = _reduced
    else:
        step = _windowed if "strides" in definition.attributes else _MOVES.get(definition.name)
    if step is None:
        raise Stuck(f"a scale does not pass `{operator.name}`")
    if definition.scales is Scales.POSITIVE and not scale.is_positive:
        raise Stuck(f"only positive scales pass `{operator.name}`")
    return step


def _same(operator: Operator, scale: Scale, back: bool) -> Scale:
    return scale


def _transposed(operator: Operator, scale: Scale, back: bool) -> Scale:
    perm = operator.attributes["perm"]
    if scale.axis is None:
        return scale
    return scale.at(perm[scale.axis] if back else perm.index(scale.axis))


def _windowed(operator: Operator, scale: Scale, back: bool) -> Scale:
    if scale.axis is not None and scale.axis > 1:
        raise Stuck(f"`{operator.name}` moves the axis of the scale")
    return scale


def _padded(operator: Operator, scale: Scale, back: bool) -> Scale:
    attributes = operator.attributes
    if attributes["mode"] == "constant" and attributes["value"] != 0:
        raise Stuck("the padding is not zero")
    if scale.axis is not None and any(attributes["pads"][scale.axis]):
        raise Stuck("`pad` adds channels")
    return scale


def _reduced(operator: Operator, scale: Scale, back: bool) -> Scale:
    axes, keepdim = operator.attributes["axis"], operator.attributes["keepdim"]
    axes = axes if isinstance(axes, tuple) else (axes,)
    if scale.axis is None:
        return scale
    axis = scale.axis
    if back and not keepdim:
        for reduced in sorted(axes):
            axis += reduced <= axis
    if axis in axes:
        raise Stuck(f"`{operator.name}` sums over the channels")
    if not back and not keepdim:
        axis -= sum(reduced < axis for reduced in axes)
    return scale.at(axis)


_MOVES: dict[str, Step] = {"transpose": _transposed, "pad": _padded}


def leaky_input(operator: Operator) -> tuple[Variable, frozenset[Operator]] | None:
    """x and the operators of where(x > 0, x, x * slope), None if an operator is not its end."""
    if operator.name != "where":
        return None
    condition, value, other = operator.operands
    compare, times = condition.maker, other.maker
    if not isinstance(compare, Operator) or not isinstance(times, Operator):
        return None
    if compare.name not in ("greater_than", "greater_equal") or times.name != "multiply":
        return None
    zero = constant_of(compare.operands[1])
    slopes = [v for v in times.operands if v is not value]
    if value.type != operator.results[0].type:
        return None
    if compare.operands[0] is not value or zero is None or zero.any():
        return None
    if len(slopes) != 1 or constant_of(slopes[0]) is None:
        return None
    return value, frozenset((operator, compare, times))


def is_same_shape(left: Variable, right: Variable) -> bool:
    """Whether two tensors have the same sizes, as far as is known."""
    a, b = left.type, right.type
    return isinstance(a, TensorType) and isinstance(b, TensorType) and a.with_dtype(b.dtype) == b


__all__ = [
    "MOST_STEPS",
    "Scale",
    "Stuck",
    "is_same_shape",
    "leaky_input",
    "put_constant",
    "scale_of",
    "scaled",
    "to_operand",
    "to_result",
    "weights_of",
]
