"""Another name of dy2st.paddle.dataset."""

from dy2st.paddle.dataset import *
