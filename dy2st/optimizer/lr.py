"""Learning-rate schedules: those of `dy2st_runtime.optimizer.lr`."""

from typing import TYPE_CHECKING

from dy2st_runtime.lazy import lazy_names, public_dir
from dy2st_runtime.optimizer.lr import *  # noqa: F403
from dy2st_runtime.optimizer.lr import LATE

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, LATE)

__dir__ = public_dir("dy2st_runtime.optimizer.lr")
