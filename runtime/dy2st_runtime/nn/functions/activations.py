"""Activations that few models use, and those that draw random numbers."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.dims import require
from dy2st_runtime.errors import ArgumentError, ShapeError
from dy2st_runtime.ir import F
from dy2st_runtime.ir.arguments import as_int, as_shape, normalize_axis
from dy2st_runtime.ops.short_floats import in_float32


def maxout(x: Any, groups: int, axis: int = 1, name: str | None = None) -> Any:
    """(n, c, ...) -> (n, c / groups, ...): the largest of `groups` channels (Goodfellow 2013).

    >>> print(maxout(F.reshape(F.arange(4.0), [1, 4]), 2))
    [[1. 3.]]
    """
    place, count = normalize_axis(axis, x.ndim), as_int(groups, "groups")
    channels = x.shape[place]
    require(channels % count == 0, f"maxout: {channels} channels are no multiple of {count}")
    parts = F.unflatten(x, place, [channels // count, count])
    return F.max(parts, axis=place + 1)


def thresholded_relu(
    x: Any, threshold: float = 1.0, value: float = 0.0, name: str | None = None
) -> Any:
    """x where x > threshold, else value.

    >>> print(thresholded_relu(F.ones([2]) * 2.0, 1.5))
    [2. 2.]
    """
    return F.where(F.greater_than(x, threshold), x, F.full_like(x, value))


def thresholded_relu_(
    x: Any, threshold: float = 1.0, value: float = 0.0, name: str | None = None
) -> Any:
    """`thresholded_relu` in place: the tensor is the result from here on.

    >>> x = dy2st.to_tensor([0.5, 2.0])
    >>> _ = dy2st.nn.functional.thresholded_relu_(x)
    >>> x.tolist()
    [0.0, 2.0]
    """
    x.replace(lambda old: thresholded_relu(old, threshold, value))
    return x


def rrelu(
    x: Any,
    lower: float = 1.0 / 8.0,
    upper: float = 1.0 / 3.0,
    training: bool = True,
    name: str | None = None,
) -> Any:
    """x where x >= 0, else a * x: a is drawn from [lower, upper), or else their mean (Xu 2015).

    >>> print(rrelu(-F.ones([1]), 0.2, 0.4, training=False))
    [-0.3]
    """
    if not 0 <= lower <= upper <= 1:
        raise ArgumentError(f"rrelu: 0 <= lower <= upper <= 1, not {lower} and {upper}")
    slope: Any = (lower + upper) / 2
    if training:
        slope = F.uniform(x.shape, x.dtype, lower, upper)
    return F.where(F.less_than(x, 0), x * slope, x)


def gumbel_softmax(
    x: Any, temperature: float = 1.0, hard: bool = False, axis: int = -1, name: str | None = None
) -> Any:
    """softmax((x + noise) / temperature), the noise from Gumbel's distribution (Jang 2016).

    With `hard` 1 at the largest and 0 elsewhere, with the gradient of the soft one.

    >>> y = dy2st.nn.functional.gumbel_softmax(dy2st.zeros([2, 3]), hard=True)
    >>> y.sum(-1).tolist()
    [1.0, 1.0]
    """
    tiny = 1e-20
    uniform = F.uniform(x.shape, x.dtype, 0.0, 1.0)
    noise = -F.log(-F.log(uniform + tiny) + tiny)
    soft = F.softmax((x + noise) / temperature, axis)
    if not hard:
        return soft
    place = normalize_axis(axis, x.ndim)
    shape: list[Any] = [1] * x.ndim
    shape[place] = x.shape[place]
    classes = F.reshape(F.arange(x.shape[place]), shape)
    chosen = F.equal(F.argmax(soft, place, keepdim=True), classes)
    return F.cast(chosen, x.dtype) - F.detach(soft) + soft


@in_float32
def swiglu(x: Any, y: Any = None, name: str | None = None) -> Any:
    """silu(x) * y; without y the halves of x along its last axis (Shazeer 2020).

    >>> swiglu(F.ones([2, 6])).shape
    [2, 3]
    """
    if y is None:
        x, y = F.split(x, 2, -1)
    return F.silu(x) * y


@in_float32
def rms_norm(
    input: Any, normalized_shape: Any, weight: Any = None, eps: float = 1e-5, name: Any = None
) -> tuple[Any, Any]:
    """x * r * weight with r = 1 / sqrt(mean(x**2) + eps) over the last axes; and r (Zhang 2019).

    >>> y, r = rms_norm(F.ones([3, 4]) * 2.0, 4, eps=0.0)
    >>> print(y[0], r)
    [1. 1. 1. 1.] [0.5 0.5 0.5]
    """
    sizes = as_shape(normalized_shape)
    if not 0 < len(sizes) <= input.ndim:
        raise ShapeError(f"rms_norm: {list(sizes)} are no last sizes of {input.shape}")
    kept = input.shape[: input.ndim - len(sizes)]
    for have, want in zip(input.shape[len(kept) :], sizes, strict=True):
        require(have == want, f"rms_norm: the last sizes of {input.shape} are not {list(sizes)}")
    axes = list(range(len(kept), input.ndim))
    share = F.rsqrt(F.mean(F.square(input), axis=axes, keepdim=True) + eps)
    y = input * share
    return (y if weight is None else y * weight), F.reshape(share, kept)


def logsigmoid(x: Any, name: str | None = None) -> Any:
    """-log(1 + exp(-x)): `log_sigmoid` under another name.

    >>> round(dy2st.nn.functional.logsigmoid(dy2st.zeros([1])).item(), 4)
    -0.6931
    """
    return F.log_sigmoid(x)


def softmax2d(x: Any) -> Any:
    """softmax over the channels of (n, c, h, w) or (c, h, w)."""
    if x.ndim not in (3, 4):
        raise ShapeError(f"Softmax2D takes (n, c, h, w) or (c, h, w), not the shape {x.shape}")
    return F.softmax(x, -3)
