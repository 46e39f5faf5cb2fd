"""Another name of dy2st.paddle.inference."""

from dy2st.paddle.inference import *
