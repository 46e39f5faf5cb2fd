"""Small models that use most of what a file can hold, with inputs for each."""

from collections import namedtuple

import numpy as np

import dy2st as P
from dy2st import nn
from dy2st.nn import functional as F
from dy2st.static import InputSpec

Point = namedtuple("Point", ["x", "y"])


class Dense(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(3, 4), nn.Linear(4, 2)

    def forward(self, x):
        return F.softmax(self.second(F.gelu(self.first(x))))


class Images(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2D(2, 3, 3, padding=1, stride=2)
        self.norm = nn.BatchNorm2D(3)
        self.head = nn.Linear(3, 2)

    def forward(self, x):
        x = F.relu6(self.norm(self.conv(x)))
        x = F.max_pool2d(x, 2, stride=1)
        x = F.avg_pool2d(F.pad(x, [1, 1, 0, 1]), 2)
        return self.head(x.mean(axis=[2, 3]))


class Attention(nn.Layer):
    def __init__(self):
        super().__init__()
        self.qkv, self.norm = nn.Linear(4, 12), nn.LayerNorm(4)

    def forward(self, x, mask):
        batch, length = x.shape[0], x.shape[1]
        q, k, v = P.split(self.qkv(self.norm(x)), 3, axis=-1)
        q, k, v = (t.reshape([batch, length, 2, 2]).transpose([0, 2, 1, 3]) for t in (q, k, v))
        scores = P.matmul(q, k.transpose([0, 1, 3, 2])) / 2.0**0.5
        scores = P.where(mask.unsqueeze(1).unsqueeze(1), scores, P.full_like(scores, -1e9))
        out = P.matmul(F.softmax(scores, axis=-1), v)
        return out.transpose([0, 2, 1, 3]).reshape([batch, length, 4])


class Scores(nn.Layer):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(3, 2)

    def forward(self, x):
        scores, turns = self.head(x), 0
        while scores.abs().max() > 0.2:
            if scores.sum() > 0:
                scores = scores / 2
            else:
                scores = scores * 0.75
            turns += 1
        return {"scores": scores, "turns": turns, "batch": [x.shape[0], None, 1.5, b"a"]}


def decoded(x, n):
    out = []
    for _ in range(n):
        x = x * 0.5
        out.append(x)
        if x.sum() < 0.1:
            break
    return P.stack(out), len(out)


def tables(x, n):
    table = [[x], [x, x * 2.0]]
    for _ in range(n):
        row = list(table[-1])
        row.insert(1, x + 1.0)
        del table[0]
        table.append(row[::-1])
    more = table * 2
    more.extend(table[:1])
    return P.stack(table[0]), len(more)


def spoken(x):
    total = x.sum()
    if total > 100:
        raise ValueError("too large", 3)
    assert total > -100, "too small"
    print("sum", total, f"{total:.2f}", x.shape[0], end="!\n")
    return f"{x.shape[0]:3d} rows", total


def chosen(x, k):
    if k > 2:
        found = None
    elif k > 1:
        found = "one"
    else:
        found = "two"
    return found, x * 2, Point(x.sum(), 1)


class Memory(nn.Layer):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", P.zeros([3]))
        self.register_buffer("count", P.zeros([], "int64"))
        self.scale = nn.Linear(3, 3)

    def forward(self, x):
        self.mean = self.mean * 0.9 + x.mean(axis=0) * 0.1
        self.count = self.count + 1
        return self.scale(x - self.mean) / self.count.astype("float32")


def picked(x, places):
    rows = x[places]
    order = P.argsort(rows[:, 0])
    hot = F.one_hot(places, 4)
    found = P.nonzero(x > 0)
    y = x.clone()
    y[0] = rows[0]
    return P.cumsum(rows, axis=1), order, hot, found, P.topk(x, 2)[0], P.roll(y, 1), P.tril(y)


def measured(x, y):
    n = x.shape[0]
    both = P.concat([x, y], axis=0)
    a, b = P.split(both, [n, y.shape[0]], axis=0)
    table = P.arange(n * 2).astype("float32").reshape([n, 2])
    full = P.full([n + 1, 2], 3.0)
    return both[1:, ::-1], a + x, b, table, full, n * 2 + 1, P.expand(x[:, :1], [n, 2]), P.eye(n)


class Spectra(nn.Layer):
    def __init__(self):
        super().__init__()
        self.weight = self.create_parameter([5, 2])
        self.register_buffer("turn", P.polar(P.ones([5]), P.arange(5.0)))

    def forward(self, x):
        spectrum = P.fft.rfft(x) * P.as_complex(self.weight) * self.turn
        if spectrum.abs().mean() > 1.0:
            spectrum = spectrum / 2j
        return P.fft.irfft(spectrum, x.shape[1]), P.fft.fft(spectrum, 3), spectrum[:, 1:].angle()


def rows(*shape):
    return np.random.default_rng(len(shape)).standard_normal(shape).astype("float32")


def floats(*shape):
    return InputSpec(list(shape), "float32")


# Name, model, specs, inputs.
MODELS = [
    ("dense", Dense, [floats(None, 3)], [rows(2, 3)]),
    ("images", Images, [floats(None, 2, 8, 8)], [rows(2, 2, 8, 8)]),
    (
        "attention",
        Attention,
        [floats("batch", "length", 4), InputSpec(["batch", "length"], "bool")],
        [rows(2, 3, 4), np.ones((2, 3), bool)],
    ),
    ("scores", Scores, [floats(None, 3)], [rows(2, 3)]),
    ("decoded", lambda: decoded, [floats(None), InputSpec([], "int64")], [rows(3), np.array(3)]),
    ("tables", lambda: tables, [floats(None), InputSpec([], "int64")], [rows(3), np.array(3)]),
    ("spoken", lambda: spoken, [floats(None, 3)], [rows(2, 3)]),
    ("chosen", lambda: chosen, [floats(None), InputSpec([], "int64")], [rows(3), np.array(1)]),
    ("memory", Memory, [floats(None, 3)], [rows(2, 3)]),
    (
        "picked",
        lambda: picked,
        [floats(4, 3), InputSpec([None], "int64")],
        [rows(4, 3), np.array([0, 2, 1])],
    ),
    ("measured", lambda: measured, [floats("n", 2), floats("m", 2)], [rows(3, 2), rows(2, 2)]),
    ("spectra", Spectra, [floats(None, 8)], [rows(2, 8)]),
]


def save_all(folder):
    """Save every model in eval mode under its name."""
    for name, make, specs, _ in MODELS:
        P.seed(0)
        model = make()
        if isinstance(model, nn.Layer):
            model.eval()
        P.jit.save(model, f"{folder}/{name}", input_spec=specs)
