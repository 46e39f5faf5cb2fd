"""Another name of dy2st.paddle.distribution.gumbel."""

from dy2st.paddle.distribution.gumbel import *
