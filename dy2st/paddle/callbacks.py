"""Gives the callbacks of `dy2st.Model`, under PaddlePaddle's names."""

from dy2st.paddle.hapi.callbacks import Callback, LRScheduler, ModelCheckpoint, ProgBarLogger
from dy2st.paddle.hapi.monitors import EarlyStopping, ReduceLROnPlateau

__all__ = [
    "Callback",
    "EarlyStopping",
    "LRScheduler",
    "ModelCheckpoint",
    "ProgBarLogger",
    "ReduceLROnPlateau",
]
