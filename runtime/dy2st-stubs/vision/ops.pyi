"""Another name of dy2st.paddle.vision.ops."""

from dy2st.paddle.vision.ops import *
