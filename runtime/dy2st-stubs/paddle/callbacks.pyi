"""Gives the callbacks of `dy2st.Model`, under PaddlePaddle's names."""

from dy2st.paddle.hapi.callbacks import (
    Callback as Callback,
    LRScheduler as LRScheduler,
    ModelCheckpoint as ModelCheckpoint,
    ProgBarLogger as ProgBarLogger,
)
from dy2st.paddle.hapi.monitors import (
    EarlyStopping as EarlyStopping,
    ReduceLROnPlateau as ReduceLROnPlateau,
)

