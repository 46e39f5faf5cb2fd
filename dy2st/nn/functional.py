"""Functions of neural networks: those of `dy2st_runtime.nn.functional`."""

from dy2st_runtime.nn.functional import *  # noqa: F403
from dy2st_runtime.nn.functional import __all__ as __all__
