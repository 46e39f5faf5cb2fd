"""Normalisations, attention, resizing and other layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dy2st.importers.sampling import grid_sample
from dy2st.importers.torch.rows.elementwise import safe_softmax
from dy2st.importers.torch.table import Call, Row, as_tensor, is_known, row, rows
from dy2st_runtime.dims import Dim, product
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.nn import functional as N

# -- normalisations ---------------------------------------------------------------------------


def _along(x: Any, value: Any, axis: int = 1) -> Any:
    """A vector of channels in the shape that broadcasts."""
    shape = [1] * x.ndim
    shape[axis] = -1
    return F.reshape(value, shape)


def _scaled(x: Any, weight: Any, bias: Any) -> Any:
    x = x if weight is None else F.multiply(x, F.cast(_along(x, weight), x.dtype))
    return x if bias is None else F.add(x, F.cast(_along(x, bias), x.dtype))


def _by_batch(
    at: Call, x: Any, weight: Any, bias: Any, mean: Any, variance: Any, momentum: float, eps: float
) -> tuple[Any, ...]:
    """Normalised by its own moments; they, and the running ones after this batch."""
    axes = [axis for axis in range(x.ndim) if axis != 1]
    wide = F.cast(x, "float32") if x.dtype.itemsize == 2 else x
    own = F.mean(wide, axes, True)
    off = F.subtract(wide, own)
    spread = F.mean(F.multiply(off, off), axes, True)
    scale = F.rsqrt(F.add(spread, as_tensor(eps, spread.dtype)))
    made = F.cast(_scaled(F.multiply(off, scale), weight, bias), x.dtype)
    own, spread, scale = (F.reshape(F.detach(one), [-1]) for one in (own, spread, scale))
    if mean is None:
        return made, own, scale, None, None
    count = product([x.shape[axis] for axis in axes])
    free = F.divide(as_tensor(count, spread.dtype), as_tensor(count - 1, spread.dtype))
    kept = [
        F.add(
            F.multiply(old, as_tensor(1 - momentum, old.dtype)),
            F.multiply(F.cast(new, old.dtype), as_tensor(momentum, old.dtype)),
        )
        for old, new in ((mean, own), (variance, F.multiply(spread, free)))
    ]
    return made, own, scale, *kept


def _batch_norm(
    at: Call,
    x: Any,
    weight: Any,
    bias: Any,
    mean: Any,
    variance: Any,
    training: bool,
    momentum: float,
    eps: float,
    *_: Any,
) -> tuple[Any, ...]:
    if training or mean is None:
        return _by_batch(at, x, weight, bias, mean, variance, momentum, eps)
    count = [mean.shape[0]]
    weight = F.ones(count, mean.dtype) if weight is None else weight
    bias = F.zeros(count, mean.dtype) if bias is None else bias
    made = N.batch_norm(x, mean, variance, weight, bias, False, epsilon=eps)
    return made, F.zeros([0], mean.dtype), F.zeros([0], mean.dtype), mean, variance


rows(
    {
        "batch_norm": lambda at, *args: _batch_norm(at, *args)[0],
        "_native_batch_norm_legit_functional": _batch_norm,
        "native_batch_norm _native_batch_norm_legit": lambda at, *args: _batch_norm(at, *args)[:3],
        "_native_batch_norm_legit.no_stats": lambda at, x, w, b, *args: _batch_norm(
            at, x, w, b, None, None, *args
        )[:3],
        "_native_batch_norm_legit_no_training": lambda at, x, w, b, mean, variance, momentum, eps: (
            _batch_norm(at, x, w, b, mean, variance, False, momentum, eps)[:3]
        ),
        "_batch_norm_no_update": lambda at, x, w, b, mean, variance, momentum, eps: (
            *_batch_norm(at, x, w, b, mean, variance, False, momentum, eps)[:3],
            F.zeros([0], "uint8"),
        ),
    }
)


@row("aten._batch_norm_with_update_functional.default")
def _with_update(at: Call, *args: Any) -> tuple[Any, ...]:
    made = _by_batch(at, *args)
    return (*made[:3], F.zeros([0], "uint8"), *made[3:])


@row("aten.instance_norm.default")
def _instance_norm(
    at: Call,
    x: Any,
    weight: Any,
    bias: Any,
    mean: Any,
    variance: Any,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    *_: Any,
) -> Any:
    if not use_input_stats:
        return _batch_norm(at, x, weight, bias, mean, variance, False, momentum, eps)[0]
    axes = list(range(2, x.ndim))
    off = F.subtract(x, F.mean(x, axes, True))
    spread = F.mean(F.multiply(off, off), axes, True)
    scale = F.rsqrt(F.add(spread, as_tensor(eps, x.dtype)))
    return _scaled(F.multiply(off, scale), weight, bias)


@row("aten.layer_norm.default")
def _layer_norm(
    at: Call, x: Any, shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5, *_: Any
) -> Any:
    return F.layer_norm(x, list(shape), weight, bias, eps)


@row("aten.native_layer_norm.default")
def _native_layer_norm(at: Call, x: Any, shape: Any, weight: Any, bias: Any, eps: float) -> Any:
    axes = list(range(x.ndim - len(shape), x.ndim))
    wide = F.cast(x, at.dtypes[1])
    mean = F.mean(wide, axes, True)
    off = F.subtract(wide, mean)
    spread = F.mean(F.multiply(off, off), axes, True)
    scale = F.rsqrt(F.add(spread, as_tensor(eps, spread.dtype)))
    made = F.layer_norm(x, list(shape), weight, bias, eps)
    return made, F.detach(mean), F.detach(scale)


@row("aten.group_norm.default")
def _group_norm(
    at: Call, x: Any, groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5, *_: Any
) -> Any:
    if _is_empty(x):
        return F.assign(x)
    return N.group_norm(x, groups, eps, weight, bias)


def _is_empty(x: Any) -> bool:
    return any(is_known(size, 0) for size in x.shape)


@row("aten.native_group_norm.default")
def _native_group_norm(
    at: Call, x: Any, weight: Any, bias: Any, n: Any, c: Any, size: Any, groups: int, eps: float
) -> Any:
    parts = F.reshape(x, [n, groups, 0 if _is_empty(x) else -1])
    mean = F.mean(parts, [2])
    off = F.subtract(parts, F.unsqueeze(mean, 2))
    scale = F.rsqrt(F.add(F.mean(F.multiply(off, off), [2]), as_tensor(eps, x.dtype)))
    made = _group_norm(at, x, groups, weight, bias, eps)
    return made, mean, scale


@row("aten.rms_norm.default", "aten._fused_rms_norm.default")
def _rms_norm(at: Call, x: Any, shape: Any, weight: Any = None, eps: Any = None) -> Any:
    axes = list(range(x.ndim - len(shape), x.ndim))
    if eps is None:
        eps = {"float64": 2.0**-52, "float16": 2.0**-10, "bfloat16": 2.0**-7}.get(
            x.dtype.name, 2.0**-23
        )
    wide = F.cast(x, "float32") if x.dtype.itemsize == 2 else x
    squares = F.multiply(wide, wide)
    scale = F.add(F.mean(squares, axes, True), as_tensor(eps, squares.dtype))
    scale = F.reciprocal(F.sqrt(scale)) if x.dtype.kind == "c" else F.rsqrt(scale)
    made = F.multiply(wide, scale)
    made = F.cast(
        made if weight is None else F.multiply(made, F.cast(weight, made.dtype)), at.dtype
    )
    return (made, F.detach(scale)) if "fused" in at.name else made


# -- attention --------------------------------------------------------------------------------


@row("aten.scaled_dot_product_attention.default")
def _attention(
    at: Call,
    q: Any,
    k: Any,
    v: Any,
    mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: Any = None,
    enable_gqa: bool = False,
) -> Any:
    if enable_gqa:
        k, v = (_for_heads(one, q.shape[-3]) for one in (k, v))
    k, v = at.cast(k), at.cast(v)
    scale = _root_scale(q) if scale is None else as_tensor(scale, q.dtype)
    scores = F.matmul(F.multiply(q, scale), k, transpose_y=True)
    least = as_tensor(-np.inf, scores.dtype)
    if is_causal:
        ones = F.tril(F.ones([q.shape[-2], k.shape[-2]], "bool"))
        scores = F.where(ones, scores, least)
    if mask is not None and mask.dtype.kind == "b":
        scores = F.where(mask, scores, least)
    elif mask is not None:
        scores = F.add(scores, F.cast(mask, scores.dtype))
    weights = N.softmax(scores, -1) if mask is None else safe_softmax(at, scores, -1)
    if dropout_p:
        weights = N.dropout(weights, dropout_p)
    return F.matmul(weights, v)


def _root_scale(q: Any) -> Any:
    size = q.shape[-1]
    if isinstance(size, Dim):
        return F.rsqrt(as_tensor(size, q.dtype))
    return as_tensor(size**-0.5 if size else 1.0, q.dtype)


def _for_heads(x: Any, heads: Any) -> Any:
    """Each head as often as several heads of the queries share it."""
    *front, own, length, size = x.shape
    times = heads // own
    wide = F.broadcast_to(F.unsqueeze(x, -3), [*front, own, times, length, size])
    return F.reshape(wide, [*front, heads, length, size])


for _name in (
    "_scaled_dot_product_flash_attention_for_cpu",
    "_scaled_dot_product_flash_attention",
    "_scaled_dot_product_efficient_attention",
):
    rows(
        {
            _name: lambda at, q, k, v, dropout_p=0.0, is_causal=False, attn_mask=None, scale=None: (
                _attention(at, q, k, v, attn_mask, dropout_p, is_causal, scale=scale),
                *[None] * (len(at.dtypes) - 1),
            )
        }
    )


# -- bags of embeddings -----------------------------------------------------------------------


@row(
    "aten.embedding_bag.default",
    "aten.embedding_bag.padding_idx",
    "aten._embedding_bag.default",
    "aten._embedding_bag_forward_only.default",
)
def _bags(
    at: Call,
    weight: Any,
    indices: Any,
    offsets: Any,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Any = None,
    include_last_offset: bool = False,
    padding_idx: Any = -1,
) -> Any:
    """Sums (0), means (1) or maxima (2) of the rows between two offsets."""
    if at.name.endswith(".padding_idx") and padding_idx is not None and padding_idx < 0:
        padding_idx += weight.shape[0]
    count = offsets.shape[0] - (1 if include_last_offset else 0)
    places = F.arange(0, indices.shape[0], 1, offsets.dtype)
    starts = offsets[:count] if include_last_offset else offsets
    bag = F.subtract(F.searchsorted(starts, places, False, True), as_tensor(1))
    found = F.embedding(indices, weight)
    counted = F.ones([indices.shape[0]], found.dtype)
    if padding_idx is not None and padding_idx >= 0:
        is_padding = F.equal(indices, as_tensor(padding_idx, indices.dtype))
        counted = F.where(is_padding, as_tensor(0, found.dtype), counted)
        least = as_tensor(float("-inf") if mode == 2 else 0, found.dtype)
        found = F.where(F.unsqueeze(is_padding, 1), least, found)
    if per_sample_weights is not None:
        found = F.multiply(found, F.unsqueeze(per_sample_weights, 1))
    size = weight.shape[1]
    number = F.unsqueeze(F.index_add(F.zeros([count], found.dtype), bag, 0, counted), 1)
    if mode == 2:
        empty = F.zeros([count, size], found.dtype)
        index = F.broadcast_to(F.unsqueeze(bag, 1), found.shape)
        most = F.put_along_axis(empty, index, found, 0, "amax", False, broadcast=False)
        return F.where(F.greater_than(number, as_tensor(0)), most, empty), None, None, None
    total = F.index_add(F.zeros([count, size], found.dtype), bag, 0, found)
    if mode == 0:
        return total, None, None, None
    return F.divide(total, F.maximum(number, F.ones_like(number))), None, None, None


# -- resizing ---------------------------------------------------------------------------------

_FORMATS = {3: "NCW", 4: "NCHW", 5: "NCDHW"}


def _resized(mode: str, has_corners: bool) -> Row:
    def record(at: Call, x: Any, size: Any, *rest: Any, **named: Any) -> Any:
        size, corners, scale = _asked(x, size, has_corners, (*rest, *named.values()))
        if mode.startswith("nearest"):
            return _nearest(x, size, scale, 0.5 if mode == "nearest-exact" else 0.0)
        is_exact = scale is None or all(
            isinstance(have, int) and have * factor == wanted
            for have, factor, wanted in zip(x.shape[2:], scale, size, strict=True)
        )
        format = _FORMATS[x.ndim]
        if is_exact or corners or not all(isinstance(one, int) for one in (*x.shape[2:], *size)):
            return F.interpolate(x, size, None, mode, corners, 0, format)
        # by the user's factors rather than by the ratio of the sizes, from which rounding parts
        return F.interpolate(x, None, scale, mode, corners, 0, format, recompute_scale_factor=False)

    return record


def _asked(
    x: Any, size: Any, has_corners: bool, rest: Sequence[Any]
) -> tuple[list[Any], bool, Any]:
    """The sizes, whether corners are aligned, and the factors if there is one for each axis."""
    corners = bool(rest[0]) if has_corners and rest else False
    scales = rest[1:] if has_corners else rest
    if len(scales) == 1 and isinstance(scales[0], (list, tuple)):
        scales = scales[0]
    scale = [one for one in scales if one is not None]
    if size is None:
        size = [_times(s, f) for s, f in zip(x.shape[2:], scale, strict=True)]
    return list(size), corners, scale if len(scale) == x.ndim - 2 else None


def _antialiased(reach: float, filter: Callable[[Any], Any]) -> Row:
    """Each result is a mean of all that lies within its filter, which is as wide as the factor."""

    def record(at: Call, x: Any, size: Any, *rest: Any, **named: Any) -> Any:
        size, corners, scale = _asked(x, size, True, (*rest, *named.values()))
        for n, wanted in enumerate(size):
            have = x.shape[n + 2]
            if not isinstance(have, int) or not isinstance(wanted, int):
                raise ArgumentError("resizing with antialias takes sizes that are numbers")
            step = have / wanted if scale is None else 1 / scale[n]
            if corners:
                step = (have - 1) / (wanted - 1) if wanted > 1 else 0.0
            wide = max(step, 1.0)
            centres = step * (np.arange(wanted) + 0.5)  # for aligned corners, too
            low = np.maximum((centres - reach * wide + 0.5).astype(int), 0)
            high = np.minimum((centres + reach * wide + 0.5).astype(int), have)
            places = np.arange(have)
            weights = filter((places - centres[:, None] + 0.5) / wide)
            weights *= (places >= low[:, None]) & (places < high[:, None])
            weights /= weights.sum(1, keepdims=True)
            matrix = F.assign(weights.astype(x.dtype))
            x = F.moveaxis(F.matmul(F.moveaxis(x, n + 2, -1), matrix, transpose_y=True), -1, n + 2)
        return x

    return record


def _triangle(x: Any) -> Any:
    return np.maximum(1 - np.abs(x), 0)


def _cubic(x: Any) -> Any:
    x = np.abs(x)
    near = 1.5 * x**3 - 2.5 * x**2 + 1
    far = -0.5 * x**3 + 2.5 * x**2 - 4 * x + 2
    return np.where(x < 1, near, np.where(x < 2, far, 0.0))


def _times(size: Any, factor: float) -> Any:
    if isinstance(size, int):
        return int(size * factor)
    whole = round(factor)
    if whole == factor:
        return size * whole
    denominator = round(1 / factor)
    return size // denominator


def _nearest(x: Any, size: Sequence[Any], scale: Any, shift: float) -> Any:
    for n, wanted in enumerate(size):
        axis = n + 2
        have = x.shape[axis]
        places = F.cast(F.arange(0, wanted, 1, "int64"), "float32")
        ratio = F.divide(
            as_tensor(have, np.dtype("float32")), as_tensor(wanted, np.dtype("float32"))
        )
        if scale is not None:
            ratio = as_tensor(1.0 / scale[n], np.dtype("float32"))
        where = F.floor(F.multiply(F.add(places, as_tensor(shift, places.dtype)), ratio))
        last = as_tensor(have - 1, np.dtype("int64"))
        x = F.index_select(x, F.minimum(F.cast(where, "int64"), last), axis)
    return x


for _n, _linear in ((1, "linear"), (2, "bilinear"), (3, "trilinear")):
    rows(
        {
            f"upsample_nearest{_n}d upsample_nearest{_n}d.vec": _resized("nearest", False),
            f"_upsample_nearest_exact{_n}d _upsample_nearest_exact{_n}d.vec": _resized(
                "nearest-exact", False
            ),
            f"upsample_{_linear}{_n}d upsample_{_linear}{_n}d.vec": _resized(_linear, True),
        }
    )
rows(
    {
        "upsample_bicubic2d upsample_bicubic2d.vec": _resized("bicubic", True),
        "_upsample_bilinear2d_aa _upsample_bilinear2d_aa.vec": _antialiased(1.0, _triangle),
        "_upsample_bicubic2d_aa _upsample_bicubic2d_aa.vec": _antialiased(2.0, _cubic),
    }
)

_MODES = ("bilinear", "nearest", "bicubic")
_PADS = ("zeros", "border", "reflection")


@row("aten.grid_sampler.default", "aten.grid_sampler_2d.default", "aten.grid_sampler_3d.default")
def _grid_sampled(at: Call, x: Any, grid: Any, mode: int, padding: int, corners: bool) -> Any:
    how, beyond = _MODES[mode], _PADS[padding]
    if how == "bicubic":  # PaddlePaddle's has no such mode
        return grid_sample(
            x, grid, align_corners=corners, mode=how, padding_mode=beyond, brings_in=False
        )
    return N.grid_sample(x, grid, how, beyond, corners)


@row("aten.affine_grid_generator.default")
def _affine_grid(at: Call, theta: Any, size: Any, corners: bool) -> Any:
    return N.affine_grid(theta, list(size), corners)
