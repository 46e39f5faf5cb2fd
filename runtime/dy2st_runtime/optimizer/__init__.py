"""Optimizers, learning-rate schedules (`lr`) and gradient limits."""

from typing import TYPE_CHECKING

from dy2st_runtime.lazy import lazy_names, places, public_dir
from dy2st_runtime.nn.clip import ClipGradByGlobalNorm, ClipGradByNorm, ClipGradByValue
from dy2st_runtime.optimizer import lr
from dy2st_runtime.optimizer.optimizer import Optimizer
from dy2st_runtime.optimizer.optimizers import SGD, Adam, AdamW, Momentum
from dy2st_runtime.regularizer import L1Decay, L2Decay

__all__ = [
    "SGD",
    "Adam",
    "AdamW",
    "ClipGradByGlobalNorm",
    "ClipGradByNorm",
    "ClipGradByValue",
    "L1Decay",
    "L2Decay",
    "Momentum",
    "Optimizer",
    "lr",
]
__dir__ = public_dir(__name__)

LATE = places(
    {
        "dy2st_runtime.optimizer.adaptive": "Adadelta Adagrad Adamax Lamb NAdam RAdam RMSProp",
        "dy2st_runtime.optimizer.sign_methods": "ASGD Rprop",
        "dy2st_runtime.optimizer.lbfgs": "LBFGS",
    }
)

if TYPE_CHECKING:
    from dy2st_runtime.optimizer.lazy_optimizers import *  # noqa: F403
else:
    __getattr__ = lazy_names(__name__, LATE)
