"""Every error that dy2st raises on purpose: those of `dy2st_runtime.errors`."""

from dy2st_runtime.errors import *  # noqa: F403
from dy2st_runtime.errors import __all__ as __all__
from dy2st_runtime.lazy import public_dir

__dir__ = public_dir(__name__)
