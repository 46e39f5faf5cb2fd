"""Prepares weights of a region once: filters and biases, with normalisations folded into them.

What is made is right as long as the very same arrays come again, and nobody can write to them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dy2st_runtime.engine.native.convolution.recipe import Node, Scaling
from dy2st_runtime.ir.program import Operator, Variable

Array = np.ndarray[Any, Any]
Values = Mapping[Variable, Array]


def read_by(node: Node) -> list[Variable]:
    """What the weights of a node are made of."""
    return [*node.weights, *(value for scaling in node.scalings for value in scaling.values)]


def filters(node: Node, values: Values) -> Array:
    """The filters of a convolution, times the factors of what scales its results."""
    weight = values[node.weights[0]]
    for scaling in node.scalings:
        factor, _ = _factor_and_shift(scaling, values)
        if factor is None:
            continue
        ones = [1] * (weight.ndim - 2)
        if node.kind == "conv":
            weight = weight * factor.reshape(-1, 1, *ones)
        else:  # (groups * inside, outside, *kernel)
            groups, outside = node.operator.attributes["groups"], weight.shape[1]
            parts = weight.reshape(groups, -1, *weight.shape[1:])
            weight = (parts * factor.reshape(groups, 1, outside, *ones)).reshape(weight.shape)
    return weight


def has_bias(node: Node) -> bool:
    """Whether a convolution may add something to each channel."""
    names = {scaling.operator.name for scaling in node.scalings}
    return len(node.weights) > 1 or bool(names - {"multiply", "divide"})


def bias(node: Node, values: Values) -> Array | None:
    """What a convolution adds to each channel; None if that is nothing."""
    found = values[node.weights[1]] if len(node.weights) > 1 else None
    return _scaled(node.scalings, found, values)


def factors(node: Node, values: Values) -> Array:
    """What scalings alone multiply each channel by."""
    found = np.ones(1, np.float32)
    for scaling in node.scalings:
        factor, _ = _factor_and_shift(scaling, values)
        found = found if factor is None else found * factor
    return found


def shifts(node: Node, values: Values) -> Array:
    """What scalings alone add to each channel."""
    found = _scaled(node.scalings, None, values)
    assert found is not None, "the first one is a normalisation"
    return found


def _scaled(scalings: Sequence[Scaling], found: Array | None, values: Values) -> Array | None:
    for scaling in scalings:
        factor, shift = _factor_and_shift(scaling, values)
        if factor is not None and found is not None:
            found = found * factor
        if shift is not None:
            found = shift if found is None else found + shift
    return found


def _factor_and_shift(scaling: Scaling, values: Values) -> tuple[Array | None, Array | None]:
    """What x is multiplied by, and what is added then; None for 1 and for 0."""
    given = [values[value] for value in scaling.values]
    return _SCALINGS[scaling.operator.name](scaling.operator, *given)


def _batch_norm(
    norm: Operator, mean: Array, variance: Array, *others: Array
) -> tuple[Array | None, Array | None]:
    """(x - mean) / sqrt(variance + epsilon) * weight + bias."""
    # In float32, as the kernel adds it.
    factor = 1.0 / np.sqrt(variance + np.float32(norm.attributes["epsilon"]))
    if others:
        factor = factor * others[0]
    shift = -mean * factor
    return factor, shift + others[1] if len(others) > 1 else shift


_SCALINGS: dict[str, Callable[..., tuple[Array | None, Array | None]]] = {
    "batch_norm": _batch_norm,
    "add": lambda _, other: (None, other.reshape(-1)),
    "subtract": lambda _, other: (None, -other.reshape(-1)),
    "multiply": lambda _, other: (other.reshape(-1), None),
    "divide": lambda _, other: (1.0 / other.reshape(-1), None),
}

__all__ = ["bias", "factors", "filters", "has_bias", "read_by", "shifts"]
