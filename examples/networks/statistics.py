"""Weights and batch norms as after training: every layer's results are of the order of one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import dy2st
from dy2st import nn
from examples.zoo.statistics import AnyLayer, randomize_statistics

Array = np.ndarray[Any, Any]


def images(generator: np.random.Generator, shape: tuple[int, int, int, int]) -> Array:
    """Smooth random images with a little noise, of mean 0 and deviation 1."""
    n, c, h, w = shape
    coarse = generator.standard_normal((n, c, -(-h // 8), -(-w // 8)))
    smooth = coarse.repeat(8, axis=2).repeat(8, axis=3)[:, :, :h, :w]
    noisy = smooth + 0.3 * generator.standard_normal(shape)
    return (noisy / noisy.std()).astype("float32")


def settle(layer: AnyLayer, shape: tuple[int, int, int, int], seed: int) -> AnyLayer:
    """Random weights that keep sizes (He et al. 2015), and norms that have seen images; in place.

    Parameters that are not trained stay as they are.
    """
    generator = np.random.default_rng(seed)
    for inner in layer.sublayers(include_self=True):
        if isinstance(inner, (nn.Conv2D, nn.Linear)):
            _draw(inner, generator)
    randomize_statistics(layer, seed)
    _observe(layer, images(generator, shape))
    return layer.eval()


def _draw(layer: Any, generator: np.random.Generator) -> None:
    if layer.weight.stop_gradient:
        return
    shape = layer.weight.shape
    inputs = shape[0] if isinstance(layer, nn.Linear) else math.prod(shape[1:])
    values = generator.standard_normal(shape, "float32") * np.float32(math.sqrt(2 / inputs))
    layer.weight.set_value(values)
    if layer.bias is not None:
        bias = generator.uniform(-0.1, 0.1, layer.bias.shape)
        layer.bias.set_value(bias.astype("float32"))


def _observe(layer: nn.Layer, x: Array) -> None:
    """Let every batch norm have the statistics of these images."""
    norms: list[Any] = [s for s in layer.sublayers() if isinstance(s, nn.BatchNorm2D)]
    if not norms:
        return
    kept = [norm.momentum for norm in norms]
    for norm in norms:
        norm.momentum = 0.0
    layer.train()
    with dy2st.no_grad():
        layer(dy2st.to_tensor(x))
    for norm, momentum in zip(norms, kept, strict=True):
        norm.momentum = momentum
