"""Signals cut into frames and put together again, under PaddlePaddle's names.

`stft` and `istft` deal in complex numbers, which tensors here do not have: they are refused.
"""

from __future__ import annotations

from typing import Any, NoReturn

from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F

__all__ = ["frame", "istft", "overlap_add", "stft"]


def frame(x: Any, frame_length: int, hop_length: int, axis: int = -1, name: Any = None) -> Any:
    """Windows `hop_length` apart: (..., n) -> (..., frame_length, count), or, with the axis 0,
    (n, ...) -> (count, frame_length, ...).

    >>> import dy2st
    >>> frame(dy2st.arange(5), 3, 2).tolist()
    [[0, 2], [1, 3], [2, 4]]
    """
    _require(axis, frame_length=frame_length, hop_length=hop_length)
    if isinstance(x.shape[axis], int) and frame_length > x.shape[axis]:
        raise ArgumentError(f"a frame of {frame_length} does not fit into {x.shape[axis]}")
    windows = F.unfold(x, axis, frame_length, hop_length)
    return F.moveaxis(windows, -1, -2 if axis else 1)


def overlap_add(x: Any, hop_length: int, axis: int = -1, name: Any = None) -> Any:
    """The sum of windows `hop_length` apart: what undoes `frame` where nothing overlaps.

    (..., frame_length, count) -> (..., n), or, with the axis 0,
    (count, frame_length, ...) -> (n, ...).

    >>> import dy2st
    >>> overlap_add(dy2st.ones([3, 2]), 2).tolist()
    [1.0, 1.0, 2.0, 1.0, 1.0]
    """
    _require(axis, hop_length=hop_length)
    length, count = x.shape[-2:] if axis else (x.shape[1], x.shape[0])
    pieces = F.moveaxis(x, [-1, -2], [0, 1]) if axis else x
    rest = pieces.shape[2:]
    starts = F.unsqueeze(F.arange(count) * hop_length, 1)
    places = F.flatten(starts + F.arange(length))
    found = F.zeros([(count - 1) * hop_length + length, *rest], x.dtype)
    found = F.index_add(found, places, 0, F.reshape(pieces, [count * length, *rest]))
    return F.moveaxis(found, 0, -1) if axis else found


def _require(axis: int, **sizes: int) -> None:
    if axis not in (0, -1):
        raise ArgumentError(f"the axis is 0 or -1, not {axis}")
    for name, size in sizes.items():
        if not isinstance(size, int) or size <= 0:
            raise ArgumentError(f"{name} is an int above 0, not {size!r}")


def _refuse(name: str) -> NoReturn:
    raise ArgumentError(
        f"signal.{name} gives or takes complex numbers, which tensors here do not have: "
        "audio.features.Spectrogram gives the size of each, by real numbers alone"
    )


def stft(*_: Any, **__: Any) -> NoReturn:
    """Refused: there are no complex tensors."""
    _refuse("stft")


def istft(*_: Any, **__: Any) -> NoReturn:
    """Refused: there are no complex tensors."""
    _refuse("istft")
