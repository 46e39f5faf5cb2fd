"""Another name of dy2st.paddle.vision.models.mobilenetv2."""

from dy2st.paddle.vision.models.mobilenetv2 import *
