"""More elements around a tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st_runtime.dims import Size, maximum, minimum, product, require, same_shape
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F, Kind, Sample, Scales, TensorType, apply, define, method
from dy2st_runtime.ir.arguments import as_integers, as_shape, is_unknown
from dy2st_runtime.ir.attribute_kinds import NUMBER, PAIRS, each_axis, one_of
from dy2st_runtime.ops.rules import require_fitting

Pads = tuple[tuple[Size, Size], ...]
_MODES = ("constant", "reflect", "replicate", "circular")
MODE = one_of(*_MODES).or_else("constant")


def _pad_infer(x: TensorType, pads: Pads, mode: str, value: Any) -> TensorType:
    for axis, (size, pair) in enumerate(zip(x.shape, pads, strict=True)):
        kept, least = _kept_and_needed(size, pair, mode)
        reason = (
            f"pad: {mode!r} by {list(pair)} needs {least} elements along axis {axis}, not {size}"
        )
        require(size >= least, reason)
        require(kept >= 0, f"pad: {list(pair)} takes more than the {size} elements of axis {axis}")
    return x.with_shape(
        size + before + after for size, (before, after) in zip(x.shape, pads, strict=True)
    )


def _kept_and_needed(size: Size, pair: tuple[Size, Size], mode: str) -> tuple[Size, Size]:
    """How many elements negative numbers leave along an axis, and how many there must be."""
    before, after = pair
    if mode == "constant":
        return size + minimum(before, 0) + minimum(after, 0), 0
    more = maximum(maximum(before, after), 0)
    # A reflection leaves out the edge; every other mode repeats what is there.
    least = minimum(more, 1) if mode != "reflect" else minimum(more, 1) * (more + 1)
    return size + before + after, least


def _pad_kernel(x: Any, pads: Any, mode: str, value: Any) -> Any:
    for size, pair in zip(x.shape, pads, strict=True):
        kept, least = _kept_and_needed(size, pair, mode)
        if size < least or kept < 0:
            raise ValueError(f"{size} elements are too few to pad by {pair}")
    if mode != "constant":
        for axis, (size, (before, after)) in enumerate(zip(x.shape, pads, strict=True)):
            if before or after:
                # Which elements along an axis the result has: PaddlePaddle counts from all,
                # though negative numbers take some of them away.
                along = np.arange(-before, size + after)
                if mode == "circular":
                    which = along % max(size, 1)
                elif mode == "replicate":
                    which = along.clip(0, max(size - 1, 0))
                else:
                    last = size - 1
                    which = last - abs(last - abs(along))
                x = x.take(which, axis)
        return x
    inside = tuple(
        slice(max(-before, 0), size - max(-after, 0))
        for size, (before, after) in zip(x.shape, pads, strict=True)
    )
    shape = [size + before + after for size, (before, after) in zip(x.shape, pads, strict=True)]
    result = np.full(shape, value, x.dtype)
    places = tuple(
        slice(max(before, 0), size - max(after, 0))
        for size, (before, after) in zip(shape, pads, strict=True)
    )
    result[places] = x[inside]
    return result


def _pad_gradient(g: Any, y: Any, x: Any, pads: Pads, mode: str, value: Any) -> Any:
    if mode == "constant":
        back = tuple((-before, -after) for before, after in pads)
        return apply("pad", g, pads=back)
    # Every element of the result is one of x: where it came from says where its gradient goes.
    count = product(x.shape)
    source = apply("pad", F.reshape(F.arange(count), x.shape), pads=pads, mode=mode)
    zeros = F.zeros([count], g.dtype)
    return F.reshape(F.index_add(zeros, F.flatten(source), 0, F.flatten(g)), x.shape)


define(
    "pad",
    takes_complex=True,
    doc="More elements before and after along each axis; negative numbers take elements away.",
    inputs="x",
    scales=Scales.ALL,
    along=lambda x, pads, **_: [
        axis for axis, pair in enumerate(pads) if not same_shape(pair, (0, 0))
    ],
    kind=Kind.INJECTIVE,
    attributes={"pads": each_axis(PAIRS), "mode": MODE, "value": NUMBER.or_else(0)},
    infer=_pad_infer,
    kernel=_pad_kernel,
    gradient=_pad_gradient,
    samples=(
        Sample(((2, 3),), {"pads": ((1, 0), (0, 2))}),
        Sample(((2, 3),), {"pads": ((0, 0), (-1, 1)), "value": 2.0}),
        Sample(((2, 3),), {"pads": ((2, 0), (-1, -2)), "value": 2.0}),
        Sample(((2, 3),), {"pads": ((1, 0), (2, 1)), "mode": "reflect"}),
        Sample(((2, 3),), {"pads": ((1, 0), (2, 1)), "mode": "replicate"}),
        Sample(((2, 3),), {"pads": ((1, 5), (2, 1)), "mode": "circular"}),
        Sample(((2, 3),), {"pads": ((1, 0), (-1, 1)), "mode": "circular"}),
        Sample(((2, 3),), {"pads": ((1, -2), (-3, 4)), "mode": "replicate"}),
        Sample(((2, 3),), {"pads": ((0, 0), (2, -3)), "mode": "reflect"}),
    ),
)


@method
def pad(
    x: Any,
    pad: Any,
    mode: str = "constant",
    value: float | complex = 0.0,
    data_format: str | None = None,
    pad_from_left_axis: bool = True,
    name: str | None = None,
) -> Any:
    """More elements around x; mode: 'constant', 'reflect', 'replicate' or 'circular'.

    (n, c, w) -> (n, c, left + w + right).

    `pad` has two numbers an axis: for all axes from the first on, or, shorter, for the spatial
    axes of `data_format` from the last one back, as [left, right, top, bottom].

    >>> from dy2st_runtime.tensor import to_tensor
    >>> pad(to_tensor([[1, 2]]), [0, 0, 1, 2]).tolist()
    [[0, 1, 2, 0, 0]]
    """
    if mode not in _MODES:
        raise ArgumentError(f"pad: the mode is one of {', '.join(_MODES)}, not {mode!r}")
    if is_unknown(pad):
        # A tensor of pads, of all axes or from the last one back, as one of all axes.
        numbers = as_integers(pad)[0]
        count = numbers.shape[0]
        if not isinstance(count, int) or count % 2:
            raise ArgumentError(
                f"pad: a tensor of pads has two numbers an axis, not {count} numbers"
            )
        if count != 2 * x.ndim:
            pairs: list[tuple[Size, Size]] = [(i, i + 1) for i in range(1, count, 2)]
            places = np.array(_of_last_axes(pairs, x, data_format), np.int64)  # at 0 there is a 0
            zero = F.zeros([1], numbers.dtype)
            numbers = F.gather(F.concat([zero, numbers]), places.reshape(-1))
        return F.dynamic("pad", x, numbers, mode=mode, value=_value_for(x, value))
    given = as_shape(pad)
    if len(given) % 2:
        raise ArgumentError(f"pad: two numbers an axis, not {list(given)}")
    pairs = list(zip(given[::2], given[1::2], strict=True))
    if len(pairs) == x.ndim:
        pads = pairs if pad_from_left_axis else pairs[::-1]
    else:
        pads = _of_last_axes(pairs, x, data_format)
    if isinstance(value, complex) and mode == "constant":  # attributes are real
        require_fitting(np.dtype("complex64"), x.dtype)
        parts = (F.real(x), value.real), (F.imag(x), value.imag)
        return F.complex(*(apply("pad", x, pads=tuple(pads), value=one) for x, one in parts))
    return apply("pad", x, pads=tuple(pads), mode=mode, value=_value_for(x, value))


def _of_last_axes(
    pairs: list[tuple[Size, Size]], x: Any, data_format: str | None
) -> list[tuple[Size, Size]]:
    """Pads from the last axis back, without the channels where these come last."""
    has_channels = data_format is not None and data_format.endswith("C") and data_format != "NC"
    axes = range(1, x.ndim - 1) if has_channels else range(x.ndim)
    if len(pairs) > len(axes):
        raise ArgumentError(
            f"pad: {2 * len(pairs)} numbers are too many for a tensor of shape {x.shape}"
            f"{f' in {data_format}' if data_format else ''}; give two for every axis, or two for "
            "each of the last ones"
        )
    pads: list[tuple[Size, Size]] = [(0, 0)] * x.ndim
    for axis, pair in zip(axes[::-1], pairs, strict=False):
        pads[axis] = pair
    return pads


def _value_for(x: Any, value: float | complex) -> float:
    """The number as the dtype of x holds it; ArgumentError if it cannot."""
    if isinstance(value, complex):
        raise ArgumentError(f"pad: by {value} a tensor is padded along axes that numbers tell")
    if x.dtype.kind not in "iub":
        return float(value)
    if value != int(value):
        raise ArgumentError(f"pad: a tensor of dtype {x.dtype} cannot hold the value {value}")
    return int(value)
