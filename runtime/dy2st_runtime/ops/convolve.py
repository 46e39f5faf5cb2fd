"""Convolutions as users call them: pads by name, channels first or last, a bias, padding modes."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.dims import Size, ceil_divide, maximum, require
from dy2st_runtime.errors import ArgumentError, ShapeError
from dy2st_runtime.ir import (
    F,
    apply,
    public,
)
from dy2st_runtime.ir.arguments import as_shape, as_size, pair
from dy2st_runtime.ops.convolution import Pads


def explicit_pads(
    padding: Any, sizes: Any, kernel: Any, strides: Any, dilations: Any, last: bool = False
) -> Pads:
    """Before and after for every axis, from an int, a list, or "SAME" or "VALID".

    A list of pairs may have one for every axis of x too, whose channels may come last.
    """
    axes = len(kernel)
    if isinstance(padding, str):
        padding = padding.upper()
        if padding == "VALID":
            return ((0, 0),) * len(kernel)
        if padding != "SAME":
            raise ArgumentError(f"padding is a number, a list, 'SAME' or 'VALID', not {padding!r}")
        pads = []
        for size, k, s, d in zip(sizes, kernel, strides, dilations, strict=True):
            reach = d * (k - 1) + 1
            total = (
                reach - 1 if s == 1 else maximum((ceil_divide(size, s) - 1) * s + reach - size, 0)
            )
            pads.append((total // 2, total - total // 2))
        return tuple(pads)
    if isinstance(padding, (list, tuple)):
        if padding and isinstance(padding[0], (list, tuple)):
            pairs = [pair(entry, 2, "padding", 0) for entry in padding]
            if len(pairs) == axes + 2:
                others = [pairs.pop(0), pairs.pop(-1 if last else 0)]
                if any(map(any, others)):
                    raise ArgumentError(
                        f"padding: only the {axes} axes of the image, not {list(padding)}"
                    )
            if len(pairs) != axes:
                raise ArgumentError(f"padding takes {axes} pairs, not {list(padding)}")
            return tuple((before, after) for before, after in pairs)
        if len(padding) == 2 * axes:
            flat = pair(padding, 2 * axes, "padding", 0)
            return tuple((flat[2 * i], flat[2 * i + 1]) for i in range(axes))
    return tuple((p, p) for p in pair(padding, axes, "padding", 0))


def _convolve(
    x: Any,
    weight: Any,
    bias: Any,
    axes: int,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
    data_format: str,
) -> Any:
    x, last = channels_first(x, data_format, axes)
    strides, dilations = pair(stride, axes, "stride"), pair(dilation, axes, "dilation")
    pads = explicit_pads(padding, x.shape[2:], _kernel(weight, axes), strides, dilations, last)
    attributes = {"strides": strides, "pads": pads, "dilations": dilations}
    y = apply("conv", x, weight, **attributes, groups=_count_of(groups))
    return channels_back(_with_bias(y, bias), last)


def _kernel(weight: Any, axes: int) -> list[Any]:
    if weight.ndim != axes + 2:
        raise ShapeError(f"weights have two axes of channels and {axes} more, not {weight.shape}")
    return weight.shape[2:]  # type: ignore[no-any-return]


def _count_of(groups: Any) -> Size:
    count = as_size(groups, "groups")
    if isinstance(count, int) and count < 1:
        raise ArgumentError(f"groups is at least 1, not {count}")
    require(count >= 1, f"groups is at least 1, not {count}")
    return count


def _with_bias(y: Any, bias: Any) -> Any:
    if bias is None:
        return y
    if bias.ndim != 1:
        raise ShapeError(f"a bias has one number a channel, its shape is {bias.shape}")
    return y + F.reshape(bias, [1, bias.shape[0], *[1] * (y.ndim - 2)])


def channels_first(x: Any, data_format: str, axes: int) -> tuple[Any, bool]:
    """x as (n, c, ...), and whether its channels came last."""
    if x.ndim != axes + 2:
        one = "; x.unsqueeze(0) is a batch of one" if x.ndim == axes + 1 else ""
        raise ShapeError(
            f"{axes + 2} axes are expected ({data_format}), the shape is {x.shape}{one}"
        )
    last = data_format[-1] == "C"
    return (F.moveaxis(x, -1, 1) if last else x), last


def channels_back(y: Any, last: bool) -> Any:
    """The inverse of `channels_first`."""
    return F.moveaxis(y, 1, -1) if last else y


@public
def conv1d(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    data_format: str = "NCL",
    name: str | None = None,
) -> Any:
    """(n, c, l), (o, c/groups, k) -> (n, o, l').

    l' = (l + pads - dilation*(k-1) - 1) // stride + 1.

    `padding` is a number, [before, after], "SAME" or "VALID"; `groups` parts of the channels are
    convolved alone; with "NLC" the channels come last. Raises ShapeError where channels or sizes
    do not fit.

    >>> x, weight = dy2st.to_tensor([[[1.0, 2.0, 3.0, 4.0]]]), dy2st.to_tensor([[[1.0, 10.0]]])
    >>> dy2st.nn.functional.conv1d(x, weight).tolist()
    [[[21.0, 32.0, 43.0]]]
    >>> dy2st.nn.functional.conv1d(x, weight, stride=2, padding=1).tolist()
    [[[10.0, 32.0, 4.0]]]
    """
    return _convolve(x, weight, bias, 1, stride, padding, dilation, groups, data_format)


@public
def conv2d(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """(n, c, h, w), (o, c/groups, kh, kw) -> (n, o, h', w'); see conv1d for the sizes.

    `padding` is a number, one an axis, a pair an axis, "SAME" or "VALID"; `groups` parts of the
    channels are convolved alone; with "NHWC" the channels come last. Raises ShapeError where
    channels or sizes do not fit.

    >>> x, weight = dy2st.ones([1, 1, 3, 3]), dy2st.ones([1, 1, 2, 2])
    >>> dy2st.nn.functional.conv2d(x, weight).tolist()
    [[[[4.0, 4.0], [4.0, 4.0]]]]
    >>> dy2st.nn.functional.conv2d(dy2st.ones([8, 3, 32, 32]), dy2st.ones([16, 3, 3, 3])).shape
    [8, 16, 30, 30]
    """
    return _convolve(x, weight, bias, 2, stride, padding, dilation, groups, data_format)


@public
def conv3d(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Any:
    """(n, c, d, h, w), (o, c/groups, kd, kh, kw) -> (n, o, d', h', w').

    The arguments are those of conv2d, for three axes; with "NDHWC" the channels come last.

    >>> x, weight = dy2st.ones([1, 1, 2, 2, 2]), dy2st.ones([1, 1, 2, 2, 2])
    >>> dy2st.nn.functional.conv3d(x, weight).item()
    8.0
    """
    return _convolve(x, weight, bias, 3, stride, padding, dilation, groups, data_format)


def transposed(
    x: Any,
    weight: Any,
    bias: Any,
    axes: int,
    stride: Any,
    padding: Any,
    output_padding: Any,
    groups: int,
    dilation: Any,
    output_size: Any,
    data_format: str,
) -> Any:
    """The gradient of a convolution along `axes` axes for its input, and a bias."""
    x, last = channels_first(x, data_format, axes)
    strides, dilations = pair(stride, axes, "stride"), pair(dilation, axes, "dilation")
    kernel = _kernel(weight, axes)
    pads = explicit_pads(padding, x.shape[2:], kernel, strides, dilations, last)
    smallest = [
        (n - 1) * s - before - after + d * (k - 1) + 1
        for n, k, s, d, (before, after) in zip(
            x.shape[2:], kernel, strides, dilations, pads, strict=True
        )
    ]
    if output_size is not None:
        sizes = as_shape(output_size)[-axes:]
        sizes = sizes * axes if len(sizes) == 1 else sizes
        for size, least, s in zip(sizes, smallest, strides, strict=True):
            require(size >= least, f"conv_transpose: an output of {size} is below {least}")
            require(
                size - least < s, f"conv_transpose: an output of {size} exceeds {least} + {s} - 1"
            )
    else:
        extra = pair(output_padding, axes, "output_padding", 0)
        sizes = tuple(least + e for least, e in zip(smallest, extra, strict=True))
        for size in sizes:
            require(size >= 0, f"conv_transpose: the output would have the size {size}")
    y = apply(
        "conv_transpose",
        x,
        weight,
        sizes=tuple(sizes),
        strides=strides,
        pads=pads,
        dilations=dilations,
        groups=_count_of(groups),
    )
    return channels_back(_with_bias(y, bias), last)


@public
def conv1d_transpose(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
    output_size: Any = None,
    data_format: str = "NCL",
    name: str | None = None,
) -> Any:
    """(n, c, l), (c, o/groups, k) -> (n, o, l'), conv1d's gradient for its input.

    `output_padding` adds to the end of the result, or `output_size` says how long it is. Raises
    ShapeError where channels or sizes do not fit.

    >>> x, weight = dy2st.to_tensor([[[1.0, 2.0]]]), dy2st.to_tensor([[[1.0, 10.0]]])
    >>> dy2st.nn.functional.conv1d_transpose(x, weight).tolist()
    [[[1.0, 12.0, 20.0]]]
    """
    return transposed(
        x,
        weight,
        bias,
        1,
        stride,
        padding,
        output_padding,
        groups,
        dilation,
        output_size,
        data_format,
    )


@public
def conv2d_transpose(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    output_size: Any = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """(n, c, h, w), (c, o/groups, kh, kw) -> (n, o, h', w'), the gradient of conv2d.

    `output_padding` adds to the end of each axis, or `output_size` says how long they are. Raises
    ShapeError where channels or sizes do not fit.

    >>> x, weight = dy2st.ones([1, 1, 2, 2]), dy2st.ones([1, 3, 2, 2])
    >>> dy2st.nn.functional.conv2d_transpose(x, weight, stride=2).shape
    [1, 3, 4, 4]
    """
    return transposed(
        x,
        weight,
        bias,
        2,
        stride,
        padding,
        output_padding,
        groups,
        dilation,
        output_size,
        data_format,
    )


@public
def linear(x: Any, weight: Any, bias: Any = None, name: str | None = None) -> Any:
    """x @ weight + bias: (..., in) @ (in, out) + (out,) -> (..., out).

    Raises ShapeError if the sizes `in` differ.

    >>> x, weight = dy2st.to_tensor([1.0, 2.0]), dy2st.to_tensor([[1.0, 0.0], [0.0, 10.0]])
    >>> dy2st.nn.functional.linear(x, weight, dy2st.to_tensor([0.5, 0.5])).tolist()
    [1.5, 20.5]
    """
    y = F.matmul(x, weight)
    return y if bias is None else y + bias
