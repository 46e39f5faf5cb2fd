"""Cases of losses of sequences."""

from __future__ import annotations

import numpy as np

from tests.runtime.nn.of_paddle.cases import Cases, wave

CASES = Cases("alignment")
SCORES = wave(7, 4, 5, low=-2.0, high=2.0)
LABELS = np.array([[1, 2, 2], [3, 0, 0], [1, 1, 1], [4, 3, 2]], "int32")
STEPS, LENGTHS = np.array([7, 5, 4, 3]), np.array([3, 1, 3, 3])
ALL = (SCORES, LABELS, STEPS, LENGTHS)
SIZES = ((0, 1), (0, 1), (0,), (0,))

for how in ("mean", "sum", "none"):
    CASES.layer(f"CTCLoss, {how}", lambda nn, h=how: nn.CTCLoss(reduction=h), *ALL, unknown=SIZES)
CASES.layer(
    "CTCLoss of another blank",
    lambda nn: nn.CTCLoss(4, "sum"),
    SCORES[:, :2],
    *(part[:2] for part in ALL[1:]),
)
CASES.function(
    "ctc_loss by the number of steps",
    lambda F, *inputs: F.ctc_loss(*inputs, reduction="sum", norm_by_times=True),
    *ALL,
)
CASES.function(
    "ctc_loss of no labels",
    lambda F, *inputs: F.ctc_loss(*inputs, reduction="none"),
    SCORES,
    LABELS,
    STEPS,
    np.array([0, 1, 2, 0]),
)

RAW = wave(2, 4, 3, 5, low=-2.0, high=2.0).astype("float64")
LATTICE = (RAW - np.log(np.exp(RAW).sum(-1, keepdims=True))).astype("float32")
OTHERS = (np.array([[1, 2], [3, 1]], "int32"), np.array([4, 3], "int32"), np.array([2, 1], "int32"))
for how in ("mean", "sum", "none"):
    CASES.layer(
        f"RNNTLoss, {how}",
        lambda nn, h=how: nn.RNNTLoss(reduction=h),
        LATTICE,
        *OTHERS,
        unknown=((0, 1, 2), (0, 1), (0,), (0,)),
    )
CASES.layer("RNNTLoss of another blank", lambda nn: nn.RNNTLoss(4, 0.5, "sum"), LATTICE, *OTHERS)
