"""Gives the penalties on large weights of `dy2st_runtime.regularizer`."""

from dy2st_runtime.regularizer import L1Decay as L1Decay, L2Decay as L2Decay

