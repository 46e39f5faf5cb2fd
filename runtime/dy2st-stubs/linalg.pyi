"""Another name of dy2st.paddle.linalg."""

from dy2st.paddle.linalg import *
