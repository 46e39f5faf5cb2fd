"""Optimizers and schedules: those of `dy2st_runtime.optimizer`."""

from typing import TYPE_CHECKING

from dy2st.optimizer import lr as _lr
from dy2st.paddle.private_modules import private_modules
from dy2st_runtime.lazy import lazy_names, public_dir
from dy2st_runtime.optimizer import *  # noqa: F403
from dy2st_runtime.optimizer import LATE
from dy2st_runtime.optimizer import __all__ as _optimizers

__all__ = [*_optimizers]
__dir__ = public_dir(__name__)


if TYPE_CHECKING:
    from dy2st_runtime.optimizer.lazy_optimizers import *  # noqa: F403
else:
    lr = _lr
    __getattr__ = lazy_names(__name__, LATE)

private_modules(__name__)
