"""Gives the callbacks of `dy2st.Model`, under PaddlePaddle's names."""

from dy2st.paddle.hapi.callbacks import Callback, LRScheduler, ModelCheckpoint, ProgBarLogger
from dy2st.paddle.hapi.monitors import EarlyStopping, ReduceLROnPlateau
from dy2st_runtime.lazy import public_dir

__all__ = [
    "Callback",
    "EarlyStopping",
    "LRScheduler",
    "ModelCheckpoint",
    "ProgBarLogger",
    "ReduceLROnPlateau",
]
__dir__ = public_dir(__name__)
