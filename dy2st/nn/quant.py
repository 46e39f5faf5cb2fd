"""`paddle.nn.quant` by name alone: models import it, and what it would quantise is refused."""

from typing import TYPE_CHECKING

from dy2st.paddle.mirrors import names_of
from dy2st.paddle.private_modules import private_modules
from dy2st_runtime.lazy import public_dir

if not TYPE_CHECKING:
    __getattr__ = names_of(__name__, [])

private_modules(__name__)

__dir__ = public_dir(__name__)
