"""Look-up tables, dropout, attention and resizing: functions of `nn.functional`."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.dims import less_equal, minimum, require
from dy2st_runtime.errors import ArgumentError, DTypeError, ShapeError
from dy2st_runtime.ir import F, public
from dy2st_runtime.ir.arguments import as_integers, as_shape, is_unknown, normalize_axes, pair
from dy2st_runtime.ops.convolve import channels_back, channels_first
from dy2st_runtime.ops.rules import created


@public
def embedding(
    x: Any,
    weight: Any,
    padding_idx: int | None = None,
    sparse: bool = False,
    name: str | None = None,
) -> Any:
    """weight[x]: integers (...), (rows, width) -> (..., width).

    The row `padding_idx` gives zeros and gets no gradient.
    """
    if x.dtype.kind not in "iu":
        raise DTypeError(f"embedding takes integers, not {x.dtype}")
    rows = F.gather(weight, x)
    if padding_idx is None:
        return rows
    pad = padding_idx + weight.shape[0] if padding_idx < 0 else padding_idx
    hit = F.unsqueeze(F.equal(x, pad), [x.ndim])
    return F.where(hit, F.zeros_like(rows), rows)


@public
def dropout(
    x: Any,
    p: float = 0.5,
    axis: Any = None,
    training: bool = True,
    mode: str = "upscale_in_train",
    name: str | None = None,
) -> Any:
    """While training, zero with probability p.

    'upscale_in_train' divides what is left by 1 - p; 'downscale_in_infer' multiplies by 1 - p
    when not training. With `axis` whole slices are zeroed: the mask varies along these axes only.
    """
    if not 0 <= p <= 1:
        raise ArgumentError(f"dropout: p is a probability, not {p}")
    if mode not in ("upscale_in_train", "downscale_in_infer"):
        raise ArgumentError(f"dropout: mode {mode!r} is not known")
    upscale = mode == "upscale_in_train"
    if not training:
        return x if upscale else x * (1.0 - p)
    if p == 0:
        return x
    shape = list(x.shape)
    if axis is not None:
        kept = normalize_axes(axis, x.ndim)
        shape = [size if a in kept else 1 for a, size in enumerate(shape)]
    mask = F.bernoulli(F.full(shape, 1.0 - p, x.dtype))
    if not upscale or p == 1:
        return x * mask
    return x * (mask / (1.0 - p))


@public
def dropout2d(
    x: Any,
    p: float = 0.5,
    training: bool = True,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """While training, zero whole channels with probability p."""
    return dropout(x, p, [0, 1] if data_format == "NCHW" else [0, 3], training)


@public
def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    training: bool = True,
    name: str | None = None,
) -> Any:
    """softmax(q k' / sqrt(d) + mask) v: (n, l, heads, d) three times -> (n, l, heads, d)."""
    q, k, v = (F.transpose(part, [0, 2, 1, 3]) for part in (query, key, value))
    scores = F.matmul(q * query.shape[-1] ** -0.5, k, transpose_y=True)
    if is_causal:
        rows = F.unsqueeze(F.arange(q.shape[2]), [1])
        scores = F.where(F.less_equal(F.arange(k.shape[2]), rows), scores, float("-inf"))
    if attn_mask is not None:
        is_bool = attn_mask.dtype.kind == "b"
        scores = F.where(attn_mask, scores, float("-inf")) if is_bool else scores + attn_mask
    weights = dropout(F.softmax(scores, -1), dropout_p, training=training)
    return F.transpose(F.matmul(weights, v), [0, 2, 1, 3])


@public
def interpolate(
    x: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool = False,
    align_mode: int = 0,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """Images of another size: (n, c, h, w) -> (n, c, h', w'), 'nearest' or 'bilinear'."""
    if mode not in ("nearest", "bilinear"):
        raise ArgumentError(f"interpolate: mode is 'nearest' or 'bilinear', not {mode!r}")
    if (size is None) == (scale_factor is None):
        raise ArgumentError("interpolate: give either size or scale_factor")
    if data_format == "NHWC":
        y = interpolate(F.moveaxis(x, -1, 1), size, scale_factor, mode, align_corners)
        return F.moveaxis(y, 1, -1)
    how = {"mode": mode, "align_corners": align_corners}
    if is_unknown(size):
        wanted, known = as_integers(size)
        return F.dynamic("resize", x, wanted, known=known, **how)
    if is_unknown(scale_factor):
        return F.dynamic("upsampling", x, _as_tensor(scale_factor), **how)
    given = scale_factor if size is None else as_shape(size)
    given = given if isinstance(given, (list, tuple)) else [given] * (x.ndim - 2)
    if x.ndim < 3 or len(given) != x.ndim - 2:
        raise ShapeError(f"interpolate: {list(given)} for the axes behind (n, c) of {x.shape}")
    sizes = given
    if size is None:
        sizes = [_scaled(n, factor) for n, factor in zip(x.shape[2:], given, strict=True)]
    else:
        created("interpolate", x.dtype, sizes)
    for axis, wanted in enumerate(sizes, 2):
        least, old = minimum(wanted, 1), x.shape[axis]
        are_there = size is None or less_equal(least, old) is True or least <= old
        require(are_there, f"interpolate: an image of {x.shape[2:]} has no pixels to repeat")
        x = _resized(x, axis, wanted, mode, align_corners)
    return x


def _as_tensor(values: Any) -> Any:
    """A tensor of one or several numbers, whole or not."""
    return F.stack(list(values)) if isinstance(values, (list, tuple)) else values


_FINEST_FACTOR = 1024


def _scaled(size: Any, factor: Any) -> Any:
    if isinstance(size, int):
        return int(size * factor)
    above, below = float(factor).as_integer_ratio()
    if below > _FINEST_FACTOR:  # floats would round the product
        raise ArgumentError(
            f"interpolate: the factor {factor} needs a known size, not {size}; a factor such as "
            "1.5, that is a fraction by a power of two, does not"
        )
    return size * above // below


def _resized(x: Any, axis: int, size: Any, mode: str, align_corners: bool) -> Any:
    old = x.shape[axis]
    steps = F.cast(F.arange(size), "float64")
    if mode == "nearest":
        places = F.floor(steps * F.cast(old, "float64") / F.cast(size, "float64"))
        return F.gather(x, F.cast(places, "int64"), axis)
    if align_corners:
        places = steps * F.cast(old - 1, "float64") / F.maximum(F.cast(size - 1, "float64"), 1.0)
    else:
        places = (steps + 0.5) * F.cast(old, "float64") / F.cast(size, "float64") - 0.5
        places = F.maximum(places, 0.0)
    low = F.minimum(F.floor(places), F.cast(old - 1, "float64"))
    high = F.minimum(low + 1.0, F.cast(old - 1, "float64"))
    shape: list[Any] = [1] * x.ndim
    shape[axis] = size
    share = F.cast(F.reshape(places - low, shape), x.dtype)
    first = F.gather(x, F.cast(low, "int64"), axis)
    second = F.gather(x, F.cast(high, "int64"), axis)
    return first * (1.0 - share) + second * share


@public
def upsample(
    x: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool = False,
) -> Any:
    """`interpolate` under another name."""
    return interpolate(x, size, scale_factor, mode, align_corners)


@public
def pixel_shuffle(x: Any, upscale_factor: int, data_format: str = "NCHW") -> Any:
    """(n, c*r*r, h, w) -> (n, c, h*r, w*r); with "NHWC" the channels come last."""
    x, is_last = channels_first(x, data_format, 2)
    (r,), (n, c, h, w) = pair(upscale_factor, 1, "upscale_factor"), x.shape
    require(c % (r * r) == 0, f"pixel_shuffle: {c} channels are no multiple of {r * r}")
    x = F.reshape(x, [n, c // (r * r), r, r, h, w])
    y = F.reshape(F.transpose(x, [0, 1, 4, 2, 5, 3]), [n, c // (r * r), h * r, w * r])
    return channels_back(y, is_last)
