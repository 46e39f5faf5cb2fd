"""Optimizers and schedules: those of `dy2st_runtime.optimizer`."""

from typing import TYPE_CHECKING

from dy2st_runtime.late import late_names
from dy2st_runtime.optimizer import *  # noqa: F403
from dy2st_runtime.optimizer import __all__ as _optimizers

__all__ = [*_optimizers]

if not TYPE_CHECKING:
    __getattr__ = late_names(__name__)
