"""Optimizers and schedules: those of `dy2st_runtime.optimizer`."""

from dy2st_runtime.optimizer import *  # noqa: F403
from dy2st_runtime.optimizer import __all__ as _optimizers

__all__ = [*_optimizers]
