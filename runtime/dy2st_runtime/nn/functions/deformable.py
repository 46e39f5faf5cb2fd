"""Convolutions whose kernels look where offsets say (Dai 2017, Zhu 2018)."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.dims import Size, require_equal
from dy2st_runtime.errors import ShapeError
from dy2st_runtime.ir import F
from dy2st_runtime.ir.arguments import pair
from dy2st_runtime.nn.functions.grid import picked


def _pair(value: Any) -> list[int]:
    return list(pair(value, 2, "a size along two axes", 0))


def deform_conv2d(
    x: Any,
    offset: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    deformable_groups: int = 1,
    groups: int = 1,
    mask: Any = None,
    name: str | None = None,
) -> Any:
    """(n, c, h, w), (n, 2 * dg * kh * kw, h', w'), (out, c / groups, kh, kw) -> (n, out, h', w').

    y[p] = sum over k of mask[k, p] * weight[k] @ x[stride * p - padding + dilation * k +
    offset[k, p]]

    An offset is (down, right) in pixels, one for each of the `deformable_groups` groups of
    channels; x between pixels is bilinear, and 0 outside. `mask` is (n, dg * kh * kw, h', w').

    >>> y = deform_conv2d(F.ones([1, 1, 3, 3]), F.zeros([1, 8, 2, 2]), F.ones([1, 1, 2, 2]))
    >>> y.shape, y.max().item()
    ([1, 1, 2, 2], 4.0)
    """
    if x.ndim != 4 or weight.ndim != 4 or offset.ndim != 4:
        raise ShapeError(
            "deform_conv2d takes x, offset and weight of 4 axes, not "
            f"{x.shape}, {offset.shape} and {weight.shape}"
        )
    kernel = list(weight.shape[2:])
    steps, pads, dilations = _pair(stride), _pair(padding), _pair(dilation)
    sizes = [
        (x.shape[2 + a] + 2 * pads[a] - dilations[a] * (kernel[a] - 1) - 1) // steps[a] + 1
        for a in range(2)
    ]
    taps, parts = kernel[0] * kernel[1], deformable_groups
    _check("offset", offset, [x.shape[0], 2 * parts * taps, *sizes])
    _check("weight", weight, [weight.shape[0], x.shape[1] // groups, *kernel])
    points = taps * sizes[0] * sizes[1]
    moved = F.reshape(offset, [-1, taps, 2, *sizes])
    places = []
    for axis in range(2):
        shape: list[Size] = [1, *(k if a == axis else 1 for a, k in enumerate(kernel)), 1, 1]
        inside = F.reshape(F.arange(kernel[axis]) * dilations[axis], shape)
        start = [1, 1, 1, *(s if a == axis else 1 for a, s in enumerate(sizes))]
        starts = F.reshape(F.arange(sizes[axis]) * steps[axis] - pads[axis], start)
        fixed = F.cast(F.broadcast_to(inside + starts, [1, *kernel, *sizes]), x.dtype)
        place = moved[:, :, axis] + F.reshape(fixed, [1, taps, *sizes])
        places.append(F.reshape(place, [x.shape[0] * parts, points]))
    split = F.reshape(x, [x.shape[0] * parts, x.shape[1] // parts, x.shape[2] * x.shape[3]])
    columns = picked(split, places, list(x.shape[2:]), "bilinear")
    if mask is not None:
        _check("mask", mask, [x.shape[0], parts * taps, *sizes])
        columns = columns * F.reshape(mask, [x.shape[0] * parts, 1, points])
    return _product(columns, weight, bias, groups, [x.shape[0], x.shape[1], taps, *sizes])


def _check(what: str, tensor: Any, shape: list[Any]) -> None:
    if tensor.ndim != len(shape):
        raise ShapeError(f"deform_conv2d: {what} has the shape {tensor.shape}, not {shape}")
    for axis, (have, want) in enumerate(zip(tensor.shape, shape, strict=True)):
        reason = f"deform_conv2d: axis {axis} of {what} has {have} places, not {want}"
        require_equal(have, want, reason)


def _product(columns: Any, weight: Any, bias: Any, groups: int, sizes: list[Any]) -> Any:
    """The product of the kernels with the pixels that they look at."""
    count, channels, taps, height, width = sizes
    outputs = weight.shape[0]
    inner = channels // groups * taps
    pixels = F.reshape(columns, [count, groups, inner, height * width])
    kernels = F.reshape(weight, [groups, outputs // groups, inner])
    y = F.reshape(F.matmul(kernels, pixels), [count, outputs, height, width])
    return y if bias is None else y + F.reshape(bias, [1, outputs, 1, 1])
