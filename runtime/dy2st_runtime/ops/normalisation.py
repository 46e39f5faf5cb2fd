"""Normalisation: composites of reductions, with a faster kernel beside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dy2st_runtime.dims import require, require_equal
from dy2st_runtime.errors import ArgumentError, ShapeError
from dy2st_runtime.ir import F, Sample, TensorType, apply, define, is_floating, public
from dy2st_runtime.ir.arguments import as_shape, normalize_axis, pair
from dy2st_runtime.ir.attribute_kinds import NEW_AXIS, SIGNED_AXIS
from dy2st_runtime.ir.grad_mode import no_grad
from dy2st_runtime.ops.short_floats import in_float32, is_short, longer


def _per_channel(value: Any, rank: int, axis: int) -> Any:
    shape: list[Any] = [1] * rank
    shape[axis] = value.shape[0]
    return F.reshape(value, shape)


def _batch_infer(
    x: TensorType, mean: TensorType, *others: TensorType, axis: int, epsilon: float
) -> TensorType:
    for other in (mean, *others):
        if other.rank != 1:
            raise ShapeError(f"batch_norm: one number a channel, not {list(other.shape)}")
        require_equal(
            other.shape[0],
            x.shape[axis],
            f"batch_norm: x has {x.shape[axis]} channels, the statistics {other.shape[0]}",
        )
    return x


def _batch_kernel(
    x: Any,
    mean: Any,
    variance: Any,
    weight: Any = None,
    bias: Any = None,
    *,
    axis: int,
    epsilon: float,
) -> Any:
    """One multiplication and one addition an element."""
    dtype = x.dtype
    if is_short(dtype):
        x, mean, variance, weight, bias = map(longer, (x, mean, variance, weight, bias))
    x = x if is_floating(dtype) else x.astype(np.result_type(x, variance))
    shape = [1] * x.ndim
    shape[axis] = -1
    factor = 1.0 / np.sqrt(variance + variance.dtype.type(epsilon))
    factor = factor if weight is None else factor * weight
    shift = -mean * factor if bias is None else bias - mean * factor
    scaled = x * factor.reshape(shape).astype(x.dtype, copy=False)
    scaled += shift.reshape(shape).astype(x.dtype, copy=False)
    return scaled.astype(dtype, copy=False)


def _batch(
    x: Any,
    mean: Any,
    variance: Any,
    weight: Any = None,
    bias: Any = None,
    *,
    axis: int,
    epsilon: float,
) -> Any:
    rank, dtype = x.ndim, x.dtype
    if is_short(dtype):
        x, mean, variance, weight, bias = map(longer, (x, mean, variance, weight, bias))
    y = (x - _per_channel(mean, rank, axis)) * F.rsqrt(_per_channel(variance, rank, axis) + epsilon)
    y = y if weight is None else y * _per_channel(weight, rank, axis)
    y = y if bias is None else y + _per_channel(bias, rank, axis)
    return F.cast(y, dtype)


define(
    "batch_norm",
    doc="(x - mean) / sqrt(variance + epsilon) * weight + bias by channel.",
    inputs="x, mean, variance, weight?, bias?",
    along="axis",
    attributes={"axis": SIGNED_AXIS.or_else(1), "epsilon": 1e-5},
    infer=_batch_infer,
    kernel=_batch_kernel,
    decompose=_batch,
    samples=(
        Sample(((2, 3, 4), (3,), (3,), (3,), (3,)), low=0.5, high=2.0),
        Sample(((2, 3), (3,), (3,)), low=0.5, high=2.0),
    ),
)


def _layer_infer(x: TensorType, *others: TensorType, axes: int, epsilon: float) -> TensorType:
    for other in others:
        if other.rank != axes:
            raise ShapeError(
                f"layer_norm: weight and bias have {axes} axes, not {list(other.shape)}"
            )
        for a, b in zip(other.shape, x.shape[x.rank - axes :], strict=True):
            require_equal(a, b, f"layer_norm: {list(other.shape)} does not fit {list(x.shape)}")
    return x if x.is_floating else x.with_dtype("float64")  # as the mean is


@in_float32
def _layer_kernel(
    x: Any, weight: Any = None, bias: Any = None, *, axes: int, epsilon: float
) -> Any:
    last = tuple(range(x.ndim - axes, x.ndim))
    if not x.size:  # of which NumPy would warn
        return x.astype(x.dtype if is_floating(x.dtype) else "float64")
    centred = x - np.mean(x, axis=last, keepdims=True)
    variance = np.mean(np.square(centred), axis=last, keepdims=True)
    centred *= 1.0 / np.sqrt(variance + variance.dtype.type(epsilon))
    if weight is not None:
        centred *= weight
    if bias is not None:
        centred += bias
    return centred


@in_float32
def _layer(x: Any, weight: Any = None, bias: Any = None, *, axes: int, epsilon: float) -> Any:
    last = list(range(x.ndim - axes, x.ndim))
    centred = x - F.mean(x, axis=last, keepdim=True)
    variance = F.mean(F.square(centred), axis=last, keepdim=True)
    y = centred * F.rsqrt(variance + epsilon)
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


define(
    "layer_norm",
    doc="(x - mean) / sqrt(variance + epsilon) * weight + bias over last axes.",
    inputs="x, weight?, bias?",
    along=lambda x, *_, axes, epsilon: range(x.rank - axes, x.rank),
    attributes={"axes": NEW_AXIS, "epsilon": 1e-5},
    infer=_layer_infer,
    kernel=_layer_kernel,
    decompose=_layer,
    promote=True,
    samples=(Sample(((2, 3), (3,), (3,)), {"axes": 1}), Sample(((2, 3, 2),), {"axes": 2})),
)


@public
def batch_norm(
    x: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.9,
    epsilon: float = 1e-05,
    data_format: str = "NCHW",
    use_global_stats: bool | None = None,
    name: str | None = None,
) -> Any:
    """(x - mean) / sqrt(variance + epsilon) * weight + bias, channel by channel.

    (n, c, ...) -> (n, c, ...).

    While training, mean and (biased) variance are the batch's, and the running ones are set to
    momentum * running + (1 - momentum) * batch, as in Paddle.

    >>> x, mean, var = dy2st.to_tensor([[1.0], [3.0]]), dy2st.zeros([1]), dy2st.ones([1])
    >>> print(dy2st.nn.functional.batch_norm(x, mean, var, training=True).round(3))
    [[-1.]
     [ 1.]]
    >>> print(mean)
    [0.2]
    """
    use_running = not training if use_global_stats is None else use_global_stats
    if not use_running:
        running = (running_mean, running_var)
        return batch_norm_by(F.mean, x, running, (weight, bias), momentum, epsilon, data_format)
    _check_rank("batch_norm", x)
    axis = x.ndim - 1 if data_format[-1] == "C" and x.ndim > 2 else 1
    extra = _affine(x, axis, weight, bias)
    return apply(
        "batch_norm", x, running_mean, running_var, *extra, axis=axis, epsilon=float(epsilon)
    )


def batch_norm_by(
    mean_of: Callable[..., Any],
    x: Any,
    running: tuple[Any, Any],
    affine: tuple[Any, Any],
    momentum: float,
    epsilon: float,
    data_format: str,
) -> Any:
    """Batch normalisation while training; `mean_of(x, axis=axes)` says over which batches."""
    _check_rank("batch_norm", x)
    axis = x.ndim - 1 if data_format[-1] == "C" and x.ndim > 2 else 1
    extra = _affine(x, axis, *affine)
    running_mean, running_var = running
    _check_channels("batch_norm", x, axis, running_mean)
    others = [a for a in range(x.ndim) if a != axis]
    wide = longer(x)
    mean = mean_of(wide, axis=others)
    centred = wide - _per_channel(mean, x.ndim, axis)
    variance = mean_of(F.square(centred), axis=others)
    with no_grad():
        for kept, batch in ((running_mean, mean), (running_var, variance)):
            moved = kept * momentum + F.detach(batch) * (1.0 - momentum)
            kept.set_value(F.cast(moved, kept.dtype))
    return apply("batch_norm", x, mean, variance, *extra, axis=axis, epsilon=float(epsilon))


def _check_rank(name: str, x: Any) -> None:
    if x.ndim < 2:
        raise ShapeError(f"{name} takes a batch of channels, (n, c, ...), not {x.shape}")


def _check_channels(name: str, x: Any, axis: int, value: Any) -> None:
    """Require one number a channel of what is learnt or kept of them."""
    if value is not None:
        own, kept = x.shape[axis], value.shape[0]
        require_equal(kept, own, f"{name}: x has {own} channels, {kept} are expected")


def _affine(x: Any, axis: int, weight: Any, bias: Any) -> list[Any]:
    """Weight and bias as trailing inputs; a bias alone brings a weight of ones."""
    if weight is None and bias is not None:
        weight = F.ones_like(bias)
    return [value for value in (weight, bias) if value is not None]


@public
def layer_norm(
    x: Any,
    normalized_shape: Any,
    weight: Any = None,
    bias: Any = None,
    epsilon: float = 1e-05,
    name: str | None = None,
) -> Any:
    """(x - mean) / sqrt(variance + epsilon) * weight + bias over the last axes.

    (..., n) -> (..., n).

    Weight and bias have the shape of these axes, or are flat.

    Raises ShapeError if x does not end with `normalized_shape`.

    >>> x = dy2st.to_tensor([[1.0, 3.0], [10.0, 30.0]])
    >>> print(dy2st.nn.functional.layer_norm(x, [2]).round(3))
    [[-1.  1.]
     [-1.  1.]]
    """
    sizes = list(as_shape(normalized_shape))
    if len(sizes) > x.ndim:
        raise ShapeError(f"layer_norm: {x.shape} does not end with {sizes}")
    for size, own in zip(sizes, x.shape[x.ndim - len(sizes) :], strict=True):
        require_equal(size, own, f"layer_norm: {x.shape} does not end with {sizes}")
    extra = [
        F.reshape(value, sizes) if value.ndim == 1 < len(sizes) else value
        for value in _affine(x, -1, weight, bias)
    ]
    return apply("layer_norm", x, *extra, axes=len(sizes), epsilon=float(epsilon))


@public
def group_norm(
    x: Any,
    num_groups: int,
    epsilon: float = 1e-05,
    weight: Any = None,
    bias: Any = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """Normalise groups of channels of (n, c, ...), then weight and bias by channel.

    (n, c, ...) -> (n, c, ...).

    Raises ArgumentError unless `num_groups` divides the channels.

    >>> x = dy2st.to_tensor([[[1.0], [3.0], [10.0], [30.0]]])
    >>> print(dy2st.nn.functional.group_norm(x, 2).flatten().round(3))
    [-1.  1. -1.  1.]
    """
    if data_format[-1] == "C" and x.ndim > 2:
        y = group_norm(F.moveaxis(x, -1, 1), num_groups, epsilon, weight, bias)
        return F.moveaxis(y, 1, -1)
    _check_rank("group_norm", x)
    n, c = x.shape[0], x.shape[1]
    (num_groups,) = pair(num_groups, 1, "num_groups")
    reason = f"group_norm: {c} channels cannot be split into {num_groups} groups"
    if isinstance(c, int) and c % num_groups:
        raise ArgumentError(reason)
    require(c % num_groups == 0, reason)
    _check_channels("group_norm", x, 1, bias if weight is None else weight)
    grouped = F.reshape(x, [n, num_groups, c // num_groups, *x.shape[2:]])
    y = apply("layer_norm", grouped, axes=grouped.ndim - 2, epsilon=float(epsilon))
    y = F.reshape(y, x.shape)
    y = y if weight is None else y * _per_channel(weight, x.ndim, 1)
    return y if bias is None else y + _per_channel(bias, x.ndim, 1)


@public
def instance_norm(
    x: Any,
    running_mean: Any = None,
    running_var: Any = None,
    weight: Any = None,
    bias: Any = None,
    use_input_stats: bool = True,
    momentum: float = 0.9,
    eps: float = 1e-05,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """Normalise every channel of every sample, then weight and bias by channel.

    (n, c, ...) -> (n, c, ...).

    >>> x = dy2st.to_tensor([[[1.0, 3.0], [10.0, 30.0]]])
    >>> print(dy2st.nn.functional.instance_norm(x).round(3))
    [[[-1.  1.]
      [-1.  1.]]]
    """
    if not use_input_stats:
        settings = (False, momentum, eps, data_format)
        return batch_norm(x, running_mean, running_var, weight, bias, *settings)
    if data_format[-1] == "C" and x.ndim > 2:
        y = instance_norm(F.moveaxis(x, -1, 1), weight=weight, bias=bias, eps=eps)
        return F.moveaxis(y, 1, -1)
    _check_rank("instance_norm", x)
    _check_channels("instance_norm", x, 1, bias if weight is None else weight)
    y = apply("layer_norm", x, axes=x.ndim - 2, epsilon=float(eps))
    y = y if weight is None else y * _per_channel(weight, x.ndim, 1)
    return y if bias is None else y + _per_channel(bias, x.ndim, 1)


@public
@in_float32
def normalize(
    x: Any, p: float = 2, axis: int = 1, epsilon: float = 1e-12, name: str | None = None
) -> Any:
    """x / max(|x|, epsilon) with the p-norm along an axis: (n, k) -> (n, k).

    >>> print(dy2st.nn.functional.normalize(dy2st.to_tensor([[3.0, 4.0]])).round(3))
    [[0.6 0.8]]
    """
    size = F.norm(x, p=float(p), axis=normalize_axis(axis, x.ndim), keepdim=True)
    return x / F.maximum(size, epsilon)
