"""Random weights and scales, and convolutions of any rank."""

from __future__ import annotations

import numpy as np

from dy2st_runtime.ir import apply


def w(*shape, seed=0, dtype="float32"):
    """Weights around zero."""
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(dtype)


def s(*shape, dtype="float32"):
    """Positive scales."""
    return (np.abs(w(*shape, seed=9)) + 0.5).astype(dtype)


def conv(x, weights, bias=None, groups=1, stride=1, dilation=1, pad=0):
    """conv of any rank, with its bias as an operand."""
    axes = weights.ndim - 2
    geometry = {"strides": (stride,) * axes, "dilations": (dilation,) * axes}
    operands = [x, weights] if bias is None else [x, weights, bias]
    return apply("conv", *operands, groups=groups, pads=((pad, pad),) * axes, **geometry)


def conv6(x, seed=0, **more):
    return conv(x, w(6, x.shape[1], 3, 3, seed=seed), **more)
