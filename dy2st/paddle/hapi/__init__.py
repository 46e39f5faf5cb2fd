"""Trains a model in few calls, under PaddlePaddle's names."""

from dy2st.paddle.hapi.callbacks import Callback
from dy2st.paddle.hapi.model import Model
from dy2st.paddle.private_modules import private_modules

__all__ = ["Callback", "Model"]

private_modules(__name__)
