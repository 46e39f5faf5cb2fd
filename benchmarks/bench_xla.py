"""Training steps on the engine `xla`, against the same models written by hand in jax."""

from __future__ import annotations

import numpy as np
import pytest
from measuring import seconds_above, times

import dy2st
from dy2st import nn, optimizer
from dy2st.jit import to_static
from dy2st.nn import functional as F
from dy2st_runtime.engine.xla import executable as engine_of_xla

jax = pytest.importorskip("jax", reason="the engine xla needs jax: pip install 'dy2st[jax]'")
jnp = jax.numpy

RATE, BETA1, BETA2, EPSILON = 1e-3, 0.9, 0.999, 1e-8
WIDTH, HEADS, CONTEXT, LETTERS = 64, 4, 48, 50
CALLS = 100  # of what takes microseconds


def by_hand(loss_of):
    """A step with Adam of a loss, in jax: state in place, the new state and the loss out."""

    def step(state, *batch):
        weights, first, second, count = state
        loss, slopes = jax.value_and_grad(loss_of)(weights, *batch)
        count = count + 1
        rate = RATE * jnp.sqrt(1 - BETA2**count) / (1 - BETA1**count)
        first = [BETA1 * m + (1 - BETA1) * g for m, g in zip(first, slopes, strict=True)]
        second = [BETA2 * v + (1 - BETA2) * g * g for v, g in zip(second, slopes, strict=True)]
        epsilon = EPSILON * jnp.sqrt(1 - BETA2**count)
        new = [
            w - rate * m / (jnp.sqrt(v) + epsilon)
            for w, m, v in zip(weights, first, second, strict=True)
        ]
        return (new, first, second, count), loss

    return jax.jit(step, donate_argnums=0)


def cross_entropy(logits, labels):
    chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1)
    return -chosen.mean()


class Perceptron(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(784, 512), nn.Linear(512, 512), nn.Linear(512, 10)

    def forward(self, x):
        return self.c(F.relu(self.b(F.relu(self.a(x)))))


def perceptron(weights, x, y):
    a, a0, b, b0, c, c0 = weights
    hidden = jax.nn.relu(jax.nn.relu(x @ a + a0) @ b + b0)
    return cross_entropy(hidden @ c + c0, y)


class Convolutions(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2D(1, 16, 3, padding=1), nn.Conv2D(16, 32, 3, padding=1)
        self.head = nn.Linear(32 * 7 * 7, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.a(x)), 2)
        return self.head(F.max_pool2d(F.relu(self.b(x)), 2).flatten(1))


def convolutions(weights, x, y):
    a, a0, b, b0, c, c0 = weights
    for kernel, bias in ((a, a0), (b, b0)):
        x = jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME")
        x = jax.nn.relu(x + bias[None, :, None, None])
        x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
    return cross_entropy(x.reshape(len(x), -1) @ c + c0, y)


class Block(nn.Layer):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.queries, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        parts = self.queries(self.norm1(x)).reshape([-1, CONTEXT, 3, HEADS, WIDTH // HEADS])
        query, key, value = dy2st.unbind(parts.transpose([2, 0, 3, 1, 4]))
        scores = query @ key.transpose([0, 1, 3, 2]) / (WIDTH // HEADS) ** 0.5
        scores = scores + dy2st.triu(dy2st.full([CONTEXT, CONTEXT], -1e9), 1)
        mixed = (F.softmax(scores) @ value).transpose([0, 2, 1, 3]).reshape([-1, CONTEXT, WIDTH])
        x = x + self.out(mixed)
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Transformer(nn.Layer):
    def __init__(self):
        super().__init__()
        self.letters, self.places = nn.Embedding(LETTERS, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.first, self.second = Block(), Block()
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, LETTERS)

    def forward(self, tokens):
        x = self.letters(tokens) + self.places(dy2st.arange(CONTEXT))
        return self.head(self.norm(self.second(self.first(x)))).reshape([-1, LETTERS])


def transformer(weights, tokens, y):
    left = iter(weights)

    def linear(x):
        return x @ next(left) + next(left)

    def norm(x):
        centred = x - x.mean(-1, keepdims=True)
        scale = jax.lax.rsqrt(jnp.square(centred).mean(-1, keepdims=True) + 1e-5)
        return centred * scale * next(left) + next(left)

    x = next(left)[tokens] + next(left)[jnp.arange(CONTEXT)]
    ahead = jnp.triu(jnp.full((CONTEXT, CONTEXT), -1e9, x.dtype), 1)
    for _ in range(2):
        # The norms come first among the parameters of a block, the products then.
        norms = [[next(left), next(left)] for _ in range(2)]
        products = [[next(left), next(left)] for _ in range(4)]
        left, rest = iter([*norms[0], *products[0], *products[1]]), left
        parts = linear(norm(x)).reshape(-1, CONTEXT, 3, HEADS, WIDTH // HEADS)
        query, key, value = parts.transpose(2, 0, 3, 1, 4)
        scores = query @ key.swapaxes(2, 3) / (WIDTH // HEADS) ** 0.5 + ahead
        mixed = (jax.nn.softmax(scores) @ value).swapaxes(1, 2).reshape(-1, CONTEXT, WIDTH)
        x = x + linear(mixed)
        left = iter([*norms[1], *products[2], *products[3]])
        x = x + linear(jax.nn.gelu(linear(norm(x)), approximate=False))
        left = rest
    return cross_entropy(linear(norm(x)).reshape(-1, LETTERS), y)


RNG = np.random.default_rng(0)
MODELS = {
    "MLP 784-512-512-10, batch 64": (
        Perceptron,
        perceptron,
        RNG.standard_normal((64, 784)).astype("float32"),
        RNG.integers(0, 10, 64),
    ),
    "CNN of two convolutions, batch 32": (
        Convolutions,
        convolutions,
        RNG.standard_normal((32, 1, 28, 28)).astype("float32"),
        RNG.integers(0, 10, 32),
    ),
    "GPT of two blocks, batch 8": (
        Transformer,
        transformer,
        RNG.integers(0, LETTERS, (8, CONTEXT)),
        RNG.integers(0, LETTERS, 8 * CONTEXT),
    ),
}


@pytest.fixture(autouse=True)
def compile_at_once(monkeypatch):
    """Let the first call wait for XLA, which else compiles large Programs in the background."""
    monkeypatch.setenv("DY2ST_XLA_BACKGROUND", "off")


def both(name):
    """A step of each, which must agree, on the same batch: dy2st's and that of jax."""
    make, loss_of, x, y = MODELS[name]
    dy2st.seed(0)
    net = make()
    adam = optimizer.Adam(RATE, BETA1, BETA2, EPSILON, parameters=net.parameters())

    def step(x, y):
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        adam.step()
        adam.clear_grad(set_to_zero=False)  # zeros would be kept, and added
        return loss

    converted = to_static(step, engine="xla")
    weights = [jnp.asarray(p.numpy()) for p in net.parameters()]
    zeros = [[jnp.zeros_like(w) for w in weights] for _ in range(2)]
    state = [(weights, *zeros, jnp.zeros((), jnp.float32))]
    function = by_hand(loss_of)

    def in_jax():
        state[0], loss = function(state[0], x, y)
        return float(loss)

    tensors = dy2st.to_tensor(x), dy2st.to_tensor(y)
    ours = lambda: float(converted(*tensors))  # noqa: E731
    np.testing.assert_allclose([ours() for _ in range(5)], [in_jax() for _ in range(5)], rtol=2e-3)
    return ours, in_jax


@pytest.mark.parametrize("name", MODELS)
def test_a_step_of_training(figure, name):
    what = f"engine xla: a step of {name}, against jax by hand"
    ours, in_jax = both(name)
    figure(what, lambda: times(ours, in_jax, 41), "times", 1.15)


def test_state_that_a_step_moves(figure, monkeypatch):
    ours, _ = both(next(iter(MODELS)))
    moved = []
    original = engine_of_xla.put
    monkeypatch.setattr(
        engine_of_xla, "put", lambda array, at: moved.append(array.nbytes) or original(array, at)
    )
    ours()
    figure("engine xla: state that a step moves", lambda: float(sum(moved)), "bytes", 0)


def test_a_call(figure):
    net = nn.Linear(8, 8)
    net.eval()
    converted = to_static(net, engine="xla")
    x = dy2st.to_tensor(np.ones((4, 8), "float32"))
    weights = [jnp.asarray(p.numpy()) for p in net.parameters()]
    function = jax.jit(lambda x, w, b: x @ w + b)
    array = x.numpy()

    def ours():
        with dy2st.no_grad():
            for _ in range(CALLS):
                converted(x)

    def in_jax():
        for _ in range(CALLS):
            function(array, *weights)

    what = "engine xla: a call of Linear(8, 8), above jax's own dispatch"
    figure(what, lambda: 1e6 * seconds_above(ours, in_jax, 21) / CALLS, "us", 40)
