"""Another name of dy2st.paddle.distributed.fleet."""

from dy2st.paddle.distributed.fleet import *
