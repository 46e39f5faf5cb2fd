"""Another name of dy2st.paddle.vision.datasets."""

from dy2st.paddle.vision.datasets import *
