"""Batch norms as after training: their statistics, scale and shift are anything but 0 and 1."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from dy2st import nn

AnyLayer = TypeVar("AnyLayer", bound=nn.Layer)


def randomize_statistics(layer: AnyLayer, seed: int) -> AnyLayer:
    """Give every batch norm inside random statistics, scale and shift, in place."""
    generator = np.random.default_rng(seed)
    for inner in layer.sublayers(include_self=True):
        if isinstance(inner, (nn.BatchNorm1D, nn.BatchNorm2D)):
            _randomize(inner, generator)
    return layer


def _randomize(norm: nn.Layer, generator: np.random.Generator) -> None:
    ranges = {
        norm._mean: (0.05, 0.25),
        norm._variance: (0.5, 2.0),
        norm.weight: (0.6, 1.2),
        norm.bias: (-0.2, 0.2),
    }
    for tensor, (low, high) in ranges.items():
        tensor.set_value(generator.uniform(low, high, tensor.shape).astype("float32"))
