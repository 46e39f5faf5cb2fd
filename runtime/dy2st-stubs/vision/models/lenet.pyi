"""Another name of dy2st.paddle.vision.models.lenet."""

from dy2st.paddle.vision.models.lenet import *
