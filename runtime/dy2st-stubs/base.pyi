"""Another name of dy2st.paddle.base."""

from dy2st.paddle.base import *
