"""Another name of dy2st.paddle.vision.models.mobilenetv1."""

from dy2st.paddle.vision.models.mobilenetv1 import *
