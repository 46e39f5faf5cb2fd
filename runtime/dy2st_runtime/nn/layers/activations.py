"""Activations and dropout as layers."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.nn.functions.activations import maxout, rrelu, softmax2d, thresholded_relu
from dy2st_runtime.nn.functions.dropout import alpha_dropout, dropout3d, feature_alpha_dropout
from dy2st_runtime.nn.layers.function_layer import OfFunction, settings


class Maxout(OfFunction, calls=maxout, takes=settings("groups", axis=1)):
    """(n, c, ...) -> (n, c / groups, ...): the largest of `groups` channels."""


class ThresholdedReLU(OfFunction, calls=thresholded_relu, takes=settings(threshold=1.0, value=0.0)):
    """x where x > threshold, else value."""


class Softmax2D(OfFunction, calls=softmax2d, takes=settings()):
    """softmax over the channels of (n, c, h, w) or (c, h, w)."""


class _WhileTraining(OfFunction):
    """What a function does while training, and otherwise."""

    def forward(self, *inputs: Any, **named: Any) -> Any:
        """Same shape."""
        return self.function(*inputs, **named, **self.settings(), training=self.training)


class RReLU(_WhileTraining, calls=rrelu, takes=settings(lower=1.0 / 8.0, upper=1.0 / 3.0)):
    """x where x >= 0, else a * x: a is drawn while training, else the mean of its limits."""


class Dropout3D(_WhileTraining, calls=dropout3d, takes=settings(p=0.5, data_format="NCDHW")):
    """While training, zero whole channels of (n, c, d, h, w) with probability p."""


class AlphaDropout(_WhileTraining, calls=alpha_dropout, takes=settings(p=0.5)):
    """Dropout that keeps mean and variance of what SELU gives."""


class FeatureAlphaDropout(_WhileTraining, calls=feature_alpha_dropout, takes=settings(p=0.5)):
    """`AlphaDropout` of whole channels of (n, c, ...)."""
