"""Another name of dy2st.paddle.dataset.common."""

from dy2st.paddle.dataset.common import *
