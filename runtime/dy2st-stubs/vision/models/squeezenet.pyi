"""Another name of dy2st.paddle.vision.models.squeezenet."""

from dy2st.paddle.vision.models.squeezenet import *
