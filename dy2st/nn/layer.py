"""Layers by family, as PaddlePaddle's files have them: all of them are names of `dy2st.nn`.

from dy2st.nn.layer.transformer import _convert_attention_mask
"""

from typing import TYPE_CHECKING

from dy2st.paddle.mirrors import mirrors, names_of
from dy2st_runtime.lazy import public_dir

_SOURCES = ["dy2st.nn", "dy2st.nn.functional", "dy2st.nn.unofficial"]

mirrors(
    __name__,
    "activation common container conv distance layers loss norm pooling rnn transformer vision",
    _SOURCES,
)

if not TYPE_CHECKING:
    __getattr__ = names_of(__name__, _SOURCES)

__dir__ = public_dir(__name__)
