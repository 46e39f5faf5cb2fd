"""Cases of activations, distances, and pooling of other kinds."""

from __future__ import annotations

import math

from tests.runtime.nn.of_paddle.cases import Cases, wave, whole

CASES = Cases("small")
X = wave(2, 4, 5, 6)
ALL = ((0, 2, 3),)

CASES.layer("Maxout", lambda nn: nn.Maxout(2), X, unknown=ALL)
CASES.layer("Maxout, last axis", lambda nn: nn.Maxout(3, -1), X)
CASES.layer("ThresholdedReLU", lambda nn: nn.ThresholdedReLU(), X * 3)
CASES.layer("ThresholdedReLU with settings", lambda nn: nn.ThresholdedReLU(-0.2, 0.7), X)
CASES.layer("Softmax2D", lambda nn: nn.Softmax2D(), X, unknown=ALL)
CASES.layer("Softmax2D of one", lambda nn: nn.Softmax2D(), X[0])
CASES.layer("Silu by another name", lambda nn: nn.SiLU(), X)
for name in ("RReLU", "AlphaDropout", "FeatureAlphaDropout", "Dropout3D"):
    shaped = X if name != "Dropout3D" else X[..., None]
    CASES.layer(f"{name} while not training", lambda nn, n=name: getattr(nn, n)().eval(), shaped)
CASES.function("rrelu", lambda F, x: F.rrelu(x, 0.2, 0.6, training=False), X)
CASES.function("swiglu", lambda F, x, y: F.swiglu(x, y), X, X * 2)
CASES.function("swiglu of halves", lambda F, x: F.swiglu(x), X)
CASES.function("logsigmoid", lambda F, x: F.logsigmoid(x), X)

for p in (2.0, 1.0, math.inf, 0, 3.5, -math.inf):
    CASES.layer(
        f"PairwiseDistance, {p}",
        lambda nn, p=p: nn.PairwiseDistance(p),
        X[0, 0],
        X[1, 1] * 2,
        gradient=p != 0,
    )
CASES.layer(
    "PairwiseDistance, axes kept",
    lambda nn: nn.PairwiseDistance(2.0, 1e-3, True),
    X[0, 0],
    X[1, 1] * 2,
)
CASES.function(
    "bilinear",
    lambda F, a, b, w, c: F.bilinear(a, b, w, c),
    wave(2, 3),
    wave(2, 4),
    wave(5, 3, 4),
    wave(1, 5),
    unknown=((0,), (0,), (), ()),
)

POSITIVE = wave(2, 3, 6, 7, low=0.1)
CASES.layer("LPPool1D", lambda nn: nn.LPPool1D(2, 3, 2), POSITIVE[0], unknown=((0, 2),))
CASES.layer("LPPool2D", lambda nn: nn.LPPool2D(2, 2), POSITIVE, unknown=ALL)
CASES.layer("LPPool2D of signed", lambda nn: nn.LPPool2D(2.0, [2, 3], 1, 1), X)
CASES.layer("LPPool2D, up", lambda nn: nn.LPPool2D(3, 2, 2, 0, True), POSITIVE)
CASES.layer("LPPool2D, the largest", lambda nn: nn.LPPool2D(math.inf, 2), POSITIVE)
CASES.layer("LPPool2D, channels last", lambda nn: nn.LPPool2D(2, 2, data_format="NHWC"), POSITIVE)
CASES.function(
    "max_unpool1d",
    lambda F, x: F.max_unpool1d(*F.max_pool1d(x, 2, return_mask=True), 2),
    X[0],
)
CASES.function(
    "max_unpool2d",
    lambda F, x: F.max_unpool2d(*F.max_pool2d(x, 2, return_mask=True), 2),
    X,
    unknown=ALL,
)
CASES.function(
    "max_unpool2d to a size",
    lambda F, x: F.max_unpool2d(
        *F.max_pool2d(x, 2, 2, 1, return_mask=True), 2, 2, 1, output_size=[2, 4, 5, 6]
    ),
    X,
)
CASES.function(
    "max_unpool3d",
    lambda F, x: F.max_unpool3d(*F.max_pool3d(x, 2, return_mask=True), 2),
    wave(1, 2, 4, 6, 2),
)
CASES.function(
    "gather_tree",
    lambda F, i, p: F.gather_tree(i, p),
    whole(4, 2, 3, below=9),
    whole(4, 2, 3, below=3, step=5),
    unknown=((0, 1), (0, 1)),
    gradient=False,
)
CASES.layer("FractionalMaxPool2D", lambda nn: nn.FractionalMaxPool2D(3, None, 0.4), X, unknown=ALL)
CASES.layer(
    "FractionalMaxPool2D and places",
    lambda nn: nn.FractionalMaxPool2D([2, None], random_u=0.7, return_mask=True),
    X,
)
CASES.layer(
    "FractionalMaxPool2D that overlap",
    lambda nn: nn.FractionalMaxPool2D([2, 3], 2, 0.6, True),
    X,
    unknown=ALL,
)
CASES.layer(
    "FractionalMaxPool3D",
    lambda nn: nn.FractionalMaxPool3D([2, 3, 2], random_u=0.2, return_mask=True),
    wave(1, 2, 4, 5, 5),
)
