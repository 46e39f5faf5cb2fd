"""Trains a model in few calls, under PaddlePaddle's names."""

from dy2st.paddle.hapi.callbacks import Callback as Callback
from dy2st.paddle.hapi.model import Model as Model

