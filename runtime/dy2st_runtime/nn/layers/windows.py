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
    """(n, c, l) -> (n, c, l'): (sum x**p)**(1/p) of every window."""


class LPPool2D(OfFunction, calls=lp_pool2d, takes=_lp("NCHW")):
    """(n, c, h, w) -> (n, c, h', w'): (sum x**p)**(1/p) of every window."""


class MaxUnPool1D(OfFunction, calls=max_unpool1d, takes=_unpool("NCL")):
    """(n, c, l), places -> (n, c, l'): maxima back at their places, 0 elsewhere."""


class MaxUnPool2D(OfFunction, calls=max_unpool2d, takes=_unpool("NCHW")):
    """(n, c, h, w), places -> (n, c, h', w'): maxima back at their places, 0 elsewhere."""


class MaxUnPool3D(OfFunction, calls=max_unpool3d, takes=_unpool("NCDHW")):
    """(n, c, d, h, w), places -> (n, c, d', h', w'): maxima back at their places, 0 elsewhere."""


_FRACTIONAL = settings("output_size", kernel_size=None, random_u=None, return_mask=False)


class FractionalMaxPool2D(OfFunction, calls=fractional_max_pool2d, takes=_FRACTIONAL):
    """(n, c, h, w) -> (n, c, *out): the largest of windows of random size."""


class FractionalMaxPool3D(OfFunction, calls=fractional_max_pool3d, takes=_FRACTIONAL):
    """(n, c, d, h, w) -> (n, c, *out): the largest of windows of random size."""
