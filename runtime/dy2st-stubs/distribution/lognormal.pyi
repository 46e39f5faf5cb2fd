"""Another name of dy2st.paddle.distribution.lognormal."""

from dy2st.paddle.distribution.lognormal import *
