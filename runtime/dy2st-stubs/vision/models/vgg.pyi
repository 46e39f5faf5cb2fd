"""Another name of dy2st.paddle.vision.models.vgg."""

from dy2st.paddle.vision.models.vgg import *
