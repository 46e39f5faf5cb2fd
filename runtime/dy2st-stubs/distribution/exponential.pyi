"""Another name of dy2st.paddle.distribution.exponential."""

from dy2st.paddle.distribution.exponential import *
