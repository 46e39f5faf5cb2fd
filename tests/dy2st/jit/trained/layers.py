"""Layers and cells, one or a few a model."""

from __future__ import annotations

import dy2st
from dy2st import nn
from dy2st.nn import functional as F
from tests.dy2st.jit.trained.compare import model


@model(None, 4)
def linear():
    return nn.Linear(4, 3)


@model(None, 4)
def mlp():
    return nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 8), nn.Silu(), nn.Linear(8, 2))


@model(None, 4)
def activations():
    kinds = [nn.ReLU, nn.Tanh, nn.Sigmoid, nn.ELU, nn.Softplus, nn.Hardswish, nn.LeakyReLU, nn.Mish]
    return nn.Sequential(*[one for kind in kinds for one in (nn.Linear(4, 4), kind())])


@model(None, 4)
def learnt_slopes():
    return nn.Sequential(nn.Linear(4, 6), nn.PReLU(6), nn.Linear(6, 2))


@model(None, 4)
def dropout():
    return nn.Sequential(nn.Linear(4, 16), nn.Dropout(0.4), nn.Linear(16, 3), nn.AlphaDropout(0.2))


@model(None, 3, 8, 8)
def convolution():
    return nn.Sequential(nn.Conv2D(3, 4, 3, padding=1), nn.ReLU(), nn.Conv2D(4, 2, 3, stride=2))


@model(None, 4, None, 6)
def grouped_convolution():
    return nn.Sequential(nn.Conv2D(4, 4, 3, padding=1, groups=4), nn.Conv2D(4, 2, 1))


@model(None, 3, None)
def convolution_of_sequences():
    return nn.Sequential(nn.Conv1D(3, 4, 3, padding=1), nn.Tanh(), nn.AdaptiveAvgPool1D(1))


@model(2, 2, 3, 4, 4)
def convolution_of_volumes():
    return nn.Sequential(nn.Conv3D(2, 2, 2), nn.ReLU(), nn.AdaptiveAvgPool3D(1))


@model(None, 3, 4, 4)
def transposed_convolution():
    return nn.Sequential(nn.Conv2DTranspose(3, 2, 3, stride=2), nn.Sigmoid())


@model(None, 3, 8, 8)
def pools():
    return nn.Sequential(
        nn.Conv2D(3, 4, 3), nn.MaxPool2D(2), nn.Conv2D(4, 4, 2), nn.AvgPool2D(2), nn.Flatten()
    )


@model(None, 3, 5, 5)
def batch_norm():
    return nn.Sequential(nn.Conv2D(3, 4, 3, bias_attr=False), nn.BatchNorm2D(4), nn.ReLU())


@model(None, 6)
def batch_norm_of_rows():
    return nn.Sequential(nn.Linear(6, 4), nn.BatchNorm1D(4), nn.Tanh())


@model(None, 6)
def layer_norm():
    return nn.Sequential(nn.Linear(6, 8), nn.LayerNorm(8), nn.Linear(8, 2))


@model(None, 4, 5, 5)
def group_norm():
    # Without the ReLU the second undoes the first: gradients of 0 but for rounding.
    return nn.Sequential(nn.Conv2D(4, 4, 3), nn.GroupNorm(2, 4), nn.ReLU(), nn.InstanceNorm2D(4))


@model(None, 8)
def rms_norm_by_hand():
    class Norm(nn.Layer):
        def __init__(self):
            super().__init__()
            self.weight = self.create_parameter([8])

        def forward(self, x):
            return x * dy2st.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * self.weight

    return nn.Sequential(nn.Linear(8, 8), Norm())


@model(None, None, kind="code")
def embedding():
    return nn.Sequential(nn.Embedding(7, 5), nn.Linear(5, 2))


@model(None, 4)
def weight_norm():
    return nn.Sequential(nn.utils.weight_norm(nn.Linear(4, 5)), nn.ReLU(), nn.Linear(5, 2))


@model(None, 4)
def spectral_norm():
    return nn.Sequential(nn.utils.spectral_norm(nn.Linear(4, 5)), nn.Tanh())


@model(None, 4)
class Bilinear(nn.Layer):
    """Two inputs of one."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Bilinear(2, 2, 3)

    def forward(self, x):
        return self.layer(x[:, :2], x[:, 2:])


@model(None, None, 4)
class LSTM(nn.Layer):
    """Two layers, over sequences of any length."""

    def __init__(self):
        super().__init__()
        self.rnn, self.head = nn.LSTM(4, 5, num_layers=2), nn.Linear(5, 2)

    def forward(self, x):
        found, (h, c) = self.rnn(x)
        return self.head(found), h, c


@model(None, None, 4)
class GRU(nn.Layer):
    """Both directions."""

    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(4, 3, direction="bidirect")

    def forward(self, x):
        return self.rnn(x)[0].mean(axis=1)


@model(None, None, 4)
class SimpleRNN(nn.Layer):
    """The last state alone."""

    def __init__(self):
        super().__init__()
        self.rnn = nn.SimpleRNN(4, 3)

    def forward(self, x):
        return self.rnn(x)[1]


@model(None, None, 4)
class CellByHand(nn.Layer):
    """A cell in a loop of the user's over a length that changes."""

    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(4, 3)

    def forward(self, x):
        h = c = dy2st.zeros([x.shape[0], 3], "float64")
        outputs = []
        for place in range(x.shape[1]):
            y, (h, c) = self.cell(x[:, place], (h, c))
            outputs.append(y)
        return dy2st.stack(outputs, axis=1)


@model(None, None, 8)
class Encoder(nn.Layer):
    """A layer of a transformer, with its dropout."""

    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1)

    def forward(self, x):
        return self.layer(x)


@model(None, None, 8)
class Decoder(nn.Layer):
    """Attention to itself and to what was encoded."""

    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerDecoderLayer(8, 2, 16, dropout=0.0)
        self.memory = nn.Linear(8, 8)

    def forward(self, x):
        return self.layer(x, self.memory(x))


@model(None, None, 8)
class CausalAttention(nn.Layer):
    """Heads by hand, with a mask made of the length."""

    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(8, 24), nn.Linear(8, 8)

    def forward(self, x):
        n, t, _ = x.shape
        q, k, v = self.qkv(x).reshape([n, t, 3, 2, 4]).transpose([2, 0, 3, 1, 4]).unbind(0)
        mask = dy2st.triu(dy2st.full([t, t], -1e9, "float64"), diagonal=1)
        weights = F.softmax(q @ k.transpose([0, 1, 3, 2]) / 2 + mask)
        return self.out((weights @ v).transpose([0, 2, 1, 3]).reshape([n, t, 8]))


@model(None, 6)
class Residual(nn.Layer):
    """Blocks beside shortcuts, in a LayerList."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.LayerList([nn.Linear(6, 6) for _ in range(3)])

    def forward(self, x):
        for block in self.blocks:
            x = x + F.relu(block(x)) / 2
        return x


@model(None, 4)
class Shared(nn.Layer):
    """One weight in two Layers, and one nobody uses."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)
        self.second.weight = self.first.weight
        self.unused = nn.Linear(3, 3)

    def forward(self, x):
        return self.second(F.tanh(self.first(x)))


@model(None, 4)
def frozen():
    net = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 2))
    net[0].weight.stop_gradient = True
    return net


@model(None, 4)
class Tied(nn.Layer):
    """An encoder whose weight decodes, transposed."""

    def __init__(self):
        super().__init__()
        self.weight = self.create_parameter([4, 3])

    def forward(self, x):
        return F.sigmoid(x @ self.weight) @ self.weight.t()
