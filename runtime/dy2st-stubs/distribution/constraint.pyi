"""Another name of dy2st.paddle.distribution.constraint."""

from dy2st.paddle.distribution.constraint import *
