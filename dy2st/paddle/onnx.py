"""`paddle.onnx` by name alone: `export` is refused."""

from typing import TYPE_CHECKING

from dy2st.paddle.mirrors import names_of
from dy2st.paddle.private_modules import private_modules

if not TYPE_CHECKING:
    __getattr__ = names_of(__name__, [])

private_modules(__name__)
