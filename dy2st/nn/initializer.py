"""First values of parameters: those of `dy2st_runtime.nn.initializer`."""

from dy2st_runtime.nn.initializer import *  # noqa: F403
