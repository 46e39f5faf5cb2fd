"""Another name of dy2st.paddle.vision."""

from dy2st.paddle.vision import *
