"""Another name of dy2st.paddle.vision.models.densenet."""

from dy2st.paddle.vision.models.densenet import *
