"""Random numbers: others than NumPy's, of the same distributions."""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st_runtime.dims import difference
from dy2st_runtime.engine.onnx.graph import Graph
from dy2st_runtime.engine.onnx.library import element_number
from dy2st_runtime.engine.onnx.nodes import FLOAT32, FLOAT64, INT64, Value
from dy2st_runtime.engine.onnx.table import write
from dy2st_runtime.engine.onnx.writers.indexing import top
from dy2st_runtime.ir import is_floating


def _uniform_like(g: Graph, x: Value, dtype: Any, low: float = 0.0, high: float = 1.0) -> Value:
    name = g.fresh(g.place)
    g.node(
        "RandomUniformLike",
        [x],
        [name],
        dtype=element_number(dtype),
        low=float(low),
        high=float(high),
    )
    return Value(name, dtype, x.shape)


def _computed(dtype: Any) -> Any:
    return dtype if dtype in (FLOAT32, FLOAT64) else FLOAT32


@write("uniform")
def _uniform(g: Graph, shape: Any, low: Any, high: Any, dtype: Any) -> Value:
    dtype = np.dtype(dtype)
    made = _uniform_like(g, g.full(shape, 0, FLOAT32), _computed(dtype), low, high)
    return g.cast(made, dtype)


@write("gaussian")
def _gaussian(g: Graph, shape: Any, mean: Any, std: Any, dtype: Any) -> Value:
    dtype, name = np.dtype(dtype), g.fresh(g.place)
    own = _computed(dtype)
    g.node(
        "RandomNormalLike",
        [g.full(shape, 0, FLOAT32)],
        [name],
        dtype=element_number(own),
        mean=float(mean),
        scale=float(std),
    )
    return g.cast(Value(name, own, tuple(shape)), dtype)


@write("bernoulli")
def _bernoulli(g: Graph, x: Value) -> Value:
    x = g.longer(g.floats(x))
    return g.op("Less", _uniform_like(g, x, x.dtype), x, shape=x.shape)


@write("randint")
def _randint(g: Graph, shape: Any, low: Any, high: Any, dtype: Any) -> Value:
    made = _uniform_like(g, g.full(shape, 0, FLOAT32), FLOAT64)
    low, span = g.cast(g.number(low), FLOAT64), g.cast(g.number(difference(high, low)), FLOAT64)
    made = g.op("Floor", g.op("Mul", made, span))
    return g.cast(g.cast(g.op("Add", made, low), INT64), np.dtype(dtype))


@write("randperm")
def _randperm(g: Graph, n: Any, dtype: Any) -> Value:
    made = _uniform_like(g, g.full((n,), 0, FLOAT32), FLOAT64)
    return g.cast(top(g, made, g.size(n), 0, True)[1], np.dtype(dtype))


@write("multinomial")
def _multinomial(g: Graph, x: Value, num_samples: Any, replacement: bool) -> Value:
    """By the largest of log(p) + Gumbel noise: that of each sample, or the largest few."""
    x = g.cast(g.longer(g.floats(x)), FLOAT64) if is_floating(x.dtype) else g.cast(x, FLOAT64)
    weights = g.op("Log", x)
    if replacement:
        shape = (*(x.shape or ())[:-1], num_samples, (x.shape or ())[-1])
        weights = g.expand(g.unsqueeze(weights, [x.rank - 1]), shape)
    noise = _uniform_like(g, weights, FLOAT64)
    noise = g.op("Neg", g.op("Log", g.op("Neg", g.op("Log", noise))))
    scores, axis = g.op("Add", weights, noise), len(weights.shape or ()) - 1
    if replacement:
        return g.squeeze(top(g, scores, g.int64s([1]), axis, True)[1], [axis])
    return top(g, scores, g.size(num_samples), axis, True)[1]
