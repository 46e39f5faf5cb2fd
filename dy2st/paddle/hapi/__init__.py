"""Trains a model in few calls, under PaddlePaddle's names."""

from dy2st.paddle.hapi.callbacks import Callback
from dy2st.paddle.hapi.model import Model
from dy2st.paddle.private_modules import private_modules
from dy2st_runtime.lazy import public_dir

__all__ = ["Callback", "Model"]
__dir__ = public_dir(__name__)

private_modules(__name__)
