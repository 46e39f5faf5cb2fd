"""Another name of dy2st.paddle.audio.functional."""

from dy2st.paddle.audio.functional import *
