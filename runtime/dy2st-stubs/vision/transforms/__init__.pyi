"""Another name of dy2st.paddle.vision.transforms."""

from dy2st.paddle.vision.transforms import *
