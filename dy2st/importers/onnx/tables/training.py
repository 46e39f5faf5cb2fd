"""What training needs: losses, random numbers from dy2st's generator, steps of optimizers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dy2st.importers.onnx.calls import Call, row, rows, scalar
from dy2st.importers.onnx.tensors import dtype_of
from dy2st_runtime.ir.dispatch import F


def _groups(n: Call, count: int) -> Sequence[Sequence[Any]]:
    """Inputs from the third on, by tensor: all of one kind stand together."""
    rest = n.inputs[2:]
    each = len(rest) // count
    return [rest[i::each] for i in range(each)]


def _in_order(results: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
    return tuple(one for kind in zip(*results, strict=True) for one in kind)


@row("Adagrad", domain="ai.onnx.preview.training")
def _adagrad(n: Call) -> tuple[Any, ...]:
    rate, step = scalar(n[0]), scalar(n[1])
    rate = rate / (1.0 + F.cast(step, rate.dtype) * n.get("decay_factor", 0.0))
    results = []
    for x, g, h in _groups(n, 3):
        g = x * n.get("norm_coefficient", 0.0) + g
        h = h + g * g
        results.append((x - rate * g / (F.sqrt(h) + n.get("epsilon", 1e-6)), h))
    return _in_order(results)


@row("Adam", domain="ai.onnx.preview.training")
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


@row("Momentum", domain="ai.onnx.preview.training")
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


def _likelihood(n: Call, x: Any) -> Any:
    """The negative of what x, logarithms of probabilities, has for each label."""
    labels, weight, ignored = F.cast(n[1], "int64"), n[2], n.get("ignore_index")
    is_out = None if ignored is None else F.equal(labels, ignored)
    places = labels if is_out is None else F.where(is_out, F.zeros_like(labels), labels)
    picked = F.take_along_axis(x, F.unsqueeze(places, [1]), 1, broadcast=False)
    loss = F.neg(F.squeeze(picked, [1]))
    share = F.ones_like(loss) if weight is None else F.gather(weight, F.flatten(places))
    share = F.reshape(share, loss.shape)
    if is_out is not None:
        share = F.where(is_out, F.zeros_like(share), share)
    if weight is not None or is_out is not None:
        loss = loss * share
    how = n.get("reduction", "mean")
    if how == "none":
        return loss
    if how == "sum":
        return F.sum(loss)
    if weight is None and is_out is None:
        return F.mean(loss)
    return F.sum(loss) / F.sum(share)


@row("SoftmaxCrossEntropyLoss")
def _cross_entropy(n: Call) -> Any:
    logarithms = F.log_softmax(n[0], 1)
    return _likelihood(n, logarithms), logarithms


rows(
    {
        "NegativeLogLikelihoodLoss": lambda n: _likelihood(n, n[0]),
    }
)


def _dtype(n: Call, like: Any = None) -> Any:
    if "dtype" in n.attributes:
        return dtype_of(n.attributes["dtype"])
    return "float32" if like is None else like.dtype


def _uniform(n: Call, shape: Any, like: Any = None) -> Any:
    drawn = F.uniform(shape, "float32", n.get("low", 0.0), n.get("high", 1.0))
    return F.cast(drawn, _dtype(n, like))


def _normal(n: Call, shape: Any, like: Any = None) -> Any:
    drawn = F.normal(n.get("mean", 0.0), n.get("scale", 1.0), shape)
    return F.cast(drawn, _dtype(n, like))


@row("Bernoulli")
def _bernoulli(n: Call) -> Any:
    x = n[0]
    drawn = F.uniform(x.shape, "float32", 0.0, 1.0)
    return F.cast(F.less_than(drawn, F.cast(x, "float32")), _dtype(n, x))


@row("Multinomial")
def _multinomial(n: Call) -> Any:
    drawn = F.multinomial(F.softmax(n[0], -1), n.get("sample_size", 1), replacement=True)
    return F.cast(drawn, dtype_of(n.get("dtype", 6)))


rows(
    {
        "RandomNormal": lambda n: _normal(n, n.attributes["shape"]),
        "RandomNormalLike": lambda n: _normal(n, n[0].shape, n[0]),
        "RandomUniform": lambda n: _uniform(n, n.attributes["shape"]),
        "RandomUniformLike": lambda n: _uniform(n, n[0].shape, n[0]),
    }
)
