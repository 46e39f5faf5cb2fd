"""Losses and gradients that models take themselves."""

from __future__ import annotations

import dy2st
from dy2st import nn
from dy2st.nn import functional as F
from tests.dy2st.jit.trained.compare import model


class _Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 3))


@model(None, 4)
class CrossEntropy(_Net):
    def forward(self, x):
        labels = (x.abs() * 3).sum(-1).astype("int64") % 3
        return F.cross_entropy(self.body(x), labels)


@model(None, 4)
class Smoothed(_Net):
    def forward(self, x):
        target = F.label_smooth(F.one_hot((x[:, 0] > 0).astype("int64"), 3).astype("float64"))
        return F.cross_entropy(self.body(x), target, soft_label=True)


@model(None, 4)
class Contrastive(_Net):
    def forward(self, x):
        found = F.normalize(self.body(x), axis=-1)
        return dy2st.logsumexp(found @ found.t() / 0.5, axis=-1).mean()


@model(None, 4)
class Margin(_Net):
    def forward(self, x):
        found = self.body(x)
        return F.relu(1 - found[:, 0] + found[:, 1]).mean() + F.smooth_l1_loss(found, found * 0)


@model(None, 4)
class GradientPenalty(_Net):
    def forward(self, x):
        x = x.detach()
        x.stop_gradient = False
        found = self.body(x).sum()
        (slope,) = dy2st.grad(found, [x], create_graph=True)
        return ((slope.norm() - 1) ** 2) + found * 0.1


@model(None, 4)
class StoppedInside(_Net):
    def forward(self, x):
        found = self.body(x)
        target = (found.detach() * 0.9).clip(-1, 1)
        return found - target


@model(None, 4)
class WithoutGradient(_Net):
    def forward(self, x):
        with dy2st.no_grad():
            scale = self.body(x).abs().max() + 1
        return self.body(x) / scale


@model(None, 4)
class Variational(nn.Layer):
    """Noise under a seed, and two parts of a loss."""

    def __init__(self):
        super().__init__()
        self.encode, self.decode = nn.Linear(4, 4), nn.Linear(2, 4)

    def forward(self, x):
        mean, log = self.encode(x).chunk(2, axis=-1)
        code = mean + dy2st.exp(log / 2) * dy2st.randn([x.shape[0], 2], "float64")
        return self.decode(code) - x, (mean**2 + log.exp() - log).sum() * 0.1


@model(None, 4)
class ExponentialAverage(_Net):
    """A second set of numbers that follows the first, without a gradient."""

    def __init__(self):
        super().__init__()
        self.register_buffer("average", dy2st.zeros([3], "float64"))

    def forward(self, x):
        found = self.body(x)
        with dy2st.no_grad():
            self.average.set_value(self.average * 0.9 + found.mean(axis=0) * 0.1)
        return found - self.average


@model(None, 4)
class Straight(_Net):
    """Rounded forwards, and as it was backwards."""

    def forward(self, x):
        found = self.body(x)
        return found + (found.round() - found).detach()


@model(None, 4)
class Quantised(nn.Layer):
    """The nearest of a few codes, with its commitment."""

    def __init__(self):
        super().__init__()
        self.codes, self.inner = nn.Embedding(5, 4), nn.Linear(4, 4)

    def forward(self, x):
        found = self.inner(x)
        far = ((found.unsqueeze(1) - self.codes.weight.unsqueeze(0)) ** 2).sum(-1)
        code = self.codes(far.argmin(-1))
        return found + (code - found).detach(), code - found.detach()


@model(None, 4)
class TopPart(_Net):
    def forward(self, x):
        values, _ = dy2st.topk(self.body(x), 2, axis=-1)
        return dy2st.sort(values, axis=-1).cumsum(-1)


@model(None, 4)
class Scattered(_Net):
    def forward(self, x):
        found = self.body(x)
        table = dy2st.zeros([4, 3], "float64")
        return dy2st.scatter_nd_add(table, (x[:, :1] > 0).astype("int64"), found)
