"""Another name of dy2st.paddle.vision.models."""

from dy2st.paddle.vision.models import *
