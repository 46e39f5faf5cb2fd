"""Another name of dy2st.paddle.distribution.variable."""

from dy2st.paddle.distribution.variable import *
