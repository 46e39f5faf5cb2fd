"""Another name of dy2st.paddle.distribution."""

from dy2st.paddle.distribution import *
