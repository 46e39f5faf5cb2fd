"""Activations and dropout as layers."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.nn.functions.activations import maxout, rrelu, softmax2d, thresholded_relu
from dy2st_runtime.nn.functions.dropout import alpha_dropout, dropout3d, feature_alpha_dropout
from dy2st_runtime.nn.layers.function_layer import OfFunction, settings


class Maxout(OfFunction, calls=maxout, takes=settings("groups", axis=1)):
    """(n, c, ...) -> (n, c / groups, ...): the largest of `groups` channels.

    Goodfellow et al. 2013.

    >>> print(dy2st.nn.Maxout(2)(dy2st.to_tensor([[1.0, 5.0, 3.0, 2.0]])))
    [[5. 3.]]
    """


class ThresholdedReLU(OfFunction, calls=thresholded_relu, takes=settings(threshold=1.0, value=0.0)):
    """x where x > threshold, else value.

    >>> print(dy2st.nn.ThresholdedReLU(1.0)(dy2st.to_tensor([0.5, 2.0])))
    [0. 2.]
    """


class Softmax2D(OfFunction, calls=softmax2d, takes=settings()):
    """softmax over the channels of (n, c, h, w) or (c, h, w).

    >>> print(dy2st.nn.Softmax2D()(dy2st.zeros([1, 2, 1, 3])))
    [[[[0.5 0.5 0.5]]
    <BLANKLINE>
      [[0.5 0.5 0.5]]]]
    """


class _WhileTraining(OfFunction):
    """What a function does while training, and otherwise."""

    def forward(self, *inputs: Any, **named: Any) -> Any:
        """Same shape."""
        return self._function(*inputs, **named, **self.settings(), training=self.training)


class RReLU(_WhileTraining, calls=rrelu, takes=settings(lower=1.0 / 8.0, upper=1.0 / 3.0)):
    """x where x >= 0, else a * x: a is drawn while training, else the mean of its limits (Xu 2015).

    >>> print(dy2st.nn.RReLU(0.25, 0.75).eval()(dy2st.to_tensor([-2.0, 3.0])))
    [-1.  3.]
    """


class Dropout3D(_WhileTraining, calls=dropout3d, takes=settings(p=0.5, data_format="NCDHW")):
    """While training, zero whole channels of (n, c, d, h, w) with probability p.

    What is kept is divided by 1 - p, so that means stay.

    >>> y = dy2st.nn.Dropout3D(0.5)(dy2st.ones([1, 8, 2, 2, 2]))
    >>> {*y.flatten().tolist()} <= {0.0, 2.0}
    True
    """


class AlphaDropout(_WhileTraining, calls=alpha_dropout, takes=settings(p=0.5)):
    """Dropout that keeps mean and variance of what SELU gives (Klambauer et al. 2017).

    >>> dy2st.nn.AlphaDropout(0.5).eval()(dy2st.ones([2])).tolist()
    [1.0, 1.0]
    """


class FeatureAlphaDropout(_WhileTraining, calls=feature_alpha_dropout, takes=settings(p=0.5)):
    """`AlphaDropout` of whole channels of (n, c, ...).

    >>> y = dy2st.nn.FeatureAlphaDropout(0.5)(dy2st.ones([1, 2, 3]))
    >>> bool((y[0, 0] == y[0, 0, 0]).all())
    True
    """
