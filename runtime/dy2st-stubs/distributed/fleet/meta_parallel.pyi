"""Another name of dy2st.paddle.distributed.fleet.meta_parallel."""

from dy2st.paddle.distributed.fleet.meta_parallel import *
