"""Another name of dy2st.paddle.distribution.multinomial."""

from dy2st.paddle.distribution.multinomial import *
