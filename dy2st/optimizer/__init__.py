"""Optimizers and schedules: those of `dy2st_runtime.optimizer`."""

from typing import TYPE_CHECKING

from dy2st.mirrors import mirrors
from dy2st.optimizer import lr as _lr
from dy2st_runtime.late import late_names
from dy2st_runtime.optimizer import *  # noqa: F403
from dy2st_runtime.optimizer import LATE
from dy2st_runtime.optimizer import __all__ as _optimizers

__all__ = [*_optimizers]

mirrors(
    __name__,
    "adadelta adagrad adam adamax adamw asgd lamb lbfgs momentum nadam optimizer radam rmsprop "
    "rprop sgd",
    [__name__],
)

if TYPE_CHECKING:
    from dy2st_runtime.optimizer.late_optimizers import *  # noqa: F403
else:
    lr = _lr
    __getattr__ = late_names(__name__, LATE)
