"""Another name of dy2st.paddle.distributed."""

from dy2st.paddle.distributed import *
