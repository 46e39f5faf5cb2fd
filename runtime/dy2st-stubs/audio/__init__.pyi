"""Another name of dy2st.paddle.audio."""

from dy2st.paddle.audio import *
