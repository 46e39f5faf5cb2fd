"""Steps of optimizers, in ONNX's domain of training."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dy2st.importers.onnx.calls import Call, scalar
from dy2st_runtime.ir.dispatch import F

Row = Callable[[Call], Any]


def _groups(n: Call, count: int) -> Sequence[Sequence[Any]]:
    """Inputs from the third on, by tensor: all of one kind stand together."""
    rest = n.inputs[2:]
    each = len(rest) // count
    return [rest[i::each] for i in range(each)]


def _in_order(results: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
    return tuple(one for kind in zip(*results, strict=True) for one in kind)


def _adagrad(n: Call) -> tuple[Any, ...]:
    rate, step = scalar(n[0]), scalar(n[1])
    rate = rate / (1.0 + F.cast(step, rate.dtype) * n.get("decay_factor", 0.0))
    results = []
    for x, g, h in _groups(n, 3):
        g = x * n.get("norm_coefficient", 0.0) + g
        h = h + g * g
        results.append((x - rate * g / (F.sqrt(h) + n.get("epsilon", 1e-6)), h))
    return _in_order(results)


def _adam(n: Call) -> tuple[Any, ...]:
    rate, step = scalar(n[0]), scalar(n[1])
    alpha, beta = n.get("alpha", 0.9), n.get("beta", 0.999)
    times = F.cast(step, rate.dtype)
    moved = rate * F.sqrt(1.0 - F.pow(F.full([], beta, rate.dtype), times))
    moved = moved / (1.0 - F.pow(F.full([], alpha, rate.dtype), times))
    rate = F.where(F.greater_than(step, 0), moved, rate)
    results = []
    for x, g, v, h in _groups(n, 4):
        g = x * n.get("norm_coefficient", 0.0) + g
        v = v * alpha + g * (1.0 - alpha)
        h = h * beta + g * g * (1.0 - beta)
        new = x - rate * v / (F.sqrt(h) + n.get("epsilon", 1e-6))
        results.append((new * (1.0 - n.get("norm_coefficient_post", 0.0)), v, h))
    return _in_order(results)


def _momentum(n: Call) -> tuple[Any, ...]:
    rate, step, alpha = scalar(n[0]), scalar(n[1]), n.attributes["alpha"]
    weight = F.where(F.greater_than(step, 0), n.attributes["beta"], 1.0)
    is_nesterov = n.attributes["mode"] == "nesterov"
    results = []
    for x, g, v in _groups(n, 3):
        g = x * n.attributes["norm_coefficient"] + g
        v = v * alpha + g * F.cast(weight, g.dtype)
        results.append((x - rate * (g + v * alpha if is_nesterov else v), v))
    return _in_order(results)


ROWS: dict[str, Row] = {"Adagrad": _adagrad, "Adam": _adam, "Momentum": _momentum}
