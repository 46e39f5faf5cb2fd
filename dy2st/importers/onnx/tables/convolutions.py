"""Convolutions, pooling over whole images, and products of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dy2st.importers.onnx.calls import Call, row, rows
from dy2st_runtime.dims import Size, ceil_divide, maximum
from dy2st_runtime.errors import ShapeError
from dy2st_runtime.ir.dispatch import F, apply

Pads = tuple[tuple[Size, Size], ...]


def pads_of(
    n: Call, sizes: Sequence[Size], kernel: Sequence[int], strides: Any, dilations: Any
) -> Pads:
    """Pads before and after each axis, as a node names or implies them."""
    auto = n.get("auto_pad", "NOTSET")
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        found = []
        for size, k, s, d in zip(sizes, kernel, strides, dilations, strict=True):
            total = maximum((ceil_divide(size, s) - 1) * s + d * (k - 1) + 1 - size, 0)
            less = total // 2
            found.append((less, total - less) if auto == "SAME_UPPER" else (total - less, less))
        return tuple(found)
    pads = n.get("pads") if auto == "NOTSET" else None
    pads = [0] * (2 * len(kernel)) if pads is None else pads
    if len(pads) != 2 * len(kernel):
        raise ShapeError(f"{len(pads)} pads do not fit {len(kernel)} axes")
    return tuple(zip(pads[: len(kernel)], pads[len(kernel) :], strict=True))


def _with_bias(y: Any, bias: Any) -> Any:
    if bias is None:
        return y
    return y + F.reshape(bias, [1, bias.shape[0], *[1] * (y.ndim - 2)])


@row("Conv")
def _conv(n: Call) -> Any:
    x, weight = n[0], n[1]
    axes = x.ndim - 2
    strides, dilations = n.get("strides", [1] * axes), n.get("dilations", [1] * axes)
    pads = pads_of(n, x.shape[2:], weight.shape[2:], strides, dilations)
    y = apply(
        "conv",
        x,
        weight,
        strides=tuple(strides),
        pads=pads,
        dilations=tuple(dilations),
        groups=n.get("group", 1),
    )
    return _with_bias(y, n[2])


@row("ConvTranspose")
def _conv_transpose(n: Call) -> Any:
    x, weight = n[0], n[1]
    axes = x.ndim - 2
    strides, dilations = n.get("strides", [1] * axes), n.get("dilations", [1] * axes)
    extra = n.get("output_padding", [0] * axes)
    reach = [d * (k - 1) + 1 for k, d in zip(weight.shape[2:], dilations, strict=True)]
    full = [
        s * (size - 1) + e + r
        for size, s, e, r in zip(x.shape[2:], strides, extra, reach, strict=True)
    ]
    auto, sizes = n.get("auto_pad", "NOTSET"), n.get("output_shape")
    if sizes is None and auto in ("SAME_UPPER", "SAME_LOWER"):
        sizes = [size * s for size, s in zip(x.shape[2:], strides, strict=True)]
    if sizes is None:
        pads = pads_of(n, x.shape[2:], weight.shape[2:], strides, dilations)
        sizes = [size - a - b for size, (a, b) in zip(full, pads, strict=True)]
    else:
        sizes = sizes[-axes:]
        total = [maximum(size - wanted, 0) for size, wanted in zip(full, sizes, strict=True)]
        upper = auto == "SAME_UPPER"
        pads = tuple((t // 2, t - t // 2) if upper else (t - t // 2, t // 2) for t in total)
    y = apply(
        "conv_transpose",
        x,
        weight,
        sizes=tuple(sizes),
        strides=tuple(strides),
        pads=pads,
        dilations=tuple(dilations),
        groups=n.get("group", 1),
    )
    return _with_bias(y, n[2])


def _image(x: Any) -> list[int]:
    return [*range(2, x.ndim)]


rows(
    {
        "GlobalAveragePool": lambda n: F.mean(n[0], _image(n[0]), keepdim=True),
        "GlobalMaxPool": lambda n: F.max(n[0], _image(n[0]), keepdim=True),
    }
)


@row("Gemm")
def _gemm(n: Call) -> Any:
    a, b, c = n[0], n[1], n[2]
    a = F.transpose(a, [1, 0]) if n.get("transA", 0) else a
    b = F.transpose(b, [1, 0]) if n.get("transB", 0) else b
    alpha, beta = n.get("alpha", 1.0), n.get("beta", 1.0)
    y = F.matmul(a, b)
    y = y if alpha == 1.0 else F.cast(y * alpha, y.dtype)
    if c is None:
        return y
    return y + (c if beta == 1.0 else F.cast(c * beta, c.dtype))


@row("Einsum")
def _einsum(n: Call) -> Any:
    return F.einsum(n.attributes["equation"], *n.inputs)


rows(
    {
        "Det": lambda n: F.det(n[0]),
        "MatMul": lambda n: F.matmul(n[0], n[1]),
    }
)
