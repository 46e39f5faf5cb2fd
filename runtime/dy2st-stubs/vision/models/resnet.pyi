"""Another name of dy2st.paddle.vision.models.resnet."""

from dy2st.paddle.vision.models.resnet import *
