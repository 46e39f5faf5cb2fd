"""`paddle.dataset`, of which models use the sums of files: nothing is downloaded."""

from dy2st.paddle.dataset import common as common

