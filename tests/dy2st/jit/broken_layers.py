"""Refused functions with Layers, tensors that change, and steps of training."""

from __future__ import annotations

import numpy as np

import dy2st
from dy2st import nn
from dy2st.nn import functional as F
from tests.dy2st.jit.broken_functions import scenario, t


@scenario
def dropout_inside():
    net = nn.Sequential(nn.Linear(2, 3), nn.Dropout(0.5), nn.BatchNorm1D(3))

    def f(x):
        y = net(x)
        y.numpy()
        return net(y[:, :2])

    return (f, [(dy2st.rand([4, 2]),)] * 3, net)


@scenario
def in_place():
    buf = t(0, 0)

    def f(x):
        buf.add_(x)
        x2 = x.clone()
        x2[0] = 7
        buf[1] = x2[0]
        v = buf.numpy().copy()
        buf.add_(x)
        return (v, x2)

    return (f, [(t(1, 2),)] * 3, buf)


@scenario
def argument_in_place():

    def f(x):
        x[0] = 5
        x.add_(x)
        return x.numpy().sum()

    return (f, [(t(1, 2),), (t(3, 4),)], None)


@scenario
def optimizer_whole():
    net = nn.Linear(2, 2)
    opt = dy2st.optimizer.Adam(0.1, parameters=net.parameters())
    hist = []

    def step(x, y):
        loss = F.mse_loss(net(x), y)
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    def train(data):
        for i, (x, y) in enumerate(data):
            loss = step(x, y)
            hist.append(float(loss))
            print(i, f"{loss.numpy():.4f}")
        return hist[-1]

    d = [(dy2st.rand([4, 2]), dy2st.rand([4, 2])) for _ in range(4)]
    return (train, [(d,), (d,)], (net, hist))


@scenario
def optimizer_inline():
    net = nn.Linear(2, 2)
    opt = dy2st.optimizer.Momentum(0.1, parameters=net.parameters())
    hist = []
    sched = dy2st.optimizer.lr.StepDecay(0.1, 2)
    opt2 = dy2st.optimizer.SGD(sched, parameters=net.parameters())

    def train(data):
        for x, y in data:
            loss = F.mse_loss(net(x), y)
            loss.backward()
            gn = np.sqrt(sum((p.grad.numpy() ** 2).sum() for p in net.parameters()))
            hist.append(gn)
            opt.step()
            opt2.step()
            sched.step()
            opt.clear_grad()
        return loss

    d = [(dy2st.rand([4, 2]), dy2st.rand([4, 2])) for _ in range(4)]
    return (train, [(d,), (d,)], (net, hist))


@scenario
def no_grad():
    net = nn.Linear(2, 2)

    def f(x):
        with dy2st.no_grad():
            a = net(x)
            s = float(a.sum())
        b = net(x) * s
        b.numpy()
        return (a.stop_gradient, b.stop_gradient, b)

    return (f, [(t([1, 2]),)] * 2, net)


@scenario
def method_objects():

    class M:
        def __init__(s):
            s.k = 0
            s.hist = []

        def a(s, x):
            s.k += 1
            return x * s.k

        def b(s, x):
            s.hist.append(float(x.sum()))
            return s.a(x) + s.a(x)

        def __call__(s, x):
            x.numpy()
            return s.b(x)

    m = M()
    return (m, [(t(1, 2),)] * 3, m)


@scenario
def lazy_param():

    class L(nn.Layer):
        def __init__(s):
            super().__init__()
            s.w = None
            s.n = 0

        def forward(s, x):
            if s.w is None:
                s.w = s.create_parameter([2, 2])
            s.n += 1
            x.numpy()
            return x @ s.w

    one = L()
    return (one, [(t([1, 2]),)] * 3, one)


@scenario
def new_layers():

    class L(nn.Layer):
        def __init__(s):
            super().__init__()

        def forward(s, x):
            one = nn.Linear(2, 2)
            y = one(x)
            x.numpy()
            return (y, one.weight.name != "")

    one = L()
    return (one, [(t([1, 2]),)] * 3, None)


@scenario
def backward_inside():
    w = t(1.0, 2.0)
    w.stop_gradient = False

    def f(x):
        one = (w * x).sum()
        one.backward()
        g = w.grad.numpy().copy()
        (w * w).sum().backward()
        return (g, w.grad.numpy().copy())

    return (f, [(t(1, 2),)] * 2, None)


@scenario
def hooks():
    log = []
    net = nn.Linear(2, 2)
    net.register_forward_pre_hook(lambda one, i: log.append("pre"))
    net.register_forward_post_hook(lambda one, i, o: log.append(float(o.sum())) or o * 2)

    def f(x):
        x.numpy()
        return net(x)

    return (f, [(t([1, 2]),)] * 2, log)


@scenario
def training_mode():
    net = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))

    def f(x):
        net.eval()
        a = net(x)
        a.numpy()
        net.train()
        b = net(x)
        return (a, b, net.training)

    return (f, [(t([1, 2]),)] * 2, net)


@scenario
def data_loop():

    class DS(dy2st.io.Dataset):
        def __len__(s):
            return 6

        def __getitem__(s, i):
            return np.array([i, i + 1], "float32")

    dl = dy2st.io.DataLoader(DS(), batch_size=2, shuffle=True)

    def f(m):
        s = 0
        for b in dl:
            s = s * 2 + b
            b.numpy()
        return s * m

    return (f, [(t(1.0),)] * 2, None)


@scenario
def closure_fresh():

    def f(x):
        outs = []
        for i in range(15):

            def g(z):
                return z * i

            outs.append(g(x))
        x.numpy()
        return sum(outs)

    return (f, [(t(1, 2),)] * 2, None)


@scenario
def many_values():

    def h(x, k):
        return x * k

    def f(x):
        x.numpy()
        s = x
        for i in range(30):
            s = s + h(x, i / 3)
        return s

    return (f, [(t(1, 2),)] * 2, None)
