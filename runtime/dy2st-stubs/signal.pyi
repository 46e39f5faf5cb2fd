"""Another name of dy2st.paddle.signal."""

from dy2st.paddle.signal import *
