"""What operators compute, by NumPy and SciPy: a function of arrays for each record.

Floats come as float64, or complex128, whatever the dtype of the operator's operands is. A result
that is None is not looked at.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
import scipy.signal
import scipy.special

from dy2st_runtime.ir import DEFINITIONS, Effect
from tests.runtime.ops.exact_functions import ROWS as UNARY


def of_numpy(names: str) -> dict[str, Any]:
    return {name: getattr(np, name) for name in names.split()}


def reduced(function: Any, **options: Any) -> Any:
    return lambda x, axis, keepdim: function(x, axis=axis, keepdims=keepdim, **options)


def counted(function: Any) -> Any:
    """A sum or product: int64 of integers."""

    def reduce(x, axis, keepdim):
        dtype = np.int64 if x.dtype.kind in "iub" else None
        return function(x, axis=axis, keepdims=keepdim, dtype=dtype)

    return reduce


def running(function: Any) -> Any:
    def accumulate(x, axis, reverse=False):
        x = x.astype(np.int64) if x.dtype.kind in "iub" else x
        x = np.flip(x, axis) if reverse else x
        made = function(x, axis=axis)
        return np.flip(made, axis) if reverse else made

    return accumulate


def order(x, axis, descending=False):
    """Places of a stable sort in which NaN is the largest."""

    def places(row):
        keys = [(bool(np.isnan(v)), 0 if np.isnan(v) else v) for v in row.tolist()]
        return np.array(sorted(range(len(keys)), key=keys.__getitem__, reverse=descending), int)

    return np.apply_along_axis(places, axis, x) if x.size else np.zeros(x.shape, int)


def places(starts, stops, steps):
    """The places of a slice along each axis; stops and starts do not count from the end."""
    return [np.arange(*span) for span in zip(starts, stops, steps, strict=True)]


def slice_of(x, starts, stops, steps, drop=()):
    return x[np.ix_(*places(starts, stops, steps))].squeeze(tuple(drop)) if x.ndim else x


def slice_update(x, value, starts, stops, steps, drop=()):
    made, place = x.copy(), np.ix_(*places(starts, stops, steps))
    made[place] = value.reshape(made[place].shape)
    return made


def at(indices, axes, rank):
    parts = [slice(None)] * rank
    for axis, index in zip(axes, indices, strict=True):
        parts[axis] = index
    return tuple(parts)


def index(x, *indices, axes):
    """Adjoining axes alone: the samples have no others."""
    return x[at(indices, axes, x.ndim)]


def index_put(x, value, *indices, axes, accumulate=False):
    made = x.copy()
    place = at(indices, axes, x.ndim)
    if accumulate:
        np.add.at(made, place, value)
    else:
        made[place] = value
    return made


def sum_to(x, shape):
    lead = x.ndim - len(shape)
    axes = [i for i in range(x.ndim) if i < lead or shape[i - lead] != x.shape[i]]
    return x.sum(tuple(axes), keepdims=True, dtype=x.dtype).reshape(shape)


def pad(x, pads, mode="constant", value=0):
    """What is negative is cut off, after all else was made of all elements."""
    how = {"replicate": "edge", "circular": "wrap"}.get(mode, mode)
    more = {"constant_values": value} if how == "constant" else {}
    wide = np.pad(x, [(max(a, 0), max(b, 0)) for a, b in pads], how, **more)
    ends = zip(pads, wide.shape, strict=True)
    return wide[tuple(slice(max(-a, 0), size - max(-b, 0)) for (a, b), size in ends)]


def layer_norm(x, weight=None, bias=None, *, axes, epsilon):
    along = tuple(range(x.ndim - axes, x.ndim))
    middle, spread = x.mean(along, keepdims=True), x.var(along, keepdims=True)
    made = (x - middle) / np.sqrt(spread + epsilon)
    made = made if weight is None else made * weight
    return made if bias is None else made + bias


def batch_norm(x, mean, variance, weight=None, bias=None, *, axis, epsilon):
    shape = [1] * x.ndim
    shape[axis] = -1
    mean, variance = mean.reshape(shape), variance.reshape(shape)
    made = (x - mean) / np.sqrt(variance + epsilon)
    made = made if weight is None else made * weight.reshape(shape)
    return made if bias is None else made + bias.reshape(shape)


def windows(x, kernel, strides, pads, fill):
    """The windows of an image (n, c, ...), along last axes."""
    rank = len(kernel)
    outer = [(0, 0)] * (x.ndim - rank) + list(pads)
    x = np.pad(x, outer, constant_values=fill)
    seen = np.lib.stride_tricks.sliding_window_view(x, kernel, tuple(range(-rank, 0)))
    steps = (slice(None),) * (x.ndim - rank) + tuple(slice(None, None, s) for s in strides)
    return seen[steps]


def window_max(x, kernel, strides, pads):
    low = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    return windows(x, kernel, strides, pads, low).max(tuple(range(-len(kernel), 0)))


def conv(x, w, bias=None, *, strides, pads, dilations, groups=1):
    wide = [(size - 1) * step + 1 for size, step in zip(w.shape[2:], dilations, strict=True)]
    seen = windows(x, tuple(wide), strides, pads, 0)
    seen = seen[(..., *(slice(None, None, d) for d in dilations))]
    rank, parts = len(wide), []
    for xs, ws in zip(np.split(seen, groups, 1), np.split(w, groups, 0), strict=True):
        axes = ([1, *range(2 + rank, 2 + 2 * rank)], [1, *range(2, 2 + rank)])
        parts.append(np.moveaxis(np.tensordot(xs, ws, axes), -1, 1))
    made = np.concatenate(parts, 1)
    return made if bias is None else made + bias.reshape(-1, *[1] * rank)


def softmax(x, axis):
    powers = np.exp(x - x.max(axis, keepdims=True)) if x.size else x
    return powers / powers.sum(axis, keepdims=True)


def log_softmax(x, axis):
    less = x - x.max(axis, keepdims=True) if x.size else x
    return less - np.log(np.exp(less).sum(axis, keepdims=True))


def firsts(x):
    """Of rows that are equal and next to each other the first one, which it is, how many."""
    rows = x.reshape(len(x), -1)
    keep = np.r_[True, (rows[1:] != rows[:-1]).any(1)] if x.size else np.zeros(0, bool)
    return x[keep], np.cumsum(keep) - 1, np.diff(np.r_[np.flatnonzero(keep), len(x)])


def bincount(x, weights=None, minlength=0):
    return np.bincount(x, weights, minlength)


def searchsorted(sequence, values, right=False):
    side = "right" if right else "left"
    if sequence.ndim == 1:
        return np.searchsorted(sequence, values, side)
    rows = sequence.reshape(-1, sequence.shape[-1]), values.reshape(-1, values.shape[-1])
    found = [np.searchsorted(a, v, side) for a, v in zip(*rows, strict=True)]
    return np.array(found).reshape(values.shape)


def one_hot(x, num_classes):
    return (x[..., None] == np.arange(num_classes)).astype(float)


def put_reduced(x, index, values, *, axis, reduce, include_self=True):
    assert include_self
    made = x.copy()
    place = np.indices(index.shape)
    place[axis] = index
    step = {"mul": np.multiply, "add": np.add, "amin": np.minimum, "amax": np.maximum}
    step[reduce].at(made, tuple(place), values)
    return made


def extremes(function: Any) -> Any:
    return lambda x, axis: (function.accumulate(x, axis=axis), None)


def clip(x, min=None, max=None):
    return x if min is None and max is None else np.clip(x, min, max)


def fourier(x, axis, inverse=False, norm="backward"):
    return (np.fft.ifft if inverse else np.fft.fft)(x, axis=axis, norm=norm)


def pair(x, y):
    x, y = np.broadcast_arrays(x, y)
    return np.stack([x, y], -1).astype(float).view(complex)[..., 0]


REFERENCES: dict[str, Any] = {
    **of_numpy("add subtract multiply floor_divide remainder maximum minimum equal not_equal"),
    **of_numpy("less_equal greater_equal logical_and logical_or logical_xor logical_not"),
    **of_numpy("bitwise_and bitwise_or bitwise_xor bitwise_not gcd lcm left_shift right_shift"),
    **of_numpy("isfinite isinf isnan signbit conj real frexp matmul logaddexp where"),
    "divide": np.true_divide,
    "pow": np.power,
    "atan2": np.arctan2,
    "less_than": np.less,
    "greater_than": np.greater,
    "gammainc": scipy.special.gammainc,
    "gammaincc": scipy.special.gammaincc,
    "complex": pair,
    "clip": clip,
    "assign": lambda x: x,
    "detach": lambda x: x,
    "reshard": lambda x, mesh, placements: x,
    "straight_through": lambda x, source: x,
    "bitcast": lambda x, dtype: np.frombuffer(x.tobytes(), dtype).reshape(x.shape),
    "cast": lambda x, dtype: x.astype(dtype),
    "shape": lambda x: np.array(x.shape),
    "sum": counted(np.sum),
    "prod": counted(np.prod),
    "mean": reduced(np.mean),
    "max": reduced(np.max),
    "min": reduced(np.min),
    "any": reduced(np.any),
    "all": reduced(np.all),
    "argmax": reduced(np.argmax),
    "argmin": reduced(np.argmin),
    "sum_to": sum_to,
    "cumsum": running(np.cumsum),
    "cumprod": running(np.cumprod),
    "logcumsumexp": lambda x, axis: np.logaddexp.accumulate(x, axis=axis),
    "cummax": extremes(np.maximum),
    "cummin": extremes(np.minimum),
    "argsort": order,
    "top_places": lambda x, axis, count, largest: order(x, axis, largest).take(range(count), axis),
    "softmax": lambda x, axis: softmax(x.astype(float), axis),
    "log_softmax": lambda x, axis: log_softmax(x.astype(float), axis),
    "layer_norm": layer_norm,
    "batch_norm": batch_norm,
    "conv": conv,
    "window_max": window_max,
    "window_sum": lambda x, kernel, strides, pads: windows(x, kernel, strides, pads, 0).sum(
        tuple(range(-len(kernel), 0))
    ),
    "broadcast_to": lambda x, shape: np.broadcast_to(x, shape),
    "reshape": lambda x, shape: x.reshape(shape),
    "transpose": lambda x, perm: x.transpose(perm),
    "flip": lambda x, axis: np.flip(x, axis),
    "roll": lambda x, shifts, axis: np.roll(x, shifts, axis),
    "slice": slice_of,
    "slice_update": slice_update,
    "split": lambda x, sections, axis: tuple(np.split(x, np.cumsum(sections)[:-1], axis)),
    "stack": lambda *xs, axis: np.stack(xs, axis),
    "concat": lambda *xs, axis: np.concatenate(xs, axis),
    "pad": pad,
    "tril": lambda x, diagonal: np.tril(x, diagonal),
    "triu": lambda x, diagonal: np.triu(x, diagonal),
    "index": index,
    "index_put": index_put,
    "scatter_reduce": put_reduced,
    "one_hot": one_hot,
    "nonzero": lambda x: np.argwhere(x),
    "bincount": bincount,
    "searchsorted": searchsorted,
    "unique_consecutive": firsts,
    "eye": lambda rows, columns, dtype: np.eye(rows, columns),
    "full": lambda shape, value, dtype: np.full(shape, value),
    "arange": lambda start, stop, step, dtype: np.arange(start, stop, step),
    "linspace": lambda start, stop, num, dtype: np.linspace(start, stop, num),
    "constant": lambda value: value,
    "from_dim": lambda value, dtype: np.asarray(value),
    "fourier": fourier,
    "fourier_of_real": lambda x, axis, norm: np.fft.rfft(x, axis=axis, norm=norm),
    "fourier_to_real": lambda x, axis, n, norm: np.fft.irfft(x, n, axis, norm),
    "det": np.linalg.det,
    "slogdet": lambda x: tuple(np.linalg.slogdet(x)),
    "inverse": np.linalg.inv,
    "solve": np.linalg.solve,
    "matrix_exp": scipy.linalg.expm,
    "pinv": lambda x, rcond, hermitian: np.linalg.pinv(x, rcond, hermitian),
}

OF_FLOATS = ("batch_norm",)
"""What integers become is for their callers to say."""

NARROW = {"nextafter": np.nextafter}
"""Of floats in their own dtype."""

ELSEWHERE = {
    **dict.fromkeys(UNARY, "test_exact_functions.py, against mpmath"),
    "polygamma": "test_exact_functions.py, against mpmath",
    **dict.fromkeys(
        "failure hooked sealed sealed_results spend_result".split(),
        "no mathematics: what is raised, handed on or counted",
    ),
    **dict.fromkeys(
        "cholesky eig eigh lu lu_order qr svd".split(),
        "factors are not unique: test_linalg.py puts them together again",
    ),
    **dict.fromkeys(
        "generate_proposals matrix_nms nms regions regions_back roi_pool_places bilinear_weights".split(),
        "boxes: test_detection.py and test_roi.py, against loops",
    ),
    **dict.fromkeys(
        "conv_transpose conv_weight max_pool window_spread".split(),
        "gradients of `conv` and `window_max`; test_convolution.py, test_pooling.py, onnxruntime",
    ),
    **dict.fromkeys(["ctc", "ctc_slope"], "test_alignment.py, against sums over all paths"),
    "unique": "several forms of results: test_counts_of_data.py, against NumPy",
    "slice_places": "places of a slice, `range(*slice(...).indices(n))`: test_indexing.py",
}  # fmt: skip
"""Operators whose references stand in another file, or that have none; with the reason."""


def is_elsewhere(name: str) -> bool:
    """What is random has moments (test_against_references.py), what is visible effects; those on
    lists of the Program are tested by hand, `dynamic_` ones against their originals."""
    if DEFINITIONS[name].effect is not Effect.PURE or name in ("cond", "while", "call"):
        return True
    return name in ELSEWHERE or name.startswith(("array_", "dynamic_"))
