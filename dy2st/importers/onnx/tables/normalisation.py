"""Normalisations, and dropout."""

from __future__ import annotations

from typing import Any

from dy2st.importers.onnx.calls import Call, row
from dy2st.importers.onnx.tables.elementwise import plain
from dy2st.importers.onnx.tensors import dtype_of
from dy2st_runtime.dims import product
from dy2st_runtime.ir.dispatch import F, apply


def _by_channel(value: Any, rank: int) -> Any:
    return F.reshape(value, [1, value.shape[0], *[1] * (rank - 2)])


@row("BatchNormalization")
def _batch_norm(n: Call) -> Any:
    x, scale, bias, mean, variance = (n[i] for i in range(5))
    epsilon, momentum = n.get("epsilon", 1e-5), n.get("momentum", 0.9)
    if x.ndim == 1:
        raise ValueError("a batch has two axes at least")
    if not n.get("training_mode", 0):
        return _normalised(x, mean, variance, scale, bias, epsilon)
    axes = [axis for axis in range(x.ndim) if axis != 1]
    wide = F.cast(x, mean.dtype)
    own = F.mean(wide, axes)
    spread = F.mean(F.square(wide - _by_channel(own, x.ndim)), axes)
    y = _normalised(x, own, spread, scale, bias, epsilon)
    moved = [
        F.cast(old * momentum + new * (1.0 - momentum), old.dtype)
        for old, new in ((mean, own), (variance, spread))
    ]
    if n.version >= 14:
        return (y, *moved)
    return (y, *moved, F.cast(own, mean.dtype), F.cast(spread, variance.dtype))


def _normalised(x: Any, mean: Any, variance: Any, scale: Any, bias: Any, epsilon: float) -> Any:
    parts = [F.cast(one, mean.dtype) for one in (mean, variance, scale, bias)]
    if x.dtype == mean.dtype:
        return apply("batch_norm", x, *parts, axis=1, epsilon=epsilon)
    return F.cast(
        apply("batch_norm", F.cast(x, mean.dtype), *parts, axis=1, epsilon=epsilon), x.dtype
    )


@row("InstanceNormalization")
def _instance_norm(n: Call) -> Any:
    return F.instance_norm(n[0], weight=n[1], bias=n[2], eps=n.get("epsilon", 1e-5))


@row("LayerNormalization")
def _layer_norm(n: Call) -> Any:
    x, scale, bias = n[0], n[1], n[2]
    axis = n.get("axis", -1) % x.ndim
    stash = dtype_of(n.get("stash_type", 1))
    epsilon = n.get("epsilon", 1e-5)
    if n.count == 1 and x.dtype == stash and scale.ndim == x.ndim - axis:
        extra = [scale] if bias is None else [scale, bias]
        if all(one.shape == x.shape[axis:] for one in extra):
            return apply("layer_norm", x, *extra, axes=x.ndim - axis, epsilon=epsilon)
    axes = [*range(axis, x.ndim)]
    wide = F.cast(x, stash)
    mean = F.mean(wide, axes, keepdim=True)
    centred = wide - mean
    inverse = F.reciprocal(F.sqrt(F.mean(F.square(centred), axes, keepdim=True) + epsilon))
    y = F.cast(centred * inverse, x.dtype) * scale
    return y if bias is None else y + bias, mean, inverse


@row("RMSNormalization")
def _rms_norm(n: Call) -> Any:
    x, scale = n[0], n[1]
    axes = [*range(n.get("axis", -1) % x.ndim, x.ndim)]
    wide = F.cast(x, dtype_of(n.get("stash_type", 1)))
    spread = F.mean(F.square(wide), axes, keepdim=True) + n.get("epsilon", 1e-5)
    return F.cast(F.cast(wide / F.sqrt(spread), x.dtype) * scale, scale.dtype)


@row("GroupNormalization")
def _group_norm(n: Call) -> Any:
    x, scale, bias = n[0], n[1], n[2]
    groups, epsilon = n.attributes["num_groups"], n.get("epsilon", 1e-5)
    stash = dtype_of(n.get("stash_type", 1)) if n.version >= 21 else x.dtype
    batch, channels = x.shape[0], x.shape[1]
    each = channels // groups
    wide = F.cast(F.reshape(x, [batch, groups, product([each, *x.shape[2:]])]), stash)
    made = F.cast(apply("layer_norm", wide, axes=1, epsilon=epsilon), x.dtype)
    if n.version < 21:  # one number a group
        y = made * F.reshape(scale, [1, groups, 1]) + F.reshape(bias, [1, groups, 1])
        return F.reshape(y, x.shape)
    y = F.reshape(made, x.shape)
    return y * _by_channel(scale, x.ndim) + _by_channel(bias, x.ndim)


@row("LpNormalization")
def _lp_norm(n: Call) -> Any:
    x, axis = n[0], n.get("axis", -1)
    if n.get("p", 2) == 1:
        size = F.sum(F.abs(x), axis, keepdim=True)
    else:
        size = F.sqrt(F.sum(F.square(x), axis, keepdim=True))
    is_none = F.equal(size, 0)
    return F.where(is_none, F.zeros_like(x), x / F.where(is_none, F.ones_like(size), size))


@row("MeanVarianceNormalization")
def _mean_variance(n: Call) -> Any:
    x, axes = n[0], n.get("axes", [0, 2, 3])
    mean = F.mean(x, axes, keepdim=True)
    spread = F.mean(F.square(x), axes, keepdim=True) - F.square(mean)
    return (x - mean) / (F.sqrt(spread) + 1e-9)


@row("Dropout")
def _dropout(n: Call) -> Any:
    """The input itself, or elements drawn anew in each call where the model trains."""
    x = n[0]
    training = plain(n, 2)
    ratio = n.get("ratio", 0.5) if n[1] is None else plain(n, 1)
    none_gone = F.full(x.shape, True, "bool")
    if n.version < 10:
        none_gone = F.ones(x.shape, x.dtype)
    if training is None or training is False or (not hasattr(ratio, "ndim") and ratio == 0):
        return x, none_gone
    drawn = F.uniform(x.shape, "float32", 0.0, 1.0)
    is_kept = F.greater_equal(drawn, F.cast(ratio, "float32") if hasattr(ratio, "ndim") else ratio)
    if training is not True:
        is_kept = F.logical_or(is_kept, F.logical_not(F.reshape(training, [])))
    scale = 1.0 / (1.0 - ratio)
    kept = F.cast(x * scale, x.dtype)
    if training is not True:
        kept = F.where(F.reshape(training, []), kept, x)
    return F.where(is_kept, kept, F.zeros_like(x)), is_kept
