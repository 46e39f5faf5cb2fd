"""Training of a model in few calls, under PaddlePaddle's names."""

from dy2st.hapi.callbacks import Callback
from dy2st.hapi.model import Model

__all__ = ["Callback", "Model"]
