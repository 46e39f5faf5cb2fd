"""Another name of dy2st.paddle.vision.models.mobilenetv3."""

from dy2st.paddle.vision.models.mobilenetv3 import *
