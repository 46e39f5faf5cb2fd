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
    """Pad (n, c, l) by [left, right]; mode: 'constant', 'reflect', 'replicate' or 'circular'.

    >>> print(dy2st.nn.Pad1D([2, 1], "reflect")(dy2st.to_tensor([[[1.0, 2.0, 3.0]]])))
    [[[3. 2. 1. 2. 3. 2.]]]
    """


class Pad3D(OfFunction, calls=_around, takes=_any_mode("NCDHW")):
    """Pad (n, c, d, h, w) by six numbers, those of w first; the modes are those of Pad1D.

    >>> dy2st.nn.Pad3D([1, 1, 0, 0, 0, 2])(dy2st.ones([1, 1, 2, 2, 2])).shape
    [1, 1, 4, 2, 4]
    """


class ZeroPad1D(OfFunction, calls=_around, takes=_of_zeros("NCL")):
    """Zeros around (n, c, l).

    >>> print(dy2st.nn.ZeroPad1D([1, 2])(dy2st.ones([1, 1, 1])))
    [[[0. 1. 0. 0.]]]
    """


class ZeroPad2D(OfFunction, calls=_around, takes=_of_zeros("NCHW")):
    """Zeros around (n, c, h, w), by [left, right, top, bottom].

    >>> print(dy2st.nn.ZeroPad2D([1, 0, 0, 1])(dy2st.ones([1, 1, 1, 2])))
    [[[[0. 1. 1.]
       [0. 0. 0.]]]]
    """


class ZeroPad3D(OfFunction, calls=_around, takes=_of_zeros("NCDHW")):
    """Zeros around (n, c, d, h, w), by six numbers, those of w first.

    >>> dy2st.nn.ZeroPad3D(1)(dy2st.ones([1, 1, 2, 2, 2])).shape
    [1, 1, 4, 4, 4]
    """


class ConstantPad1D(OfFunction, calls=_around, takes=_of_value("NCL")):
    """One number around (n, c, l).

    >>> print(dy2st.nn.ConstantPad1D(1, 7.0)(dy2st.ones([1, 1, 1])))
    [[[7. 1. 7.]]]
    """


class ConstantPad2D(OfFunction, calls=_around, takes=_of_value("NCHW")):
    """One number around (n, c, h, w), by [left, right, top, bottom].

    >>> print(dy2st.nn.ConstantPad2D([1, 0, 0, 1], 7.0)(dy2st.ones([1, 1, 1, 2])))
    [[[[7. 1. 1.]
       [7. 7. 7.]]]]
    """


class ConstantPad3D(OfFunction, calls=_around, takes=_of_value("NCDHW")):
    """One number around (n, c, d, h, w), by six numbers, those of w first.

    >>> dy2st.nn.ConstantPad3D(1, 7.0)(dy2st.ones([1, 1, 1, 1, 1])).sum().item()
    183.0
    """


class ReflectionPad1D(OfFunction, calls=_with_mode("reflect"), takes=_of_zeros("NCL")):
    """The inner elements of (n, c, l) the other way round, without the edge itself.

    >>> print(dy2st.nn.ReflectionPad1D([2, 1])(dy2st.to_tensor([[[1.0, 2.0, 3.0]]])))
    [[[3. 2. 1. 2. 3. 2.]]]
    """


class ReflectionPad2D(OfFunction, calls=_with_mode("reflect"), takes=_of_zeros("NCHW")):
    """The inner elements of (n, c, h, w) the other way round, without the edge itself.

    >>> x = dy2st.to_tensor([[[[1.0, 2.0, 3.0]]]])
    >>> print(dy2st.nn.ReflectionPad2D([2, 1, 0, 0])(x))
    [[[[3. 2. 1. 2. 3. 2.]]]]
    """


class ReflectionPad3D(OfFunction, calls=_with_mode("reflect"), takes=_of_zeros("NCDHW")):
    """The inner elements of (n, c, d, h, w) the other way round, without the edge itself.

    >>> dy2st.nn.ReflectionPad3D(1)(dy2st.ones([1, 1, 2, 3, 4])).shape
    [1, 1, 4, 5, 6]
    """


class ReplicationPad1D(OfFunction, calls=_with_mode("replicate"), takes=_of_zeros("NCL")):
    """The elements at the edges of (n, c, l) again.

    >>> print(dy2st.nn.ReplicationPad1D([2, 1])(dy2st.to_tensor([[[1.0, 2.0]]])))
    [[[1. 1. 1. 2. 2.]]]
    """


class ReplicationPad2D(OfFunction, calls=_with_mode("replicate"), takes=_of_zeros("NCHW")):
    """The elements at the edges of (n, c, h, w) again.

    >>> print(dy2st.nn.ReplicationPad2D([2, 0, 0, 1])(dy2st.to_tensor([[[[1.0, 2.0]]]])))
    [[[[1. 1. 1. 2.]
       [1. 1. 1. 2.]]]]
    """


class ReplicationPad3D(OfFunction, calls=_with_mode("replicate"), takes=_of_zeros("NCDHW")):
    """The elements at the edges of (n, c, d, h, w) again.

    >>> dy2st.nn.ReplicationPad3D(1)(dy2st.ones([1, 1, 2, 3, 4])).shape
    [1, 1, 4, 5, 6]
    """


class CircularPad1D(OfFunction, calls=_with_mode("circular"), takes=_of_zeros("NCL")):
    """(n, c, l) goes on with its own other end.

    >>> print(dy2st.nn.CircularPad1D([2, 1])(dy2st.to_tensor([[[1.0, 2.0, 3.0]]])))
    [[[2. 3. 1. 2. 3. 1.]]]
    """


class CircularPad2D(OfFunction, calls=_with_mode("circular"), takes=_of_zeros("NCHW")):
    """(n, c, h, w) goes on with its own other ends.

    >>> x = dy2st.to_tensor([[[[1.0, 2.0, 3.0]]]])
    >>> print(dy2st.nn.CircularPad2D([2, 1, 0, 0])(x))
    [[[[2. 3. 1. 2. 3. 1.]]]]
    """


class CircularPad3D(OfFunction, calls=_with_mode("circular"), takes=_of_zeros("NCDHW")):
    """(n, c, d, h, w) goes on with its own other ends.

    >>> dy2st.nn.CircularPad3D(1)(dy2st.ones([1, 1, 2, 3, 4])).shape
    [1, 1, 4, 5, 6]
    """
