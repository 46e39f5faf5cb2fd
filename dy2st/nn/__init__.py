"""Layers, losses and initialisers under PaddlePaddle's names: those of `dy2st_runtime.nn`."""

from dy2st_runtime.nn import *  # noqa: F403
from dy2st_runtime.nn import __all__ as _layers

__all__ = [*_layers]
