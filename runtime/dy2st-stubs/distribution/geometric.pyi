"""Another name of dy2st.paddle.distribution.geometric."""

from dy2st.paddle.distribution.geometric import *
