"""Optimizers and schedules: those of `dy2st_runtime.optimizer`."""

from dy2st.optimizer import lr as lr
from dy2st_runtime.nn.clip import (
    ClipGradByGlobalNorm as ClipGradByGlobalNorm,
    ClipGradByNorm as ClipGradByNorm,
    ClipGradByValue as ClipGradByValue,
)
from dy2st_runtime.optimizer.adaptive import (
    Adadelta as Adadelta,
    Adagrad as Adagrad,
    Adamax as Adamax,
    Lamb as Lamb,
    NAdam as NAdam,
    RAdam as RAdam,
    RMSProp as RMSProp,
)
from dy2st_runtime.optimizer.lbfgs import LBFGS as LBFGS
from dy2st_runtime.optimizer.optimizer import Optimizer as Optimizer
from dy2st_runtime.optimizer.optimizers import (
    Adam as Adam,
    AdamW as AdamW,
    Momentum as Momentum,
    SGD as SGD,
)
from dy2st_runtime.optimizer.sign_methods import ASGD as ASGD, Rprop as Rprop
from dy2st_runtime.regularizer import L1Decay as L1Decay, L2Decay as L2Decay

