"""Another name of dy2st.paddle.text."""

from dy2st.paddle.text import *
