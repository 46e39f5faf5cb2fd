"""A table of all models: how each is built, what it takes, and inputs to try it with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import dy2st
from dy2st import nn
from dy2st.static import Dim, InputSpec

from .bert import Bert
from .googlenet import GoogLeNet
from .lstm import LSTMClassifier
from .mobilenet import MobileNetV2
from .resnet import Basic, ResNet, resnet18, resnet50
from .statistics import randomize_statistics
from .unet import UNet
from .yolo import YOLOv3

SEED = 2024
Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Model:
    """One model: the published size and a tiny one of the same structure, in eval mode.

    `inputs(generator, batch, tiny)` makes arrays that fit `full_specs` or `tiny_specs`.
    """

    full: Callable[[], nn.Layer]
    tiny: Callable[[], nn.Layer]
    full_specs: list[InputSpec]
    tiny_specs: list[InputSpec]
    inputs: Callable[[np.random.Generator, int, bool], list[Array]]


def seeded(build: Callable[[], nn.Layer]) -> Callable[[], nn.Layer]:
    """The same weights and statistics at every call, ready for inference."""

    def make() -> nn.Layer:
        dy2st.seed(SEED)
        return randomize_statistics(build(), SEED).eval()

    return make


def image_model(
    full: Callable[[], nn.Layer],
    tiny: Callable[[], nn.Layer],
    full_size: int,
    tiny_size: int,
    multiple: int | None = None,
) -> Model:
    """A model of images; with `multiple`, the tiny one is for every height and width."""
    sides: list[Any] = [tiny_size, tiny_size]
    if multiple:
        sides = [Dim("height", multiple=multiple), Dim("width", multiple=multiple)]

    def inputs(generator: np.random.Generator, batch: int, tiny: bool) -> list[Array]:
        size = tiny_size if tiny else full_size
        return [generator.standard_normal((batch, 3, size, size)).astype("float32")]

    return Model(
        seeded(full),
        seeded(tiny),
        [InputSpec(["batch", 3, full_size, full_size], "float32", "image")],
        [InputSpec(["batch", 3, *sides], "float32", "image")],
        inputs,
    )


def text_model(
    full: Callable[[], nn.Layer],
    tiny: Callable[[], nn.Layer],
    names: list[str],
    make: Callable[[np.random.Generator, int, bool], list[Array]],
) -> Model:
    """A model of token numbers and what goes with them, for every batch and length."""
    specs = [InputSpec(["batch", "length"], "int64", name) for name in names]
    return Model(seeded(full), seeded(tiny), specs, specs, make)


def bert_inputs(generator: np.random.Generator, batch: int, tiny: bool) -> list[Array]:
    """Tokens, segments and a mask that hides the end of every sentence but the first."""
    words, length = (50, 7) if tiny else (30522, 128)
    visible = generator.integers(1, length + 1, (batch, 1))
    visible[0] = length
    return [
        generator.integers(0, words, (batch, length)),
        generator.integers(0, 2, (batch, length)),
        (np.arange(length) < visible).astype("int64"),
    ]


def lstm_inputs(generator: np.random.Generator, batch: int, tiny: bool) -> list[Array]:
    """Tokens."""
    words, length = (50, 9) if tiny else (10000, 100)
    return [generator.integers(0, words, (batch, length))]


TINY_STAGES = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 2, 2))

MODELS: dict[str, Model] = {
    "resnet50": image_model(resnet50, lambda: ResNet(depths=(1, 2), width=4, classes=5), 224, 32),
    "resnet18": image_model(resnet18, lambda: ResNet(Basic, (1, 2), width=4, classes=5), 224, 32),
    "mobilenet_v2": image_model(
        MobileNetV2, lambda: MobileNetV2(0.25, TINY_STAGES, last=16, classes=5), 224, 32
    ),
    "googlenet": image_model(GoogLeNet, lambda: GoogLeNet(1 / 8, classes=5), 224, 32),
    "bert": text_model(
        Bert,
        lambda: Bert(words=50, places=16, width=16, depth=2, heads=4, inner=32),
        ["tokens", "segments", "mask"],
        bert_inputs,
    ),
    "lstm": text_model(
        LSTMClassifier, lambda: LSTMClassifier(words=50, width=8), ["tokens"], lstm_inputs
    ),
    "unet": image_model(UNet, lambda: UNet(width=4, depth=2), 256, 16, 4),
    "yolo_v3": image_model(
        YOLOv3, lambda: YOLOv3(width=2, depths=(1, 1, 1, 1, 1), classes=2), 416, 64, 32
    ),
}
"""Name -> model; the smallest first sentence of each file says which variant it is."""
