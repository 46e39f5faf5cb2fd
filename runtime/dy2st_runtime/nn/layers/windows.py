"""Pooling by norms and windows of random size, and maxima put back at their places, as layers."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.nn.functions.fractional import fractional_max_pool2d, fractional_max_pool3d
from dy2st_runtime.nn.functions.windows import (
    lp_pool1d,
    lp_pool2d,
    max_unpool1d,
    max_unpool2d,
    max_unpool3d,
)
from dy2st_runtime.nn.layers.function_layer import OfFunction, settings


def _lp(data_format: str) -> Any:
    return settings(
        "norm_type", "kernel_size", stride=None, padding=0, ceil_mode=False, data_format=data_format
    )


def _unpool(data_format: str) -> Any:
    return settings(
        "kernel_size", stride=None, padding=0, data_format=data_format, output_size=None
    )


class LPPool1D(OfFunction, calls=lp_pool1d, takes=_lp("NCL")):
    """(n, c, l) -> (n, c, l'): (sum x**p)**(1/p) of every window, with p = norm_type.

    >>> dy2st.nn.LPPool1D(2.0, 2)(dy2st.to_tensor([[[3.0, 4.0]]])).item()
    5.0
    """


class LPPool2D(OfFunction, calls=lp_pool2d, takes=_lp("NCHW")):
    """(n, c, h, w) -> (n, c, h', w'): (sum x**p)**(1/p) of every window, with p = norm_type.

    >>> dy2st.nn.LPPool2D(2.0, 2)(dy2st.ones([1, 1, 2, 2])).item()
    2.0
    """


class MaxUnPool1D(OfFunction, calls=max_unpool1d, takes=_unpool("NCL")):
    """(n, c, l), places -> (n, c, l'): maxima back at their places, 0 elsewhere.

    >>> x = dy2st.to_tensor([[[1.0, 3.0, 2.0, 0.0]]])
    >>> y, places = dy2st.nn.MaxPool1D(2, return_mask=True)(x)
    >>> print(dy2st.nn.MaxUnPool1D(2)(y, places))
    [[[0. 3. 2. 0.]]]
    """


class MaxUnPool2D(OfFunction, calls=max_unpool2d, takes=_unpool("NCHW")):
    """(n, c, h, w), places -> (n, c, h', w'): maxima back at their places, 0 elsewhere.

    >>> x = dy2st.to_tensor([[[[1.0, 3.0], [2.0, 0.0]]]])
    >>> y, places = dy2st.nn.MaxPool2D(2, return_mask=True)(x)
    >>> print(dy2st.nn.MaxUnPool2D(2)(y, places)[0, 0])
    [[0. 3.]
     [0. 0.]]
    """


class MaxUnPool3D(OfFunction, calls=max_unpool3d, takes=_unpool("NCDHW")):
    """(n, c, d, h, w), places -> (n, c, d', h', w'): maxima back at their places, 0 elsewhere.

    >>> x = dy2st.arange(8.0).reshape([1, 1, 2, 2, 2])
    >>> y, places = dy2st.nn.MaxPool3D(2, return_mask=True)(x)
    >>> dy2st.nn.MaxUnPool3D(2)(y, places).flatten().tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 7.0]
    """


_FRACTIONAL = settings("output_size", kernel_size=None, random_u=None, return_mask=False)


class FractionalMaxPool2D(OfFunction, calls=fractional_max_pool2d, takes=_FRACTIONAL):
    """(n, c, h, w) -> (n, c, *out): the largest of windows of random size (Graham 2014).

    `random_u`, in (0, 1), decides the windows; see `nn.functional.fractional_max_pool2d`.

    >>> dy2st.nn.FractionalMaxPool2D([3, 4], random_u=0.3)(dy2st.ones([1, 1, 7, 7])).shape
    [1, 1, 3, 4]
    """


class FractionalMaxPool3D(OfFunction, calls=fractional_max_pool3d, takes=_FRACTIONAL):
    """(n, c, d, h, w) -> (n, c, *out): the largest of windows of random size (Graham 2014).

    >>> dy2st.nn.FractionalMaxPool3D(2, random_u=0.3)(dy2st.ones([1, 1, 5, 5, 5])).shape
    [1, 1, 2, 2, 2]
    """
