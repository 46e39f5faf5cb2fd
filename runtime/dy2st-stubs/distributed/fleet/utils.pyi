"""Another name of dy2st.paddle.distributed.fleet.utils."""

from dy2st.paddle.distributed.fleet.utils import *
