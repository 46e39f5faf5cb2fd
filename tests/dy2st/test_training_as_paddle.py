"""A model as it is written for PaddlePaddle, and the losses that PaddlePaddle 3.3.1 has for it."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st as paddle
from dy2st import nn
from dy2st.paddle.regularizer import L2Decay


def attr(name):
    first = nn.initializer.KaimingNormal()
    return paddle.ParamAttr(name=name, initializer=first, regularizer=L2Decay(1e-3))


def plain(name):
    return paddle.ParamAttr(name=name, regularizer=L2Decay(0.0))


class Block(nn.Layer):
    def __init__(self, inputs, outputs, name, stride=1):
        super().__init__()
        self._conv = nn.Conv2D(
            inputs, outputs, 3, stride, padding=1, weight_attr=attr(f"{name}_w"), bias_attr=False
        )
        self._norm = nn.BatchNorm(
            outputs,
            act="relu",
            param_attr=plain(f"{name}_scale"),
            bias_attr=plain(f"{name}_offset"),
            moving_mean_name=f"{name}_mean",
            moving_variance_name=f"{name}_variance",
        )

    def forward(self, x):
        return self._norm(self._conv(x))


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.blocks = [
            self.add_sublayer(f"block{i}", Block(8 if i else 3, 8, f"block{i}", 1 + i % 2))
            for i in range(3)
        ]
        self.instance = nn.InstanceNorm2D(8, bias_attr=paddle.ParamAttr(learning_rate=0.5))
        self.group, self.prelu = nn.GroupNorm(2, 8), nn.PReLU(8)
        self.rnn = nn.LSTM(8, 6, direction="bidirect")
        weight = paddle.ParamAttr(learning_rate=2.0, need_clip=False)
        self.head = nn.Linear(12, 4, weight_attr=weight)
        self.scale = self.create_parameter([1], default_initializer=nn.initializer.Constant(2.0))
        self.norm, self.words = nn.LayerNorm(12), nn.Embedding(5, 12, padding_idx=0)

    def forward(self, x, words):
        for block in self.blocks:
            x = block(x)
        x = self.prelu(self.group(self.instance(x)))
        x = paddle.transpose(paddle.flatten(x, 2), [0, 2, 1])
        y, _ = self.rnn(x)
        y = self.norm(y.mean(1)) + self.words(words).mean(1)
        return self.head(y) * self.scale


def momentum(net, rate):
    return paddle.optimizer.Momentum(
        rate,
        0.9,
        parameters=net.parameters(),
        weight_decay=L2Decay(1e-2),
        grad_clip=nn.ClipGradByGlobalNorm(1.0),
    )


def adamw(net, rate):
    plain = [p.name for name, p in net.named_parameters() if "bias" in name or "norm" in name]
    return paddle.optimizer.AdamW(
        rate,
        parameters=net.parameters(),
        weight_decay=0.1,
        apply_decay_param_fun=lambda name: name not in plain,
        grad_clip=nn.ClipGradByNorm(1.0),
    )


def lamb(net, rate):
    return paddle.optimizer.Lamb(rate, parameters=net.parameters())


def filled(net):
    """The net with numbers that do not depend on how it draws."""
    draw, known = np.random.default_rng(0), set()
    for name, tensor in sorted(net.state_dict().items()):
        if id(tensor) not in known:
            known.add(id(tensor))
            low, high = (0.5, 1.5) if "variance" in name else (-0.5, 0.5)
            tensor.set_value(draw.uniform(low, high, tensor.shape).astype("float32"))
    return net


def losses(make):
    net, draw = filled(Net()), np.random.default_rng(1)
    after = paddle.optimizer.lr.CosineAnnealingDecay(0.05, 10)
    schedule = paddle.optimizer.lr.LinearWarmup(after, 3, 0.0, 0.05)
    optimizer, found = make(net, schedule), []
    for _ in range(6):
        x = paddle.to_tensor(draw.normal(size=(4, 3, 8, 8)).astype("float32"))
        words = paddle.to_tensor(draw.integers(0, 5, (4, 3)))
        labels = paddle.to_tensor(draw.integers(0, 4, (4,)))
        loss = nn.functional.cross_entropy(net(x, words), labels)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        schedule.step()
        found.append(float(loss))
    return found


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (momentum, [1.392197, 1.350392, 1.404583, 1.389472, 1.394136, 1.4138]),
        (adamw, [1.392197, 1.350392, 1.443544, 1.39478, 1.373266, 1.288793]),
        (lamb, [1.392197, 1.350392, 1.418491, 1.391916, 1.375318, 1.293905]),
    ],
)
def test_losses_of_six_steps(make, expected):
    np.testing.assert_allclose(losses(make), expected, atol=2e-5)


def test_a_checkpoint_has_paddles_names():
    names = set(Net().state_dict())
    assert {"block0._norm._mean", "instance.scale", "prelu._weight", "rnn.weight_ih_l0"} < names
    assert {"rnn.0.cell_fw.weight_ih", "rnn.0.cell_bw.bias_hh", "scale", "words.weight"} < names
