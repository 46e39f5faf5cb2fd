"""`paddle.dataset`, of which models use the sums of files: nothing is downloaded."""

from dy2st.paddle.dataset import common
from dy2st_runtime.lazy import public_dir

__all__ = ["common"]
__dir__ = public_dir(__name__)
