"""Another name of dy2st.paddle.profiler."""

from dy2st.paddle.profiler import *
