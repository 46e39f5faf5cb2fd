"""Layers that put elements around the spatial axes: one number for all sides, or two an axis.

[left, right, top, bottom, front, back]: the last axis comes first, as in `nn.functional.pad`.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

from dy2st_runtime.ir import F
from dy2st_runtime.nn.layers.function_layer import OfFunction, settings


def _around(
    x: Any, padding: Any, data_format: str, mode: str = "constant", value: float = 0.0
) -> Any:
    sides = 2 * (x.ndim - 2)
    pads = [padding] * sides if isinstance(padding, Integral) else padding
    return F.pad(x, pads, mode=mode, value=value, data_format=data_format)


def _with_mode(mode: str) -> Any:
    def pad(x: Any, padding: Any, data_format: str) -> Any:
        return _around(x, padding, data_format, mode)

    return pad


def _any_mode(data_format: str) -> Any:
    return settings("padding", mode="constant", value=0.0, data_format=data_format)


def _of_zeros(data_format: str) -> Any:
    return settings("padding", data_format=data_format)


def _of_value(data_format: str) -> Any:
    return settings("padding", "value", data_format=data_format)


class Pad1D(OfFunction, calls=_around, takes=_any_mode("NCL")):
    """Pad (n, c, l) by [left, right]; mode: 'constant', 'reflect', 'replicate' or 'circular'."""


class Pad3D(OfFunction, calls=_around, takes=_any_mode("NCDHW")):
    """Pad (n, c, d, h, w) by six numbers, those of w first; the modes are those of Pad1D."""


class ZeroPad1D(OfFunction, calls=_around, takes=_of_zeros("NCL")):
    """Zeros around (n, c, l).

    >>> print(ZeroPad1D([1, 2])(F.ones([1, 1, 1])))
    [[[0. 1. 0. 0.]]]
    """


class ZeroPad2D(OfFunction, calls=_around, takes=_of_zeros("NCHW")):
    """Zeros around (n, c, h, w)."""


class ZeroPad3D(OfFunction, calls=_around, takes=_of_zeros("NCDHW")):
    """Zeros around (n, c, d, h, w)."""


class ConstantPad1D(OfFunction, calls=_around, takes=_of_value("NCL")):
    """One number around (n, c, l)."""


class ConstantPad2D(OfFunction, calls=_around, takes=_of_value("NCHW")):
    """One number around (n, c, h, w)."""


class ConstantPad3D(OfFunction, calls=_around, takes=_of_value("NCDHW")):
    """One number around (n, c, d, h, w)."""


class ReflectionPad1D(OfFunction, calls=_with_mode("reflect"), takes=_of_zeros("NCL")):
    """The inner elements of (n, c, l) the other way round, without the edge itself."""


class ReflectionPad2D(OfFunction, calls=_with_mode("reflect"), takes=_of_zeros("NCHW")):
    """The inner elements of (n, c, h, w) the other way round, without the edge itself."""


class ReflectionPad3D(OfFunction, calls=_with_mode("reflect"), takes=_of_zeros("NCDHW")):
    """The inner elements of (n, c, d, h, w) the other way round, without the edge itself."""


class ReplicationPad1D(OfFunction, calls=_with_mode("replicate"), takes=_of_zeros("NCL")):
    """The elements at the edges of (n, c, l) again."""


class ReplicationPad2D(OfFunction, calls=_with_mode("replicate"), takes=_of_zeros("NCHW")):
    """The elements at the edges of (n, c, h, w) again."""


class ReplicationPad3D(OfFunction, calls=_with_mode("replicate"), takes=_of_zeros("NCDHW")):
    """The elements at the edges of (n, c, d, h, w) again."""


class CircularPad1D(OfFunction, calls=_with_mode("circular"), takes=_of_zeros("NCL")):
    """The elements of (n, c, l) from its other end."""


class CircularPad2D(OfFunction, calls=_with_mode("circular"), takes=_of_zeros("NCHW")):
    """The elements of (n, c, h, w) from its other end."""


class CircularPad3D(OfFunction, calls=_with_mode("circular"), takes=_of_zeros("NCDHW")):
    """The elements of (n, c, d, h, w) from its other end."""
