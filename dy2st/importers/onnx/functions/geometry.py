"""Where windows lie: the pads of convolutions and pooling, as ONNX names them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dy2st.errors import ArgumentError
from dy2st_runtime.dims import Size, ceil_divide, maximum

Pairs = tuple[tuple[Size, Size], ...]
AUTO_PADS = ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")


def per_axis(values: Sequence[int] | None, axes: int, default: int = 1) -> tuple[int, ...]:
    """A number for each axis; `default` where the node leaves them out."""
    return tuple(values) if values else (default,) * axes


def pairs(pads: Sequence[Any] | None, axes: int) -> Pairs:
    """ONNX's pads, all that stand before and then all after, as pairs.

    >>> pairs([1, 2, 3, 4], 2)
    ((1, 3), (2, 4))
    """
    if not pads:
        return ((0, 0),) * axes
    if len(pads) != 2 * axes:
        raise ArgumentError(f"{axes} axes have {2 * axes} pads, not {list(pads)}")
    return tuple(zip(pads[:axes], pads[axes:], strict=True))


def window_pads(
    sizes: Sequence[Size],
    kernel: Sequence[Any],
    strides: Sequence[int],
    dilations: Sequence[int],
    pads: Sequence[Any] | None,
    auto_pad: str,
) -> Pairs:
    """The pads that `auto_pad` means; sizes may be unknown.

    >>> window_pads([5], [3], [2], [1], None, "SAME_UPPER")
    ((1, 1),)
    """
    if auto_pad not in AUTO_PADS:
        raise ArgumentError(f"auto_pad is one of {', '.join(AUTO_PADS)}, not {auto_pad!r}")
    if auto_pad == "NOTSET":
        return pairs(pads, len(kernel))
    if auto_pad == "VALID":
        return ((0, 0),) * len(kernel)
    found = []
    for size, k, s, d in zip(sizes, kernel, strides, dilations, strict=True):
        reach = d * (k - 1) + 1
        total = reach - 1 if s == 1 else maximum((ceil_divide(size, s) - 1) * s + reach - size, 0)
        half = total // 2
        found.append((half, total - half) if auto_pad == "SAME_UPPER" else (total - half, half))
    return tuple(found)


__all__ = ["AUTO_PADS", "Pairs", "pairs", "per_axis", "window_pads"]
