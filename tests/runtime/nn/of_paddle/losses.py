"""Cases of losses."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.runtime.nn.of_paddle.cases import Cases, wave, whole

CASES = Cases("losses")
X, Y, Z = wave(4, 3), wave(4, 3, phase=1.0), wave(4, 3, phase=2.0)
SHARE = wave(4, 3, low=0.05, high=0.95)
BITS = whole(4, 3, below=2, step=5).astype("float32")
SIGNS = BITS * 2 - 1
CLASSES = whole(4, below=3)
WEIGHT = np.array([0.5, 1.0, 2.0], "float32")


def loss(name: str, *inputs: Any, given: dict[str, Any] | None = None, **settings: Any) -> None:
    """A layer with each reduction, and with other settings."""
    makers = {f"{name}, {how}": {"reduction": how} for how in ("mean", "sum", "none")}
    if given is not None:
        makers[f"{name} with settings"] = given
    for title, arguments in makers.items():
        CASES.layer(
            title,
            lambda nn, arguments=arguments: getattr(nn, name)(**arguments),
            *inputs,
            **settings,
        )


loss("MarginRankingLoss", X, Y, SIGNS, given={"margin": 0.3})
loss("HingeEmbeddingLoss", X, SIGNS, given={"margin": 0.2})
loss("CosineEmbeddingLoss", X, Y, SIGNS[:, 0], given={"margin": 0.1})
loss("TripletMarginLoss", X, Y, Z, given={"margin": 0.4, "p": 1, "epsilon": 1e-4, "swap": True})
loss("TripletMarginWithDistanceLoss", X, Y, Z, given={"margin": 0.2, "swap": True})
loss("SoftMarginLoss", X * 3, SIGNS)
loss("MultiLabelSoftMarginLoss", X * 3, BITS)
loss("MultiMarginLoss", X, CLASSES, given={"p": 2, "margin": 0.6})
loss(
    "MultiLabelMarginLoss",
    X,
    np.array([[0, -1, 1], [2, 1, -1], [1, 0, 2], [-1, -1, -1]]),
)
loss("PoissonNLLLoss", X, SHARE * 4, given={"log_input": False, "full": True, "epsilon": 2.0})
CASES.layer("PoissonNLLLoss, full", lambda nn: nn.PoissonNLLLoss(full=True), X, SHARE * 4)
loss("GaussianNLLLoss", X, Y, SHARE, given={"full": True, "epsilon": 0.3}, gradient=False)
CASES.layer(
    "GaussianNLLLoss by row", lambda nn: nn.GaussianNLLLoss(), X, Y, SHARE[:, :1], gradient=False
)
CASES.layer(
    "GaussianNLLLoss by number", lambda nn: nn.GaussianNLLLoss(), X, Y, SHARE[:, 0], gradient=False
)

CASES.function(
    "multi_label_soft_margin_loss with weights",
    lambda F, x, y, w: F.multi_label_soft_margin_loss(x, y, w),
    X,
    BITS,
    WEIGHT,
    unknown=((0,), (0,), ()),
)
CASES.function(
    "multi_margin_loss with weights",
    lambda F, x, y, w: F.multi_margin_loss(x, y, 2, 0.7, w),
    X,
    CLASSES,
    WEIGHT,
    unknown=((0,), (0,), ()),
)
CASES.function("npair_loss", lambda F, x, y, n: F.npair_loss(x, y, n, 0.1), X, Y, CLASSES)
CASES.function("log_loss", lambda F, x, y: F.log_loss(x, y), SHARE[:, :1], BITS[:, :1], fixed=(1,))
CASES.function(
    "dice_loss",
    lambda F, x, y: F.dice_loss(x, y),
    wave(2, 4, 3, low=0.1, high=0.9),
    whole(2, 4, 1, below=3),
    unknown=((0, 1), (0, 1)),
)
CASES.function("label_smooth", lambda F, x: F.label_smooth(x), BITS)
CASES.function(
    "label_smooth to a prior",
    lambda F, x, p: F.label_smooth(x, p, 0.3),
    BITS,
    WEIGHT[None],
    unknown=((0,), ()),
    fixed=(1,),
)
CASES.function(
    "sigmoid_focal_loss", lambda F, x, y: F.sigmoid_focal_loss(x * 4 + 0.1, y), X, BITS, fixed=(1,)
)
CASES.function(
    "sigmoid_focal_loss with settings",
    lambda F, x, y, n: F.sigmoid_focal_loss(x * 4 + 0.1, y, n, 0.4, 1.5, "mean"),
    X,
    BITS,
    np.array([3.0], "float32"),
    unknown=((0,), (0,), ()),
    fixed=(1,),
)
# Where all leaves are equally deep: for the others PaddlePaddle adds log(2) a missing level.
CASES.layer("HSigmoidLoss", lambda nn: nn.HSigmoidLoss(3, 8), X, whole(4, 1, below=8))
CASES.layer(
    "HSigmoidLoss without bias",
    lambda nn: nn.HSigmoidLoss(3, 4, bias_attr=False),
    X,
    whole(4, 1, below=4),
)
CASES.layer(
    "HSigmoidLoss of another tree",
    lambda nn: nn.HSigmoidLoss(3, 4, is_custom=True),
    X,
    whole(4, 1, below=4),
    np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [0, 1, 2]]),
    np.array([[0, 1, 1], [1, 0, 1], [1, 0, 0], [0, 0, 1]]),
)
# PaddlePaddle's layer does not train the weights of its clusters: they are no parameters there.
CASES.function(
    "adaptive_log_softmax_with_loss",
    lambda F, x, y, head, bias, *tails: F.adaptive_log_softmax_with_loss(
        x, y, head, [tails[:2], tails[2:]], [4, 9, 12], bias
    ),
    wave(5, 8),
    np.array([0, 3, 5, 10, 11]),
    wave(8, 6),
    wave(6),
    *(wave(8, 4, phase=1.0), wave(4, 5), wave(8, 2, phase=2.0), wave(2, 3)),
    unknown=((0,), (0,), *((),) * 6),
)
