"""Training of a model in few calls, under PaddlePaddle's names."""

from dy2st.hapi.callbacks import Callback
from dy2st.hapi.model import Model
from dy2st.private_modules import private_modules

__all__ = ["Callback", "Model"]

private_modules(__name__)
