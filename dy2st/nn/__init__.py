"""Layers, losses and initialisers under PaddlePaddle's names: those of `dy2st_runtime.nn`."""

from typing import TYPE_CHECKING

from dy2st.nn import functional as _functional
from dy2st.nn import initializer as _initializer
from dy2st.paddle.private_modules import private_modules as _private_modules
from dy2st_runtime.lazy import lazy_names, public_dir
from dy2st_runtime.nn import *  # noqa: F403
from dy2st_runtime.nn import __all__ as _layers
from dy2st_runtime.nn.lazy import LAYERS

__all__ = [*_layers]
__dir__ = public_dir(__name__)

if TYPE_CHECKING:
    from dy2st_runtime.nn.lazy_layers import *  # noqa: F403
else:
    functional, initializer = _functional, _initializer
    _own = {name: f"{__name__}.{name}" for name in ("init", "layer", "quant", "utils")}
    __getattr__ = lazy_names(__name__, {**LAYERS, **_own})

_private_modules(__name__)
