"""`paddle.dataset`, of which models use the sums of files: nothing is downloaded."""

from dy2st.dataset import common

__all__ = ["common"]
