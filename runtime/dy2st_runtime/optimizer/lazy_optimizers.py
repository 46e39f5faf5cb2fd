"""Shows optimizers that are loaded late to type checkers; nothing imports it."""

from dy2st_runtime.optimizer.adaptive import (
    Adadelta,
    Adagrad,
    Adamax,
    Lamb,
    NAdam,
    RAdam,
    RMSProp,
)
from dy2st_runtime.optimizer.lbfgs import (
    LBFGS,
)
from dy2st_runtime.optimizer.sign_methods import (
    ASGD,
    Rprop,
)

__all__ = [
    "ASGD",
    "LBFGS",
    "Adadelta",
    "Adagrad",
    "Adamax",
    "Lamb",
    "NAdam",
    "RAdam",
    "RMSProp",
    "Rprop",
]
