"""Another name of dy2st.paddle.distribution.kl."""

from dy2st.paddle.distribution.kl import *
