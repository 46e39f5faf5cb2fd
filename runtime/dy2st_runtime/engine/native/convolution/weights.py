"""What of a region's inputs is made ready once: filters and biases, with normalisations in them.

What is made is right as long as the very same arrays come again, and nobody can write to them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dy2st_runtime.engine.native.convolution.recipe import Node
from dy2st_runtime.ir.program import Operator, Variable

Array = np.ndarray[Any, Any]
Values = Mapping[Variable, Array]


def read_by(node: Node) -> list[Variable]:
    """What the weights of a node are made of."""
    return [*node.weights, *(value for norm in node.norms for value in norm.operands[1:])]


def filters(node: Node, values: Values) -> Array:
    """The filters of a convolution, times the factors of what normalises its results."""
    weight = values[node.weights[0]]
    for norm in node.norms:
        factor, _ = _factor_and_shift(norm, values)
        ones = [1] * (weight.ndim - 2)
        if node.kind == "conv":
            weight = weight * factor.reshape(-1, 1, *ones)
        else:  # (groups * inside, outside, *kernel)
            groups, outside = node.operator.attributes["groups"], weight.shape[1]
            parts = weight.reshape(groups, -1, *weight.shape[1:])
            weight = (parts * factor.reshape(groups, 1, outside, *ones)).reshape(weight.shape)
    return weight


def bias(node: Node, values: Values) -> Array | None:
    """What a convolution adds to each channel; None if that is nothing."""
    found = values[node.weights[1]] if len(node.weights) > 1 else None
    return _normed(node.norms, found, values)


def factors(node: Node, values: Values) -> Array:
    """What normalisations alone multiply each channel by."""
    found = np.ones(1, np.float32)
    for norm in node.norms:
        found = found * _factor_and_shift(norm, values)[0]
    return found


def shifts(node: Node, values: Values) -> Array:
    """What normalisations alone add to each channel."""
    found = _normed(node.norms, None, values)
    assert found is not None
    return found


def _normed(norms: Sequence[Operator], found: Array | None, values: Values) -> Array | None:
    for norm in norms:
        factor, shift = _factor_and_shift(norm, values)
        found = shift if found is None else found * factor + shift
    return found


def _factor_and_shift(norm: Operator, values: Values) -> tuple[Array, Array]:
    """(x - mean) / sqrt(variance + epsilon) * weight + bias as x * factor + shift."""
    mean, variance, *others = (values[operand] for operand in norm.operands[1:])
    factor = 1.0 / np.sqrt(variance + np.float32(norm.attributes["epsilon"]))
    if others:
        factor = factor * others[0]
    shift = -mean * factor
    return factor, shift + others[1] if len(others) > 1 else shift


__all__ = ["bias", "factors", "filters", "read_by", "shifts"]
