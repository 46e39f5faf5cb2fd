"""Another name of dy2st.paddle.callbacks."""

from dy2st.paddle.callbacks import *
