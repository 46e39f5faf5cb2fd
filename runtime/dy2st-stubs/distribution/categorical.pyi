"""Another name of dy2st.paddle.distribution.categorical."""

from dy2st.paddle.distribution.categorical import *
