"""Another name of dy2st.paddle.audio.features."""

from dy2st.paddle.audio.features import *
