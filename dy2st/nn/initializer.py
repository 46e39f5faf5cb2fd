"""First values of parameters: those of `dy2st_runtime.nn.initializer`."""

from typing import TYPE_CHECKING

from dy2st.mirrors import mirrors
from dy2st_runtime.late import late_names
from dy2st_runtime.nn.initializer import *  # noqa: F403
from dy2st_runtime.nn.initializer import LATE
from dy2st_runtime.nn.initializer import __all__ as _initializers

__all__ = [*_initializers]

mirrors(
    __name__,
    "assign bilinear constant dirac initializer kaiming normal orthogonal uniform xavier",
    [__name__],
)

if not TYPE_CHECKING:
    __getattr__ = late_names(__name__, LATE)
