"""First values of parameters: those of `dy2st_runtime.nn.initializer`."""

from typing import TYPE_CHECKING

from dy2st.paddle.private_modules import private_modules
from dy2st_runtime.lazy import lazy_names, public_dir
from dy2st_runtime.nn.initializer import *  # noqa: F403
from dy2st_runtime.nn.initializer import LATE
from dy2st_runtime.nn.initializer import __all__ as _initializers

__all__ = [*_initializers]
__dir__ = public_dir(__name__)


if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, LATE)

private_modules(__name__)
