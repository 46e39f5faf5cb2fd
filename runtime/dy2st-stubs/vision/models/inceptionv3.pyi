"""Another name of dy2st.paddle.vision.models.inceptionv3."""

from dy2st.paddle.vision.models.inceptionv3 import *
