"""Every Layer of `nn` and every network of `vision.models`: how it is made, and what it is given.

An input is a function of a batch and of a number that is added to the sizes behind it, so that one
row gives calls of several sizes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dy2st import nn
from dy2st.paddle.vision import models

Input = Callable[[int, int], np.ndarray]


@dataclass(frozen=True)
class Row:
    """A Layer as everybody makes and calls it.

    chains    it takes one tensor and gives one, so a Sequential may hold it.
    grows     the sizes behind the batch may be others than those that it was made for.
    close     how far an engine may be from NumPy in float32, as a share of the largest number.
    slopes    the same for gradients.
    dtypes    in which it is called beside float32.
    """

    name: str
    make: Callable[[], Any]
    inputs: tuple[Input, ...]
    chains: bool = True
    grows: bool = True
    close: float = 2e-4
    slopes: float = 2e-4
    dtypes: tuple[str, ...] = ("float64", "float16", "bfloat16")


ROWS: dict[str, Row] = {}


def add(names: str, make: Callable[[Any], Any], *inputs: Input, **settings: Any) -> None:
    """Add a row for each of some classes of `nn`: `make(class)` makes one."""
    for name in names.split():
        kind = getattr(nn, name)
        chains = settings.pop("chains", len(inputs) == 1)
        ROWS[name] = Row(name, lambda kind=kind: make(kind), inputs, chains=chains, **settings)


def floats(*sizes: int, grows: bool = True, low: float = -1.0, least: int = 0) -> Input:
    """Numbers from `low` to 1: a batch of arrays, whose last sizes grow if they may.

    least    the size below which a Program of unknown sizes refuses what eager calls take.
    """

    def made(batch: int, more: int) -> np.ndarray:
        spatial = [max(size + more, least) for size in sizes[1:]] if grows else list(sizes[1:])
        shape = (batch, *sizes[:1], *spatial)
        wave = np.sin(np.arange(np.prod(shape, dtype=int)) * 0.71 + batch + more)
        return (low + (wave + 1) / 2 * (1 - low)).astype("float32").reshape(shape)

    return made


def whole(*sizes: int, below: int) -> Input:
    """Integers from 0."""

    def made(batch: int, more: int) -> np.ndarray:
        numbers = np.arange(batch * np.prod(sizes, dtype=int)) * 7 + more
        return (numbers % below).astype("int64").reshape(batch, *sizes)

    return made


def signs(batch: int, more: int) -> np.ndarray:
    """A batch of 1 and -1."""
    return np.where(np.arange(batch) % 2, -1.0, 1.0).astype("float32")


def same(array: Any) -> Input:
    """The same array whatever the sizes."""
    return lambda batch, more: np.asarray(array)


LINES, IMAGES, VOLUMES = floats(4, 9), floats(4, 8, 9), floats(4, 6, 6, 8)
# Windows must fit where sizes are unknown: eager calls cut them, as PaddlePaddle does.
LINES_2, IMAGES_2 = floats(4, 9, least=2), floats(4, 8, 9, least=2)
VOLUMES_2 = floats(4, 6, 6, 8, least=2)
TABLE, SEQUENCE = floats(6, grows=False), floats(5, 6, grows=False)

# Activations
add(
    "CELU ELU GELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh Identity LeakyReLU LogSigmoid "
    "LogSoftmax Mish PReLU ReLU ReLU6 SELU SiLU Sigmoid Silu Softmax Softplus Softshrink Softsign "
    "Swish Tanh Tanhshrink ThresholdedReLU",
    lambda kind: kind(),
    floats(6, 8, grows=False),
)
add("Softmax2D", lambda kind: kind(), IMAGES)
add("Maxout", lambda kind: kind(2), IMAGES)
add("Dropout AlphaDropout FeatureAlphaDropout RReLU", lambda kind: kind(), IMAGES)
add("Dropout2D", lambda kind: kind(), IMAGES)
add("Dropout3D", lambda kind: kind(), VOLUMES)
# Convolution
add("Conv1D Conv1d Conv1DTranspose", lambda kind: kind(4, 6, 3), LINES)
add("Conv2D Conv2d Conv2DTranspose", lambda kind: kind(4, 6, 3, 2, 1), IMAGES)
add("Conv3D Conv3d Conv3DTranspose", lambda kind: kind(4, 6, 3), VOLUMES)
# Pooling
add("AvgPool1D MaxPool1D", lambda kind: kind(2), LINES_2)
add("AvgPool2D MaxPool2D", lambda kind: kind(2), IMAGES_2)
add("AvgPool3D MaxPool3D", lambda kind: kind(2), VOLUMES_2)
add("AdaptiveAvgPool1D AdaptiveMaxPool1D AdaptiveMaxPool1d", lambda kind: kind(3), LINES)
add("AdaptiveAvgPool2D AdaptiveMaxPool2D AdaptiveMaxPool2d", lambda kind: kind(3), IMAGES)
add("AdaptiveAvgPool3D AdaptiveMaxPool3D AdaptiveMaxPool3d", lambda kind: kind(2), VOLUMES)
add("LPPool1D LPPool1d", lambda kind: kind(2, 2), floats(4, 9, low=0.1, least=2))
add("LPPool2D LPPool2d", lambda kind: kind(2, 2), floats(4, 8, 9, low=0.1, least=2))
add("FractionalMaxPool2D", lambda kind: kind(3, random_u=0.3), IMAGES)
add("FractionalMaxPool3D", lambda kind: kind(2, random_u=0.3), VOLUMES)
PLACES = {1: [0, 3, 5, 7], 2: [0, 3, 9, 12], 3: [0, 3, 9, 12, 21, 24, 37, 40]}


def _places(axes: int) -> Input:
    half = (2,) * axes if axes > 1 else (4,)

    def made(batch: int, more: int) -> np.ndarray:
        return np.tile(np.reshape(PLACES[axes], (1, 1, *half)), (batch, 2, *(1,) * axes))

    return made


add("MaxUnPool1D", lambda kind: kind(2), floats(2, 4, grows=False), _places(1), grows=False)
add("MaxUnPool2D", lambda kind: kind(2), floats(2, 2, 2, grows=False), _places(2), grows=False)
add("MaxUnPool3D", lambda kind: kind(2), floats(2, 2, 2, 2, grows=False), _places(3), grows=False)
# Padding, and places of images
for _axes, _input in ((1, LINES), (2, IMAGES), (3, VOLUMES)):
    _kinds = [f"{kind}Pad{_axes}" for kind in ("Circular", "Reflection", "Replication")]
    _names = " ".join(f"{kind}{letter}" for kind in _kinds for letter in "Dd")
    add(f"{_names} Pad{_axes}D ZeroPad{_axes}D", lambda kind: kind(1), _input)
    add(f"ConstantPad{_axes}D ConstantPad{_axes}d", lambda kind: kind(1, 0.5), _input)
add("ChannelShuffle PixelShuffle", lambda kind: kind(2), IMAGES)
add("PixelUnshuffle", lambda kind: kind(2), floats(2, 8, 6, grows=False), grows=False)
add("Upsample UpsamplingNearest2D UpsamplingBilinear2D", lambda kind: kind(scale_factor=2), IMAGES)
add("Unfold", lambda kind: kind(3), IMAGES)
add("Fold", lambda kind: kind([4, 5], 2), floats(8, 12, grows=False), grows=False)
add("Flatten", lambda kind: kind(), IMAGES)
add("Unflatten", lambda kind: kind(1, [2, 2]), IMAGES)
# Normalisation
add("BatchNorm1D InstanceNorm1D", lambda kind: kind(4), LINES)
add("BatchNorm BatchNorm2D InstanceNorm2D SyncBatchNorm", lambda kind: kind(4), IMAGES)
add("BatchNorm3D InstanceNorm3D", lambda kind: kind(4), VOLUMES)
add("GroupNorm", lambda kind: kind(2, 4), IMAGES)
add("LayerNorm RMSNorm", lambda kind: kind(6), SEQUENCE)
add("LocalResponseNorm", lambda kind: kind(3), IMAGES)
add("SpectralNorm", lambda kind: kind([4, 6]), same(floats(6)(4, 0)), chains=False, grows=False)
# Dense layers and tables
add("Linear", lambda kind: kind(6, 6), TABLE)
add("Bilinear", lambda kind: kind(6, 6, 4), TABLE, TABLE)
add("Embedding", lambda kind: kind(10, 4), whole(5, below=10))
add("CosineSimilarity PairwiseDistance", lambda kind: kind(), TABLE, TABLE)
add("Sequential", lambda kind: kind(nn.Linear(6, 5), nn.Tanh()), TABLE)
# Recurrent layers
for _name in ("SimpleRNN", "LSTM", "GRU"):
    add(_name, lambda kind: kind(6, 4, 2, direction="bidirect"), SEQUENCE, chains=False)
    add(f"{_name}Cell", lambda kind: kind(6, 4), TABLE, chains=False)
add("RNN", lambda kind: kind(nn.LSTMCell(6, 4)), SEQUENCE, chains=False)
add("BiRNN", lambda kind: kind(nn.GRUCell(6, 4), nn.GRUCell(6, 4)), SEQUENCE, chains=False)
# Transformers
add("MultiHeadAttention", lambda kind: kind(6, 2), SEQUENCE)
add("TransformerEncoderLayer", lambda kind: kind(6, 2, 8, dropout=0.0), SEQUENCE)
add("TransformerDecoderLayer", lambda kind: kind(6, 2, 8, dropout=0.0), SEQUENCE, SEQUENCE)
add(
    "TransformerEncoder",
    lambda kind: kind(nn.TransformerEncoderLayer(6, 2, 8, dropout=0.0), 2),
    SEQUENCE,
)
add(
    "TransformerDecoder",
    lambda kind: kind(nn.TransformerDecoderLayer(6, 2, 8, dropout=0.0), 2),
    SEQUENCE,
    SEQUENCE,
)
add("Transformer", lambda kind: kind(6, 2, 1, 1, 8, dropout=0.0), SEQUENCE, SEQUENCE)
# Losses
SHARES, CLASSES = floats(6, grows=False, low=0.05), whole(below=6)
add("MSELoss L1Loss SmoothL1Loss KLDivLoss PoissonNLLLoss", lambda kind: kind(), TABLE, SHARES)
add("BCELoss", lambda kind: kind(), floats(6, grows=False, low=0.2), SHARES)
add("BCEWithLogitsLoss", lambda kind: kind(), TABLE, SHARES)
add("CrossEntropyLoss NLLLoss MultiMarginLoss", lambda kind: kind(), TABLE, CLASSES)
add("CosineEmbeddingLoss", lambda kind: kind(), TABLE, TABLE, signs)
add("MarginRankingLoss", lambda kind: kind(), floats(), floats(), signs)
add("HingeEmbeddingLoss SoftMarginLoss", lambda kind: kind(), floats(), signs)
add("GaussianNLLLoss", lambda kind: kind(), TABLE, SHARES, SHARES)
add("MultiLabelMarginLoss", lambda kind: kind(), TABLE, whole(6, below=6))
add("MultiLabelSoftMarginLoss", lambda kind: kind(), TABLE, whole(6, below=2))
add("TripletMarginLoss TripletMarginWithDistanceLoss", lambda kind: kind(), TABLE, SHARES, TABLE)
add("HSigmoidLoss", lambda kind: kind(6, 5), TABLE, whole(1, below=5))
add("AdaptiveLogSoftmaxWithLoss", lambda kind: kind(6, 9, [3, 6]), TABLE, whole(below=9))
_lengths = lambda length: lambda batch, more: np.full(batch, length)  # noqa: E731
add(
    "CTCLoss",
    lambda kind: kind(),
    lambda batch, more: floats(batch, 6, grows=False)(7, more),
    lambda batch, more: 1 + whole(3, below=5)(batch, more).astype("int32"),
    _lengths(7),
    _lengths(3),
)
add(
    "RNNTLoss",
    lambda kind: kind(),
    floats(5, 3, 6, grows=False),
    lambda batch, more: 1 + whole(2, below=5)(batch, more).astype("int32"),
    lambda batch, more: np.full(batch, 5, "int32"),
    lambda batch, more: np.full(batch, 2, "int32"),
)

# What is no network by itself: it holds others, or is written by the user.
NO_NETWORKS = frozenset(
    "Layer LayerDict LayerList Module ModuleDict ModuleList ParameterDict ParameterList "
    "RNNCellBase".split()
)

PICTURES = floats(3, 64, 64)
_SIZES = {
    "LeNet": floats(1, 28, 28),
    "alexnet": floats(3, 224, 224),
    "googlenet": floats(3, 224, 224),
    # Of smaller ones a single place is left at the end, and normalising two of them tells nothing.
    "inception_v3": floats(3, 139, 139),
}
NETWORKS = {
    name: Row(
        name,
        getattr(models, name),
        (_SIZES.get(name, PICTURES),),
        chains=name != "googlenet",
        grows=False,
        close=1e-3,
        # In float32, of few small pictures, they are so far from those in float64, which are exact.
        slopes=1.0 if name.startswith(("densenet", "googlenet")) else 1e-3,
        dtypes=("float64",),
    )
    for name in models.__all__
    if name.islower() or name == "LeNet"
}
