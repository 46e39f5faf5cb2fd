"""Another name of dy2st.paddle.geometric."""

from dy2st.paddle.geometric import *
