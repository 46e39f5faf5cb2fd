"""Learning-rate schedules: those of `dy2st_runtime.optimizer.lr`."""

from dy2st_runtime.optimizer.lr import *  # noqa: F403
