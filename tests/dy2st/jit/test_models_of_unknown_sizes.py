"""Whole models with two or three unknown sizes: one Program for all of them, equal to eager."""

from __future__ import annotations

import random
from functools import cache

import numpy as np
import pytest

import dy2st
from dy2st import nn, to_static
from dy2st.static import InputSpec
from dy2st_runtime.dims import is_symbol, symbols
from dy2st_runtime.ir.checks.verifier import verify
from tests.dy2st.jit.windows import Windows
from tests.effort import effort

F = nn.functional
COMBINATIONS = effort(20, 50)


class Encoder(nn.Layer):
    """Token and position embeddings, two layers of attention with a mask, mean over real tokens."""

    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(11, 16)
        self.places = nn.Embedding(32, 16)
        self.layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0), 2)

    def forward(self, ids, mask):
        places = dy2st.arange(ids.shape[1])
        x = self.tokens(ids) + self.places(places)
        bias = (mask.unsqueeze([1, 2]) - 1.0) * 1e4
        x = self.layers(x, bias)
        weights = mask.unsqueeze(-1)
        return (x * weights).sum(axis=1) / weights.sum(axis=1)


class Recurrent(nn.Layer):
    """An LSTM over a length, and its last state."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 8)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        outputs, (hidden, _) = self.lstm(x)
        return self.head(outputs[:, -1]), outputs, hidden


class UNet(nn.Layer):
    """Two levels down and up; odd sizes are cropped to the skip connection."""

    def __init__(self):
        super().__init__()
        self.down = nn.LayerList([nn.Conv2D(c, 4, 3, padding=1) for c in (1, 4, 4)])
        self.up = nn.LayerList([nn.Conv2DTranspose(4, 4, 2, stride=2) for _ in range(2)])
        self.join = nn.LayerList([nn.Conv2D(8, 4, 3, padding=1) for _ in range(2)])

    def forward(self, x):
        height, width = x.shape[2], x.shape[3]
        x = F.pad(x, [0, (-width) % 4, 0, (-height) % 4])
        skips = []
        for conv in self.down[:2]:
            x = F.relu(conv(x))
            skips.append(x)
            x = F.max_pool2d(x, 2)
        x = F.relu(self.down[2](x))
        for up, join in zip(self.up, self.join):
            skip = skips.pop()
            x = F.relu(join(dy2st.concat([up(x), skip], axis=1)))
        return x[:, :, :height, :width]


class Decoder(nn.Layer):
    """Greedy decoding: tokens are appended until all rows gave the last one, or `limit` is there."""

    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(7, 8)
        self.head = nn.Linear(8, 7)

    def forward(self, ids, limit):
        step = 0
        while step < limit:
            context = self.tokens(ids).mean(axis=1)
            best = dy2st.argmax(self.head(context), axis=-1, keepdim=True)
            ids = dy2st.concat([ids, best], axis=1)
            step = step + 1
        return ids


class Detector(nn.Layer):
    """A head over a feature map: every cell gives three boxes with scores; good ones are kept."""

    def __init__(self):
        super().__init__()
        self.scores = nn.Conv2D(4, 3, 1)
        self.boxes = nn.Conv2D(4, 12, 1)

    def forward(self, x):
        batch = x.shape[0]
        scores = self.scores(x).transpose([0, 2, 3, 1]).reshape([batch, -1])
        boxes = self.boxes(x).transpose([0, 2, 3, 1]).reshape([batch, -1, 4])
        best = scores.max(axis=0)
        kept = boxes[0][best > 0.0]
        return scores, boxes, kept


def tokens(generator, low, *shape):
    return generator.integers(low, 7, shape)


def ones_and_zeros(generator, *shape):
    mask = (generator.random(shape) < 0.7).astype("float32")
    mask[:, 0] = 1.0
    return mask


def floats(generator, *shape):
    return generator.standard_normal(shape).astype("float32")


MODELS = {
    "encoder": (
        Encoder,
        [InputSpec(["batch", "length"], "int64"), InputSpec(["batch", "length"], "float32")],
        lambda g, b, t, _: [tokens(g, 0, b, t), ones_and_zeros(g, b, t)],
        [["batch", "16"]],
    ),
    "lstm": (
        Recurrent,
        [InputSpec(["batch", "length", 4], "float32")],
        lambda g, b, t, _: [floats(g, b, t, 4)],
        [["batch", "3"], ["batch", "length", "8"], ["1", "batch", "8"]],
    ),
    "unet": (
        UNet,
        [InputSpec(["batch", 1, "height", "width"], "float32")],
        lambda g, b, h, w: [floats(g, b, 1, h, w)],
        [["batch", "4", "height", "width"]],
    ),
    "decoding": (
        Decoder,
        [InputSpec(["batch", "start"], "int64"), InputSpec([], "int64")],
        lambda g, b, t, n: [tokens(g, 0, b, t), np.array(n % 5)],
        None,
    ),
    "windows": (
        Windows,
        [InputSpec(["batch", 1, "height", "width"], "float32")],
        lambda g, b, h, w: [floats(g, b, 1, h + 4, w + 4)],
        None,
    ),
    "detector": (
        Detector,
        [InputSpec(["batch", 4, "height", "width"], "float32")],
        lambda g, b, h, w: [floats(g, b, 4, h, w)],
        None,
    ),
}


@cache
def traced(name):
    make, specs, _, _ = MODELS[name]
    dy2st.seed(0)
    layer = make()
    layer.eval()
    return layer, to_static(type(layer).forward.__get__(layer), input_spec=specs)


@pytest.mark.parametrize("name", MODELS)
def test_one_program_serves_all_sizes(name):
    layer, static = traced(name)
    program = static.main_program
    verify(program)
    sample = MODELS[name][2]
    numbers, choice = np.random.default_rng(1), random.Random(1)
    for _ in range(COMBINATIONS):
        sizes = [choice.choice([1, 2, 3, 4, 5, 7, 8, 9, 13]) for _ in range(3)]
        arrays = sample(numbers, *sizes)
        expected = layer(*map(dy2st.to_tensor, arrays))
        found = static(*map(dy2st.to_tensor, arrays))
        expected = expected if isinstance(expected, tuple) else (expected,)
        found = found if isinstance(found, tuple) else (found,)
        for one, other in zip(expected, found, strict=True):
            np.testing.assert_allclose(other.numpy(), one.numpy(), rtol=2e-4, atol=2e-5)
    assert static.main_program is program


@pytest.mark.parametrize("name", [name for name, entry in MODELS.items() if entry[3]])
def test_all_results_have_the_shapes_that_the_inputs_decide(name):
    _, static = traced(name)
    shapes = [[str(size) for size in v.shape] for v in static.main_program.outputs]
    assert shapes == MODELS[name][3]


@pytest.mark.parametrize("name", MODELS)
def test_no_size_is_opaque_where_a_formula_exists(name):
    _, static = traced(name)
    program = static.main_program
    known = {s for v in program.inputs for size in v.shape for s in symbols(size)}
    met = set()
    for operator in program.block.walk():
        values = [*operator.results, *(p for block in operator.blocks for p in block.parameters)]
        shapes = [getattr(value.type, "shape", ()) for value in values]
        met.update(s for shape in shapes for size in shape for s in symbols(size))
        if operator.name in ("nonzero", "while", "cond"):  # the data decides
            known.update(size for shape in shapes for size in shape if is_symbol(size))
    assert met <= known


def test_a_padded_size_is_a_multiple_for_all_that_follows():
    _, static = traced("unet")
    needs = [str(located.constraint.condition) for located in static.main_program.constraints]
    assert not [need for need in needs if "%" in need], "padding up makes every size divisible"
