"""Operators by family, as PaddlePaddle's files have them: all of them are names of `dy2st`.

from dy2st.paddle.tensor.creation import zeros
import dy2st.paddle.tensor.manipulation as manipulation
"""

from typing import TYPE_CHECKING

from dy2st.paddle.mirrors import names_of
from dy2st.paddle.private_modules import private_modules
from dy2st_runtime.lazy import public_dir

_SOURCES = ["dy2st", "dy2st.paddle.linalg", "dy2st.paddle.tensor.fill"]

if not TYPE_CHECKING:
    __getattr__ = names_of(__name__, _SOURCES)

private_modules(__name__)

__dir__ = public_dir(__name__)
