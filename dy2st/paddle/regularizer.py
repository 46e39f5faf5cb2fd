"""Gives the penalties on large weights of `dy2st_runtime.regularizer`."""

from dy2st_runtime.lazy import public_dir
from dy2st_runtime.regularizer import L1Decay as L1Decay
from dy2st_runtime.regularizer import L2Decay as L2Decay
from dy2st_runtime.regularizer import WeightDecayRegularizer as WeightDecayRegularizer

__all__ = ["L1Decay", "L2Decay"]
__dir__ = public_dir(__name__)
