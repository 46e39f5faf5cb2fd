"""Another name of dy2st.paddle.vision.models.shufflenetv2."""

from dy2st.paddle.vision.models.shufflenetv2 import *
