"""Convolutions and poolings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product as combinations
from typing import Any

import numpy as np

from dy2st.importers.torch.rows.shapes import cut, picked
from dy2st.importers.torch.table import Call, Row, as_tensor, listed, row, rows
from dy2st_runtime.dims import ceil_divide, maximum, minimum
from dy2st_runtime.dims import product as size_of
from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.nn import functional as N


def batched(x: Any, function: Callable[[Any], Any], rank: int) -> Any:
    """Of one sample too, which has no axis of a batch."""
    if x.ndim == rank:
        return function(x)
    found = function(F.unsqueeze(x, 0))
    if isinstance(found, (list, tuple)):
        return tuple(picked(one, 0, 0) for one in found)
    return picked(found, 0, 0)


def _spread(value: Any, count: int) -> list[Any]:
    given = listed(value)
    return given * count if len(given) == 1 else given


# -- convolutions -----------------------------------------------------------------------------


def _convolved(
    at: Call, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Any:
    count = weight.ndim - 2
    if isinstance(padding, str):
        pads: Any = padding.upper()
        if padding == "same":  # the odd one lies behind
            whole = [
                d * (k - 1) for d, k in zip(_spread(dilation, count), weight.shape[2:], strict=True)
            ]
            ends = [n for one in whole[::-1] for n in (one // 2, one - one // 2)]
            x = F.pad(x, ends, "constant", 0.0, pad_from_left_axis=False)
        pads = [0] * count
    else:
        pads = _spread(padding, count)
    named = {
        "stride": _spread(stride, count),
        "padding": pads,
        "groups": groups,
        "dilation": _spread(dilation, count),
    }
    function = getattr(N, f"conv{count}d")
    return _by_parts(at, partial(function, **named), x, weight, bias)


def _by_parts(at: Call, convolve: Callable[..., Any], x: Any, weight: Any, bias: Any) -> Any:
    """Of a batch or one sample; of complex numbers by their real and imaginary parts."""
    x, weight = at.cast(x), at.cast(weight)
    bias = None if bias is None else at.cast(bias)
    if at.dtype.kind != "c":
        return batched(x, partial(convolve, weight=weight, bias=bias), weight.ndim)
    halves = F.real(weight), F.imag(weight)
    kernels = [partial(convolve, weight=half) for half in halves]
    parts = [[batched(y, one, weight.ndim) for one in kernels] for y in (F.real(x), F.imag(x))]
    made = F.complex(F.subtract(parts[0][0], parts[1][1]), F.add(parts[0][1], parts[1][0]))
    if bias is None:
        return made
    return F.add(made, F.reshape(bias, [-1, *[1] * (weight.ndim - 2)]))


def _transposed(
    at: Call,
    x: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    more: Any,
    groups: int,
    dilation: Any,
) -> Any:
    count = weight.ndim - 2
    named = {
        "stride": _spread(stride, count), "padding": _spread(padding, count), "groups": groups,
        "output_padding": _spread(more, count), "dilation": _spread(dilation, count),
    }  # fmt: skip
    function = getattr(N, f"conv{count}d_transpose")
    return _by_parts(at, partial(function, **named), x, weight, bias)


@row(*(f"aten.conv{n}d.{kind}" for n in (1, 2, 3) for kind in ("default", "padding")))
def _conv(
    at: Call,
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    return _convolved(at, x, weight, bias, stride, padding, dilation, groups)


@row(
    "aten.conv_transpose1d.default",
    "aten.conv_transpose2d.input",
    "aten.conv_transpose3d.input",
)
def _conv_transpose(
    at: Call,
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Any:
    return _transposed(at, x, weight, bias, stride, padding, output_padding, groups, dilation)


@row("aten.convolution.default", "aten._convolution.default")
def _convolution(
    at: Call,
    x: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
    *_: Any,
) -> Any:
    if transposed:
        return _transposed(at, x, weight, bias, stride, padding, output_padding, groups, dilation)
    return _convolved(at, x, weight, bias, stride, padding, dilation, groups)


# -- windows ----------------------------------------------------------------------------------


class _Windows:
    """Where windows lie along the last axes: torch drops one that begins behind the elements."""

    def __init__(
        self, x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil: bool, count: int
    ):
        self.count = count
        self.kernel = _spread(kernel, count)
        self.stride = _spread(stride, count) if stride not in (None, [], ()) else self.kernel
        self.padding, self.dilation = _spread(padding, count), _spread(dilation, count)
        self.sizes = list(x.shape[-count:])
        self.ends = []
        self.outputs = []
        for size, k, s, p, d in zip(
            self.sizes, self.kernel, self.stride, self.padding, self.dilation, strict=True
        ):
            free = size + 2 * p - d * (k - 1) - 1
            output = free // s + 1
            if ceil:
                output = ceil_divide(free, s) + 1
                output = minimum(output, (size + p - 1) // s + 1)  # begin before the end
            self.outputs.append(output)
            self.ends.append(maximum((output - 1) * s + d * (k - 1) + 1 - size - p, 0))

    def padded(self, x: Any, value: Any) -> Any:
        """With what the windows reach beyond the elements."""
        pads = [one for pair in zip(self.padding, self.ends, strict=True) for one in pair]
        if all(type(one) is int and one == 0 for one in pads):
            return x
        ordered = [one for n in reversed(range(self.count)) for one in pads[2 * n : 2 * n + 2]]
        return F.pad(x, ordered, "constant", value, pad_from_left_axis=False)

    def views(self, x: Any) -> list[Any]:
        """One view for each place in a window."""
        found = []
        for place in combinations(*map(range, self.kernel)):
            view = x
            for n, offset in enumerate(place):
                start, step = offset * self.dilation[n], self.stride[n]
                end = start + (self.outputs[n] - 1) * step + 1
                view = cut(view, x.ndim - self.count + n, start, end, step)
            found.append(view)
        return found


def _pooled_most(at: Call, x: Any, windows: _Windows) -> tuple[Any, Any]:
    """The largest of each window and its place among the elements: of the first of them."""
    lowest = -np.inf if x.dtype.kind in "fV" else int(np.iinfo(x.dtype).min)
    stacked = F.stack(windows.views(windows.padded(x, lowest)), 0)
    which = F.argmax(stacked, 0, True)
    value = F.squeeze(F.take_along_axis(stacked, which, 0, broadcast=False), 0)
    which = F.squeeze(which, 0)
    places = list(combinations(*map(range, windows.kernel)))
    index: Any = None
    for n in range(windows.count):
        offsets = np.array(
            [place[n] * windows.dilation[n] - windows.padding[n] for place in places]
        )
        shape = [1] * windows.count
        shape[n] = -1
        starts = F.arange(0, windows.outputs[n], 1, "int64")
        starts = F.multiply(starts, as_tensor(windows.stride[n]))
        found = F.add(F.assign(offsets)[which], F.reshape(starts, shape))
        scaled = None if index is None else F.multiply(index, as_tensor(windows.sizes[n], None))
        index = found if scaled is None else F.add(scaled, found)
    return value, index


def _max_pool(count: int, with_places: bool) -> Row:
    def record(
        at: Call,
        x: Any,
        kernel: Any,
        stride: Any = (),
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
    ) -> Any:
        is_plain = set(listed(dilation)) == {1} and not ceil_mode and x.dtype.kind in "fV"
        if is_plain and not with_places:
            function = getattr(N, f"max_pool{count}d")
            given = (
                _spread(kernel, count),
                _spread(stride or kernel, count),
                _spread(padding, count),
            )
            return batched(x, lambda y: function(y, *given), count + 2)
        windows = _Windows(x, kernel, stride, padding, dilation, ceil_mode, count)
        made = _pooled_most(at, x, windows)
        return made if with_places else made[0]

    return record


def _avg_pool(count: int) -> Row:
    def record(
        at: Call,
        x: Any,
        kernel: Any,
        stride: Any = (),
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: Any = None,
    ) -> Any:
        pads = _spread(padding, count)
        if not ceil_mode and divisor_override is None and x.dtype.kind in "fV":
            function = getattr(N, f"avg_pool{count}d")
            given = _spread(kernel, count), _spread(stride or kernel, count), pads
            return batched(
                x, lambda y: function(y, *given, exclusive=not count_include_pad), count + 2
            )
        windows = _Windows(x, kernel, stride, padding, 1, ceil_mode, count)
        total = _summed(windows.views(windows.padded(x, 0)))
        if divisor_override is not None:
            return F.divide(total, as_tensor(divisor_override, total.dtype))
        ones = F.ones(windows.sizes, x.dtype)
        inner = windows.padded(ones, 0)
        if count_include_pad:  # what lies behind the padding does not count
            ones = F.ones([s + 2 * p for s, p in zip(windows.sizes, pads, strict=True)], x.dtype)
            windows.padding, windows.ends = (
                [0] * count,
                [maximum(end - p, 0) for end, p in zip(windows.ends, pads, strict=True)],
            )
            inner = windows.padded(ones, 0)
        return F.divide(
            total,
            _summed(windows.views(inner)),
            rounding_mode=(None if x.dtype.kind in "fVc" else "trunc"),
        )

    return record


def _summed(parts: Sequence[Any]) -> Any:
    total = parts[0]
    for part in parts[1:]:
        total = F.add(total, part)
    return total


rows(
    {f"max_pool{n}d_with_indices": _max_pool(n, True) for n in (1, 2, 3)}
    | {f"max_pool{n}d": _max_pool(n, False) for n in (1, 2, 3)}
    | {f"avg_pool{n}d": _avg_pool(n) for n in (1, 2, 3)}
)


def _adaptive_mean(count: int) -> Row:
    def record(at: Call, x: Any, output_size: Any) -> Any:
        size = list(output_size)
        if all(one == 1 for one in size):
            return F.mean(x, list(range(x.ndim - count, x.ndim)), True)
        function = getattr(N, f"adaptive_avg_pool{count}d")
        return batched(x, lambda y: function(y, size[0] if count == 1 else size), count + 2)

    return record


def _adaptive_most(count: int) -> Row:
    def record(at: Call, x: Any, output_size: Any) -> Any:
        """By windows where they are alike, as torch: the first of equal elements."""
        size = list(output_size)
        function = getattr(N, f"adaptive_max_pool{count}d")
        made = batched(x, lambda y: function(y, size[0] if count == 1 else size, True), count + 2)
        places = F.cast(made[1], "int64")
        flat = F.reshape(x, [*x.shape[:-count], size_of(x.shape[-count:])])
        rank = x.ndim - count
        ends = [*x.shape[:rank], size_of(size)]
        value = F.take_along_axis(flat, F.reshape(places, ends), rank, broadcast=False)
        return F.reshape(value, places.shape), places

    return record


rows(
    {f"adaptive_avg_pool{n}d _adaptive_avg_pool{n}d": _adaptive_mean(n) for n in (1, 2, 3)}
    | {f"adaptive_max_pool{n}d": _adaptive_most(n) for n in (1, 2, 3)}
)


@row(
    "aten.max_pool2d_with_indices_backward.default",
    "aten.max_pool3d_with_indices_backward.default",
)
def _spread_back(at: Call, slopes: Any, x: Any, *args: Any) -> Any:
    """Each gradient at the place that its value came from."""
    indices, count = args[-1], len(args[0])
    front = list(x.shape[:-count])
    flat = F.zeros([*front, size_of(x.shape[-count:])], x.dtype)
    ends = [*front, size_of(slopes.shape[-count:])]
    places, values = F.reshape(indices, ends), F.reshape(slopes, ends)
    made = F.put_along_axis(flat, places, values, len(front), "add", broadcast=False)
    return F.reshape(made, x.shape)


def _unpooled(count: int) -> Row:
    def record(at: Call, x: Any, indices: Any, output_size: Any, *_: Any) -> Any:
        front, size = list(x.shape[:-count]), list(output_size)
        flat = F.zeros([*front, size_of(size)], x.dtype)
        rank = len(front)
        places = F.reshape(indices, [*front, size_of(x.shape[-count:])])
        values = F.reshape(x, [*front, size_of(x.shape[-count:])])
        # Each value has the gradient at its place, also one that another one replaces.
        made = F.put_along_axis(flat, places, F.detach(values), rank, "assign", broadcast=False)
        added = F.put_along_axis(flat, places, values, rank, "add", broadcast=False)
        made = F.add(made, F.subtract(added, F.detach(added)))
        return F.reshape(made, [*front, *size])

    return record


rows({"max_unpool2d": _unpooled(2), "max_unpool3d": _unpooled(3)})
