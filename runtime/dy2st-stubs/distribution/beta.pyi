"""Another name of dy2st.paddle.distribution.beta."""

from dy2st.paddle.distribution.beta import *
