"""Another name of dy2st.paddle.distribution.distribution."""

from dy2st.paddle.distribution.distribution import *
