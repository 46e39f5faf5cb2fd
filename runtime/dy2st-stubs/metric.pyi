"""Another name of dy2st.paddle.metric."""

from dy2st.paddle.metric import *
