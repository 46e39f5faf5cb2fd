"""Functions that move pixels, channels and frames, or put zeros around images."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.dims import require
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F
from dy2st_runtime.ir.arguments import as_int
from dy2st_runtime.ir.dispatch import as_copy
from dy2st_runtime.ops.convolve import channels_back, channels_first


def pixel_unshuffle(
    x: Any, downscale_factor: int, data_format: str = "NCHW", name: str | None = None
) -> Any:
    """(n, c, h*r, w*r) -> (n, c*r*r, h, w): squares of pixels as channels.

    >>> pixel_unshuffle(F.ones([1, 2, 4, 6]), 2).shape
    [1, 8, 2, 3]
    """
    x, is_last = channels_first(x, data_format, 2)
    r, (n, c, h, w) = as_int(downscale_factor, "downscale_factor"), x.shape
    if r < 1:
        raise ArgumentError(f"pixel_unshuffle: downscale_factor is at least 1, not {r}")
    for size in (h, w):
        require(size % r == 0, f"pixel_unshuffle: {size} pixels are no multiple of {r}")
    squares = F.reshape(x, [n, c, h // r, r, w // r, r])
    y = F.transpose(squares, [0, 1, 3, 5, 2, 4])
    return as_copy(channels_back(F.reshape(y, [n, c * r * r, h // r, w // r]), is_last))


def channel_shuffle(x: Any, groups: int, data_format: str = "NCHW", name: str | None = None) -> Any:
    """(n, c, h, w) -> (n, c, h, w): the first channel of every group, then the second ones, ...

    >>> channel_shuffle(F.reshape(F.arange(4), [1, 4, 1, 1]), 2).flatten().tolist()
    [0, 2, 1, 3]
    """
    x, is_last = channels_first(x, data_format, 2)
    count, (n, c, h, w) = as_int(groups, "groups"), x.shape
    if count < 1:
        raise ArgumentError(f"channel_shuffle: groups is at least 1, not {count}")
    require(c % count == 0, f"channel_shuffle: {c} channels are no multiple of {count}")
    grouped = F.reshape(x, [n, count, c // count, h, w])
    y = F.reshape(F.transpose(grouped, [0, 2, 1, 3, 4]), [n, c, h, w])
    return as_copy(channels_back(y, is_last))


def temporal_shift(
    x: Any,
    seg_num: int,
    shift_ratio: float = 0.25,
    name: str | None = None,
    data_format: str = "NCHW",
) -> Any:
    """(n*t, c, h, w) -> (n*t, c, h, w): some channels from the frame before, some from the next.

    The first `shift_ratio` of the channels come from the frame before, as many again from the one
    after; where there is none they are 0 (Lin 2019).

    >>> x = dy2st.arange(8.0).reshape([2, 4, 1, 1])
    >>> print(dy2st.nn.functional.temporal_shift(x, 2).reshape([2, 4]))
    [[0. 5. 2. 3.]
     [0. 0. 6. 7.]]
    """
    x, is_last = channels_first(x, data_format, 2)
    t, (count, c, h, w) = as_int(seg_num, "seg_num"), x.shape
    require(count % t == 0, f"temporal_shift: {count} frames are no multiple of {t}")
    frames = F.reshape(x, [count // t, t, c, h, w])
    first, second = int(c * shift_ratio), int(c * 2 * shift_ratio)
    wide = F.pad(frames, [0, 0, 1, 1, 0, 0, 0, 0, 0, 0])
    parts = [
        F.slice(wide, [1, 2], [0, 0], [t, first]),
        F.slice(wide, [1, 2], [2, first], [t + 2, second]),
        F.slice(frames, [2], [second], [c]),
    ]
    return channels_back(F.reshape(F.concat(parts, axis=2), x.shape), is_last)


def zeropad2d(x: Any, padding: Any, data_format: str = "NCHW", name: str | None = None) -> Any:
    """(n, c, h, w) -> (n, c, top + h + bottom, left + w + right).

    `padding` is [left, right, top, bottom].

    >>> zeropad2d(F.ones([1, 1, 2, 2]), [1, 0, 0, 0]).shape
    [1, 1, 2, 3]
    """
    return F.pad(x, padding, mode="constant", value=0.0, data_format=data_format)
