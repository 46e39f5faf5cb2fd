"""Numbers of channels, scaled and rounded as the authors of MobileNets round them."""

from __future__ import annotations


def divisible(channels: float, divisor: int = 8) -> int:
    """The nearest multiple, at least one, that is not more than a tenth below.

    >>> divisible(24 * 0.35), divisible(17)
    (8, 16)
    """
    rounded = max(divisor, int(channels + divisor / 2) // divisor * divisor)
    return rounded + divisor if rounded < 0.9 * channels else rounded
