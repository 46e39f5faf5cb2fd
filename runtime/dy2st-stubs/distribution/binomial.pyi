"""Another name of dy2st.paddle.distribution.binomial."""

from dy2st.paddle.distribution.binomial import *
